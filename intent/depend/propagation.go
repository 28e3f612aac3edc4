package depend

import "slices"

// path is one AS path that a switch may have chosen: how many ASes are on it, those of them that may matter, and whether it was
// learned from above or from the side.
type path struct {
	length int
	ases   int // its number in the list of the propagation
	above  bool
}

// speaker is what one switch knows of one route.
type speaker struct {
	paths  []path // those that it may have chosen, the shortest first
	sure   int    // the length at which it is certain to have chosen one; -1: at none
	due    int    // that length, once it is known and other paths as long may still come
	origin bool
}

// propagation works out routes by a plan, one after the other.
type propagation struct {
	*layout
	plan    *Plan
	dead    failure
	session []bool // by arc: routes are told over it
	shared  []bool // by switch: others have its AS too
	as      []int  // by switch: the number of its AS
	// lists are ASes, each as often as it is on a path, in rising order. On most paths only those matter that several switches
	// have: a path over a switch whose AS is its own is longer than the one that this switch has itself.
	lists  [][]int
	longer map[[2]int]int // a list and an AS: the list with the AS
	known  []speaker
	has    []bool
	queued []int // the last length at which a switch learned a path
	met    []int // the switches to forget before the next route

	frontier, next, certain []int // of learn, to be used again
}

func (b *Plan) propagation(l *layout, dead failure) *propagation {
	n := len(b.AS)
	s := &propagation{
		layout: l, plan: b, dead: dead, session: make([]bool, l.arcs()), shared: make([]bool, n), as: make([]int, n), lists: [][]int{nil}, longer: map[[2]int]int{},
		known: make([]speaker, n), has: make([]bool, n), queued: make([]int, n),
	}
	number, many := map[uint32]int{}, map[uint32]int{}
	for sw, as := range b.AS {
		if many[as]++; many[as] == 1 {
			number[as] = len(number)
		}
		s.as[sw], s.known[sw].sure = number[as], -1
	}
	for sw, as := range b.AS {
		s.shared[sw] = many[as] > 1
	}
	for a := range Arc(l.arcs()) {
		s.session[a] = s.as[l.tail[a]] != s.as[l.head[a]] && !dead.has(l, a)
	}
	return s
}

// learn gives the next hops of every switch for one route to visit, and says which switches have it, until the next route.
// Each switch takes the shortest path, in ASes, that it is told and that its own AS is not in, every neighbour that tells it
// one as short is a next hop, and it tells its own neighbours one of these paths. Which one depends on what came first, so
// every one is reckoned with: a switch that some choices leave without a path goes on to the longer ones. What comes out are
// the next hops of every outcome; where all paths of one length are through the same ASes, as in a plan by tiers, there is only
// one. An outcome is reached from any beginning, since every path is longer than the one that it continues.
func (s *propagation) learn(origins []int, hides func(sw int) bool, visit func(Arc)) (has []bool) {
	s.forget()
	frontier, next, certain := s.frontier[:0], s.next, s.certain
	for _, v := range origins {
		if !s.dead.hasSwitch(v) && !s.known[v].origin {
			s.known[v].paths, s.known[v].origin, s.has[v] = append(s.known[v].paths, path{}), true, true
			frontier, s.met = append(frontier, v), append(s.met, v)
		}
	}
	for length := 1; len(frontier) > 0; length++ {
		next, certain = next[:0], certain[:0]
		for _, v := range frontier {
			if hides(v) {
				continue
			}
			for _, back := range s.out[v] {
				a := back.Reverse() // the neighbour sends to v over it
				u := int(s.tail[a])
				if to := &s.known[u]; to.origin || to.sure >= 0 || !s.session[a] || !s.pass(a, length) {
					continue
				}
				visit(a)
				if s.queued[u] != length {
					s.queued[u], s.has[u] = length, true
					next, s.met = append(next, u), append(s.met, u)
				}
				if s.known[u].due != length && s.all(a, length) {
					s.known[u].due = length
					certain = append(certain, u)
				}
			}
		}
		for _, u := range certain {
			s.known[u].sure = length
		}
		frontier, next = next, frontier
	}
	s.frontier, s.next, s.certain = frontier, next, certain
	return s.has
}

// forget clears what the last route left.
func (s *propagation) forget() {
	for _, sw := range s.met {
		s.known[sw] = speaker{paths: s.known[sw].paths[:0], sure: -1}
		s.has[sw], s.queued[sw] = false, 0
	}
	s.met = s.met[:0]
}

// accepts says whether the tail of an arc takes a path that its head tells it.
func (s *propagation) accepts(a Arc, via path) bool {
	u, v := int(s.tail[a]), int(s.head[a])
	if via.above && s.direction[a] != Up && slices.Contains(s.plan.NoExportUp, v) {
		return false
	}
	own := 0
	for _, as := range s.lists[via.ases] {
		if as == s.as[u] {
			own++
		}
	}
	return own <= s.plan.allow(u)
}

// pass adds the paths of a length that the head of an arc may tell its tail, and says whether there were any.
func (s *propagation) pass(a Arc, length int) bool {
	v := int(s.head[a])
	from, to, some := &s.known[v], &s.known[s.tail[a]], false
	for _, via := range from.paths {
		if via.length != length-1 || !s.accepts(a, via) {
			continue
		}
		some = true
		more := path{length, via.ases, s.direction[a] != Down}
		if s.shared[v] || from.sure < 0 && !from.origin {
			more.ases = s.with(via.ases, s.as[v])
		}
		if !slices.Contains(to.paths, more) {
			to.paths = append(to.paths, more)
		}
	}
	return some
}

// all says whether the tail of an arc is certain to be told a path: its head has chosen one, and whichever that is, the tail
// takes it.
func (s *propagation) all(a Arc, length int) bool {
	from := &s.known[s.head[a]]
	if !from.origin && (from.sure < 0 || from.sure >= length) {
		return false
	}
	return !slices.ContainsFunc(from.paths, func(via path) bool { return !s.accepts(a, via) })
}

// with is the number of a list and one AS more.
func (s *propagation) with(list, as int) int {
	key := [2]int{list, as}
	if number, ok := s.longer[key]; ok {
		return number
	}
	at, _ := slices.BinarySearch(s.lists[list], as)
	more := slices.Insert(slices.Clone(s.lists[list]), at, as)
	number := slices.IndexFunc(s.lists, func(l []int) bool { return slices.Equal(l, more) })
	if number < 0 {
		number = len(s.lists)
		s.lists = append(s.lists, more)
	}
	s.longer[key] = number
	return number
}
