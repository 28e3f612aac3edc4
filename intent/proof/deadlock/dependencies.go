// Package deadlock asks the engine depend whether buffers of a fabric can wait for each other in a circle: it makes the
// engine's input of links, BGP, FIBs and subnets, and of its answer what a person or a program reads.
package deadlock

import (
	"fmt"
	"slices"

	"github.com/weirfabric/weir/intent/depend"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/proof"
	"github.com/weirfabric/weir/intent/qos"
)

// Dependencies is what the deadlock proof sees of a fabric: the links between its switches, all of them as if PFC were on,
// how high each switch stands, and where lossless traffic begins and ends. Where traffic keeps its priority on the whole way
// the priorities are left out: a cycle of buffers, in whatever priorities, is then a cycle of links.
type Dependencies struct {
	Network    *depend.Network
	Links      []*fabric.Link // of the network, by index; nil: the network is not that of a fabric
	Policy     depend.Policy
	Plan       *depend.Plan // of policy bgp
	FIB        *depend.FIB  // in place of a policy; nil: none
	States     []depend.State
	Virtual    *depend.VirtualLanes // of InfiniBand; nil: none
	Routed     bool                 // otherwise the switches are one layer-2 domain
	Priorities qos.PrioritySet
	Begin      qos.PrioritySet // in which hosts send
	Flooded    []int           // switches that flood lossless packets to addresses that they have not learned
	Bounces    []depend.Bounce // detours between the two switches of a host
	Ranks      string          // where the heights come from
	Ends       string          // where traffic begins and ends
	NotCovered []string        // what the proof says nothing about, and what it takes to be so that the intent does not say
	Findings   diag.List       // what is wrong about the heights, the AS plan or detours that were written
}

// What the proof of no fabric covers.
const (
	relaysNotCovered = "hosts that forward packets from one NIC to another"
	triedNotCovered  = "paths that BGP tries on its way from one state to the next and that are in the tables of neither"
	routesNotCovered = "routes that do not follow the policy: weir does not configure routing; weir deadlock --fib reads what runs"
)

// DependenciesOf makes the input of the proof.
func DependenciesOf(f *fabric.Fabric) Dependencies {
	routing := &f.Intent.Routing
	ranks := f.Ranks()
	d := Dependencies{Priorities: f.LosslessPriorities() & f.PausedPriorities()}
	d.Policy, d.Routed = proof.Routing(f)
	d.Network, d.Links = proof.Network(f, ranks)
	d.Ranks, d.Findings = ranks.From, slices.Clone(ranks.Findings)
	index := make(map[*fabric.Switch]int, len(f.Switches))
	for i, sw := range f.Switches {
		index[sw] = i
	}
	homes := map[*fabric.Host][]int{}
	for _, l := range f.Links {
		switch a, b := l.A, l.B; {
		case a.Switch != nil && b.Host != nil:
			homes[b.Host] = append(homes[b.Host], index[a.Switch])
			d.Network.Switches[index[a.Switch]].Ends = true
		case b.Switch != nil && a.Host != nil:
			homes[a.Host] = append(homes[a.Host], index[b.Switch])
			d.Network.Switches[index[b.Switch]].Ends = true
		}
	}
	d.end()
	d.begin(f)
	if as := routing.BGP.AS; d.Policy == depend.BGP {
		plan, findings := proof.ASPlan(f, d.Network.Destinations)
		d.Plan, d.Findings = plan, append(d.Findings, findings...)
	} else if len(as) > 0 {
		d.add(diag.Warning, fmt.Sprintf("routing.bgp is written, and the policy is %s", d.Policy),
			"The proof takes no notice of the AS numbers: write policy: bgp to have it work out what they allow.", as[0].At, routing.Policy.At)
	}
	d.flood(f)
	d.detour(f, homes)
	d.NotCovered = append(d.NotCovered, relaysNotCovered, routesNotCovered)
	return d
}

// add notes what is wrong about what was written.
func (d *Dependencies) add(severity diag.Severity, summary, detail string, at ...diag.Pos) {
	d.Findings.Add(diag.Diagnostic{Severity: severity, Summary: summary, Detail: detail, At: at})
}

// end makes a destination of every switch that has hosts; in an inventory without hosts, of every switch of the lowest rank.
func (d *Dependencies) end() {
	n := d.Network
	d.Ends = "the switches that have hosts"
	if !slices.ContainsFunc(n.Switches, func(s depend.Switch) bool { return s.Ends }) && len(n.Switches) > 0 {
		d.Ends = "the switches of the lowest rank, since the inventory has no hosts"
		lowest := proof.LowestRank(n)
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

// begin finds the priorities in which hosts send; all lossless ones where no host says.
func (d *Dependencies) begin(f *fabric.Fabric) {
	for _, h := range f.Hosts {
		for _, n := range h.NICs {
			if c := f.Class(n.Class); c != nil && c.Lossless {
				d.Begin |= qos.Priorities(c.Priority) & d.Priorities
			}
		}
	}
	if d.Begin == 0 {
		d.Begin = d.Priorities
	}
}

// Routes names where the routes come from.
func (d Dependencies) Routes() string {
	switch {
	case d.FIB != nil:
		return "fib"
	case d.Subnet():
		return "subnet"
	}
	return string(d.Policy)
}

// Mixed says whether the proof goes through all priorities at once, since traffic may change from one to another or goes other
// ways than routes.
func (d Dependencies) Mixed() bool { return len(d.Flooded)+len(d.Bounces) > 0 || d.Virtual != nil }

// Subnet says whether the network is an InfiniBand subnet, and not a fabric of the inventory.
func (d Dependencies) Subnet() bool { return d.Links == nil }

// Priority is that of a step's buffer.
func (d Dependencies) Priority(s depend.Step) qos.Priority {
	if all := d.Priorities.All(); !d.Mixed() && len(all) > 0 {
		return all[0]
	}
	return qos.Priority(s.Priority)
}

// End gives the two ports of a directed link: the one that sends and the one whose buffer is filled. It is for networks of a
// fabric.
func (d Dependencies) End(a depend.Arc) (from, to fabric.End) {
	l := d.Links[a.Link()]
	if a&1 == 1 {
		return l.B, l.A
	}
	return l.A, l.B
}

// Joined is d with the lossless priorities of a fabric on its way: while some of its devices are as they were, what waits for what by
// the old priorities and by the new ones stands side by side. The fabric before is of the same inventory and routes.
func (d Dependencies) Joined(before *fabric.Fabric) Dependencies {
	old := before.LosslessPriorities() & before.PausedPriorities()
	d.Priorities |= old
	d.Begin |= old
	return d
}
