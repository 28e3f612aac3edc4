package view

import (
	"fmt"
	"strings"

	"github.com/weirfabric/weir/intent/depend"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/proof/deadlock"
	"github.com/weirfabric/weir/intent/qos"
)

// usualTTL is what hosts begin with (RFC 1700, IP time to live).
const usualTTL = 64

// Deadlock prints the proof, or the cycle and what to do about it.
func (v View) Deadlock(name string, d deadlock.Dependencies, verdict depend.Verdict, remedies []depend.Remedy) {
	n := d.Network
	switch {
	case d.Priorities == 0:
		v.Printf("%s: %s: no lossless class has PFC on, so nothing pauses and nothing can deadlock.\n", name, v.Good("free"))
		return
	case !d.Routed:
		v.Printf("%s: %s: the switches are one layer-2 domain whose cables have no loop, so nothing can go round.\n", name, v.Good("free"))
		return
	case verdict.Cycle != nil:
		v.cycle(name, d, verdict)
	case verdict.UnroutedPairs > 0:
		first := verdict.Unrouted[0]
		v.Printf("%s: %s: %s routes lead nowhere from %s to %s, though cables join them (%s in all). %s\n", name, v.Bad("not proven"),
			d.Routes(), n.Switches[first.Switch].Name, n.Destinations[first.Destination].Name, diag.Count(verdict.UnroutedPairs, "such pair"), unroutedAdvice(d))
	case !verdict.Complete:
		v.Printf("%s: %s: no cycle was found, but not everything was gone through.\n", name, v.Bad("not proven"))
	default:
		v.Printf("%s: %s: no cycle of buffers that wait for each other can form.\n", name, v.Good("free"))
	}
	row := func(what, format string, args ...any) { v.Printf("  %-12s %s\n", what, fmt.Sprintf(format, args...)) }
	if d.Subnet() {
		row("subnet", "switches: %d, links: %d", len(n.Switches), len(n.Links))
	} else {
		row("fabric", "switches: %d, links: %d, lossless priorities: %s; heights from %s", len(n.Switches), len(n.Links), d.Priorities, d.Ranks)
	}
	row("traffic", "%s; begins and ends at %s", diag.Count(len(n.Destinations), "destination"), d.Ends)
	row("assumes", "%s", assumption(d))
	for i, k := range verdict.Leaks {
		row([]string{"AS plan", ""}[min(i, 1)], "%s", v.Bad(k.Why))
	}
	each := " for each priority"
	if d.Mixed() || d.Subnet() {
		each = ""
	}
	row("dependencies", "%s, %s%s", diag.Count(verdict.Nodes, "buffer"), diag.Count(verdict.Turns, "turn"), each)
	for i, c := range verdict.Covered {
		row([]string{"covered", ""}[min(i, 1)], "%s", c)
	}
	for i, s := range d.Left(verdict) {
		row([]string{"not covered", ""}[min(i, 1)], "%s", s)
	}
	if verdict.Cycle == nil {
		return
	}
	for i, r := range remedies {
		row([]string{"remedies", ""}[min(i, 1)], "%s: %s", v.Bold(r.Name), r.Summary)
		row("", "%s", v.Dim("proven for "+r.Proof))
	}
	if d.Subnet() {
		row("remedy", "let OpenSM route with updn and a root_guid_file, or a fat tree with ftree, and dump again; lash keeps its lanes apart with --sl2vl and --levels")
	}
	row("", "%s", d.SecondLine(verdict))
}

// Interchange prints whether InfiniBand subnets may talk over their routers; nothing where there are none.
func (v View) Interchange(x *depend.Interchange) {
	if x == nil {
		return
	}
	word := v.Good("free")
	if !x.Free {
		word = v.Bad("not free")
	}
	v.Printf("InfiniBand: %s: %s that talk, in both directions; of each subnet its levels alone are known.\n", word, diag.Count(len(x.Reaches)/2, "pair"))
	for _, r := range x.Reaches {
		switch {
		case !r.SingleHop() && len(r.Via) == 0:
			v.Printf("  %s > %s: %s\n", r.From, r.To, v.Bad("no router joins them"))
		case !r.SingleHop():
			v.Printf("  %s > %s: %s %s\n", r.From, r.To, v.Bad("more than one router:"), strings.Join(r.Via, " > "))
		case r.Free():
			v.Printf("  %s > %s over %s\n", r.From, r.To, strings.Join(r.Routers, ", "))
		}
		for _, valley := range r.Valleys {
			v.Printf("  %s > %s: %s at %s: %s\n", r.From, r.To, v.Bad("down and then up again"), valley.At, strings.Join(valley.Path, " > "))
		}
	}
	for i, s := range x.Verdict.Cycle {
		s.State = "" // there is one only
		v.Printf("  %d. %s\n     %s\n", i+1, v.Bold(x.Network.ArcName(s.Arc)), s.Because(x.Network, x.Verdict.Cycle[(i+1)%len(x.Verdict.Cycle)].Arc))
	}
}

// unroutedAdvice is what may be wrong where pairs have no route.
func unroutedAdvice(d deadlock.Dependencies) string {
	switch {
	case d.FIB != nil:
		return "The FIB has no next hops for them: was it dumped from every switch, and has every switch with hosts its label prefix?"
	case d.Subnet():
		return "The dump has no next hops for them."
	}
	return "Correct a role, the label rank, or the policy."
}

// assumption says where the routes come from, and what that means.
func assumption(d deadlock.Dependencies) string {
	switch {
	case d.FIB != nil:
		return "the routes of the FIB: after a failure each switch goes on with what is left in its table"
	case d.Subnet():
		return "the linear forwarding tables as OpenSM dumped them"
	case d.Policy == depend.UpDown:
		return "up-down: a switch sends what is cabled below it down or not at all, never up or sideways"
	case d.Policy == depend.BGP:
		return "bgp: the fewest ASes, all ways that have as few, and none that the switch's own AS is in; sessions on every link between two ASes"
	}
	return string(d.Policy) + ": all shortest ways that are left are used"
}

// cycle prints the steps so that they can be followed by hand.
func (v View) cycle(name string, d deadlock.Dependencies, verdict depend.Verdict) {
	n := d.Network
	v.Printf("%s: %s: %d buffers can wait for each other in a circle, %s.\n", name, v.Bad("a cycle"), len(verdict.Cycle), verdict.Found.State())
	rate := qos.Rate(0)
	for i, s := range verdict.Cycle {
		next := verdict.Cycle[(i+1)%len(verdict.Cycle)].Arc
		v.Printf("  %d. %s\n     %s\n", i+1, v.Bold(n.ArcName(s.Arc)), s.Because(n, next))
		if d.Subnet() {
			continue
		}
		if from, _ := d.End(s.Arc); rate == 0 || from.Port.Speed < rate {
			rate = from.Port.Speed
		}
	}
	if limit := depend.LoopThreshold(rate, usualTTL, len(verdict.Cycle)); verdict.OneLoop() && limit > 0 && !d.Mixed() {
		v.Printf("  It is a routing loop: it deadlocks when more than %.3g Gb/s of this traffic enters it with a TTL of %d.\n", float64(limit)/1e9, usualTTL)
	}
}
