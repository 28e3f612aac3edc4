package fabric

import (
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/lossless"
	"github.com/weirfabric/weir/inventory/catalog"
)

// group explains an ingress priority group: when PAUSE is sent and ended, and what is kept for what still arrives.
func (e *explainer) group(sw *Switch, p *Port, n int) {
	g := &p.Groups[n]
	e.add(Value{
		Name: "priorities", Value: g.Priorities.String(), Source: fromDerived, At: sw.Maps.At,
		Formula: "the priorities whose packets are counted in this group when they come in",
	})
	e.threshold(sw, p, g)
	if !g.Lossless {
		return
	}
	at := append(append([]diag.Pos{}, p.Origin.Headroom...), p.Origin.Cable...)
	at = append(at, p.Origin.MTU...)
	computed := HeadroomOf(sw, p)
	e.headroom(sw, p, g, computed, at)
	e.add(Value{
		Name: "xon", Value: int64(g.XON), Unit: "bytes", Source: computed.Source, At: at,
		Formula: "PAUSE ends when the group has drained to this; guaranteed to the group, so that its sender finds room when it starts again",
	})
	e.add(Value{
		Name: "reserved", Value: int64(g.Reserved), Unit: "bytes", Formula: "what the buffer keeps for this group alone: xon + headroom, without the headroom where a shared pool holds it",
		Inputs: map[string]any{"xon": g.XON, "headroom": g.Headroom, "oversubscribe": int64(sw.Oversubscribe)},
		Source: computed.Source, At: at,
	})
	if e.prefix == "" { // once, and not for every group of a port
		e.budget(sw)
	}
}

// threshold explains when PAUSE is sent.
func (e *explainer) threshold(sw *Switch, p *Port, g *Group) {
	if g.Static > 0 {
		e.add(Value{
			Name: "threshold", Value: int64(g.Static), Unit: "bytes", Source: fromIntent, At: p.Origin.Alpha,
			Formula: "static XOFF threshold: PAUSE is sent when the group holds this much, whatever else fills the buffer",
		})
		return
	}
	v := Value{Name: "alpha", Value: g.Alpha.String(), Source: fromIntent, At: p.Origin.Alpha}
	if len(v.At) == 0 {
		v.Source = fromDefault
	}
	if v.Formula = "the group may hold alpha x what is free of the shared buffer; more is dropped"; g.Lossless {
		v.Formula = "PAUSE is sent when the group holds alpha x what is free of the shared buffer: the fuller the switch, the earlier"
	}
	e.add(v)
	if shared, known := sw.SharedBuffer(); known && g.Lossless {
		e.add(Value{
			Name: "xoff", Value: int64(XOFFDepth(g.Alpha, 0, shared, true)), Unit: "bytes", Source: fromDerived, At: p.Origin.Alpha,
			Formula: "alpha x shared / (1 + alpha): where that is when nothing else fills the buffer",
			Inputs:  map[string]any{"alpha": g.Alpha.String(), "shared": shared},
		})
	}
}

// headroom explains how much is kept for what arrives after PAUSE was decided on, and what it is the sum of.
func (e *explainer) headroom(sw *Switch, p *Port, g *Group, computed lossless.Result, at []diag.Pos) {
	v := Value{Name: "headroom", Value: int64(g.Headroom), Unit: "bytes", At: at, Inputs: map[string]any{
		"speed": p.Speed, "cable": p.Cable, "mtu": p.MTU, "sku": sw.SKU, "model": chipModel(sw),
	}}
	switch {
	case g.Headroom != computed.Headroom || !computed.Known():
		v.Formula, v.Source = "written by the operator", fromIntent
		v.Inputs["computed"] = computed.Headroom
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
	v.Formula = "what may still arrive after PAUSE was decided on: " + v.Formula
	e.add(v)
	if g.Headroom == computed.Headroom {
		e.terms("headroom", computed)
	}
}

func (e *explainer) terms(name string, r lossless.Result) {
	for _, t := range r.Terms {
		e.add(Value{Name: name + ": " + t.Name, Value: int64(t.Bytes), Unit: "bytes", Formula: t.Formula, Source: r.Source})
	}
}

// chipModel names the shape of the headroom model.
func chipModel(sw *Switch) string {
	switch {
	case sw.Table != nil:
		return "table"
	case sw.ASIC != nil && sw.ASIC.Model == catalog.Cell:
		return string(catalog.Cell)
	}
	return string(catalog.Annex)
}

// budget explains what takes the switch's buffer, term by term.
func (e *explainer) budget(sw *Switch) {
	b, known := sw.Budget()
	if !known {
		e.add(Value{Name: "buffer", Value: "not known", Formula: "the catalog has no buffer for the SKU, or no headroom for a port: whether all of it fits is not checked", Source: fromDerived, At: []diag.Pos{sw.At}})
		return
	}
	for _, row := range b.Rows() {
		v := Value{Name: "buffer: " + row.Name, Value: int64(row.Total), Unit: "bytes", Source: fromDerived, At: []diag.Pos{sw.At}}
		switch row.Name {
		case lossless.RowPool:
			v.Formula, v.Inputs = "headroom of all groups / oversubscribe", map[string]any{"oversubscribe": int64(b.Ratio)}
			v.At = append(v.At, sw.Origin.Headroom...)
		case lossless.RowOther:
			v.Formula = "guaranteed to groups that are not lossless"
		case lossless.RowTaken:
			v.Formula = "the sum of the above"
		case lossless.RowBuffer:
			v.Name, v.Formula, v.Source = "buffer", "all that the chip has", sw.ASIC.BufferSource
		case lossless.RowLeft:
			v.Name, v.Formula = "shared-buffer", "buffer - taken in all: what queues grow in until PFC fires"
		default:
			v.Name, v.Formula = "buffer: ports of "+row.Name, "ports x lossless classes x what each group reserves"
			v.Inputs = map[string]any{"ports": int64(row.Ports), "classes": int64(row.Classes), "reserved": row.Each}
		}
		e.add(v)
	}
}
