package depend

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// orbits are sets of switches, and of links, that symmetries of the network map to each other.
//
// A symmetry is a permutation of the switches that keeps ranks, hosts, destinations and the number of links between any two.
// Where routes follow from these alone, as shortest paths with all equal ways do, a state and its image under a symmetry s have
// the same answer. The tables of the image are the images of the tables: a way is as long as its image, so u sends d over a in
// the one exactly if s(u) sends s(d) over s(a) in the other. The healthy network is its own image, so the same holds for
// mixtures, for where traffic comes to and for turns, and a cycle is mapped to a cycle. One state of each orbit is enough.
//
// Two orbits are joined only by symmetries that were checked, link by link, so they are joined rightly. What the search
// overlooks leaves more orbits than there are, never fewer.
type orbits struct {
	*layout
	parent []int        // of switches and, behind them, links
	fixed  map[int]int  // switches that no symmetry moves
	apart  map[int]bool // links that no symmetry moves to one beside it
	kinds  []string     // by switch: what a symmetry keeps of it by itself
	of     []int        // by switch: its class. The switches of a class have the same neighbours, and change places freely
	class  [][]int
	near   []map[int]int // by class: how many links lead to each switch of another
}

// maxFailed is how many attempts to find a symmetry may fail before the search ends: some networks look alike everywhere and
// have none.
const maxFailed = 100

// orbitsOf works out orbits of a network's switches and links, under symmetries that keep one failure where it is.
func orbitsOf(l *layout, keep failure) *orbits {
	o := &orbits{layout: l, parent: make([]int, len(l.Switches)+len(l.Links)), fixed: map[int]int{}, apart: map[int]bool{}}
	for i := range o.parent {
		o.parent[i] = i
	}
	fix := func(sw int) {
		if o.fixed[sw] == 0 {
			o.fixed[sw] = len(o.fixed) + 1
		}
	}
	for _, sw := range keep.switches {
		fix(sw)
	}
	for _, link := range keep.links {
		o.apart[link] = true
		fix(l.Links[link].A)
		fix(l.Links[link].B)
	}
	o.paint(fix)
	o.classes()
	o.search()
	return o
}

// paint gives every switch its kind. Switches of a destination at several places, or with traffic from some switches only, stay
// where they are: such a destination is mapped to itself, and of the others there are only so many at each switch.
func (o *orbits) paint(fix func(int)) {
	here := make([]int, len(o.Switches))
	for _, d := range o.Destinations {
		if len(d.At) == 1 && d.From == nil {
			here[d.At[0]]++
			continue
		}
		for _, sw := range slices.Concat(d.At, d.From) {
			fix(sw)
		}
	}
	for i, s := range o.Switches {
		o.kinds = append(o.kinds, fmt.Sprint(s.Rank, s.Ends, here[i], o.fixed[i]))
	}
}

func (o *orbits) find(i int) int {
	for o.parent[i] != i {
		o.parent[i] = o.parent[o.parent[i]]
		i = o.parent[i]
	}
	return i
}

func (o *orbits) union(i, j int) {
	i, j = o.find(i), o.find(j)
	o.parent[max(i, j)] = min(i, j)
}

// classes puts switches of one kind with the same neighbours together. To let two of them change places is a symmetry, and so
// is to let two links between the same switches: all links between two classes are in one orbit.
func (o *orbits) classes() {
	byNeighbours := map[string][]int{}
	for sw := range o.Switches {
		count := map[int]int{}
		for _, a := range o.out[sw] {
			count[int(o.head[a])]++
		}
		var b strings.Builder
		b.WriteString(o.kinds[sw])
		for _, v := range slices.Sorted(maps.Keys(count)) {
			fmt.Fprintf(&b, ",%d:%d", v, count[v])
		}
		byNeighbours[b.String()] = append(byNeighbours[b.String()], sw)
	}
	o.class = slices.SortedFunc(maps.Values(byNeighbours), func(a, b []int) int { return cmp.Compare(a[0], b[0]) })
	o.of, o.near = make([]int, len(o.Switches)), make([]map[int]int, len(o.class))
	for c, switches := range o.class {
		for _, sw := range switches {
			o.of[sw] = c
			o.union(switches[0], sw)
		}
	}
	first := map[[2]int]int{}
	for c, switches := range o.class {
		o.near[c] = map[int]int{}
		for _, a := range o.out[switches[0]] {
			o.near[c][o.of[o.head[a]]]++
		}
		for e := range o.near[c] {
			o.near[c][e] /= len(o.class[e]) // every switch of c has as many links to each of e
		}
	}
	for i, link := range o.Links {
		if o.apart[i] {
			continue
		}
		key := o.pair(o.of[link.A], o.of[link.B])
		if other, ok := first[key]; ok {
			o.union(len(o.Switches)+other, len(o.Switches)+i)
		} else {
			first[key] = i
		}
	}
}

func (o *orbits) pair(c, e int) [2]int { return [2]int{min(c, e), max(c, e)} }

// search looks for symmetries that map a class to another, and a pair of neighbouring classes to another.
func (o *orbits) search() {
	links := map[[2]int]int{} // by pair of classes: one of the links between them that may be moved
	for i, link := range o.Links {
		if key := o.pair(o.of[link.A], o.of[link.B]); !o.apart[i] {
			if _, ok := links[key]; !ok {
				links[key] = i
			}
		}
	}
	join := func(move []int) {
		for c, e := range move {
			o.union(o.class[c][0], o.class[e][0])
		}
		for key, link := range links {
			if other, ok := links[o.pair(move[key[0]], move[key[1]])]; ok {
				o.union(len(o.Switches)+link, len(o.Switches)+other)
			}
		}
	}
	color := o.refine(make([][]int, 1), nil)[0]
	failed := 0
	try := func(from, to []int) {
		if failed >= maxFailed {
			return
		}
		if move := o.symmetry(from, to); move != nil {
			join(move)
		} else {
			failed++
		}
	}
	leaders := map[int]int{} // by color: its first class
	for c := range o.class {
		lead, ok := leaders[color[c]]
		if !ok {
			leaders[color[c]] = c
		} else if o.find(o.class[lead][0]) != o.find(o.class[c][0]) {
			try([]int{lead}, []int{c})
		}
	}
	pairs := map[[2]int][2]int{} // by colors: the first pair
	for _, key := range slices.SortedFunc(maps.Keys(links), func(a, b [2]int) int { return cmp.Or(a[0]-b[0], a[1]-b[1]) }) {
		c, e := key[0], key[1]
		if color[c] > color[e] {
			c, e = e, c
		}
		lead, ok := pairs[[2]int{color[c], color[e]}]
		if !ok {
			pairs[[2]int{color[c], color[e]}] = [2]int{c, e}
		} else if o.find(len(o.Switches)+links[o.pair(lead[0], lead[1])]) != o.find(len(o.Switches)+links[key]) {
			try(lead[:], []int{c, e})
		}
	}
}

// refine colors the classes of several copies of the network alike where nothing tells them apart: by kind, by the mark that
// they have in their copy, and by the colors of their neighbours, until no color splits.
func (o *orbits) refine(copies [][]int, marks []map[int]int) [][]int {
	words := map[string]int{}
	paint := func(word func(i, c int) string) int {
		var all []string
		text := make([][]string, len(copies))
		for i := range copies {
			for c := range o.class {
				text[i] = append(text[i], word(i, c))
			}
			all = append(all, text[i]...)
		}
		slices.Sort(all)
		clear(words)
		for _, w := range slices.Compact(all) {
			words[w] = len(words)
		}
		for i := range copies {
			copies[i] = make([]int, len(o.class))
			for c := range o.class {
				copies[i][c] = words[text[i][c]]
			}
		}
		return len(words)
	}
	colors := paint(func(i, c int) string {
		mark := 0
		if marks != nil {
			mark = marks[i][c]
		}
		return fmt.Sprint(o.kinds[o.class[c][0]], len(o.class[c]), mark)
	})
	for before := 0; colors > before; {
		before = colors
		old := slices.Clone(copies)
		colors = paint(func(i, c int) string {
			neighbours := make([]int, 0, len(o.near[c])+1)
			for e, links := range o.near[c] {
				neighbours = append(neighbours, old[i][e]*(len(o.Links)+1)+links)
			}
			slices.Sort(neighbours)
			return string(appendInts(nil, append([]int{old[i][c]}, neighbours...)))
		})
	}
	return copies
}

// appendInts writes numbers so that equal lists, and no others, are equal text.
func appendInts(b []byte, list []int) []byte {
	for _, n := range list {
		b = fmt.Appendf(b, "%d,", n)
	}
	return b
}

// symmetry looks for a symmetry that maps some classes to others: it marks both in a copy each, refines, and matches classes of
// one color, each with itself where it can. Where that is none it marks one more pair. It gives the image of every class, or
// nil where it finds none.
func (o *orbits) symmetry(from, to []int) []int {
	marks := []map[int]int{{}, {}}
	for i := range from {
		marks[0][from[i]], marks[1][to[i]] = i+1, i+1
	}
	for range o.class {
		copies := o.refine(make([][]int, 2), marks)
		move, open := o.match(copies)
		if move == nil {
			return nil
		}
		if o.holds(move) {
			return move
		}
		if open < 0 {
			return nil
		}
		mark := len(marks[0]) + 1
		marks[0][open], marks[1][move[open]] = mark, mark
	}
	return nil
}

// match maps the classes of each color in the first copy to those of the second; open is one whose image was a choice, or -1.
func (o *orbits) match(copies [][]int) (move []int, open int) {
	cells := [2]map[int][]int{{}, {}}
	for i := range cells {
		for c, color := range copies[i] {
			cells[i][color] = append(cells[i][color], c)
		}
	}
	move, open = make([]int, len(o.class)), -1
	for color, list := range cells[0] {
		if len(list) != len(cells[1][color]) {
			return nil, -1
		}
	}
	for _, color := range slices.Sorted(maps.Keys(cells[0])) {
		var left, free []int
		for _, c := range cells[0][color] {
			if copies[1][c] == color {
				move[c] = c
			} else {
				left = append(left, c)
			}
		}
		for _, c := range cells[1][color] {
			if copies[0][c] != color {
				free = append(free, c)
			}
		}
		for i, c := range left {
			move[c] = free[i]
		}
		if open < 0 && len(cells[0][color]) > 1 {
			open = cells[0][color][0]
			if len(left) > 0 {
				open = left[0]
			}
		}
	}
	return move, open
}

// holds checks a symmetry: kinds, sizes and links.
func (o *orbits) holds(move []int) bool {
	seen := make([]bool, len(move))
	for c, e := range move {
		if seen[e] || o.kinds[o.class[c][0]] != o.kinds[o.class[e][0]] || len(o.class[c]) != len(o.class[e]) || len(o.near[c]) != len(o.near[e]) {
			return false
		}
		seen[e] = true
		for d, links := range o.near[c] {
			if o.near[e][move[d]] != links {
				return false
			}
		}
	}
	return true
}

// symmetric says whether routes follow from the network alone, so that states that it makes alike have one answer.
func (q Question) symmetric() bool {
	return q.Symmetry && q.Policy == ShortestPath && !q.extras()
}
