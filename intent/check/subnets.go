package check

import (
	"fmt"
	"strings"

	"github.com/weirfabric/weir/intent/depend"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/proof/deadlock"
	"github.com/weirfabric/weir/inventory"
)

// subnets says which pairs of InfiniBand subnets cannot talk, or only over a way that turns down and then up, and whether their
// traffic together has a credit loop.
func subnets(f *fabric.Fabric) diag.List {
	ib := f.Inventory.InfiniBand
	if len(ib.Subnets) == 0 {
		return nil
	}
	x, err := deadlock.ProveSubnets(ib)
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
