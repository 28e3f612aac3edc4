package deadlock

import (
	"fmt"
	"maps"
	"slices"

	"github.com/weirfabric/weir/intent/depend"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
)

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
		d.add(diag.Warning, "routing.detour is written, and no host is joined to two switches", "What stands here has no effect.", written.At)
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
		d.Findings = append(d.Findings, f.UnknownClass(written)...)
		return 0, false
	}
	begin := (d.Begin &^ qos.Priorities(class.Priority)).All()
	switch {
	case !class.Lossless:
		d.add(diag.Error, fmt.Sprintf("detours go on in class %s, which is lossy", class.Name),
			"RDMA would lose packets on every detour. Name a lossless class that no host sends in.", written.At, class.At)
	case sends(f, class.Name):
		d.add(diag.Error, fmt.Sprintf("detours go on in class %s, in which hosts send as well", class.Name),
			"A class of its own keeps detours apart from what they could wait for. Name a lossless class that no host sends in, or write same.", written.At, class.At)
	case len(begin) != 1:
		d.add(diag.Error, fmt.Sprintf("detours go on in class %s, and hosts send in %d other lossless classes", class.Name, len(begin)),
			"The proof knows one class of detours for one class of senders.", written.At, class.At)
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
