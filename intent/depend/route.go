package depend

import (
	"math/bits"
	"slices"
)

// Policy is how the switches choose next hops. Of several that are equally near all are used (ECMP).
type Policy string

// The policies.
const (
	// UpDown is valley-free routing: up, at most one hop sideways, then down, the shortest such way. A switch sends what is
	// cabled below it down or not at all, never up or sideways, also after a failure. With BGP that is what one AS for all
	// switches of a rank in a pod gives, since each rejects the routes that lead through another of them.
	UpDown Policy = "up-down"
	// ShortestPath is the shortest way that is left, whichever way it leads.
	ShortestPath Policy = "shortest-path"
	// BGP is what eBGP on every link does with a plan of AS numbers: the fewest ASes, every way that has as few (multipath), and
	// no path that the switch's own AS is in.
	BGP Policy = "bgp"
)

// Tables are the forwarding tables of all switches in one state of the network: for every arc the destinations that its
// tail sends over it, as a set of bits.
type Tables struct {
	words int
	next  []uint64 // words for each arc
}

// NewTables makes empty tables for the destinations and links of n.
func NewTables(n *Network) *Tables { return newTables(2*len(n.Links), len(n.Destinations)) }

func newTables(arcs, destinations int) *Tables {
	words := (destinations + 63) / 64
	return &Tables{words: words, next: make([]uint64, words*arcs)}
}

// Add makes the arc a next hop of its tail for a destination.
func (t *Tables) Add(destination int, a Arc) {
	t.next[int(a)*t.words+destination/64] |= 1 << (destination % 64)
}

// Has says whether the arc is a next hop of its tail for a destination.
func (t *Tables) Has(destination int, a Arc) bool {
	return t.next[int(a)*t.words+destination/64]>>(destination%64)&1 == 1
}

func (t *Tables) row(a Arc) []uint64 { return t.next[int(a)*t.words:][:t.words] }

// merge adds all next hops of o.
func (t *Tables) merge(o *Tables) {
	for i, w := range o.next {
		t.next[i] |= w
	}
}

// without is the tables with nothing sent over some links.
func (t *Tables) without(links []int) *Tables {
	if len(links) == 0 {
		return t
	}
	out := &Tables{t.words, slices.Clone(t.next)}
	for _, link := range links {
		clear(out.row(Arc(2 * link)))
		clear(out.row(Arc(2*link + 1)))
	}
	return out
}

// sets is one set of destinations for each switch.
type sets struct {
	words int
	bits  []uint64
}

func newSets(switches, destinations int) sets {
	words := (destinations + 63) / 64
	return sets{words, make([]uint64, words*switches)}
}

func (s sets) row(sw int) []uint64 { return s.bits[sw*s.words:][:s.words] }

func (s sets) add(sw, destination int) { s.bits[sw*s.words+destination/64] |= 1 << (destination % 64) }

func (s sets) remove(sw, destination int) {
	s.bits[sw*s.words+destination/64] &^= 1 << (destination % 64)
}

// route fills the tables of a policy for some destinations, given by their index, over the links that are not dead. Bit i of
// a set stands for destinations[i].
func (l *layout) route(p Policy, destinations []int, dead failure) *Tables {
	t := newTables(l.arcs(), len(destinations))
	var below sets
	if p == UpDown {
		below = l.cones(destinations)
	}
	seen, frontier := newSets(len(l.Switches), len(destinations)), newSets(len(l.Switches), len(destinations))
	var active []int
	for i, d := range destinations {
		for _, sw := range l.Destinations[d].At {
			if !dead.hasSwitch(sw) {
				seen.add(sw, i)
				frontier.add(sw, i)
				active = append(active, sw)
			}
		}
	}
	next, mark := newSets(len(l.Switches), len(destinations)), make([]bool, len(l.Switches))
	for len(active) > 0 { // one round for every distance, for all destinations at once
		var reached []int
		for _, v := range unique(active, mark) {
			l.work += len(l.out[v]) * t.words
			for _, back := range l.out[v] {
				a := back.Reverse()
				u := int(l.tail[a])
				if dead.has(l, a) || !l.step(p, t.row(a), next.row(u), frontier.row(v), seen.row(u), below, a) {
					continue
				}
				reached = append(reached, u)
			}
		}
		for i, w := range next.bits {
			seen.bits[i] |= w
		}
		l.work += len(next.bits)
		frontier, next = next, frontier
		clear(next.bits)
		active = reached
	}
	return t
}

// step lets the destinations that v has been reached for reach u, which sends to v over a, where the policy lets it and
// nothing nearer did. It says whether there were any.
func (l *layout) step(p Policy, hop, next, frontier, seen []uint64, below sets, a Arc) bool {
	some := uint64(0)
	var underTail, underHead []uint64
	if p == UpDown {
		underTail, underHead = below.row(int(l.tail[a])), below.row(int(l.head[a]))
	}
	for w, f := range frontier {
		if f &^= seen[w]; f == 0 {
			continue
		}
		if p == UpDown {
			switch l.direction[a] {
			case Up:
				f &^= underTail[w]
			case Sideways:
				f &= underHead[w] &^ underTail[w]
			case Down:
				f &= underHead[w]
			}
		}
		hop[w] |= f
		next[w] |= f
		some |= f
	}
	return some != 0
}

// cones are the destinations that are cabled below each switch or at it, with every link up.
func (l *layout) cones(destinations []int) sets {
	below := newSets(len(l.Switches), len(destinations))
	for i, d := range destinations {
		for _, sw := range l.Destinations[d].At {
			below.add(sw, i)
		}
	}
	for _, sw := range l.byRank {
		for _, a := range l.out[sw] {
			if l.direction[a] == Down {
				for w, bits := range below.row(int(l.head[a])) {
					below.row(sw)[w] |= bits
				}
			}
		}
	}
	return below
}

// reach is which destinations' traffic comes to each switch, from wherever it begins along the next hops of t.
func (l *layout) reach(t *Tables, destinations []int, dead failure) sets {
	r := newSets(len(l.Switches), len(destinations))
	var queue []int
	queued := make([]bool, len(l.Switches))
	push := func(sw int) {
		if !queued[sw] {
			queued[sw] = true
			queue = append(queue, sw)
		}
	}
	everywhere := newSets(1, len(destinations))
	for i, d := range destinations {
		for _, sw := range l.Destinations[d].From {
			if !dead.hasSwitch(sw) {
				r.add(sw, i)
				push(sw)
			}
		}
		if l.Destinations[d].From == nil {
			everywhere.add(0, i)
		}
	}
	for _, sw := range l.ends {
		if !dead.hasSwitch(sw) {
			for w, bits := range everywhere.row(0) {
				r.row(sw)[w] |= bits
			}
			push(sw)
		}
	}
	for i, d := range destinations {
		for _, sw := range l.Destinations[d].At {
			if l.Destinations[d].From == nil {
				r.remove(sw, i)
			}
		}
	}
	for len(queue) > 0 {
		u := queue[0]
		queue, queued[u] = queue[1:], false
		here := r.row(u)
		l.work += len(l.out[u]) * t.words
		for _, a := range l.out[u] {
			v := int(l.head[a])
			there, grown := r.row(v), uint64(0)
			for w, hop := range t.row(a) {
				more := hop & here[w] &^ there[w]
				there[w] |= more
				grown |= more
			}
			if grown != 0 {
				push(v)
			}
		}
	}
	return r
}

// unique drops the switches that occur twice. The marks are all false before and after.
func unique(list []int, mark []bool) []int {
	out := list[:0]
	for _, sw := range list {
		if !mark[sw] {
			mark[sw] = true
			out = append(out, sw)
		}
	}
	for _, sw := range out {
		mark[sw] = false
	}
	return out
}

// members are the bits that are set, in rising order.
func members(set []uint64) []int {
	var out []int
	for w, word := range set {
		for ; word != 0; word &= word - 1 {
			out = append(out, w*64+bits.TrailingZeros64(word))
		}
	}
	return out
}
