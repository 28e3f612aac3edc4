package depend

// graph is the dependencies between the buffers of one priority: its nodes are arcs, and its edges are turns.
type graph struct {
	from, to []int // by arc: where its turns begin and end in turns
	turns    []Arc
	extra    map[Arc][]Arc // turns of a state beside those of the healthy network; each of them is missing in turns
	nodes    int           // arcs that carry anything
}

// next gives the i-th turn of a node, and false after the last.
func (g *graph) next(a Arc, i int) (Arc, bool) {
	if n := g.to[a] - g.from[a]; i < n {
		return g.turns[g.from[a]+i], true
	} else if more := g.extra[a]; i-n < len(more) {
		return more[i-n], true
	}
	return 0, false
}

// has says whether a turn is in the graph of the healthy network.
func (g *graph) has(a, b Arc) bool {
	for _, t := range g.turns[g.from[a]:g.to[a]] {
		if t == b {
			return true
		}
	}
	return false
}

// dependencies makes the graph of the traffic that the tables and what reaches each switch let through. It also says which
// turns do not raise the potential; where there are none the graph has no cycle.
func (l *layout) dependencies(t *Tables, reached sets) (g *graph, falling []turn) {
	g = &graph{from: make([]int, l.arcs()), to: make([]int, l.arcs())}
	carried := make([]uint64, t.words)
	var out []Arc
	for v := range l.Switches {
		out = out[:0]
		for _, b := range l.out[v] {
			if meet(t.row(b), reached.row(v)) {
				out = append(out, b)
			}
		}
		for _, back := range l.out[v] {
			a := back.Reverse()
			g.from[a] = len(g.turns)
			if intersect(carried, t.row(a), reached.row(int(l.tail[a]))) {
				g.nodes++
				for _, b := range out {
					if meet(carried, t.row(b)) {
						g.turns = append(g.turns, b)
						if l.potential[b] <= l.potential[a] {
							falling = append(falling, turn{a, b})
						}
					}
				}
			}
			g.to[a] = len(g.turns)
			l.work += (1 + len(out)) * t.words
		}
	}
	return g, falling
}

// turn is an edge of the graph: traffic that comes over one arc and leaves over the next.
type turn struct{ in, out Arc }

// intersect writes what a and b have in common to into, and says whether that is anything.
func intersect(into, a, b []uint64) bool {
	some := uint64(0)
	for w := range into {
		into[w] = a[w] & b[w]
		some |= into[w]
	}
	return some != 0
}

// meet says whether two sets have a member in common.
func meet(a, b []uint64) bool {
	for w, bits := range a {
		if bits&b[w] != 0 {
			return true
		}
	}
	return false
}
