package check

import (
	"fmt"
	"maps"
	"slices"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/depend"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
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
	d := Dependencies{
		Priorities: f.LosslessPriorities() & f.PausedPriorities(),
		Policy:     depend.Policy(routing.Policy.Or(intent.DefaultRouting().Policy).V),
		Routed:     routing.Routed.Or(intent.DefaultRouting().Routed).V,
	}
	d.Network, d.Links = f.Network(ranks)
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
		plan, findings := ASPlan(f, d.Network.Destinations)
		d.Plan, d.Findings = plan, append(d.Findings, findings...)
	} else if len(as) > 0 {
		d.Findings.Add(finding(diag.Warning, fmt.Sprintf("routing.bgp is written, and the policy is %s", d.Policy),
			"The proof takes no notice of the AS numbers: write policy: bgp to have it work out what they allow.", []diag.Pos{as[0].At}, []diag.Pos{routing.Policy.At}))
	}
	d.flood(f)
	d.detour(f, homes)
	d.NotCovered = append(d.NotCovered, relaysNotCovered, routesNotCovered)
	return d
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

// flood lets the switches that have hosts flood, where the intent says so: they are the ones that know an address and not its
// port (SIGCOMM 2016, RDMA over Commodity Ethernet at Scale, 4.2).
func (d *Dependencies) flood(f *fabric.Fabric) {
	switch f.Intent.Routing.Flooding.V {
	case "flood":
		for i, s := range d.Network.Switches {
			if s.Ends {
				d.Flooded = append(d.Flooded, i)
			}
		}
	case "drop":
	default:
		d.NotCovered = append(d.NotCovered,
			"flooding: taken as dropped, since routing.flooding is not written; a switch that floods lossless packets to an address it has not learned can close a circle in any Clos")
	}
}

// sameClass is the word for detours that traffic takes in its own class.
const sameClass = "same"

// detour adds the ways between the two switches of each host that is joined to two, where the intent says that traffic takes
// them.
func (d *Dependencies) detour(f *fabric.Fabric, homes map[*fabric.Host][]int) {
	pairs := map[[2]int]bool{}
	dual := 0
	for _, at := range homes {
		slices.Sort(at)
		if at = slices.Compact(at); len(at) == 2 {
			dual++
			pairs[[2]int{at[0], at[1]}] = true
		}
	}
	written := f.Intent.Routing.Detour
	if !written.Set() {
		if dual > 0 {
			d.NotCovered = append(d.NotCovered, fmt.Sprintf("detours: taken as none, since routing.detour is not written; hosts that are joined to two switches: %d", dual))
		}
		return
	}
	shift, ok := d.shift(f)
	if !ok {
		return
	}
	for _, p := range slices.SortedFunc(maps.Keys(pairs), func(a, b [2]int) int { return slices.Compare(a[:], b[:]) }) {
		d.Bounces = append(d.Bounces, depend.Bounce{From: p[0], To: p[1], Shift: shift}, depend.Bounce{From: p[1], To: p[0], Shift: shift})
	}
	if len(pairs) == 0 {
		d.Findings.Add(finding(diag.Warning, "routing.detour is written, and no host is joined to two switches", "What stands here has no effect.", []diag.Pos{written.At}))
	}
}

// shift is how much higher the priority of detours is than that in which hosts send.
func (d *Dependencies) shift(f *fabric.Fabric) (int, bool) {
	written := f.Intent.Routing.Detour
	if written.V == sameClass {
		return 0, true
	}
	class := f.Class(written.V)
	if class == nil {
		className(&d.Findings, f, addr.Addr{}, written)
		return 0, false
	}
	begin := (d.Begin &^ qos.Priorities(class.Priority)).All()
	switch {
	case !class.Lossless:
		d.Findings.Add(finding(diag.Error, fmt.Sprintf("detours go on in class %s, which is lossy", class.Name),
			"RDMA would lose packets on every detour. Name a lossless class that no host sends in.", []diag.Pos{written.At}, []diag.Pos{class.At}))
	case sends(f, class.Name):
		d.Findings.Add(finding(diag.Error, fmt.Sprintf("detours go on in class %s, in which hosts send as well", class.Name),
			"A class of its own keeps detours apart from what they could wait for. Name a lossless class that no host sends in, or write same.", []diag.Pos{written.At}, []diag.Pos{class.At}))
	case len(begin) != 1:
		d.Findings.Add(finding(diag.Error, fmt.Sprintf("detours go on in class %s, and hosts send in %d other lossless classes", class.Name, len(begin)),
			"The proof knows one class of detours for one class of senders.", []diag.Pos{written.At}, []diag.Pos{class.At}))
	default:
		d.Begin = qos.Priorities(begin...)
		return int(class.Priority) - int(begin[0]), true
	}
	return 0, false
}

// sends says whether any host sends RoCE in the class.
func sends(f *fabric.Fabric, class string) bool {
	return slices.ContainsFunc(f.Hosts, func(h *fabric.Host) bool {
		return slices.ContainsFunc(h.NICs, func(n *fabric.NIC) bool { return n.Class == class })
	})
}

// Left is what a verdict says nothing about: what no proof covers, and what the way in which it was found leaves open. With a
// certificate every path that BGP may try is covered.
func (d Dependencies) Left(v depend.Verdict) []string {
	out := slices.Clone(d.NotCovered)
	searched := func(c depend.Coverage) bool { return c.Transition && c.Method != depend.Certificate }
	if d.Policy == depend.BGP && slices.ContainsFunc(v.Covered, searched) {
		out = append(out, triedNotCovered)
	}
	return out
}

// Question asks for the proof with so many failures at once. What it costs at most is up to the caller.
func (d Dependencies) Question(failures int) depend.Question {
	q := depend.Question{
		Network: d.Network, Policy: d.Policy, Plan: d.Plan, FIB: d.FIB, States: d.States, Virtual: d.Virtual, Failures: failures,
		Flooded: d.Flooded, Bounces: d.Bounces,
	}
	if len(d.States) > 0 {
		q.Failures = 0
	}
	n := len(d.Network.Links) + len(d.Network.Switches)
	q.Symmetry = failures == 1 && n > exhaustiveStates || failures == 2 && n*(n-1)/2 > exhaustiveStates
	if len(d.Flooded)+len(d.Bounces) > 0 {
		q.Lossless, q.Begin = ints(d.Priorities), ints(d.Begin)
	}
	return q
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

// exhaustiveStates is up to how many states each is gone through; of more, one of each set that is alike by symmetry.
const exhaustiveStates = 5000

func ints(set qos.PrioritySet) []int {
	var out []int
	for _, p := range set.All() {
		out = append(out, int(p))
	}
	return out
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
