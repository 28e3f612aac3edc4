package depend

import (
	"fmt"
)

// Remedy is a way to break the cycles that were found. Only what the proof, run again, says to be free of cycles is one.
type Remedy struct {
	Name       string
	Summary    string
	Priorities int    // of bumping: lossless priorities that it needs, in place of one
	Rules      []Bump // of bumping and of leaving the lossless class
	Proof      string // what the proof was run on again
}

// The names of the remedies.
const (
	RemedyUpDown = "up-down"
	RemedyBump   = "bump"
	RemedyLossy  = "lossy-off-path"
)

// Remedies are the ways to break the cycles of a verdict, the cheapest first. Each is verified. There are none for given
// tables: how else the network could be routed they do not say.
func Remedies(q Question, v Verdict) ([]Remedy, error) {
	if v.Cycle == nil || len(q.States) > 0 {
		return nil, nil
	}
	var out []Remedy
	if r, ok, err := upDown(q); err != nil {
		return nil, err
	} else if ok {
		out = append(out, r)
	}
	l := newLayout(q.Network)
	var all []int
	for i := range q.Network.Destinations {
		all = append(all, i)
	}
	states, where := []*Tables{l.route(q.Policy, all, failure{})}, "the healthy network"
	if f := v.Found.failure; !f.none() {
		states, where = append(states, l.route(q.Policy, all, f)), "the healthy network, the state that has the cycle, and the two mixed"
	}
	where += "; in any other state each turn raises the priority or goes on up, sideways and down"
	rules, need := Bumps(q.Network), l.bumping(all, states...)
	if l.proven(all, 1, states...) {
		loses := "traffic of these states that needs such a turn is then lossy"
		if need == 1 {
			loses = "once the routes have converged, no traffic of these states needs such a turn"
		}
		out = append(out, Remedy{
			Name: RemedyLossy, Rules: rules, Priorities: 1, Proof: where,
			Summary: fmt.Sprintf("let traffic that came down or sideways and turns up or sideways again go on in a lossy class, on %s: %s", count(len(rules)), loses),
		})
	}
	if need > 1 && l.proven(all, need, states...) {
		out = append(out, Remedy{
			Name: RemedyBump, Rules: rules, Priorities: need, Proof: where,
			Summary: fmt.Sprintf("let traffic that came down or sideways and turns up or sideways again go on in the next lossless priority, on %s: %d priorities keep the traffic of these states lossless, and what turns more often goes on in a lossy one",
				count(len(rules)), need),
		})
	}
	return out, nil
}

// upDown proves the network again with valley-free routes. It is no remedy where it leaves pairs without a route.
func upDown(q Question) (Remedy, bool, error) {
	if q.Policy == UpDown {
		return Remedy{}, false, nil
	}
	v, err := Prove(Question{Network: q.Network, Policy: UpDown, Failures: 2})
	if err != nil {
		return Remedy{}, false, fmt.Errorf("prove the network with up-down routes: %w", err)
	}
	return Remedy{
		Name:    RemedyUpDown,
		Summary: "route up and then down only: with BGP, give all switches of a rank in a pod one AS, so that each rejects routes through another of them",
		Proof:   "the healthy network, every one or two failures, and every mixture of their tables",
	}, v.Free && len(v.Unrouted) == 0, nil
}

// count writes a number of switches.
func count(switches int) string {
	if switches == 1 {
		return "1 switch"
	}
	return fmt.Sprintf("%d switches", switches)
}
