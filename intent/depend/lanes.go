package depend

import "slices"

// Rewrite is a rule by which traffic changes its priority at a switch: what comes in with From leaves with To. With PFC it is
// a rewrite of DSCP or of the 802.1p priority. Of several rules that fit the first holds.
type Rewrite struct {
	Switch   int
	In, Out  []Arc // the links by which it comes in and leaves; nil: all, and of In also those of hosts
	From, To int   // priorities; a To that is not lossless waits for nothing
}

// Bounce is a detour of a host that is joined to two switches: what comes to From for a destination of From, whose own link to
// the host is down or on standby, is sent on to To, in a tunnel or over a peer link, as To's own traffic is.
type Bounce struct {
	From, To int // switches
	Shift    int // added to the priority of what bounces; 0: it stays in its own
}

// how is by what a packet leaves a switch.
type how int8

const (
	forwarded how = iota
	flooded
	bounced
)

// lane is a way on from a buffer.
type lane struct {
	out   Arc
	label int // of what goes on
	how   how
	set   []uint64 // the destinations that go on, as those of the switch that they are sent to; written over after the visit
}

// lanes follows the traffic of tables link by link and priority by priority. A label is what tells packets to one destination
// apart: the priority, and whether it is a copy that was flooded; or the service level and the virtual lane. Labels of one
// buffer wait together.
type lanes struct {
	*layout
	x            *extras
	tables       *Tables
	destinations []int
	dead         failure
	whole        []uint64
	carried      sets // by link and label
}

// extras is what a question says beside routes, worked out once.
type extras struct {
	labels  int
	copies  int    // added to a label it says that the packet was flooded: it is not sent back over the link it came over
	buffer  []int  // by label
	lossy   []bool // by label: no buffer waits
	ignored []bool // by label: lossy, and not rewritten to one that is not
	after   func(sw int, in, out Arc, label int) int
	floods  []bool // by switch
	blocked []bool // by link
	bounces [][]Bounce
	begins  []int   // labels of traffic that begins
	starts  []start // beside it
	order   []int   // by label: rewrites and bounces only raise it; nil where they go round
}

// start is traffic that a host sends with a label of its own.
type start struct {
	sw           int
	destinations []int
	first        func(out Arc) int // the label on the way out
}

const noArc Arc = -1

// copy says whether a packet was flooded.
func (x *extras) copy(label int) bool { return x.copies > 0 && label >= x.copies }

// flood is the label of a flooded copy.
func (x *extras) flood(label int) int {
	if label < 0 || x.copy(label) {
		return label
	}
	return label + x.copies
}

// shift is the label after a bounce, which is a new packet in a tunnel or over a peer link; -1 where there is no such priority.
func (x *extras) shift(label, by int) int {
	priorities := x.labels
	if x.copies > 0 {
		priorities = x.copies
		label %= x.copies
	}
	if label += by; label < 0 || label >= priorities {
		return -1
	}
	return label
}

func (x *extras) node(a Arc, label int) int { return int(a)*x.labels + label }

// follow works out which destinations' traffic each link carries under each label.
func (l *layout) follow(x *extras, t *Tables, destinations []int, dead failure) *lanes {
	s := &lanes{layout: l, x: x, tables: t, destinations: destinations, dead: dead, whole: make([]uint64, t.words)}
	for i := range destinations {
		s.whole[i/64] |= 1 << (i % 64)
	}
	s.carried = newSets(l.arcs()*x.labels, len(destinations))
	var queue []int
	queued := make([]bool, l.arcs()*x.labels)
	grow := func(to lane) {
		if to.label < 0 || x.ignored[to.label] {
			return
		}
		node := x.node(to.out, to.label)
		into, grown := s.carried.row(node), uint64(0)
		for w := range into {
			more := to.set[w] &^ into[w]
			into[w] |= more
			grown |= more
		}
		if grown != 0 && !queued[node] {
			queued[node] = true
			queue = append(queue, node)
		}
	}
	s.begin(grow)
	for ; len(queue) > 0; queue = queue[1:] {
		queued[queue[0]] = false
		s.each(queue[0], grow)
	}
	return s
}

// begin visits the first links of all traffic.
func (s *lanes) begin(visit func(lane)) {
	begins := s.reach(newTables(s.arcs(), len(s.destinations)), s.destinations, s.dead)
	for sw := range s.Switches {
		if s.dead.hasSwitch(sw) {
			continue
		}
		here := slices.Clone(begins.row(sw))
		if s.Switches[sw].Ends && s.x.floods[sw] || len(s.x.bounces[sw]) > 0 && s.Switches[sw].Ends {
			s.own(sw, here) // hosts of one switch talk to each other
		}
		for _, label := range s.x.begins {
			s.leave(sw, noArc, label, here, visit)
		}
	}
	for _, b := range s.x.starts {
		set := make([]uint64, s.tables.words)
		for _, d := range b.destinations {
			if at, ok := slices.BinarySearch(s.destinations, d); ok && !s.dead.hasSwitch(b.sw) {
				set[at/64] |= 1 << (at % 64)
			}
		}
		for _, out := range s.out[b.sw] {
			both := make([]uint64, s.tables.words)
			if intersect(both, set, s.tables.row(out)) {
				visit(lane{out: out, label: b.first(out), set: both})
			}
		}
	}
}

// own adds the destinations that a switch delivers.
func (s *lanes) own(sw int, set []uint64) {
	for i, d := range s.destinations {
		if slices.Contains(s.Destinations[d].At, sw) {
			set[i/64] |= 1 << (i % 64)
		}
	}
}

// each visits the ways on from a link under a label.
func (s *lanes) each(node int, visit func(lane)) {
	in := Arc(node / s.x.labels)
	s.leave(int(s.head[in]), in, node%s.x.labels, s.carried.row(node), visit)
}

// leave visits the ways on of traffic that came to a switch.
func (s *lanes) leave(sw int, in Arc, label int, carried []uint64, visit func(lane)) {
	s.work += (1 + len(s.out[sw])) * s.tables.words
	both := make([]uint64, s.tables.words)
	for _, out := range s.out[sw] {
		after, back := s.x.after(sw, in, out, label), in != noArc && out == in.Reverse()
		if (!back || !s.x.copy(label)) && intersect(both, carried, s.tables.row(out)) {
			visit(lane{out, after, forwarded, both})
		}
		if s.x.floods[sw] && !back && !s.x.blocked[out.Link()] && !s.dead.has(s.layout, out) {
			visit(lane{out, s.x.flood(after), flooded, carried})
		}
	}
	for _, b := range s.x.bounces[sw] {
		s.bounce(b, in, label, carried, visit)
	}
}

// bounce visits the ways of traffic of one switch on to another.
func (s *lanes) bounce(b Bounce, in Arc, label int, carried []uint64, visit func(lane)) {
	from, to := make([]uint64, s.tables.words), make([]uint64, s.tables.words)
	s.own(b.From, from)
	s.own(b.To, to)
	for w := range to {
		to[w] &^= from[w]
	}
	if !meet(carried, from) {
		return
	}
	for _, out := range s.out[b.From] {
		both := make([]uint64, s.tables.words)
		if !intersect(both, to, s.tables.row(out)) {
			continue
		}
		if after := s.x.after(b.From, in, out, label); after >= 0 {
			visit(lane{out, s.x.shift(after, b.Shift), bounced, both})
		}
	}
}

// graph is the dependencies between the buffers; its nodes are numbered as links times labels, and labels of one buffer are
// the first of them.
func (s *lanes) graph() *graph {
	nodes := s.arcs() * s.x.labels
	next := make([][]Arc, nodes)
	for node := range nodes {
		if !s.waits(node) {
			continue
		}
		from := s.buffer(node)
		s.each(node, func(to lane) {
			if to.label < 0 || s.x.lossy[to.label] {
				return
			}
			if b := Arc(s.buffer(s.x.node(to.out, to.label))); !slices.Contains(next[from], b) {
				next[from] = append(next[from], b)
			}
		})
	}
	g := &graph{from: make([]int, nodes), to: make([]int, nodes)}
	busy := make([]bool, nodes)
	for node := range nodes {
		if s.waits(node) && !busy[s.buffer(node)] {
			busy[s.buffer(node)] = true
			g.nodes++
		}
		g.from[node] = len(g.turns)
		slices.Sort(next[node])
		g.turns = append(g.turns, next[node]...)
		g.to[node] = len(g.turns)
	}
	return g
}

// waits says whether a buffer holds lossless traffic of this label.
func (s *lanes) waits(node int) bool {
	return !s.x.lossy[node%s.x.labels] && meet(s.carried.row(node), s.whole)
}

// buffer is the first label's node that waits in the same buffer.
func (s *lanes) buffer(node int) int {
	return node - node%s.x.labels + s.x.buffer[node%s.x.labels]
}

// lossy says whether some traffic is rewritten out of the lossless priorities.
func (s *lanes) lossy() bool {
	found := false
	look := func(to lane) { found = found || to.label < 0 || s.x.lossy[to.label] }
	s.begin(look)
	for node := range s.arcs() * s.x.labels {
		if s.waits(node) {
			s.each(node, look)
		}
	}
	return found
}

// all are the nodes of a graph, as the roots of a search.
func (g *graph) all() []Arc {
	roots := make([]Arc, len(g.from))
	for i := range roots {
		roots[i] = Arc(i)
	}
	return roots
}
