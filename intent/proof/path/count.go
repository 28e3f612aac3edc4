package path

import (
	"cmp"
	"slices"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/depend"
	"github.com/weirfabric/weir/intent/diag"
)

// fit checks the ends of every two kinds against each other, with one end of each.
func (w *all) fit() {
	for i := range w.kinds {
		for j := range w.kinds {
			from, to := &w.ends[w.kinds[i].like], &w.ends[w.kinds[j].like]
			r := &report{arc: none}
			w.fitted(r, from, to)
			w.between[[2]int{i, j}] = r.breaks
		}
	}
	for i := range w.ends { // what is taken for granted, of every end and not of one for all
		e, r := &w.ends[i], &report{arc: none}
		w.begin(r, w.packets[e.data], e.End)
		w.end(r, w.packets[e.data], e.End)
		w.assumes.grant(r.assumes)
	}
}

// fitted checks all that Prove checks but the cables between switches.
func (w *all) fitted(r *report, from, to *ended) {
	k := w.sends(r, from.End, w.class)
	w.blocked(r)
	w.begin(r, k, from.End)
	w.end(r, k, to.End)
	w.receives(r, from.End, to.End, k)
	if cnp := w.answers(r, from.End, to.End, k); cnp != nil {
		w.begin(r, cnp, to.End)
		w.end(r, cnp, from.End)
	}
}

// answered says whether CNPs come back from ends of kind j to those of kind i.
func (w *all) answered(i, j int) bool {
	from, to := &w.ends[w.kinds[i].like], &w.ends[w.kinds[j].like]
	return w.answers(&report{arc: none}, from.End, to.End, w.packets[from.data]) != nil
}

// joined is how many pairs of two kinds cables join, each from the first kind to the second.
func (w *all) joined(i, j int) int {
	n := 0
	in := map[int]int{}
	for _, t := range w.kinds[j].switches {
		in[w.island[t]] += len(w.kinds[j].at[t])
	}
	for _, s := range w.kinds[i].switches {
		n += len(w.kinds[i].at[s]) * in[w.island[s]]
	}
	if i == j {
		n -= w.kinds[i].count
	}
	return n
}

// passing is which pairs of switches routes join over something, for each packet, and whether there are any.
type passing struct {
	sets [][]uint64 // by packet; nil: none
	any  bool
}

// over is the pairs whose routes pass a break that is asked for, or that have no route where stray is given.
func (w *all) over(hit func(*Break) bool, stray []uint64) passing {
	p := passing{sets: make([][]uint64, len(w.packets)), any: stray != nil}
	for i := range w.packets {
		var arcs []depend.Arc
		for b := range w.broken[i] {
			if hit(&w.broken[i][b].Break) {
				arcs = append(arcs, w.broken[i][b].arc)
			}
		}
		if arcs != nil {
			p.sets[i], p.any = w.bad(arcs), true
		}
		for j, word := range stray {
			if p.sets[i] == nil {
				p.sets[i] = make([]uint64, len(stray))
			}
			p.sets[i][j] |= word
		}
	}
	return p
}

// meets says whether a packet from one switch to another passes it.
func (w *all) meets(p passing, packet, s, t int) bool {
	if packet < 0 || p.sets[packet] == nil {
		return false
	}
	words := (len(w.targets) + 63) / 64
	to := w.target[t]
	return p.sets[packet][s*words+to/64]>>(to%64)&1 == 1
}

// touched counts the pairs that meet a break that is asked for: at their ends, or on the way there or back.
func (w *all) touched(hit func(*Break) bool, stray []uint64) int {
	p, n := w.over(hit, stray), 0
	for i := range w.kinds {
		for j := range w.kinds {
			if slices.ContainsFunc(w.between[[2]int{i, j}], func(b found) bool { return hit(&b.Break) }) {
				n += w.joined(i, j)
			} else if p.any {
				w.each(p, i, j, func(s, t int) bool {
					n += len(w.kinds[i].at[s]) * len(w.kinds[j].at[t])
					return true
				})
			}
		}
	}
	return n
}

// each visits the pairs of switches between which packets of two kinds, or their CNPs, pass it, until visit has enough.
func (w *all) each(p passing, i, j int, visit func(s, t int) bool) {
	data, cnp := w.ends[w.kinds[i].like].data, -1
	if w.answered(i, j) {
		cnp = w.ends[w.kinds[j].like].cnp
	}
	for _, s := range w.kinds[i].switches {
		for _, t := range w.kinds[j].switches {
			if s != t && (w.meets(p, data, s, t) || w.meets(p, cnp, t, s)) && !visit(s, t) {
				return
			}
		}
	}
}

// count fills in the breaks, and how many pairs there are and each of them touches.
func (w *all) count(out *All) {
	everywhere := &report{arc: none}
	alone := w.cabled(out, everywhere)
	for i := range w.kinds {
		for j := range w.kinds {
			out.Pairs += w.joined(i, j)
			out.Lossless += w.joined(i, j)
		}
	}
	out.Ends = len(w.ends) + len(w.direct)
	out.Unjoined = out.Ends*(out.Ends-1) - out.Pairs
	stray := w.everywhere(everywhere)
	out.Lossless -= w.touched(func(*Break) bool { return true }, stray)
	for _, j := range Join(breaksOf(everywhere.breaks)) {
		set := stray
		if stray != nil && j.Break.What != w.astray(w.f.Switches[0]).What {
			set = nil
		}
		j.Pairs = alone[j.Break.words()] + w.touched(j.Is, set)
		if cut := slices.ContainsFunc(w.cut.breaks, func(b found) bool { return j.Is(&b.Break) }); j.Pairs > 0 || cut {
			out.Breaks = append(out.Breaks, j)
		} else {
			out.Aside = append(out.Aside, j)
		}
	}
	slices.SortStableFunc(out.Breaks, func(a, b Joined) int {
		return cmp.Or(b.Pairs-a.Pairs, addr.Compare(a.Break.At, b.Break.At))
	})
	out.Aside = append(out.Aside, Join(breaksOf(w.aside.breaks))...)
}

func breaksOf(list []found) []Break {
	var out []Break
	for _, b := range list {
		out = append(out, b.Break)
	}
	return out
}

// cabled proves the NICs that are cabled to each other, and says how many pairs of them each kind of break touches.
func (w *all) cabled(out *All, r *report) map[words]int {
	touched := map[words]int{}
	for _, from := range w.direct {
		to := End{w.first(from)}
		if to.NIC.RoCE == 0 || to.NIC.Class != w.class {
			continue
		}
		path := w.Prove(from, to, w.class)
		out.Pairs++
		if path.Lossless {
			out.Lossless++
		}
		once := map[words]bool{}
		for _, b := range path.Breaks {
			r.add(b, b.Places)
			once[b.words()] = true
		}
		for kind := range once {
			touched[kind]++
		}
		w.assumes.grant(path.Assumes)
	}
	return touched
}

// everywhere collects each break at every address at which it is, and gives the pairs of switches without a route; nil where
// all have one.
func (w *all) everywhere(r *report) []uint64 {
	r.merge(w.cut.breaks)
	for i := range w.kinds {
		covered := map[words]bool{}
		for j := range w.kinds {
			w.members(r, i, j, covered)
		}
	}
	for i := range w.packets {
		r.merge(w.broken[i])
	}
	stray, lost := w.unrouted()
	for _, sw := range lost {
		r.add(w.astray(w.f.Switches[sw]), []diag.Pos{w.f.Intent.Routing.Policy.At})
	}
	if lost == nil {
		return nil
	}
	return stray
}

// members checks the ends of kind i against one of kind j, where that one and the first of kind i have breaks of other kinds
// than those that are covered.
func (w *all) members(r *report, i, j int, covered map[words]bool) {
	for _, first := range []bool{true, false} {
		key := [2]int{i, j}
		if !first {
			key = [2]int{j, i}
		}
		if w.joined(key[0], key[1]) == 0 {
			continue
		}
		more := false
		for _, b := range w.between[key] {
			more = more || !covered[b.words()]
			covered[b.words()] = true
		}
		if !more {
			continue
		}
		other := &w.ends[w.kinds[j].like]
		for e := range w.ends {
			if w.ends[e].kind != i {
				continue
			}
			if first {
				w.fitted(r, &w.ends[e], other)
			} else {
				w.fitted(r, other, &w.ends[e])
			}
		}
	}
}

// represent proves one pair of every two kinds, broken ones first.
func (w *all) represent(out *All) {
	stray, lost := w.unrouted()
	if lost == nil {
		stray = nil
	}
	p := w.over(func(*Break) bool { return true }, stray)
	var good []Path
	for i := range w.kinds {
		for j := range w.kinds {
			if len(out.Paths) == shown {
				return
			}
			from, to, ok := w.pair(p, i, j)
			if !ok {
				continue
			}
			if path := w.Prove(from, to, w.class); !path.Lossless {
				out.Paths = append(out.Paths, path)
			} else if len(good) < shown {
				good = append(good, path)
			}
		}
	}
	for _, e := range w.direct {
		good = append(good, w.Prove(e, End{w.first(e)}, w.class))
	}
	out.Paths = append(out.Paths, good[:min(len(good), shown-len(out.Paths))]...)
}

// pair is a pair of two kinds that stands for the others: a broken one where there is one, and else one at two switches
// where there is one.
func (w *all) pair(p passing, i, j int) (from, to End, ok bool) {
	a, b := w.kinds[i], w.kinds[j]
	best := 0
	consider := func(s, t, worth int) {
		x, y := a.at[s][0], b.at[t][0]
		if same := w.ends[x].Host == w.ends[y].Host; (same || x == y) && len(b.at[t]) > 1 {
			y = b.at[t][1] // of another host, as people expect
		}
		if x == y {
			return
		}
		if worth > best {
			from, to, ok, best = w.ends[x].End, w.ends[y].End, true, worth
		}
	}
	if p.any {
		w.each(p, i, j, func(s, t int) bool {
			consider(s, t, 3)
			return false
		})
	}
	for _, s := range a.switches {
		for _, t := range b.switches {
			if best > 1 {
				return from, to, ok
			}
			if s != t && w.island[s] == w.island[t] {
				consider(s, t, 2)
			} else if s == t {
				consider(s, t, 1)
			}
		}
	}
	return from, to, ok
}
