package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/depend"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/proof/deadlock"
)

// checkLimit bounds the work of the check on states with failures, as depend.Question counts it: about two seconds.
const checkLimit = 300_000_000

// deadlocks proves the fabric for every single failure, converged and in transition.
func deadlocks(f *fabric.Fabric) diag.List {
	return proven(deadlock.DependenciesOf(f), f.Intent.Routing, checkLimit)
}

// proven does at most limit of work.
func proven(d deadlock.Dependencies, routing intent.Routing, limit int) diag.List {
	out := slices.Clone(d.Findings)
	if out.HasErrors() || len(d.Links) == 0 {
		return out
	}
	causes := []diag.Pos{routing.Policy.At}
	if len(d.Flooded) > 0 {
		causes = append(causes, routing.Flooding.At)
	}
	if len(d.Bounces) > 0 {
		causes = append(causes, routing.Detour.At)
	}
	q := d.Question(1)
	q.Limit, q.Symmetry = limit, false // the limit is for states gone through, and finding symmetry has its own price
	v, remedies, err := d.Prove(q)
	switch {
	case errors.Is(err, deadlock.ErrNotRouted):
		out.Add(finding(diag.Warning, "the switches are one layer-2 domain whose cables have loops, and the deadlock proof does not know which of them are blocked",
			"Frames that are flooded over a loop make buffers wait for each other in a circle: route between the switches, or cable them as a tree.", []diag.Pos{routing.Routed.At}))
	case err != nil:
		out.Add(finding(diag.Error, "no proof: "+err.Error(), "", causes))
	default:
		out = append(out, verdictOf(d, v, remedies, causes)...)
	}
	return out
}

// verdictOf is what the proof of a routed fabric found.
func verdictOf(d deadlock.Dependencies, v depend.Verdict, remedies []depend.Remedy, policy []diag.Pos) diag.List {
	var out diag.List
	if v.UnroutedPairs > 0 {
		out.Add(unrouted(d, v, policy))
	}
	if v.Cycle == nil && len(v.Leaks) > 0 {
		out.Add(leaks(d, v, policy))
	}
	if v.Cycle != nil {
		out.Add(cycle(d, v, remedies, policy))
	} else if !v.Complete {
		var covered []string
		for _, c := range v.Covered {
			covered = append(covered, c.String())
		}
		out.Add(finding(diag.Warning, "the deadlock proof was cut short",
			fmt.Sprintf("No cycle was found in what was covered: %s. Run weir deadlock for the rest.", strings.Join(covered, "; ")), policy))
	}
	return out
}

// leaks is about an AS plan that lets traffic turn up again and with which no cycle was found.
func leaks(d deadlock.Dependencies, v depend.Verdict, policy []diag.Pos) diag.Diagnostic {
	var detail []string
	for i, k := range v.Leaks {
		detail = append(detail, fmt.Sprintf("%d. %s.", i+1, k.Why))
	}
	detail = append(detail, "None of the states that were gone through has a cycle, but each has to be gone through, and a cable more may make one. "+
		"A plan that keeps the order gives all switches of a rank in a pod one AS, and all of the top rank one, without allowas-in.")
	f := finding(diag.Warning, "the AS plan lets traffic go down and then up again", strings.Join(detail, "\n"), policy)
	f.Addr = addr.Device(d.Network.Switches[v.Leaks[0].Accepts].Name)
	return f
}

// unrouted is about pairs that the policy leaves without a route: the proof would say nothing about them.
func unrouted(d deadlock.Dependencies, v depend.Verdict, policy []diag.Pos) diag.Diagnostic {
	n, first := d.Network, v.Unrouted[0]
	from, to := n.Switches[first.Switch], n.Switches[n.Destinations[first.Destination].At[0]]
	f := finding(diag.Error, fmt.Sprintf("%s routes lead nowhere from %s to %s, though cables join them", d.Policy, from.Name, to.Name),
		fmt.Sprintf("The deadlock proof says nothing about traffic between such switches. Heights come from %s (%s stands at %d, %s at %d): correct a role, write the label rank, or the policy that the routes follow.",
			d.Ranks, from.Name, from.Rank, to.Name, to.Rank), policy)
	f.Addr = addr.Device(from.Name)
	if more := v.UnroutedPairs - 1; more > 0 {
		f.Summary += fmt.Sprintf(" (and between %d more pairs)", more)
	}
	return f
}

// cycle is the finding about a cycle.
func cycle(d deadlock.Dependencies, v depend.Verdict, remedies []depend.Remedy, policy []diag.Pos) diag.Diagnostic {
	n, places := d.Network, [][]diag.Pos{policy}
	var detail []string
	for i, s := range v.Cycle {
		next := v.Cycle[(i+1)%len(v.Cycle)].Arc
		detail = append(detail, fmt.Sprintf("%d. %s: %s", i+1, n.ArcName(s.Arc), s.Because(n, next)))
		places = append(places, []diag.Pos{d.Links[s.Arc.Link()].At})
	}
	detail = append(detail, "When all of these buffers are full, none of them empties again.")
	if len(v.Leaks) > 0 {
		detail = append(detail, "The AS plan allows it: "+v.Leaks[0].Why+".")
	}
	for i, r := range remedies {
		word := "Or"
		if i == 0 {
			word = "Remedy"
		}
		detail = append(detail, fmt.Sprintf("%s (%s, proven): %s.", word, r.Name, r.Summary))
	}
	detail = append(detail, d.SecondLine(v))
	first := v.Cycle[0]
	f := finding(diag.Error, fmt.Sprintf("%d buffers can wait for each other in a circle, %s", len(v.Cycle), v.Found.State()), strings.Join(detail, "\n"), places...)
	_, head := d.End(first.Arc)
	f.Addr = head.Address().Of(addr.PFC, fmt.Sprint(d.Priority(first)))
	return f
}
