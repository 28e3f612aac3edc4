package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/depend"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
)

// Dependencies is what the deadlock proof sees of a fabric: the links between its switches, all of them as if PFC were on,
// how high each switch stands, and where lossless traffic begins and ends. Priorities are left out: a cycle of buffers, in
// whatever priorities, is a cycle of links, so where the links have none no map or rewriting of priorities makes one.
type Dependencies struct {
	Network    *depend.Network
	Links      []*fabric.Link // of the network, by index
	Policy     depend.Policy
	Routed     bool // otherwise the switches are one layer-2 domain
	Priorities qos.PrioritySet
	Ranks      string    // where the heights come from
	Ends       string    // where traffic begins and ends
	Findings   diag.List // what is wrong about the heights that were written
}

// NotCovered is what the proof of a fabric says nothing about.
var NotCovered = []string{
	"flooding: a switch that floods lossless packets to an address it has not learned makes a cycle in any Clos; let it drop them",
	"detours between the switches of a dual-homed host, which need a priority of their own, and addresses that move between NICs",
	"hosts that forward packets from one NIC to another",
	"routes that do not follow the policy: weir does not configure routing and does not read routes",
}

// The label by which an operator says how high a switch stands, and the roles of a Clos in that order.
const rankLabel = "rank"

var roleRanks = map[string]int{"leaf": 1, "tor": 1, "spine": 2, "agg": 2, "aggregation": 2, "core": 3, "superspine": 3}

// DependenciesOf makes the input of the proof.
func DependenciesOf(f *fabric.Fabric) Dependencies {
	d := Dependencies{
		Network: &depend.Network{}, Priorities: f.LosslessPriorities(),
		Policy: depend.Policy(f.Intent.Routing.Policy.Or(intent.DefaultRouting().Policy).V),
		Routed: f.Intent.Routing.Routed.Or(intent.DefaultRouting().Routed).V,
	}
	index := make(map[*fabric.Switch]int, len(f.Switches))
	for i, sw := range f.Switches {
		index[sw] = i
		d.Network.Switches = append(d.Network.Switches, depend.Switch{Name: sw.Name, Rank: 1})
	}
	for _, l := range f.Links {
		switch a, b := l.A, l.B; {
		case a.Switch != nil && b.Switch != nil && a.Switch != b.Switch:
			d.Links = append(d.Links, l)
			d.Network.Links = append(d.Network.Links, depend.Link{A: index[a.Switch], B: index[b.Switch], PortA: a.Port.Name, PortB: b.Port.Name})
		case a.Switch != nil && b.Host != nil:
			d.Network.Switches[index[a.Switch]].Ends = true
		case b.Switch != nil && a.Host != nil:
			d.Network.Switches[index[b.Switch]].Ends = true
		}
	}
	d.rank(f.Switches)
	d.end()
	return d
}

// rank gives every switch its height: by its label, by its role where all roles are those of a Clos, and else by the
// distance of its role from the hosts.
func (d *Dependencies) rank(switches []*fabric.Switch) {
	byRole, labels := true, 0
	for i, sw := range switches {
		known, ok := roleRanks[sw.Role]
		byRole = byRole && ok
		d.Network.Switches[i].Rank = known
		if sw.Labels[rankLabel] != "" {
			labels++
		}
	}
	d.Ranks = "the roles leaf, spine and core"
	if !byRole {
		d.Ranks = "the distance of each role from the hosts"
		d.rankByDistance(switches)
	}
	if labels == 0 {
		return
	}
	d.Ranks += ", and the label rank"
	for i, sw := range switches {
		text := sw.Labels[rankLabel]
		rank, err := strconv.Atoi(text)
		if err == nil {
			d.Network.Switches[i].Rank = rank
		} else if text != "" {
			bad := finding(diag.Error, fmt.Sprintf("the label rank is %q", text), "How high a switch stands is a whole number: leaves 1, spines 2.", []diag.Pos{sw.At})
			bad.Addr = sw.Address()
			d.Findings.Add(bad)
		}
	}
}

// rankByDistance gives every role the least distance that a switch of it has from a host. Switches without a role stand by
// themselves, and those that no host can reach at the bottom.
func (d *Dependencies) rankByDistance(switches []*fabric.Switch) {
	n := d.Network
	near := make([][]int, len(n.Switches))
	for _, l := range n.Links {
		near[l.A], near[l.B] = append(near[l.A], l.B), append(near[l.B], l.A)
	}
	distance := make([]int, len(n.Switches))
	var queue []int
	for i, s := range n.Switches {
		if s.Ends {
			distance[i] = 1
			queue = append(queue, i)
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		for _, i := range near[queue[0]] {
			if distance[i] == 0 {
				distance[i] = distance[queue[0]] + 1
				queue = append(queue, i)
			}
		}
	}
	least := map[string]int{}
	for i, sw := range switches {
		distance[i] = max(distance[i], 1)
		if nearest, ok := least[sw.Role]; sw.Role != "" && (!ok || distance[i] < nearest) {
			least[sw.Role] = distance[i]
		}
	}
	for i, sw := range switches {
		n.Switches[i].Rank = distance[i]
		if sw.Role != "" {
			n.Switches[i].Rank = least[sw.Role]
		}
	}
}

// end makes a destination of every switch that has hosts; in an inventory without hosts, of every switch of the lowest rank.
func (d *Dependencies) end() {
	n := d.Network
	d.Ends = "the switches that have hosts"
	if !slices.ContainsFunc(n.Switches, func(s depend.Switch) bool { return s.Ends }) && len(n.Switches) > 0 {
		d.Ends = "the switches of the lowest rank, since the inventory has no hosts"
		lowest := slices.MinFunc(n.Switches, func(a, b depend.Switch) int { return a.Rank - b.Rank }).Rank
		for i := range n.Switches {
			n.Switches[i].Ends = n.Switches[i].Rank == lowest
		}
	}
	for i, s := range n.Switches {
		if s.Ends {
			n.Destinations = append(n.Destinations, depend.Destination{Name: s.Name, At: []int{i}})
		}
	}
}

// checkLimit bounds the work of the check on states with failures, as depend.Question counts it: about two seconds.
const checkLimit = 300_000_000

// deadlock proves the fabric for every single failure, converged and in transition.
func deadlock(f *fabric.Fabric) diag.List {
	d := DependenciesOf(f)
	return d.prove(f.Intent.Routing, checkLimit)
}

// prove does at most limit of work.
func (d Dependencies) prove(routing intent.Routing, limit int) diag.List {
	out := slices.Clone(d.Findings)
	switch {
	case d.Priorities == 0 || len(d.Links) == 0:
	case !d.Routed && d.Network.Forest():
	case !d.Routed:
		out.Add(finding(diag.Warning, "the switches are one layer-2 domain whose cables have loops, and the deadlock proof does not know which of them are blocked",
			"Frames that are flooded over a loop make buffers wait for each other in a circle: route between the switches, or cable them as a tree.", []diag.Pos{routing.Routed.At}))
	default:
		more, err := d.answer([]diag.Pos{routing.Policy.At}, limit)
		if err != nil {
			more = diag.List{finding(diag.Error, "no proof: "+err.Error(), "", []diag.Pos{routing.Policy.At})}
		}
		out = append(out, more...)
	}
	return out
}

// answer runs the proof for a routed fabric.
func (d Dependencies) answer(policy []diag.Pos, limit int) (diag.List, error) {
	q := depend.Question{Network: d.Network, Policy: d.Policy, Failures: 1, Limit: limit}
	v, err := depend.Prove(q)
	if err != nil {
		return nil, err
	}
	remedies, err := depend.Remedies(q, v)
	if err != nil {
		return nil, err
	}
	var out diag.List
	if v.UnroutedPairs > 0 {
		out.Add(d.unrouted(v, policy))
	}
	if v.Cycle != nil {
		out.Add(d.cycle(v, remedies, policy))
	} else if !v.Complete {
		var covered []string
		for _, c := range v.Covered {
			covered = append(covered, c.String())
		}
		out.Add(finding(diag.Warning, "the deadlock proof was cut short",
			fmt.Sprintf("No cycle was found in what was covered: %s. Run weir deadlock for the rest.", strings.Join(covered, "; ")), policy))
	}
	return out, nil
}

// unrouted is about pairs that the policy leaves without a route: the proof would say nothing about them.
func (d Dependencies) unrouted(v depend.Verdict, policy []diag.Pos) diag.Diagnostic {
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
func (d Dependencies) cycle(v depend.Verdict, remedies []depend.Remedy, policy []diag.Pos) diag.Diagnostic {
	n, places := d.Network, [][]diag.Pos{policy}
	var detail []string
	for i, s := range v.Cycle {
		next := v.Cycle[(i+1)%len(v.Cycle)].Arc
		detail = append(detail, fmt.Sprintf("%d. %s: %s", i+1, n.ArcName(s.Arc), s.Because(n, next)))
		places = append(places, []diag.Pos{d.Links[s.Arc.Link()].At})
	}
	detail = append(detail, "When all of these buffers are full, none of them empties again.")
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
	f.Addr = head.Address().Of(addr.PFC, fmt.Sprint(d.Priorities.All()[0]))
	return f
}

// SecondLine says what the watchdogs of the ports that send over a cycle's links would do about a deadlock: they end it and
// do not prevent it.
func (d Dependencies) SecondLine(v depend.Verdict) string {
	var without []string
	slowest := qos.Watchdog{}
	for _, s := range v.Cycle {
		from, _ := d.End(s.Arc)
		if w := from.Port.Watchdog; w == nil || w.Action == qos.Alert {
			without = append(without, from.Address().String())
		} else if w.Detection >= slowest.Detection {
			slowest = *w
		}
	}
	if len(without) > 0 {
		return fmt.Sprintf("Second line: no watchdog ends the deadlock at %s; give these ports one that drops or forwards.", strings.Join(without, ", "))
	}
	return fmt.Sprintf("Second line: the watchdog finds the deadlock after %s and ends it (%s), again each time it forms.", slowest.Detection, slowest.Action)
}

// End gives the two ports of a directed link: the one that sends and the one whose buffer is filled.
func (d Dependencies) End(a depend.Arc) (from, to fabric.End) {
	l := d.Links[a.Link()]
	if a&1 == 1 {
		return l.B, l.A
	}
	return l.A, l.B
}
