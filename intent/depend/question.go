package depend

import (
	"errors"
	"fmt"
)

// Question is what is to be proven. Policy, FIB or States says how traffic is routed.
type Question struct {
	Network *Network
	Policy  Policy
	Plan    *Plan // of policy bgp: who has which AS
	// FIB is the tables that switches were read from. After a failure each switch goes on with what is left in them: next hops
	// that routing would find anew are not known.
	FIB *FIB
	// States are the tables of a network whose routes are given and not worked out, each state by itself and every mixture of
	// them. What they become after a failure is not known, so Failures must be 0.
	States []State
	// Failures is how many links and switches may be down at once, 0 to 2, with everything fewer. Each such state is proven
	// as it is after the routes have converged, and in transition to and from the states with fewer failures.
	Failures int
	// Exhaustive goes through every state also where the certificate covers it, and on after a cycle was found.
	Exhaustive bool
	// Limit is how much work is spent on states with failures, in steps along a link for 64 destinations: a thousand million
	// take some seconds. A proof that was cut short is not complete. 0 is no limit.
	Limit int
	// Symmetry goes through one state of each set of states that the network's own symmetry makes alike. It serves shortest-path
	// routes only, and is left out where it does not apply.
	Symmetry bool
	// Lossless are the priorities whose buffers wait, and Begin those in which traffic begins: nil is all lossless ones. They
	// matter only where a packet's priority can change; nil is one priority.
	Lossless, Begin []int
	Rewrites        []Rewrite
	// Flooded are switches that may send lossless traffic out of every link but the one it came over, as a switch of a layer-2
	// domain does, or one that knows an address and not its port. Blocked are links that a spanning tree keeps all traffic off.
	Flooded, Blocked []int
	Bounces          []Bounce
	Virtual          *VirtualLanes // of InfiniBand; nil: one lane
	// Progress, where it is set, is called after every state of a model.
	Progress func(model Model, tried, states int)
}

// State is the tables of all switches at one time.
type State struct {
	Name   string
	Tables *Tables
}

func (q Question) validate() error {
	if q.Network == nil {
		return errors.New("there is no network to prove")
	}
	if err := q.Network.validate(); err != nil {
		return err
	}
	if err := q.validateExtras(); err != nil {
		return err
	}
	switch {
	case (len(q.States) > 0 || q.FIB != nil) && q.Policy != "" || len(q.States) > 0 && q.FIB != nil:
		return errors.New("routes are given as tables or follow a policy, not both")
	case q.FIB != nil && !q.FIB.of(q.Network):
		return errors.New("the FIB is not that of this network")
	case q.Policy == BGP && q.Plan == nil:
		return errors.New("policy bgp needs a plan: which switch has which AS")
	case q.Policy != BGP && q.Plan != nil:
		return errors.New("an AS plan is given, and the policy is not bgp")
	case len(q.States) > 0 && q.Failures != 0:
		return errors.New("given tables do not say what becomes of them after a failure: give the tables of that state too")
	case len(q.States) == 0 && q.FIB == nil && q.Policy != UpDown && q.Policy != ShortestPath && q.Policy != BGP:
		return fmt.Errorf("there is no routing policy %q: the proof knows %s, %s and %s", q.Policy, UpDown, ShortestPath, BGP)
	case q.Failures < 0 || q.Failures > 2:
		return fmt.Errorf("%d failures at once: the proof knows 0, 1 and 2", q.Failures)
	}
	if q.Plan != nil {
		if err := q.Plan.validate(q.Network); err != nil {
			return err
		}
	}
	want := NewTables(q.Network)
	for _, s := range q.States {
		if s.Tables == nil || s.Tables.words != want.words || len(s.Tables.next) != len(want.next) {
			return fmt.Errorf("the tables of state %q are not those of this network", s.Name)
		}
	}
	return nil
}

// routes fills the tables of some destinations in one state, in whichever way the question says.
func (q Question) routes(l *layout, destinations []int, dead failure) *Tables {
	dead = dead.and(failure{links: q.Blocked})
	switch {
	case q.FIB != nil:
		return q.FIB.after(l, destinations, dead)
	case q.Policy == BGP:
		return q.Plan.route(l, destinations, dead)
	}
	return l.route(q.Policy, destinations, dead)
}
