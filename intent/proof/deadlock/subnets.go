package deadlock

import (
	"fmt"
	"slices"

	"github.com/weirfabric/weir/intent/depend"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/inventory"
)

// SubnetDependencies is the input of the proof for an InfiniBand subnet, as its subnet manager dumped it.
func SubnetDependencies(s *depend.Subnet) Dependencies {
	q := s.Question()
	lanes := "service levels and virtual lanes: the dump has none, so that every link is taken to have one lane"
	if s.Virtual != nil {
		lanes = "service levels other than those of the dump"
	}
	return Dependencies{
		Network: s.Network, States: q.States, Virtual: s.Virtual, Routed: true, Priorities: qos.Priorities(0), Ranks: "the distance from the hosts",
		Ends: "the LIDs of hosts and routers",
		NotCovered: []string{
			lanes,
			"routes after a failure: the subnet manager works them out anew, and the dump does not say which; dump again",
			"ways over routers to other subnets: write a document of kind Subnets, and weir check looks at them",
		},
	}
}

// ProveSubnets proves the InfiniBand subnets of an inventory and the routers between them.
func ProveSubnets(ib inventory.InfiniBand) (depend.Interchange, error) {
	return interconnect(ib).Prove()
}

// perLevel is how many switches stand for each level of a subnet in the proof: two, so that traffic between switches of the
// lowest level goes over the top, and routers have neighbours that they are not plugged into.
const perLevel = 2

// interconnect is the input of the proof for the InfiniBand subnets of an inventory. Of a subnet only its levels are known: in
// the proof each is two switches, cabled to both of the next level, and routes go up and then down. A router is plugged into the
// first switch of its level.
func interconnect(ib inventory.InfiniBand) depend.Interconnect {
	var out depend.Interconnect
	levels := map[string][]string{}
	for _, s := range ib.Subnets {
		levels[s.Name] = s.Levels
		n := &depend.Network{}
		for rank, level := range s.Levels {
			for i := range perLevel {
				at := len(n.Switches)
				n.Switches = append(n.Switches, depend.Switch{Name: fmt.Sprintf("%s%d", level, i+1), Rank: rank + 1, Ends: rank == 0})
				for below := range perLevel * min(rank, 1) {
					n.Links = append(n.Links, depend.Link{A: (rank-1)*perLevel + below, B: at})
				}
				if rank == 0 {
					n.Destinations = append(n.Destinations, depend.Destination{Name: n.Switches[at].Name, At: []int{at}})
				}
			}
		}
		if len(s.Levels) == 1 { // one switch is all
			n.Switches, n.Destinations = n.Switches[:1], n.Destinations[:1]
			n.Switches[0].Name, n.Destinations[0].Name = s.Levels[0], s.Levels[0]
		}
		out.Subnets = append(out.Subnets, depend.Part{Name: s.Name, Network: n, Policy: depend.UpDown})
	}
	for _, r := range ib.Routers {
		g := depend.Gateway{Name: r.Name}
		for _, j := range r.Joins {
			g.Joins = append(g.Joins, depend.Join{Subnet: j.Subnet, Switch: perLevel * slices.Index(levels[j.Subnet], j.Level)})
		}
		out.Routers = append(out.Routers, g)
	}
	for _, t := range ib.Talk {
		out.Talk = append(out.Talk, [2]string{t.A, t.B})
	}
	return out
}
