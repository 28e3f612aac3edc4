package depend

import "slices"

// router is an InfiniBand router and the subnets that it joins.
type router struct {
	name    string
	subnets []string
}

// hops is the way with the fewest routers between two subnets: subnets and routers in turn, beginning and ending with the two.
// It is nil where no way leads there.
func hops(routers []router, from, to string) []string {
	via := map[string][]string{from: {from}}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		here := queue[0]
		if here == to {
			return via[to]
		}
		for _, r := range routers {
			if !slices.Contains(r.subnets, here) {
				continue
			}
			for _, next := range r.subnets {
				if via[next] == nil {
					via[next] = append(slices.Clone(via[here]), r.name, next)
					queue = append(queue, next)
				}
			}
		}
	}
	return nil
}
