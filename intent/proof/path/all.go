package path

import (
	"slices"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/depend"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/proof"
	"github.com/weirfabric/weir/intent/qos"
)

// All is the proof for every pair of ends of a class. A pair has a direction: gpu1 to gpu2 and gpu2 to gpu1 are two.
//
// Nothing is left out by going over cables and kinds of ends in place of paths. A path is lossless where its first cable, its
// last, every cable between switches on any of its routes, and those of its CNPs are, and where its two ends fit each other
// (Prove goes through just these). What is found of a cable in one direction follows from the packet, the port that sends and
// the port that receives (link), and not from where the packet was before: the traffic class of a switch follows from the
// packet alone once its ports trust the DSCP, and a port that does not is a break itself. So each cable is checked once for
// each kind of packet. Whether two ends fit follows from the values of kind and outlook, so one pair stands for all pairs of
// these kinds. And a pair's routes pass a broken cable exactly if the tables lead from its first switch to its last over it,
// which bad works out for all switches at once.
type All struct {
	Class    string `json:"class"`
	Hosts    bool   `json:"hosts"`          // the ends are NICs; otherwise ports of switches, since the inventory has no hosts
	Ends     int    `json:"ends"`           // as Pairs are of
	Pairs    int    `json:"pairs"`          // joined by cables
	Lossless int    `json:"lossless_pairs"` // of Pairs
	Unjoined int    `json:"unjoined_pairs"` // not joined by cables: other planes or rails
	Switches int    `json:"switches"`       // gone through, as Links: cables between switches, each in both directions
	Links    int    `json:"links"`
	// Alike are the ends by what matters about them.
	Alike  []Alike  `json:"alike"`
	Breaks []Joined `json:"breaks"`
	// Aside are breaks of cables that no route uses while nothing is down.
	Aside     []Joined     `json:"aside"`
	Unmanaged []addr.Addr  `json:"unmanaged"` // NICs that no host profile selects: whether they send is unknown
	Assumes   []Assumption `json:"assumes"`
	Paths     []Path       `json:"-"` // one for each two kinds of ends, broken ones first
}

// Proven says whether the class is lossless between all of its ends, of which there are some.
func (a *All) Proven() bool { return a.Pairs > 0 && a.Lossless == a.Pairs && len(a.Breaks) == 0 }

// Alike are ends between which nothing makes a difference but where they are.
type Alike struct {
	Like   addr.Addr `json:"like"`
	Count  int       `json:"count"`
	Packet Packet    `json:"packet"`
	Speed  qos.Rate  `json:"speed_bits_per_second"`
	CNP    string    `json:"cnp"` // the class of CNPs; empty: none
	// Port is the port of a switch that Like is cabled to, and Headroom what it keeps.
	Port     addr.Addr `json:"port"`
	Headroom qos.Bytes `json:"headroom_bytes"`
}

// shown is how many paths stand for the pairs.
const shown = 16

// Classes are those that some NIC sends RoCE in or, without hosts in the inventory, the lossless ones.
func (p *Prover) Classes() []string {
	var out []string
	for _, c := range p.f.Classes {
		sent := len(p.f.Hosts) == 0 && c.Lossless
		for _, h := range p.f.Hosts {
			sent = sent || slices.ContainsFunc(h.NICs, func(n *fabric.NIC) bool { return n.RoCE != 0 && n.Class == c.Name })
		}
		if sent {
			out = append(out, c.Name)
		}
	}
	return out
}

// all is the work on every pair of one class.
type all struct {
	*Prover
	ends    []ended
	kinds   []kind
	packets []*packet // all that are sent, data and CNPs; equal ones once
	targets []int     // the switches with ends, which are the destinations of the tables
	target  []int     // by switch: its place in targets
	next    *depend.Tables
	used    []bool             // by arc: some route passes it
	broken  [][]found          // by packet: what is wrong with cables between switches that some route passes
	aside   report             // what is wrong with the others
	between map[[2]int][]found // by two kinds: what is wrong with the ends, the first sending
	assumes report
	direct  []End  // cabled to another NIC
	cut     report // ends without a cable
	class   string
}

// ended is an end with its switch and the packets that it sends, as places in packets; none is -1.
type ended struct {
	End
	sw, kind, data, cnp int
}

// All proves a class between all of its ends.
func (p *Prover) All(class string) All {
	c := p.f.Class(class)
	out := All{Class: class, Hosts: len(p.f.Hosts) > 0, Alike: []Alike{}, Breaks: []Joined{}, Aside: []Joined{}, Unmanaged: []addr.Addr{}, Assumes: []Assumption{}}
	if c == nil {
		return out
	}
	w := &all{Prover: p, class: class, between: map[[2]int][]found{}, cut: report{arc: none}}
	w.gather(&out, c)
	w.alike()
	w.traffic()
	w.check()
	w.fit()
	w.count(&out)
	w.represent(&out)
	for _, k := range w.kinds {
		out.Alike = append(out.Alike, w.describe(k))
	}
	out.Switches, out.Links, out.Assumes = len(w.arcs), len(w.links), append(out.Assumes, w.assumes.assumes...)
	return out
}

// gather finds the ends of the class. An end without a cable is a break; the pairs are those of the others.
func (w *all) gather(out *All, c *fabric.Class) {
	add := func(e End) {
		first := w.first(e)
		switch {
		case first.Switch != nil:
			w.ends = append(w.ends, ended{End: e, sw: w.index[first.Switch], data: -1, cnp: -1})
		case first.NIC != nil:
			w.direct = append(w.direct, e)
		default:
			w.cut.add(loose(e), e.written())
		}
	}
	for _, h := range w.f.Hosts {
		for _, n := range h.NICs {
			switch e := (End{fabric.End{Host: h, NIC: n}}); {
			case n.RoCE == 0:
				out.Unmanaged = append(out.Unmanaged, e.Address())
			case n.Class == c.Name:
				add(e)
			}
		}
	}
	if len(w.f.Hosts) == 0 {
		for _, e := range w.edge() {
			add(e)
		}
	}
}

// edge are the ends of a fabric without hosts: the ports of the lowest switches that no cable of the inventory leads to, and
// where there are none the switch itself.
func (p *Prover) edge() []End {
	var out []End
	lowest := proof.LowestRank(p.network)
	for i, sw := range p.f.Switches {
		if p.network.Switches[i].Rank != lowest {
			continue
		}
		before := len(out)
		for _, port := range sw.Ports {
			if port.Peer == nil {
				out = append(out, End{fabric.End{Switch: sw, Port: port}})
			}
		}
		if len(out) == before {
			out = append(out, End{fabric.End{Switch: sw}})
		}
	}
	return out
}

// traffic makes the tables to all switches with ends, and finds the cables that traffic passes.
func (w *all) traffic() {
	w.target = make([]int, len(w.arcs))
	for i := range w.target {
		w.target[i] = -1
	}
	for _, e := range w.ends {
		if w.target[e.sw] < 0 {
			w.target[e.sw] = len(w.targets)
			w.targets = append(w.targets, e.sw)
		}
	}
	w.next = w.tables(w.targets)
	w.used = make([]bool, 2*len(w.links))
	words := (len(w.targets) + 63) / 64
	here := make([]uint64, words*len(w.arcs)) // by switch: the destinations of traffic that comes there
	queue := slices.Clone(w.targets)
	for _, sw := range w.targets {
		for t := range w.targets {
			here[sw*words+t/64] |= 1 << (t % 64)
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		u := queue[0]
		for _, a := range w.arcs[u] {
			v, grown := w.network.Head(a), uint64(0)
			for i, over := range w.next.Over(a) {
				over &= here[u*words+i]
				w.used[a] = w.used[a] || over != 0
				grown |= over &^ here[v*words+i]
				here[v*words+i] |= over
			}
			if grown != 0 {
				queue = append(queue, v)
			}
		}
	}
}

// check goes over every cable between switches, in both directions, for every packet.
func (w *all) check() {
	w.broken = make([][]found, len(w.packets))
	for i, k := range w.packets {
		for a := range depend.Arc(2 * len(w.links)) {
			r := report{arc: a, answers: k.answer}
			w.link(&r, k, w.tail(a), w.head(a))
			if w.used[a] {
				w.broken[i] = append(w.broken[i], r.breaks...)
				w.assumes.grant(r.assumes)
			} else {
				w.aside.merge(r.breaks)
			}
		}
	}
}

// bad is, for every switch, the destinations to which some route leads over one of the arcs.
func (w *all) bad(arcs []depend.Arc) []uint64 {
	words := (len(w.targets) + 63) / 64
	bad := make([]uint64, words*len(w.arcs))
	var queue []int
	queued := make([]bool, len(w.arcs))
	grow := func(a depend.Arc, to func(i int) uint64) {
		u, grown := w.network.Tail(a), false
		for i, over := range w.next.Over(a) {
			more := over & to(i) &^ bad[u*words+i]
			bad[u*words+i] |= more
			grown = grown || more != 0
		}
		if grown && !queued[u] {
			queued[u] = true
			queue = append(queue, u)
		}
	}
	for _, a := range arcs {
		grow(a, func(int) uint64 { return ^uint64(0) })
	}
	for ; len(queue) > 0; queue = queue[1:] {
		v := queue[0]
		queued[v] = false
		for _, back := range w.arcs[v] {
			grow(back.Reverse(), func(i int) uint64 { return bad[v*words+i] })
		}
	}
	return bad
}

// unrouted is, for every switch, the destinations that cables lead to and the policy does not, and the switches with any.
func (w *all) unrouted() (set []uint64, from []int) {
	words := (len(w.targets) + 63) / 64
	set = make([]uint64, words*len(w.arcs))
	for _, s := range w.targets {
		for t, sw := range w.targets {
			if sw != s && w.island[sw] == w.island[s] {
				set[s*words+t/64] |= 1 << (t % 64)
			}
		}
		for _, a := range w.arcs[s] {
			for i, over := range w.next.Over(a) {
				set[s*words+i] &^= over
			}
		}
		if slices.ContainsFunc(set[s*words:][:words], func(word uint64) bool { return word != 0 }) {
			from = append(from, s)
		}
	}
	return set, from
}
