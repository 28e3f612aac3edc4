package fabric

import (
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/lossless"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/inventory/catalog"
)

// port explains a port, or one thing of it.
func (e *explainer) port(sw *Switch, p *Port, a addr.Addr) {
	o := p.Origin
	all := a.Kind == ""
	if all {
		e.add(Value{Name: "speed", Value: int64(p.Speed), Unit: "bit/s", Source: fromInventory})
	}
	if all || a.Kind == addr.MTU {
		e.written("mtu", int64(p.MTU), "bytes", o.MTU)
	}
	if all || a.Kind == addr.Trust {
		e.written("trust", string(p.Trust), "", o.Trust)
	}
	if all || a.Kind == addr.FlowControl {
		e.written("flowcontrol", p.FlowControl, "", o.FlowControl)
	}
	if all || a.Kind == addr.Cable {
		e.cable(sw, p)
	}
	if all || a.Kind == addr.Watchdog {
		e.watchdog(p.Watchdog, o.Watchdog)
	}
	classed := func(n int) bool { return p.Queues[n].Class != "" }
	e.each(a, addr.PFC, 8, p.on, func(n int) {
		e.pfc(p, qos.Priority(n))
		if a.Kind == addr.PFC && p.on(n) {
			e.group(sw, p, int(sw.Maps.PriorityToGroup[n]))
		}
	})
	e.each(a, addr.Queue, 8, classed, func(n int) { e.queue(sw, p, n) })
	e.each(a, addr.PG, 8, func(n int) bool { return p.Groups[n].Lossless }, func(n int) { e.group(sw, p, n) })
}

// on says whether PFC is on for a priority.
func (p *Port) on(priority int) bool { return p.PFC.Has(qos.Priority(priority)) }

func (e *explainer) cable(sw *Switch, p *Port) {
	v := Value{Name: "cable", Value: int64(p.Cable), Unit: "metres", Source: fromIntent, At: p.Origin.Cable}
	if len(v.At) == 0 {
		v.Source = fromDefault
	}
	if p.Peer != nil {
		v.Inputs = map[string]any{"link": int64(p.Peer.Link.Length)}
		if p.Cable != p.Peer.Link.Length {
			v.Formula = "the length of the link, rounded up to one that the table of the SKU has"
			v.Source = catalog.PublishedSource
		}
	}
	e.add(v)
}

// pfc explains why PFC of a priority is on or off.
func (e *explainer) pfc(p *Port, priority qos.Priority) {
	var class *Class
	for i := range e.f.Classes {
		if c := &e.f.Classes[i]; c.Priority == priority && (class == nil || c.Lossless) {
			class = c
		}
	}
	v := Value{Name: "enabled", Value: p.PFC.Has(priority), Formula: "on for the priorities of lossless classes, unless pfc is off", Source: fromClass}
	if class != nil {
		v.Inputs = map[string]any{"class": class.Name, "lossless": class.Lossless}
		v.At = append(append(v.At, class.At), p.Origin.PFC...)
	}
	e.add(v)
}

// group explains a priority group.
func (e *explainer) group(sw *Switch, p *Port, n int) {
	g := &p.Groups[n]
	e.add(Value{Name: "priorities", Value: g.Priorities.String(), Formula: "priorities that map to the group", Source: fromDerived, At: sw.Maps.At})
	e.written("alpha", g.Alpha.String(), "", p.Origin.Alpha)
	if !g.Lossless {
		return
	}
	at := append(append([]diag.Pos{}, p.Origin.Headroom...), p.Origin.Cable...)
	at = append(at, p.Origin.MTU...)
	computed := HeadroomOf(sw, p)
	inputs := map[string]any{
		"speed": int64(p.Speed), "cable": int64(p.Cable), "mtu": int64(p.MTU), "sku": sw.SKU, "model": chipModel(sw),
	}
	v := Value{Name: "headroom", Value: int64(g.Headroom), Unit: "bytes", Inputs: inputs, At: at}
	switch {
	case g.Headroom != computed.Headroom || !computed.Known():
		v.Formula, v.Source = "written by the operator", fromIntent
		v.Inputs["computed"] = int64(computed.Headroom)
		if g.Headroom == 0 {
			v.Formula, v.Source = "not known for this speed and cable", "no published number"
		}
	case g.ByDevice && computed.Generic:
		v.Formula, v.Source = computed.Formula+"; the device works it out by itself, and may come to another number: neither its table nor its model is known", computed.Source
	case g.ByDevice:
		v.Formula, v.Source = computed.Formula+"; the device works it out by itself, this is what is expected", computed.Source
	default:
		v.Formula, v.Source = computed.Formula, computed.Source
	}
	if computed.Estimated {
		v.Formula += "; the interface delay is not published for this speed: that of 100G is taken in time"
	}
	e.add(v)
	if g.Headroom == computed.Headroom {
		e.terms("headroom", computed)
	}
	e.add(Value{Name: "xon", Value: int64(g.XON), Unit: "bytes", Formula: "occupancy below which PAUSE ends", Source: computed.Source, At: at})
	e.add(Value{
		Name: "reserved", Value: int64(g.Reserved), Unit: "bytes", Formula: "xon + headroom, without the headroom where a shared pool holds it",
		Inputs: map[string]any{"xon": int64(g.XON), "headroom": int64(g.Headroom), "oversubscribe": int64(sw.Oversubscribe)},
		Source: computed.Source, At: at,
	})
}

func (e *explainer) terms(name string, r lossless.Result) {
	for _, t := range r.Terms {
		e.add(Value{Name: name + ": " + t.Name, Value: int64(t.Bytes), Unit: "bytes", Formula: t.Formula, Source: r.Source})
	}
}

// chipModel names the shape of the headroom model.
func chipModel(sw *Switch) string {
	switch {
	case catalog.HasPublishedHeadroom(sw.SKU):
		return "table"
	case sw.ASIC != nil && sw.ASIC.Model == catalog.Cell:
		return string(catalog.Cell)
	}
	return string(catalog.Annex)
}

// queue explains an egress queue.
func (e *explainer) queue(sw *Switch, p *Port, n int) {
	q := &p.Queues[n]
	at := p.Origin.Class[q.Class]
	e.add(Value{Name: "class", Value: q.Class, Source: fromClass, At: at})
	e.add(Value{Name: "strict", Value: q.Scheduler.Strict, Source: fromClass, At: at})
	e.add(Value{
		Name: "weight", Value: float64(q.Scheduler.Weight), Unit: "percent", At: at, Source: fromClass,
		Formula: "share of the class; classes without one divide what the others leave",
	})
	e.add(Value{Name: "guaranteed", Value: float64(q.Guaranteed), Unit: "percent", Source: fromClass, At: at})
	alpha := Value{Name: "alpha", Value: q.Alpha.String(), Source: fromIntent, At: p.Origin.Alpha}
	if q.Lossless {
		alpha.Formula, alpha.Source, alpha.At = "above every ingress threshold, so that PFC acts before the queue drops", fromDerived, nil
	}
	e.add(alpha)
	e.curve(sw, p, q, at)
}

// curve explains the marking thresholds, and how far below PFC they are.
func (e *explainer) curve(sw *Switch, p *Port, q *Queue, at []diag.Pos) {
	if q.WRED == nil {
		e.add(Value{Name: "ecn", Value: "off", Source: fromClass, At: at})
		return
	}
	delay := func(name string, n qos.Bytes) {
		e.add(Value{
			Name: name, Value: int64(n), Unit: "bytes", Source: fromClass, At: at,
			Formula: "written, else 12 us (min) and 64 us (max) of the port's rate, below the depth at which PFC fires",
			Inputs:  map[string]any{"speed": int64(p.Speed), "seconds": p.Speed.Time(n).Seconds()},
		})
	}
	delay("ecn-min", q.WRED.Min)
	delay("ecn-max", q.WRED.Max)
	e.add(Value{Name: "ecn-probability", Value: float64(q.WRED.Probability), Unit: "percent", Source: fromClass, At: at})
	shared, known := sw.SharedBuffer()
	if !q.Lossless || !known {
		return
	}
	e.add(Value{
		Name: "pfc-depth", Value: int64(lossless.XOFFDepth(sw.LosslessAlpha, shared, 1)), Unit: "bytes", Source: fromDerived,
		Formula: "alpha x shared / (1 + alpha): queue depth at which one ingress reaches XOFF; ecn-max must be below it",
		Inputs:  map[string]any{"alpha": sw.LosslessAlpha.String(), "shared": int64(shared)}, At: p.Origin.Alpha,
	})
}
