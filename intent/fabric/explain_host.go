package fabric

import (
	"slices"
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/lossless"
	"github.com/weirfabric/weir/intent/qos"
)

// hostAt explains a host, one of its NICs, or something of either.
func (e *explainer) hostAt(h *Host, a addr.Addr) {
	if a.Port == "" {
		if a.Kind == "" {
			e.device(&h.Device)
			e.written("memlock", h.Memlock, "", h.At)
			e.written("memlock-services", strings.Join(h.MemlockServices, " "), "", h.At)
		}
		for _, m := range h.Modules {
			if a.Kind == "" || (a.Kind == addr.Module && (a.Name == "" || a.Name == m.Name)) {
				e.add(Value{Name: "module/" + m.Name, Value: "loaded", Formula: "what every RDMA host needs, and what profiles name", Source: fromIntent, At: m.At})
			}
		}
		for _, b := range h.Bonds {
			if a.Kind == "" || (a.Kind == addr.Bond && (a.Name == "" || a.Name == b.Name)) {
				e.bond(b)
			}
		}
		return
	}
	for _, n := range h.NICs {
		if n.Name == a.Port {
			e.nic(n, a)
		}
	}
}

func (e *explainer) nic(n *NIC, a addr.Addr) {
	all := a.Kind == ""
	if all {
		e.add(Value{Name: "speed", Value: int64(n.Speed), Unit: "bit/s", Source: fromInventory})
	}
	if all || a.Kind == addr.MTU {
		e.told("mtu", int64(n.MTU), "bytes", aboutMTU, n.Origin.MTU)
	}
	if all || a.Kind == addr.Trust {
		e.told("trust", string(n.Trust), "", aboutTrust, n.Origin.Trust)
	}
	if all || a.Kind == addr.FlowControl {
		e.told("flowcontrol", n.FlowControl, "", aboutFlowControl, n.Origin.FlowControl)
	}
	if all || a.Kind == addr.Cable {
		e.add(Value{Name: "cable", Value: int64(n.Cable), Unit: "metres", Source: fromInventory, At: n.Origin.Cable})
	}
	if all || a.Kind == addr.RoCE {
		e.roce(n)
	}
	if all {
		e.receive(n)
	}
	on := func(i int) bool { return n.PFC.Has(qos.Priority(i)) }
	e.each(a, addr.PFC, 8, on, func(i int) {
		e.add(Value{
			Name: "enabled", Value: on(i), Formula: "the NIC obeys PAUSE of this priority and sends it: on for the priorities of lossless classes", Source: fromClass,
			At: append(e.classPlaces(), n.At...),
		})
	})
	e.each(a, addr.ETS, 8, func(i int) bool { return n.ETS[i] != qos.Scheduler{} }, func(i int) { e.ets(n, i) })
	e.each(a, addr.DSCP, 64, func(int) bool { return false }, func(d int) {
		e.add(Value{
			Name: "priority", Value: int64(n.DSCPToPriority[d]), Formula: "priority of the class that takes the DSCP",
			Source: fromClass, At: e.classPlaces(),
		})
	})
}

func (e *explainer) classPlaces() []diag.Pos {
	var at []diag.Pos
	for _, c := range e.f.Classes {
		at = append(at, c.At)
	}
	return at
}

func (e *explainer) ets(n *NIC, tc int) {
	s := n.ETS[tc]
	v := Value{Name: "share", Value: float64(s.Weight), Unit: "percent", Formula: "share of the class", Source: fromClass, At: e.classPlaces()}
	if s.Strict {
		v.Value, v.Unit, v.Formula = "strict", "", "the class is strict"
	}
	e.add(v)
}

// roce explains how a NIC sends.
func (e *explainer) roce(n *NIC) {
	if n.RoCE == 0 {
		e.add(Value{Name: "roce", Value: "not managed", Formula: "no host profile selects this NIC", Source: fromDerived})
		return
	}
	e.told("roce-version", int64(n.RoCE), "", "2 is RDMA over UDP and IP, which has a DSCP and can be routed; 1 is bare Ethernet", n.At)
	e.told("class", n.Class, "", "the class that RDMA is sent in; what the profile does not name is the only lossless class", n.At)
	e.told("cnp-class", n.CNP, "", "the class of CNPs, by which a receiver tells the sender that its packets were marked", n.At)
	at := slices.Clone(n.At)
	if c := e.f.Class(n.Class); c != nil {
		at = append(at, c.At)
	}
	e.add(Value{Name: "dscp", Value: int64(n.DSCP), Formula: "the first DSCP of the class", Inputs: map[string]any{"class": n.Class}, Source: fromClass, At: at})
	e.add(Value{
		Name: "tos", Value: int64(n.TOS), Formula: "dscp x 4 + ECN; ECT(0) = 2 where the NIC runs congestion control and the class marks",
		Inputs: map[string]any{"dscp": int64(n.DSCP), "ecn": int64(n.TOS & 3), "dcqcn": n.DCQCN}, Source: "RFC 3168", At: at,
	})
	if c := e.f.Class(n.CNP); c != nil {
		cnpAt := append(slices.Clone(n.At), c.At)
		e.add(Value{Name: "cnp-dscp", Value: int64(n.CNPDSCP), Formula: "the first DSCP of the class", Inputs: map[string]any{"class": n.CNP}, Source: fromClass, At: cnpAt})
		e.add(Value{Name: "cnp-priority", Value: int64(n.CNPPriority), Formula: "priority of the class", Inputs: map[string]any{"class": n.CNP}, Source: fromClass, At: cnpAt})
	}
}

// receive explains the headroom that the NIC's driver keeps in its receive buffer, for when the NIC itself sends PAUSE. weir does
// not set it: the driver works it out by itself.
func (e *explainer) receive(n *NIC) {
	if n.PFC == 0 || n.Model == nil {
		return
	}
	if !n.Model.Receive {
		e.add(Value{
			Name: "receive-headroom", Value: "not known", Source: n.Model.Source,
			Formula: "how the driver of this model works out what may still arrive after the NIC has sent PAUSE is not in the catalog",
		})
		return
	}
	r := lossless.Receive{Speed: n.Speed, Cable: n.Cable, MTU: n.MTU}.Headroom()
	at := append(slices.Clone(n.Origin.Cable), n.Origin.MTU...)
	e.add(Value{
		Name: "receive-headroom", Value: int64(r.Headroom), Unit: "bytes", Source: r.Source, At: at,
		Formula: "what may still arrive after the NIC has sent PAUSE to the switch: " + r.Formula + "; its driver works that out by itself, this is what is expected. " +
			"The switch's headroom is for the other direction",
		Inputs: map[string]any{"speed": n.Speed, "cable": n.Cable, "mtu": n.MTU},
	})
	e.terms("receive-headroom", r)
	e.add(Value{
		Name: "receive-buffer", Value: int64(r.Reserved), Unit: "bytes", Source: r.Source, At: at,
		Formula: "headroom + one MTU: the least receive buffer that the driver takes for a lossless priority, but for one cell. PAUSE is sent when the buffer is filled up to the headroom, and ends one MTU below that",
		Inputs:  map[string]any{"headroom": r.Headroom, "mtu": n.MTU},
	})
}

// bond explains a bond of the host.
func (e *explainer) bond(b Bond) {
	name := "bond/" + b.Name + ":"
	e.add(Value{Name: name + "mode", Value: b.Mode, Source: fromIntent, At: b.At})
	if b.Hash != "" {
		e.add(Value{Name: name + "hash", Value: b.Hash, Source: fromIntent, At: b.At})
	}
	e.add(Value{Name: name + "ports", Value: strings.Join(b.Ports, " "), Formula: "the NIC ports that the profile selects", Source: fromIntent, At: b.At})
	e.add(Value{Name: name + "mtu", Value: int64(b.MTU), Unit: "bytes", Formula: "that of its ports", Source: fromIntent, At: b.At})
	if len(b.Addresses) > 0 {
		e.add(Value{Name: name + "addresses", Value: b.AddressText(), Source: fromInventory, At: b.At})
	}
}
