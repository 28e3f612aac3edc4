package health

import (
	"fmt"
	"slices"

	"github.com/weirfabric/weir/intent/diag"
)

// deadlock judges nodes that wait for each other: where all are stopped for good, none of them drains.
func (j *judge) deadlock(circle []node, graph map[node]paused) {
	first := circle[0]
	names := make([]string, len(circle))
	worst := graph[first]
	for i, n := range circle {
		names[i] = n.port.String()
		if graph[n].share < j.policy.Storm {
			return // they wait in turn, and drain
		}
	}
	v := about(Deadlock, first.port, first.priority, diag.Error, fmt.Sprintf("%d ports wait for each other in a circle and none drains: %s", len(circle), some(names)))
	v.Estimate = worst.estimated
	j.add(v, worst.reading)
}

// circles are the sets of nodes of which each waits for each other (strongly connected components of two nodes or more, by
// Tarjan's algorithm), their nodes in order. Its depth is bounded by the number of stopped ports.
func circles(nodes []node, next map[node][]node) [][]node {
	t := &tarjan{next: next, index: map[node]int{}, low: map[node]int{}, on: map[node]bool{}}
	for _, n := range nodes {
		if _, seen := t.index[n]; !seen {
			t.visit(n)
		}
	}
	return t.found
}

type tarjan struct {
	next       map[node][]node
	index, low map[node]int
	on         map[node]bool
	stack      []node
	found      [][]node
}

func (t *tarjan) visit(n node) {
	t.index[n] = len(t.index)
	t.low[n] = t.index[n]
	t.stack = append(t.stack, n)
	t.on[n] = true
	for _, m := range t.next[n] {
		if _, seen := t.index[m]; !seen {
			t.visit(m)
			t.low[n] = min(t.low[n], t.low[m])
		} else if t.on[m] {
			t.low[n] = min(t.low[n], t.index[m])
		}
	}
	if t.low[n] != t.index[n] {
		return
	}
	var circle []node
	for {
		last := t.stack[len(t.stack)-1]
		t.stack = t.stack[:len(t.stack)-1]
		t.on[last] = false
		circle = append(circle, last)
		if last == n {
			break
		}
	}
	if len(circle) > 1 {
		slices.SortFunc(circle, compareNodes)
		t.found = append(t.found, circle)
	}
}
