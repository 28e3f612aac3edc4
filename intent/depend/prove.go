package depend

import (
	"errors"
	"fmt"
	"slices"
)

// Question is what is to be proven. Either Policy or States says how traffic is routed.
type Question struct {
	Network *Network
	Policy  Policy
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
	// Progress, where it is set, is called after every state of a model.
	Progress func(model Model, tried, states int)
}

// State is the tables of all switches at one time.
type State struct {
	Name   string
	Tables *Tables
}

// Model is a set of states of the network.
type Model string

// The models.
const (
	Healthy     Model = "healthy"
	OneLink     Model = "one link down"
	OneSwitch   Model = "one switch down"
	Two         Model = "two links or switches down"
	GivenTables Model = "the given tables"
)

// Method is how a model was proven.
type Method string

// The methods.
const (
	// Certificate is a potential that rises at every turn, in every state of the model and every mixture of tables.
	Certificate Method = "certificate"
	// Exhaustion is that every state was gone through. Symmetry is not used.
	Exhaustion Method = "exhaustion"
)

// Coverage is how far one model was proven.
type Coverage struct {
	Model Model
	// Transition says that the states are mixtures: each switch forwards by its table from before the failure or from after,
	// and changes from one to the other at any time. Of two failures each may be known to some switches and not to others.
	Transition            bool
	States, Tried, Cyclic int
	Method                Method
}

// Complete says whether every state was tried.
func (c Coverage) Complete() bool { return c.Tried == c.States }

// Verdict is the answer.
type Verdict struct {
	Free         bool // no cycle was found, and the proof is complete
	Complete     bool // every state that was asked for was tried
	Nodes, Turns int  // of the healthy network, or of the mixture of all given tables, for one priority
	Covered      []Coverage
	Cycle        []Step // a shortest cycle of the gravest state that has one; nil where none was found
	Found        *Found // where the cycle was found; nil where none was
	// Unrouted are the first pairs that cables join and that have no route in the healthy network, and UnroutedPairs is how
	// many there are: the proof says nothing about traffic between them.
	Unrouted      []Unrouted
	UnroutedPairs int
}

// Found is the state in which a cycle was found.
type Found struct {
	Model      Model
	Transition bool
	Down       []string // the links and switches that are down, or in transition may be
	failure    failure
}

// Step is one buffer of a cycle, and why it waits for the next one.
type Step struct {
	Arc         Arc
	Destination int      // of traffic that comes in over Arc and leaves over the arc of the next step
	Switch      int      // that forwards it
	Down        []string // what is down in the state whose table sends it there; nil: nothing
	State       string   // of given tables: the state
}

// Unrouted is a switch with hosts that has no next hop for a destination.
type Unrouted struct{ Switch, Destination int }

// maxUnrouted is how many pairs without a route are listed.
const maxUnrouted = 100

// Prove answers the question. An error means that it makes no sense or cannot be answered.
func Prove(q Question) (Verdict, error) {
	if err := q.validate(); err != nil {
		return Verdict{}, err
	}
	p := &prover{question: q, layout: newLayout(q.Network)}
	for i := range q.Network.Destinations {
		p.all = append(p.all, i)
	}
	if len(q.States) > 0 {
		p.given()
	} else if err := p.routed(); err != nil {
		return Verdict{}, err
	}
	p.verdict.Complete = true
	for _, c := range p.verdict.Covered {
		p.verdict.Complete = p.verdict.Complete && c.Complete()
	}
	p.verdict.Free = p.verdict.Complete && p.verdict.Cycle == nil
	return p.verdict, nil
}

func (q Question) validate() error {
	if q.Network == nil {
		return errors.New("there is no network to prove")
	}
	if err := q.Network.validate(); err != nil {
		return err
	}
	switch {
	case len(q.States) > 0 && q.Policy != "":
		return errors.New("routes are given as tables or follow a policy, not both")
	case len(q.States) > 0 && q.Failures != 0:
		return errors.New("given tables do not say what becomes of them after a failure: give the tables of that state too")
	case len(q.States) == 0 && q.Policy != UpDown && q.Policy != ShortestPath:
		return fmt.Errorf("there is no routing policy %q: the proof knows %s and %s", q.Policy, UpDown, ShortestPath)
	case q.Failures < 0 || q.Failures > 2:
		return fmt.Errorf("%d failures at once: the proof knows 0, 1 and 2", q.Failures)
	}
	want := NewTables(q.Network)
	for _, s := range q.States {
		if s.Tables == nil || s.Tables.words != want.words || len(s.Tables.next) != len(want.next) {
			return fmt.Errorf("the tables of state %q are not those of this network", s.Name)
		}
	}
	return nil
}

// prover holds what Prove has worked out so far.
type prover struct {
	question Question
	*layout
	all     []int // every destination
	healthy *Tables
	reached sets
	graph   *graph // of the healthy network
	falling []turn // its turns that do not raise the potential
	verdict Verdict
}

// routed proves a network whose routes follow a policy.
func (p *prover) routed() error {
	p.healthy = p.route(p.question.Policy, p.all, failure{})
	p.reached = p.reach(p.healthy, p.all, failure{})
	p.graph, p.falling = p.dependencies(p.healthy, p.reached)
	p.verdict.Nodes, p.verdict.Turns = p.graph.nodes, len(p.graph.turns)
	p.unrouted()
	if p.question.Policy == UpDown && len(p.falling) > 0 {
		return fmt.Errorf("up-down routes turn from %s to %s: this is a mistake in weir", p.ArcName(p.falling[0].in), p.ArcName(p.falling[0].out))
	}
	cover := Coverage{Model: Healthy, States: 1, Tried: 1, Method: Certificate}
	if len(p.falling) > 0 {
		cover.Method = Exhaustion
		if cycle := p.graph.shortest(heads(p.falling)); cycle != nil {
			cover.Cyclic = 1
			p.found(Found{Model: Healthy}, cycle, mixture{destinations: p.all, tables: p.healthy, reached: p.reached})
		}
	}
	p.verdict.Covered = append(p.verdict.Covered, cover)
	p.work = 0
	p.failures()
	return nil
}

// given proves given tables: every state by itself, then the mixture of all.
func (p *prover) given() {
	mixed := mixture{destinations: p.all, tables: NewTables(p.Network)}
	alone := Coverage{Model: GivenTables, States: len(p.question.States), Tried: len(p.question.States), Method: Certificate}
	prove := func(m mixture, cover *Coverage) {
		m.reached = p.reach(m.tables, p.all, failure{})
		g, falling := p.dependencies(m.tables, m.reached)
		p.verdict.Nodes, p.verdict.Turns = g.nodes, len(g.turns)
		if len(falling) == 0 {
			return
		}
		cover.Method = Exhaustion
		if cycle := g.shortest(heads(falling)); cycle != nil {
			cover.Cyclic++
			p.found(Found{Model: GivenTables, Transition: cover.Transition}, cycle, m)
		}
	}
	for _, s := range p.question.States {
		one := layer{state: s.Name, tables: s.Tables}
		mixed.layers = append(mixed.layers, one)
		mixed.tables.merge(s.Tables)
		prove(mixture{destinations: p.all, tables: s.Tables, layers: []layer{one}}, &alone)
	}
	p.verdict.Covered = append(p.verdict.Covered, alone)
	if len(p.question.States) > 1 {
		all := Coverage{Model: GivenTables, Transition: true, States: 1, Tried: 1, Method: Certificate}
		prove(mixed, &all)
		p.verdict.Covered = append(p.verdict.Covered, all)
	}
}

// unrouted finds the pairs that cables join and routes do not.
func (p *prover) unrouted() {
	island := p.islands()
	has := make([]uint64, p.healthy.words)
	for _, sw := range p.ends {
		clear(has)
		for _, a := range p.out[sw] {
			for w, hop := range p.healthy.row(a) {
				has[w] |= hop
			}
		}
		for d, dest := range p.Destinations {
			if has[d/64]>>(d%64)&1 == 1 || dest.From != nil || slices.Contains(dest.At, sw) {
				continue
			}
			if !slices.ContainsFunc(dest.At, func(at int) bool { return island[at] == island[sw] }) {
				continue
			}
			p.verdict.UnroutedPairs++
			if p.verdict.UnroutedPairs <= maxUnrouted {
				p.verdict.Unrouted = append(p.verdict.Unrouted, Unrouted{sw, d})
			}
		}
	}
}

// islands numbers the parts of the network that cables join.
func (l *layout) islands() []int {
	island := make([]int, len(l.Switches))
	count := 0
	for first := range l.Switches {
		if island[first] != 0 {
			continue
		}
		count++
		island[first] = count
		for queue := []int{first}; len(queue) > 0; queue = queue[1:] {
			for _, a := range l.out[queue[0]] {
				if v := int(l.head[a]); island[v] == 0 {
					island[v] = count
					queue = append(queue, v)
				}
			}
		}
	}
	return island
}

// heads are the arcs that the turns lead to.
func heads(turns []turn) []Arc {
	out := make([]Arc, len(turns))
	for i, t := range turns {
		out[i] = t.out
	}
	return out
}
