package depend

import (
	"iter"
	"math/bits"
)

// state is what one state of a model is a mixture of, beside the healthy network: the failures whose tables some switch may
// have. The last is what the routes converge to.
type state []failure

// failures proves the models of one and of two failures.
func (p *prover) failures() {
	n := p.Network
	links, switches := len(n.Links), len(n.Switches)
	one := singles(n)
	every, two := alone, pairs
	if p.question.symmetric() && !p.certain {
		orbit := orbitsOf(p.layout, failure{})
		every = func(failures []failure) iter.Seq2[state, int] { return p.representatives(orbit, failures) }
		two = func(failures []failure) iter.Seq2[state, int] { return p.representativePairs(orbit, failures) }
	}
	if p.question.Failures >= 1 {
		p.model(OneLink, links, every(one[:links]))
		p.model(OneSwitch, switches, every(one[links:]))
	}
	if p.question.Failures >= 2 {
		p.model(Two, len(one)*(len(one)-1)/2, two(one))
	}
}

// alone are the states of one failure each, and twice how many states each stands for.
func alone(failures []failure) iter.Seq2[state, int] {
	return func(yield func(state, int) bool) {
		for _, f := range failures {
			if !yield(state{f}, 2) {
				return
			}
		}
	}
}

// pairs are the states of any two failures, and twice how many states each stands for.
func pairs(failures []failure) iter.Seq2[state, int] {
	return func(yield func(state, int) bool) {
		for i, f := range failures {
			for _, g := range failures[i+1:] {
				if !yield(state{f, g, f.and(g)}, 2) {
					return
				}
			}
		}
	}
}

// model proves the states of a model, converged and in transition.
//
// Up-down routing needs no states. Whatever is down, a switch sends a destination down only if it is cabled below it, and up
// or sideways only if it is not. So traffic that came down or sideways has its destination below the switch that sent it,
// hence below the one that received it too, and no table of any state sends it up or sideways again: the potential rises at
// every turn, also where every switch forwards by the table of another state.
//
// Under any policy the mixture holds what the converged state does. Where the mixture has no cycle, neither has.
func (p *prover) model(m Model, count int, states iter.Seq2[state, int]) {
	converged := Coverage{Model: m, States: count, Method: Exhaustion}
	mixed := Coverage{Model: m, Transition: true, States: count, Method: Exhaustion}
	if p.certain && !p.question.Exhaustive {
		converged.Method, converged.Tried = Certificate, count
		mixed.Method, mixed.Tried = Certificate, count
		p.verdict.Covered = append(p.verdict.Covered, converged, mixed)
		return
	}
	if p.question.symmetric() {
		converged.Method, mixed.Method = Orbits, Orbits
	}
	var tried, moving, still int // twice the states
	for s, stands := range states {
		if p.verdict.Cycle != nil && !p.question.Exhaustive || p.question.Limit > 0 && p.work >= p.question.Limit {
			break
		}
		touched := p.touched(s)
		tried += stands
		if p.cyclicInTransition(m, s, touched) {
			moving += stands
			if p.cyclicConverged(m, s[len(s)-1]) {
				still += stands
			}
		}
		if converged.Method == Orbits {
			converged.Orbits++
			mixed.Orbits++
		}
		converged.Tried, converged.Cyclic = tried/2, still/2
		mixed.Tried, mixed.Cyclic = tried/2, moving/2
		if p.question.Progress != nil {
			p.question.Progress(m, mixed.Tried, count)
		}
	}
	p.verdict.Covered = append(p.verdict.Covered, converged, mixed)
}

// mixture is the tables of several states at once, for some destinations.
type mixture struct {
	destinations []int
	tables       *Tables // those of all layers
	reached      sets
	layers       []layer
}

// layer is the tables of one state in a mixture.
type layer struct {
	state  string // of given tables
	down   []string
	tables *Tables
}

// cyclicInTransition says whether the mixture of a state's tables with the healthy ones has a cycle. Where the state touches
// no destination it has what the healthy network has.
func (p *prover) cyclicInTransition(model Model, s state, touched []int) bool {
	if len(touched) == 0 {
		return p.verdict.Covered[0].Cyclic > 0
	}
	m := p.mix(s, touched)
	if p.extras != nil {
		_, _, _, steps := p.cycle(m, failure{})
		if steps != nil {
			p.found(Found{Model: model, Transition: true, failure: s[len(s)-1]}, steps)
		}
		return steps != nil
	}
	extra, falling := p.extra(m)
	g := *p.graph
	g.extra = extra
	if falling = append(falling, p.falling...); len(falling) == 0 {
		return false
	}
	p.work += len(g.turns)
	cycle := g.shortest(heads(falling))
	if cycle == nil {
		return false
	}
	p.found(Found{Model: model, Transition: true, failure: s[len(s)-1]}, p.explain(cycle, m))
	return true
}

// cyclicConverged says whether the tables of the state after a failure have a cycle.
func (p *prover) cyclicConverged(model Model, f failure) bool {
	m := mixture{destinations: p.all, tables: p.question.routes(p.layout, p.all, f)}
	m.reached = p.reach(m.tables, p.all, f)
	m.layers = []layer{{down: f.names(p.Network), tables: m.tables}}
	_, _, _, steps := p.cycle(m, f)
	if steps != nil {
		p.found(Found{Model: model, failure: f}, steps)
	}
	return steps != nil
}

// touched are the destinations whose tables are others in any of a state's failures, in rising order; all where it is most
// of many, since all are gone through faster.
func (p *prover) touched(s state) []int {
	lost := newSets(1, len(p.all))
	for _, f := range s {
		p.changed(lost.row(0), f)
	}
	list := members(lost.row(0))
	if len(list) > 0 && p.extras != nil || len(p.all) > 64 && 2*len(list) > len(p.all) {
		return p.all
	}
	return list
}

// mix makes the mixture of the healthy tables with those of a state, for the destinations whose tables change. A link that is
// down may still be sent to: its session may be down and not its light, and it comes back through the same mixture.
func (p *prover) mix(s state, touched []int) mixture {
	m := mixture{destinations: touched}
	before := p.before(m.destinations)
	m.layers = []layer{{tables: before}}
	m.tables = newTables(p.arcs(), len(m.destinations))
	m.tables.merge(before)
	for _, f := range s {
		after := p.question.routes(p.layout, m.destinations, f)
		m.layers = append(m.layers, layer{down: f.names(p.Network), tables: after})
		m.tables.merge(after)
	}
	m.reached = p.reach(m.tables, m.destinations, failure{})
	return m
}

// extra is the turns of a mixture that the healthy network does not have, and those of them that do not raise the potential.
// At least one of the two arcs of such a turn carries a destination that it did not carry before.
func (p *prover) extra(m mixture) (extra map[Arc][]Arc, falling []turn) {
	extra = map[Arc][]Arc{}
	carries, fresh := newTables(p.arcs(), len(m.destinations)), make([]bool, p.arcs())
	var grown []Arc
	for a := range Arc(p.arcs()) {
		if !intersect(carries.row(a), m.tables.row(a), m.reached.row(int(p.tail[a]))) {
			continue
		}
		if fresh[a] = !p.carried(a, m.destinations, carries.row(a)); fresh[a] {
			grown = append(grown, a)
		}
	}
	add := func(a, b Arc) {
		if meet(carries.row(a), carries.row(b)) && !p.graph.has(a, b) {
			extra[a] = append(extra[a], b)
			if p.potential[b] <= p.potential[a] {
				falling = append(falling, turn{a, b})
			}
		}
	}
	for _, a := range grown {
		for _, b := range p.out[p.head[a]] {
			add(a, b)
		}
		for _, back := range p.out[p.tail[a]] {
			if in := back.Reverse(); !fresh[in] {
				add(in, a)
			}
		}
	}
	return extra, falling
}

// before is the healthy tables of some destinations.
func (p *prover) before(destinations []int) *Tables {
	if len(destinations) == len(p.all) {
		return p.healthy
	}
	p.work += p.arcs() * len(destinations)
	out := newTables(p.arcs(), len(destinations))
	for a := range Arc(p.arcs()) {
		for i, d := range destinations {
			if p.healthy.Has(d, a) {
				out.Add(i, a)
			}
		}
	}
	return out
}

// carried says whether the healthy network, too, carries all destinations of a set, bit i standing for destinations[i].
func (p *prover) carried(a Arc, destinations []int, set []uint64) bool {
	hops, reached := p.healthy.row(a), p.reached.row(int(p.tail[a]))
	p.work += len(set)
	for w, word := range set {
		if len(destinations) == len(p.all) {
			if word&^(hops[w]&reached[w]) != 0 {
				return false
			}
			continue
		}
		for ; word != 0; word &= word - 1 {
			d := destinations[w*64+bits.TrailingZeros64(word)]
			if hops[d/64]&reached[d/64]>>(d%64)&1 == 0 {
				return false
			}
		}
	}
	return true
}
