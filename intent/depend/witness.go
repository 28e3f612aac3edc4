package depend

import "slices"

// found keeps a cycle if it is the first or of a graver state than the one before: a network that has converged stays as it
// is, one in transition does not.
func (p *prover) found(in Found, cycle []Step) {
	if f := p.verdict.Found; f != nil && (!f.Transition || in.Transition) {
		return
	}
	in.Down = in.failure.names(p.Network)
	p.verdict.Found = &in
	p.verdict.Cycle = cycle
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

// explain names for every buffer of a cycle a destination whose traffic waits for the next one, the same one for as many as
// possible, and how the switch sends it on.
func (s *lanes) explain(cycle []Arc, m mixture) []Step {
	choices := make([]map[int]lane, len(cycle)) // by destination
	votes := map[int]int{}
	for i, node := range cycle {
		choices[i] = s.between(int(node), int(cycle[(i+1)%len(cycle)]))
		for d := range choices[i] {
			votes[d]++
		}
	}
	steps := make([]Step, len(cycle))
	for i, node := range cycle {
		best := -1
		for d, way := range choices[i] {
			if best < 0 || votes[d] > votes[best] || votes[d] == votes[best] && (way.how < choices[i][best].how || way.how == choices[i][best].how && d < best) {
				best = d
			}
		}
		way, a := choices[i][best], Arc(int(node)/s.x.labels)
		next := cycle[(i+1)%len(cycle)]
		steps[i] = Step{
			Arc: a, Destination: s.destinations[best], Switch: int(s.head[a]), Priority: int(node) % s.x.labels, NextPriority: int(next) % s.x.labels,
			Flooded: way.how == flooded, Bounced: way.how == bounced,
		}
		if way.how == flooded {
			continue
		}
		for _, l := range m.layers {
			if l.tables.Has(best, way.out) {
				steps[i].Down, steps[i].State = l.down, l.state
				break
			}
		}
	}
	return steps
}

// between are the ways from one buffer to the next, by destination: a plain one rather than a flood or a bounce.
func (s *lanes) between(from, to int) map[int]lane {
	out := map[int]lane{}
	for label := range s.x.labels {
		node := from - from%s.x.labels + label
		if s.buffer(node) != from || !s.waits(node) {
			continue
		}
		s.each(node, func(way lane) {
			if way.label < 0 || s.x.lossy[way.label] || s.buffer(s.x.node(way.out, way.label)) != to {
				return
			}
			for _, d := range members(way.set) {
				if old, ok := out[d]; !ok || way.how < old.how {
					out[d] = lane{out: way.out, label: way.label, how: way.how}
				}
			}
		})
	}
	return out
}
