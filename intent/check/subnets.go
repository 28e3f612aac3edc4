package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weirfabric/weir/intent/depend"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/inventory"
)

// perLevel is how many switches stand for each level of a subnet in the proof: two, so that traffic between switches of the
// lowest level goes over the top, and routers have neighbours that they are not plugged into.
const perLevel = 2

// Interconnect is the input of the proof for the InfiniBand subnets of an inventory. Of a subnet only its levels are known: in
// the proof each is two switches, cabled to both of the next level, and routes go up and then down. A router is plugged into the
// first switch of its level.
func Interconnect(ib inventory.InfiniBand) depend.Interconnect {
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

// subnets says which pairs of InfiniBand subnets cannot talk, or only over a way that turns down and then up, and whether their
// traffic together has a credit loop.
func subnets(f *fabric.Fabric) diag.List {
	ib := f.Inventory.InfiniBand
	if len(ib.Subnets) == 0 {
		return nil
	}
	x, err := Interconnect(ib).Prove()
	if err != nil {
		return diag.List{finding(diag.Error, "no proof: "+err.Error(), "", []diag.Pos{ib.Subnets[0].At})}
	}
	var out diag.List
	for i, t := range ib.Talk {
		out = append(out, talk(ib, t, x.Reaches[2*i])...) // the way back is the same one
	}
	if x.Verdict.Cycle != nil && len(out) == 0 {
		out.Add(creditLoop(ib, x))
	}
	return out
}

// talk is about one pair.
func talk(ib inventory.InfiniBand, t inventory.Talk, r depend.Reach) (l diag.List) {
	switch {
	case t.A == t.B:
	case len(r.Via) == 0:
		l.Add(finding(diag.Error, fmt.Sprintf("subnets %s and %s talk, and no router joins them", t.A, t.B), "Plug a router into both.", []diag.Pos{t.At}))
	case !r.SingleHop():
		l.Add(finding(diag.Error, fmt.Sprintf("subnets %s and %s talk, and no router joins both: the way is %s", t.A, t.B, strings.Join(r.Via, " > ")),
			"InfiniBand routers forward over a single hop only. Plug a router into both subnets.", []diag.Pos{t.At}))
	case len(r.Unrouted) > 0:
		l.Add(finding(diag.Error, fmt.Sprintf("subnets %s and %s talk, and no routes lead there from, or to: %s", t.A, t.B, strings.Join(r.Unrouted, ", ")),
			"Routes inside a subnet go up and then down.", []diag.Pos{t.At}))
	}
	for _, v := range r.Valleys {
		l.Add(finding(diag.Error, fmt.Sprintf("traffic between subnets %s and %s goes down and then up again at %s: %s", t.A, t.B, v.At, strings.Join(v.Path, " > ")),
			"Ways that turn up again after they went down can wait for each other in a circle, a credit loop. Plug the router into the top level of at least one of the two subnets, so that it stands above it: "+
				"routers on top of all subnets, or on top of one common subnet and below the others.",
			[]diag.Pos{t.At}, routersAt(ib, func(r inventory.Router) bool { return r.Name == v.Router })))
	}
	return l
}

// routersAt is where some routers stand in the inventory.
func routersAt(ib inventory.InfiniBand, which func(inventory.Router) bool) []diag.Pos {
	var out []diag.Pos
	for _, r := range ib.Routers {
		if which(r) {
			out = append(out, r.At)
		}
	}
	return out
}

// creditLoop is about traffic of which no way turns up again, and which still closes a circle, as where routers lead up from
// one subnet to another and up again from that to the first.
func creditLoop(ib inventory.InfiniBand, x depend.Interchange) diag.Diagnostic {
	var detail []string
	passed := map[string]bool{}
	for i, s := range x.Verdict.Cycle {
		next := x.Verdict.Cycle[(i+1)%len(x.Verdict.Cycle)].Arc
		s.State = "" // there is one only
		detail = append(detail, fmt.Sprintf("%d. %s: %s", i+1, x.Network.ArcName(s.Arc), s.Because(x.Network, next)))
		passed[x.Network.Switches[s.Switch].Name] = true
	}
	detail = append(detail, "Let all routers between the same subnets stand alike: above both, or above one and below the other.")
	return finding(diag.Error, fmt.Sprintf("%d buffers can wait for each other in a circle: a credit loop over routers", len(x.Verdict.Cycle)), strings.Join(detail, "\n"),
		routersAt(ib, func(r inventory.Router) bool { return passed[r.Name] }))
}
