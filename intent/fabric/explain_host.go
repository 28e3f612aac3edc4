package fabric

import (
	"slices"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/qos"
)

// hostAt explains a host, one of its NICs, or something of either.
func (e *explainer) hostAt(h *Host, a addr.Addr) {
	if a.Port == "" {
		if a.Kind == "" {
			e.device(&h.Device)
			e.written("memlock", h.Memlock, "", h.At)
		}
		for _, m := range h.Modules {
			if a.Kind == "" || (a.Kind == addr.Module && (a.Name == "" || a.Name == m.Name)) {
				e.add(Value{Name: "module/" + m.Name, Value: "loaded", Formula: "what every RDMA host needs, and what profiles name", Source: fromIntent, At: m.At})
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
		e.written("mtu", int64(n.MTU), "bytes", n.Origin.MTU)
	}
	if all || a.Kind == addr.Trust {
		e.written("trust", string(n.Trust), "", n.Origin.Trust)
	}
	if all || a.Kind == addr.FlowControl {
		e.written("flowcontrol", n.FlowControl, "", n.Origin.FlowControl)
	}
	if all || a.Kind == addr.Cable {
		e.add(Value{Name: "cable", Value: int64(n.Cable), Unit: "metres", Source: fromInventory, At: n.Origin.Cable})
	}
	if all || a.Kind == addr.RoCE {
		e.roce(n)
	}
	on := func(i int) bool { return n.PFC.Has(qos.Priority(i)) }
	e.each(a, addr.PFC, 8, on, func(i int) {
		e.add(Value{
			Name: "enabled", Value: on(i), Formula: "on for the priorities of lossless classes", Source: fromClass,
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
	e.written("roce-version", int64(n.RoCE), "", n.At)
	e.written("class", n.Class, "", n.At)
	e.written("cnp-class", n.CNP, "", n.At)
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
