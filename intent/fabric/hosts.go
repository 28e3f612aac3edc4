package fabric

import (
	"cmp"
	"slices"
	"strings"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/inventory"
)

// host makes a host with its NICs.
func (r *resolver) host(d *inventory.Device) {
	sel := r.selectOverrides(d)
	h := &Host{Device: device(d)}
	var modules []Module
	profile := func(profiles []*intent.HostProfile) {
		for _, p := range profiles {
			if !slices.Contains(h.At, p.At) {
				h.At = append(h.At, p.At)
				modules = append(modules, modulesOf(p)...)
			}
			h.Memlock = cmp.Or(h.Memlock, p.Memlock.V)
			for _, s := range p.MemlockServices {
				h.MemlockServices = append(h.MemlockServices, strings.TrimSuffix(s.V, ".service"))
			}
		}
	}
	profile(r.profiles(sel.subject, ""))
	for i := range d.Ports {
		p := &d.Ports[i]
		set, _ := r.port(sel, p.Name)
		n := &NIC{
			Name: p.Name, RDMA: p.RDMA, Model: r.out.Inventory.Catalog.ByNIC(p.NIC), Speed: p.Speed, MTU: set.mtu, Cable: set.cable,
			Trust: set.trust, FlowControl: set.flowControl, Origin: set.origin,
		}
		profiles := r.profiles(sel.subject, p.Name)
		r.classify(n, set)
		r.send(n, profiles, set)
		profile(profiles)
		h.join(n, profiles)
		h.NICs = append(h.NICs, n)
		r.ends[addr.Port(h.Name, p.Name)] = end{End: End{Host: h, NIC: n}, set: set}
	}
	h.Modules = union(modules)
	slices.Sort(h.MemlockServices)
	h.MemlockServices = slices.Compact(h.MemlockServices)
	h.address(d)
	slices.SortFunc(h.NICs, func(a, b *NIC) int { return addr.Natural(a.Name, b.Name) })
	r.out.Hosts = append(r.out.Hosts, h)
}

// profiles are the host profiles that select a NIC, the nearest first, of equally near ones the later.
func (r *resolver) profiles(s intent.Subject, nic string) []*intent.HostProfile {
	s.Port = nic
	var picked []*intent.HostProfile
	for i := range r.in.Hosts {
		if p := &r.in.Hosts[i]; p.Select.Matches(s) {
			picked = append(picked, p)
		}
	}
	slices.Reverse(picked)
	slices.SortStableFunc(picked, func(a, b *intent.HostProfile) int {
		return cmp.Compare(b.Select.Nearness(), a.Select.Nearness())
	})
	return picked
}

// modulesOf are the kernel modules that a profile implies and those that it names.
func modulesOf(p *intent.HostProfile) []Module {
	var modules []Module
	for _, name := range usualModules {
		modules = append(modules, Module{name, []diag.Pos{p.At}})
	}
	for _, m := range p.Modules {
		modules = append(modules, Module{m.V, []diag.Pos{m.At}})
	}
	return modules
}

// union joins modules of one name and sorts them by name.
func union(modules []Module) []Module {
	slices.SortStableFunc(modules, func(a, b Module) int { return cmp.Compare(a.Name, b.Name) })
	var out []Module
	for _, m := range modules {
		if len(out) > 0 && out[len(out)-1].Name == m.Name {
			last := &out[len(out)-1]
			last.At = append(last.At, m.At...)
			continue
		}
		out = append(out, m)
	}
	return out
}

// classify fills in the tables of a NIC: they are those of the switches, so that a class is one class from end to end.
func (r *resolver) classify(n *NIC, set *settings) {
	for i := range n.PriorityToTC {
		n.PriorityToTC[i] = r.maps.PCPToTC[i]
	}
	priorityOf := [8]qos.Priority{}
	for i, c := range r.out.Classes {
		n.PriorityToTC[c.Priority] = c.TC
		priorityOf[c.TC] = c.Priority
		scheduler, ets := set.classes[i].scheduler(), &n.ETS[c.TC]
		ets.Weight, ets.Strict = ets.Weight+scheduler.Weight, ets.Strict || scheduler.Strict
	}
	for d, tc := range r.maps.DSCPToTC {
		n.DSCPToPriority[d] = priorityOf[tc]
	}
}

// send fills in how a NIC sends, as the nearest profile that says so wants it. A NIC without a profile sends no RoCE and
// keeps PFC as it is.
func (r *resolver) send(n *NIC, profiles []*intent.HostProfile, set *settings) {
	if len(profiles) == 0 {
		return
	}
	var roce intent.RoCE
	for _, p := range profiles {
		n.At = append(n.At, p.At)
		roce.Version, roce.Class = roce.Version.Or(p.RoCE.Version), roce.Class.Or(p.RoCE.Class)
		roce.CNP = roce.CNP.Or(p.RoCE.CNP)
		roce.CongestionControl = roce.CongestionControl.Or(p.RoCE.CongestionControl)
		roce.CNPInterval, roce.RateLimit = roce.CNPInterval.Or(p.RoCE.CNPInterval), roce.RateLimit.Or(p.RoCE.RateLimit)
	}
	if !set.pfcOff {
		n.PFC = r.out.LosslessPriorities()
	}
	n.RoCE = cmp.Or(roce.Version.V, usualRoCE)
	n.DCQCN = cmp.Or(roce.CongestionControl.V, usualCongestionControl) == usualCongestionControl
	n.CNPInterval, n.RateLimit = roce.CNPInterval.V, roce.RateLimit.V
	n.Class, n.CNP = roce.Class.V, roce.CNP.V
	if n.Class == "" {
		n.Class = r.out.OnlyLossless()
	}
	if n.CNP == "" && r.out.Class(usualCNPClass) != nil {
		n.CNP = usualCNPClass
	}
	if cnp := r.out.Class(n.CNP); cnp != nil {
		n.CNPPriority = cnp.Priority
		n.CNPDSCP = cnp.stands()
	}
	if class := r.out.Class(n.Class); class != nil {
		n.DSCP = class.stands()
		n.TOS = r.tos(n, set)
	}
}

// tos is the byte that RoCE packets carry: the class's DSCP, and ECT(0) where the NIC slows down when it is marked
// (RFC 3168; 106 is DSCP 26 with ECT(0)). RoCE v1 has no IP header.
func (r *resolver) tos(n *NIC, set *settings) uint8 {
	if n.RoCE == 1 {
		return 0
	}
	ecn := qos.NotECT
	for i, c := range r.out.Classes {
		if c.Name == n.Class && n.DCQCN && !set.classes[i].ecn.off {
			ecn = qos.ECT0
		}
	}
	return n.DSCP.TrafficClassByte(ecn)
}

// stands is the DSCP that is sent for the class; 0 where it has none.
func (c *Class) stands() qos.DSCP {
	if len(c.DSCP) == 0 {
		return 0
	}
	return c.DSCP[0]
}

// OnlyLossless is the name of the lossless class where there is exactly one, and else empty.
func (f *Fabric) OnlyLossless() string {
	name := ""
	for _, c := range f.Classes {
		if c.Lossless && name != "" {
			return ""
		}
		if c.Lossless {
			name = c.Name
		}
	}
	return name
}
