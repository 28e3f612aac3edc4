package depend

import "slices"

// Valley finds the switch at which a path that has gone down turns up again, by the ranks of its switches: such paths, taken
// together, can make a credit loop. It is -1 where the path goes up and then down. Hops between equal ranks count as neither.
func Valley(ranks []int) int {
	fell := false
	for i := 1; i < len(ranks); i++ {
		if ranks[i] > ranks[i-1] && fell {
			return i - 1
		}
		fell = fell || ranks[i] < ranks[i-1]
	}
	return -1
}

// Router is an InfiniBand router and the subnets that it joins.
type Router struct {
	Name    string
	Subnets []string
}

// Crossing is how traffic gets from one subnet to another: Via alternates subnets and routers, and begins and ends with the
// two. It is empty where no way leads there.
type Crossing struct {
	From, To string
	Via      []string
}

// SingleHop says whether one router joins the two subnets, as InfiniBand routers need it: they route a single hop only.
func (c Crossing) SingleHop() bool { return len(c.Via) == 3 }

// Cross finds the way with the fewest routers between two subnets.
func Cross(routers []Router, from, to string) Crossing {
	via := map[string][]string{from: {from}}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		here := queue[0]
		if here == to {
			return Crossing{from, to, via[to]}
		}
		for _, r := range routers {
			if !slices.Contains(r.Subnets, here) {
				continue
			}
			for _, next := range r.Subnets {
				if via[next] == nil {
					via[next] = append(slices.Clone(via[here]), r.Name, next)
					queue = append(queue, next)
				}
			}
		}
	}
	return Crossing{From: from, To: to}
}
