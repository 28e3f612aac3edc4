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

// bumped is what priority bumping with some number of priorities makes of a mixture of tables.
type bumped struct {
	*layout
	priorities int
	tables     *Tables
	carried    sets // by node: the arc times the number of priorities, and the priority
	lossy      bool // some traffic turns more often than there are priorities
}

func (b *bumped) node(a Arc, priority int) int { return int(a)*b.priorities + priority }

// after is the priority on the way out of a turn.
func (b *bumped) after(t turn, priority int) int {
	if b.potential[t.out] <= b.potential[t.in] {
		priority++
	}
	return priority
}

// bump follows the traffic of tables through the priorities.
func (l *layout) bump(t *Tables, destinations []int, priorities int) *bumped {
	b := &bumped{layout: l, priorities: priorities, tables: t, carried: newSets(l.arcs()*priorities, len(destinations))}
	begins := l.reach(newTables(l.arcs(), len(destinations)), destinations, failure{})
	var queue []int
	grow := func(node int, hop, from []uint64) {
		into, grown := b.carried.row(node), uint64(0)
		for w := range into {
			more := hop[w] & from[w] &^ into[w]
			into[w] |= more
			grown |= more
		}
		if grown != 0 {
			queue = append(queue, node)
		}
	}
	for a := range Arc(l.arcs()) {
		grow(b.node(a, 0), t.row(a), begins.row(int(l.tail[a])))
	}
	for ; len(queue) > 0; queue = queue[1:] {
		node := queue[0]
		in := Arc(node / priorities)
		for _, out := range l.out[l.head[in]] {
			if to := b.after(turn{in, out}, node%priorities); to < priorities {
				grow(b.node(out, to), t.row(out), b.carried.row(node))
			} else if meet(t.row(out), b.carried.row(node)) {
				b.lossy = true
			}
		}
	}
	return b
}

// cyclic says whether the buffers of all priorities together have a cycle of dependencies.
func (b *bumped) cyclic() bool {
	nodes := b.arcs() * b.priorities
	g := &graph{from: make([]int, nodes), to: make([]int, nodes)}
	for node := range nodes {
		in := Arc(node / b.priorities)
		g.from[node] = len(g.turns)
		for _, out := range b.out[b.head[in]] {
			if to := b.after(turn{in, out}, node%b.priorities); to < b.priorities && meet(b.tables.row(out), b.carried.row(node)) {
				g.turns = append(g.turns, Arc(b.node(out, to)))
			}
		}
		g.to[node] = len(g.turns)
	}
	roots := make([]Arc, nodes)
	for i := range roots {
		roots[i] = Arc(i)
	}
	_, count := g.components(roots)
	return count > 0
}

// maxPriorities is how many priorities PFC can tell apart (IEEE 802.1Qbb).
const maxPriorities = 8

// bumping works out the fewest priorities that keep the traffic of some tables lossless; 0 where eight are too few.
func (l *layout) bumping(destinations []int, states ...*Tables) int {
	lossy := func(priorities int) bool {
		return slices.ContainsFunc(states, func(t *Tables) bool { return l.bump(t, destinations, priorities).lossy })
	}
	for need := 1; need <= maxPriorities; need++ {
		if !lossy(need) {
			return need
		}
	}
	return 0
}

// proven says whether bumping with some priorities leaves no cycle in any of the tables, or in all of them mixed.
func (l *layout) proven(destinations []int, priorities int, states ...*Tables) bool {
	mixed := newTables(l.arcs(), len(destinations))
	for _, t := range states {
		mixed.merge(t)
	}
	return !slices.ContainsFunc(append(states, mixed), func(t *Tables) bool { return l.bump(t, destinations, priorities).cyclic() })
}
