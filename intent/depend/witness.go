package depend

import "slices"

// found keeps a cycle if it is the first or of a graver state than the one before: a network that has converged stays as it
// is, one in transition does not.
func (p *prover) found(in Found, cycle []Arc, m mixture) {
	if f := p.verdict.Found; f != nil && (!f.Transition || in.Transition) {
		return
	}
	in.Down = in.failure.names(p.Network)
	p.verdict.Found = &in
	p.verdict.Cycle = p.explain(cycle, m)
}

// explain names for every turn of a cycle a destination that makes it, the same one for as many turns as possible.
func (p *prover) explain(cycle []Arc, m mixture) []Step {
	carriers := make([][]int, len(cycle))
	votes := make([]int, len(p.all))
	for i, a := range cycle {
		carriers[i] = p.carriers(turn{a, cycle[(i+1)%len(cycle)]}, m)
		for _, d := range carriers[i] {
			votes[d]++
		}
	}
	steps := make([]Step, len(cycle))
	for i, a := range cycle {
		best := carriers[i][0]
		for _, d := range carriers[i] {
			if votes[d] > votes[best] {
				best = d
			}
		}
		steps[i] = Step{Arc: a, Destination: best, Switch: int(p.head[a])}
		next := cycle[(i+1)%len(cycle)]
		if at, ok := slices.BinarySearch(m.destinations, best); ok {
			for _, l := range m.layers {
				if l.tables.Has(at, next) {
					steps[i].Down, steps[i].State = l.down, l.state
					break
				}
			}
		}
	}
	return steps
}

// carriers are the destinations whose traffic makes a turn, in the mixture or else in the healthy network.
func (p *prover) carriers(t turn, m mixture) []int {
	both := make([]uint64, m.tables.words)
	if intersect(both, m.tables.row(t.in), m.reached.row(int(p.tail[t.in]))) && intersect(both, both, m.tables.row(t.out)) {
		out := members(both)
		for i := range out {
			out[i] = m.destinations[out[i]]
		}
		return out
	}
	both = make([]uint64, p.healthy.words)
	intersect(both, p.healthy.row(t.in), p.reached.row(int(p.tail[t.in])))
	intersect(both, both, p.healthy.row(t.out))
	return members(both)
}
