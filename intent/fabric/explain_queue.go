package fabric

import (
	"fmt"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/lossless"
	"github.com/weirfabric/weir/intent/qos"
)

// queue explains an egress queue.
func (e *explainer) queue(sw *Switch, p *Port, n int) {
	q := &p.Queues[n]
	at := p.Origin.Class[q.Class]
	e.add(Value{Name: "class", Value: q.Class, Formula: "the class whose packets leave by this queue", Source: fromClass, At: at})
	e.add(Value{Name: "strict", Value: q.Scheduler.Strict, Formula: "a strict queue is sent before all that are not", Source: fromClass, At: at})
	e.add(Value{
		Name: "weight", Value: float64(q.Scheduler.Weight), Unit: "percent", At: at, Source: fromClass,
		Formula: "share of the class in what strict queues leave; classes without one divide what the others leave",
	})
	e.add(Value{Name: "guaranteed", Value: float64(q.Guaranteed), Unit: "percent", Formula: "of the port's speed, whatever the others send", Source: fromClass, At: at})
	alpha := Value{Name: "alpha", Value: q.Alpha.String(), Formula: "the queue may hold alpha x what is free of the shared buffer; more is dropped", Source: fromIntent, At: p.Origin.Alpha}
	if q.Lossless {
		alpha.Formula, alpha.Source, alpha.At = "above every ingress threshold, so that PFC acts before the queue drops", fromDerived, nil
	}
	e.add(alpha)
	e.curve(sw, p, q, at)
}

// curve explains the marking thresholds, and how far below PFC they are.
func (e *explainer) curve(sw *Switch, p *Port, q *Queue, at []diag.Pos) {
	if q.WRED == nil {
		e.add(Value{Name: "ecn", Value: "off", Formula: "nothing is marked: senders learn of a queue only when PFC stops them, or packets are lost", Source: fromClass, At: at})
		return
	}
	e.markFrom(p, q, at)
	e.markAll(p, q, at)
	if kept := sw.Rounded(*q.WRED); kept != *q.WRED {
		e.add(Value{
			Name: "ecn-kept", Value: kept.Min.String() + " to " + kept.Max.String(), Source: fromDerived,
			Formula: "the thresholds as the chip keeps them, which counts in units and rounds down", Inputs: map[string]any{"unit": sw.thresholdUnit()},
		})
	}
	e.add(Value{
		Name: "ecn-probability", Value: float64(q.WRED.Probability), Unit: "percent", Source: fromClass, At: at,
		Formula: "share of the packets that is marked when the queue is just below ecn-max; it rises evenly from 0 at ecn-min",
	})
	if q.Lossless {
		e.beforePFC(sw, p, q, at)
	}
	e.mostFlows(sw, p, q, at)
}

// markFrom explains where marking begins.
func (e *explainer) markFrom(p *Port, q *Queue, at []diag.Pos) {
	e.depth("ecn-min", q.WRED.Min, p, q, at, "marking begins when the queue is this deep, "+p.lasts(q.WRED.Min),
		func(m *Marking) intent.Depth { return m.Min }, "ecn: auto: what the port sends in one round trip, and at most 12/64 of ecn-max")
}

// markAll explains where marking is complete.
func (e *explainer) markAll(p *Port, q *Queue, at []diag.Pos) {
	e.depth("ecn-max", q.WRED.Max, p, q, at, "every packet is marked when the queue is deeper than this, "+p.lasts(q.WRED.Max),
		func(m *Marking) intent.Depth { return m.Max }, "ecn: auto: 64/12 of what the port sends in one round trip, and at most 90 % of the depth at which PFC fires")
}

// lasts says how long a queue takes to leave.
func (p *Port) lasts(n qos.Bytes) string {
	return fmt.Sprintf("%s of sending at %s", qos.RoundedTime(lossless.Delay(n, p.Speed)), p.Speed)
}

// depth adds a threshold and says how it came about.
func (e *explainer) depth(name string, n qos.Bytes, p *Port, q *Queue, at []diag.Pos, meaning string, written func(*Marking) intent.Depth, auto string) {
	v := Value{
		Name: name, Value: int64(n), Unit: "bytes", Source: fromClass, At: at,
		Inputs: map[string]any{"speed": p.Speed, "seconds": lossless.Delay(n, p.Speed).Seconds()},
	}
	if m := q.Marking; m != nil {
		switch d := written(m); {
		case d.Percent > 0 && m.Depth > 0:
			meaning += fmt.Sprintf("; written as %s of the depth at which PFC fires", d)
			v.Inputs["pfc-depth"] = m.Depth
		case d.Bytes > 0:
			meaning += "; written"
		default:
			meaning += "; " + auto
			v.Source, v.Inputs["rtt"] = fromDerived, m.RTT.Seconds()
			if m.Depth > 0 {
				v.Inputs["pfc-depth"] = m.Depth
			}
		}
	}
	v.Formula = meaning
	e.add(v)
}

// beforePFC explains at which depth PFC fires, and how far above the marking thresholds that is.
func (e *explainer) beforePFC(sw *Switch, p *Port, q *Queue, at []diag.Pos) {
	g := &p.Groups[e.f.GroupOf(sw, q)]
	shared, known := sw.SharedBuffer()
	depth := XOFFDepth(g.Alpha, g.Static, shared, known)
	if depth == 0 {
		e.add(Value{
			Name: "pfc-depth", Value: "not known", Source: fromDerived, At: []diag.Pos{sw.At},
			Formula: "the catalog has no buffer for the SKU, or no headroom: whether ECN acts before PFC is not checked",
		})
		return
	}
	v := Value{
		Name: "pfc-depth", Value: int64(depth), Unit: "bytes", Source: fromDerived, At: p.Origin.Alpha,
		Formula: "alpha x shared / (1 + alpha): when the queue is this deep, " + p.lasts(depth) + ", the one port that fills it is paused. ecn-max must be below it, so that ECN acts first",
		Inputs:  map[string]any{"alpha": g.Alpha.String(), "shared": shared, "seconds": lossless.Delay(depth, p.Speed).Seconds()},
	}
	if g.Static > 0 {
		v.Formula = "buffers.threshold: when the queue is this deep, " + p.lasts(depth) + ", the one port that fills it is paused. ecn-max must be below it, so that ECN acts first"
		v.Inputs = map[string]any{"seconds": lossless.Delay(depth, p.Speed).Seconds()}
	}
	e.add(v)
	kept := sw.Rounded(*q.WRED)
	margin := Value{
		Name: "pfc-margin", Value: int64(depth - kept.Max), Unit: "bytes", Source: fromDerived, At: at,
		Formula: "pfc-depth - ecn-max: so much earlier is every packet marked than the port is paused, " + p.lasts(depth-kept.Max),
	}
	if depth <= kept.Max {
		margin.Formula = "pfc-depth - ecn-max: below 0, PFC stops the port before every packet is marked"
	}
	e.add(margin)
	bound := lossless.ECNBound(depth, len(sw.Ports))
	e.add(Value{
		Name: "ecn-bound", Value: int64(bound), Unit: "bytes", Source: "DCQCN, SIGCOMM 2015, section Buffer settings",
		Formula: "pfc-depth / ports: with ecn-min below it, " + p.lasts(bound) + ", ECN acts first even when one port feeds all others at once. It is advice, and few fabrics keep it",
		Inputs:  map[string]any{"pfc-depth": depth, "ports": int64(len(sw.Ports)), "ecn-min": kept.Min},
	})
}

// mostFlows explains how many senders with DCQCN the curve can hold below its upper threshold.
func (e *explainer) mostFlows(sw *Switch, p *Port, q *Queue, at []diag.Pos) {
	curve := sw.Rounded(*q.WRED)
	v := Value{
		Name: "ecn-flows", At: at,
		Value: int64(lossless.PaperDCQCN(p.Speed, RoCEMTU(p.MTU), curve).MostFlows()),
		Formula: "the most DCQCN senders that marking holds below ecn-max at this port; with more, the queue rises to it and rates swing. " +
			"NOT VERIFIED: the equations are recalled from a paper and re-derived, with the senders' settings of the DCQCN paper",
		Inputs: map[string]any{"speed": p.Speed, "packet": RoCEMTU(p.MTU), "ecn-probability": float64(curve.Probability)},
		Source: "fluid model of Zhu et al., CoNEXT 2016 (not verified)",
	}
	if q.Marking != nil && q.Marking.Flows > 0 {
		v.Inputs["wanted"] = int64(q.Marking.Flows)
	}
	e.add(v)
}
