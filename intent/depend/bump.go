package depend

import "slices"

// Bump is a rule of priority bumping (Hu et al., "Tagger", CoNEXT 2017): traffic that turns against the order up, sideways,
// down continues in the next lossless priority, and when there is none left in a lossy one. Inside one priority every turn
// then raises the potential, and priorities only grow, so no state of the network has a cycle.
type Bump struct {
	Switch string   `json:"switch"`
	In     []string `json:"in"`  // ports: traffic that comes in over one of these, from above or from the side
	Out    []string `json:"out"` // and leaves over one of these, up or sideways, is in the next priority from here on
}

// Bumps are the rules for every switch of a network that has such turns. They are the same for every priority.
func Bumps(n *Network) []Bump {
	l := newLayout(n)
	var out []Bump
	for sw, s := range n.Switches {
		b := Bump{Switch: s.Name}
		for _, a := range l.out[sw] {
			port := n.Links[a.Link()].PortA
			if a&1 == 1 {
				port = n.Links[a.Link()].PortB
			}
			if l.direction[a] != Down {
				b.In, b.Out = append(b.In, port), append(b.Out, port)
			}
		}
		if len(b.In) > 0 {
			out = append(out, b)
		}
	}
	return out
}

// Bumping are the same rules as rewrites of a question: from each priority of the chain to the next, and from the last to a
// lossy one.
func Bumping(n *Network, chain []int) []Rewrite {
	l := newLayout(n)
	var out []Rewrite
	for sw := range n.Switches {
		var in, on []Arc
		for _, a := range l.out[sw] {
			if l.direction[a] != Down {
				in, on = append(in, a.Reverse()), append(on, a)
			}
		}
		for i, p := range chain {
			to := -1
			if i+1 < len(chain) {
				to = chain[i+1]
			}
			if len(in) > 0 {
				out = append(out, Rewrite{Switch: sw, In: in, Out: on, From: p, To: to})
			}
		}
	}
	return out
}

// bumping is the question with the rules of priority bumping over some priorities.
func (q Question) bumping(priorities int) Question {
	q.Lossless = nil
	for p := range priorities {
		q.Lossless = append(q.Lossless, p)
	}
	q.Begin, q.Rewrites, q.Exhaustive, q.Progress = []int{0}, Bumping(q.Network, q.Lossless), false, nil
	return q
}

// fewest works out the fewest priorities that bumping needs to keep the traffic of some tables lossless; 0 where eight are
// too few.
func (q Question) fewest(l *layout, destinations []int, states ...*Tables) int {
	for need := 1; need <= maxPriorities; need++ {
		x := q.bumping(need).compile(l)
		if !slices.ContainsFunc(states, func(t *Tables) bool { return l.follow(x, t, destinations, failure{}).lossy() }) {
			return need
		}
	}
	return 0
}
