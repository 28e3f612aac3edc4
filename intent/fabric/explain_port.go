package fabric

import (
	"math"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/lossless"
	"github.com/weirfabric/weir/intent/qos"
)

// port explains a port, or one thing of it.
func (e *explainer) port(sw *Switch, p *Port, a addr.Addr) {
	o := p.Origin
	all := a.Kind == ""
	if all {
		e.add(Value{Name: "speed", Value: int64(p.Speed), Unit: "bit/s", Source: fromInventory})
	}
	if all || a.Kind == addr.MTU {
		e.told("mtu", int64(p.MTU), "bytes", aboutMTU, o.MTU)
	}
	if all || a.Kind == addr.Trust {
		e.told("trust", string(p.Trust), "", aboutTrust, o.Trust)
	}
	if all || a.Kind == addr.FlowControl {
		e.told("flowcontrol", p.FlowControl, "", aboutFlowControl, o.FlowControl)
	}
	if all || a.Kind == addr.Cable {
		e.cable(sw, p)
	}
	if all || a.Kind == addr.Watchdog {
		e.watchdog(sw, p.Watchdog, o.Watchdog)
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

// What settings of switch ports and of NICs are, in a sentence.
const (
	aboutMTU         = "the largest IP packet; what is in flight when PAUSE is sent follows from it"
	aboutTrust       = "the header field that packets are put into classes by"
	aboutFlowControl = "IEEE 802.3x, which pauses the whole link and all of its classes: off wherever PFC is on"
)

// told adds a value that somebody wrote, or a default, and says what it is.
func (e *explainer) told(name string, value any, unit, meaning string, at []diag.Pos) {
	e.written(name, value, unit, at)
	e.values[len(e.values)-1].Formula = meaning
}

// on says whether PFC is on for a priority.
func (p *Port) on(priority int) bool { return p.PFC.Has(qos.Priority(priority)) }

func (e *explainer) cable(sw *Switch, p *Port) {
	v := Value{Name: "cable", Value: int64(p.Cable), Unit: "metres", Source: fromIntent, At: p.Origin.Cable}
	if len(v.At) == 0 {
		v.Source = fromDefault
	}
	if p.Peer != nil {
		v.Inputs = map[string]any{"link": p.Peer.Link.Length}
		switch {
		case p.Cable == p.Peer.Link.Length:
		case e.f.Runs:
			v.Formula = "the length that the headroom of the switch is for"
		default:
			v.Formula = "the length of the link, rounded up to one that the table of the SKU has"
			v.Source = sw.Table.Source
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
	v := Value{Name: "enabled", Value: p.PFC.Has(priority), Formula: "PAUSE of this priority stops its sender without stopping the others: on for the priorities of lossless classes, unless pfc is off", Source: fromClass}
	if class != nil {
		v.Inputs = map[string]any{"class": class.Name, "lossless": class.Lossless}
		v.At = append(append(v.At, class.At), p.Origin.PFC...)
	}
	e.add(v)
	if pause := lossless.PauseTime(p.Speed); p.PFC.Has(priority) && pause > 0 {
		e.add(Value{
			Name: "pause-seconds", Value: pause.Seconds(), Unit: "seconds", Source: lossless.PauseSource,
			Formula: "the longest that one PAUSE frame asks for, 65535 quanta of 512 bit times",
			Inputs:  map[string]any{"speed": p.Speed, "frames a second that hold the link": math.Round(lossless.PauseRate(p.Speed))},
		})
	}
}
