package depend

// components gives the strongly connected components with more than one node that can be reached from the roots, as the
// number of each node's component, and 0 for nodes in none (Tarjan, 1972, without recursion). No node turns to itself.
func (g *graph) components(roots []Arc) (component []int32, count int32) {
	n := len(g.from)
	component = make([]int32, n)
	index, low, position := make([]int32, n), make([]int32, n), make([]int32, n)
	open := make([]bool, n)
	var path, stack []Arc
	clock := int32(0)
	enter := func(a Arc) {
		clock++
		index[a], low[a], open[a] = clock, clock, true
		path, stack = append(path, a), append(stack, a)
	}
	for _, root := range roots {
		if index[root] != 0 {
			continue
		}
		enter(root)
		for len(path) > 0 {
			a := path[len(path)-1]
			b, more := g.next(a, int(position[a]))
			position[a]++
			switch {
			case more && index[b] == 0:
				enter(b)
			case more && open[b]:
				low[a] = min(low[a], index[b])
			case !more:
				path = path[:len(path)-1]
				if len(path) > 0 {
					parent := path[len(path)-1]
					low[parent] = min(low[parent], low[a])
				}
				if low[a] == index[a] {
					stack, count = g.close(a, stack, open, component, count)
				}
			}
		}
	}
	return component, count
}

// close takes a component off the stack, down to its first node.
func (g *graph) close(first Arc, stack []Arc, open []bool, component []int32, count int32) ([]Arc, int32) {
	if stack[len(stack)-1] == first {
		open[first] = false
		return stack[:len(stack)-1], count
	}
	count++
	for {
		a := stack[len(stack)-1]
		stack, open[a], component[a] = stack[:len(stack)-1], false, count
		if a == first {
			return stack, count
		}
	}
}

// shortest is a shortest cycle among those that the roots lead to; nil where there is none. Of several the one that begins
// at the lowest arc is taken.
func (g *graph) shortest(roots []Arc) []Arc {
	component, count := g.components(roots)
	if count == 0 {
		return nil
	}
	s := search{graph: g, component: component, parent: make([]Arc, len(component)), depth: make([]int, len(component))}
	var best []Arc
	for a := range Arc(len(component)) {
		if component[a] != 0 {
			if found := s.from(a, len(best)); found != nil {
				best = found
			}
			if len(best) == 2 {
				break // no cycle is shorter
			}
		}
	}
	return best
}

// search looks for cycles breadth first. It is used again for every start.
type search struct {
	*graph
	component []int32
	parent    []Arc
	depth     []int // from the start, which has 1; 0 for what was not reached
}

// from is the shortest cycle through start that is shorter than less, where less is not 0; nil where there is none.
func (s search) from(start Arc, less int) []Arc {
	queue := []Arc{start}
	s.depth[start] = 1
	defer func() {
		for _, a := range queue {
			s.depth[a] = 0
		}
	}()
	for i := 0; i < len(queue); i++ {
		a := queue[i]
		if less > 0 && s.depth[a] >= less {
			return nil
		}
		for k := 0; ; k++ {
			b, more := s.next(a, k)
			if !more {
				break
			}
			if b == start {
				return s.back(a)
			}
			if s.component[b] == s.component[start] && s.depth[b] == 0 {
				s.depth[b], s.parent[b] = s.depth[a]+1, a
				queue = append(queue, b)
			}
		}
	}
	return nil
}

// back is the way from the start to a.
func (s search) back(a Arc) []Arc {
	way := make([]Arc, s.depth[a])
	for i := len(way) - 1; i >= 0; i-- {
		way[i] = a
		a = s.parent[a]
	}
	return way
}
