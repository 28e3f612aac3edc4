package check

import (
	"fmt"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/lossless"
	"github.com/weirfabric/weir/intent/qos"
)

func ecnCurve(f *fabric.Fabric) diag.List {
	var l diag.List
	ports(f, func(sw *fabric.Switch, p *fabric.Port) {
		for i := range p.Queues {
			q := &p.Queues[i]
			if q.WRED == nil {
				continue
			}
			if d, wrong := curveAt(sw, p, q); wrong {
				d.Addr = portAddr(sw, p).Of(addr.Queue, fmt.Sprint(i))
				l.Add(d)
			}
		}
	})
	return l
}

// curveAt checks one marking curve by itself, as it is written and as the switch will keep it.
func curveAt(sw *fabric.Switch, p *fabric.Port, q *fabric.Queue) (d diag.Diagnostic, wrong bool) {
	at := p.Origin.Class[q.Class]
	switch kept := sw.Rounded(*q.WRED); {
	case q.Marking != nil && q.Marking.Unresolved() && !q.Lossless:
		return finding(diag.Error, fmt.Sprintf("%s is marked at %s of the depth at which PFC fires, and the queue has no PFC", called(q), percentages(q.Marking)),
			"Write sizes like 150kB, or ecn: auto.", at), true
	case q.Marking != nil && q.Marking.Unresolved():
		return finding(diag.Error, fmt.Sprintf("%s is marked at %s of the depth at which PFC fires, and that depth is not known", called(q), percentages(q.Marking)),
			"It follows from the switch's buffer, and the catalog has none for its SKU, or no headroom. Write sizes like 150kB, or ecn: auto.", at), true
	case q.WRED.Min > q.WRED.Max:
		return finding(diag.Error, fmt.Sprintf("%s is marked from %s on and completely from %s", called(q), q.WRED.Min, q.WRED.Max),
			"ecn.min must not be above ecn.max.", at), true
	case kept.Min == 0:
		return finding(diag.Error, fmt.Sprintf("%s is to be marked from %s on, and the switch would keep that as 0", called(q), q.WRED.Min),
			"Its chip counts thresholds in larger units and rounds down. Raise ecn.min to at least one unit.", at), true
	case kept.Min == kept.Max:
		return finding(diag.Error, fmt.Sprintf("%s is marked from %s on and completely from the same depth", called(q), kept.Min),
			"Between the two thresholds the share of marked packets rises slowly, and tells senders how much too fast they are. Without a slope they get no mark or nothing else, and their rates swing. Raise ecn.max.", at), true
	case q.WRED.Probability == 0:
		return finding(diag.Error, fmt.Sprintf("%s is marked with a probability of 0 %%", called(q)),
			"Nothing is marked below ecn.max. Write a probability, or ecn: {off: true}.", at), true
	}
	return d, false
}

// percentages are the thresholds that are written so.
func percentages(m *fabric.Marking) string {
	switch {
	case m.Min.Percent > 0 && m.Max.Percent > 0:
		return fmt.Sprintf("%s and %s", m.Min.Percent, m.Max.Percent)
	case m.Min.Percent > 0:
		return m.Min.Percent.String()
	}
	return m.Max.Percent.String()
}

// called is the class of a queue, or where no class has it, as on a switch that runs, the queue.
func called(q *fabric.Queue) string {
	if q.Class == "" {
		return fmt.Sprintf("queue %d", q.ID)
	}
	return "class " + q.Class
}

func ecnBeforePFC(f *fabric.Fabric) diag.List {
	var l diag.List
	for _, sw := range f.Switches {
		shared, known := sw.SharedBuffer()
		if known && shared == 0 {
			continue // buffer-fit says so
		}
		unknown := false
		for _, p := range sw.Ports {
			for i := range p.Queues {
				q := &p.Queues[i]
				if !q.Lossless || q.WRED == nil {
					continue
				}
				g := &p.Groups[f.GroupOf(sw, q)]
				if depth := fabric.XOFFDepth(g.Alpha, g.Static, shared, known); depth > 0 {
					ecnAt(&l, before{sw, p, q, g, shared, depth, sw.Rounded(*q.WRED)})
				} else {
					unknown = true
				}
			}
		}
		if unknown {
			d := finding(diag.Note, fmt.Sprintf("ECN before PFC cannot be checked: the free buffer of %q is not known", sw.SKU),
				"The catalog has no buffer for the SKU, or no headroom. Watch that marks come before PAUSE frames.")
			d.Addr = sw.Address()
			l.Add(d)
		}
	}
	return l
}

// before is a lossless queue that is marked, and the depth at which one ingress that feeds it reaches XOFF.
type before struct {
	sw     *fabric.Switch
	p      *fabric.Port
	q      *fabric.Queue
	g      *fabric.Group
	shared qos.Bytes
	depth  qos.Bytes
	kept   qos.WRED // the curve as the switch keeps it
}

// ecnAt checks one queue against the depth at which one ingress that feeds it reaches XOFF: marking must be complete below
// it, and should begin below it even when one ingress feeds the queues of all n ports (n*Kmin, the advice of the DCQCN
// paper).
func ecnAt(l *diag.List, c before) {
	var d diag.Diagnostic
	n := len(c.sw.Ports)
	at := c.p.Origin.Class[c.q.Class]
	switch {
	case c.kept.Max >= c.depth:
		d = finding(diag.Error, fmt.Sprintf("%s is marked completely only from %s on, and PFC fires at %s: %s too late; %s would do",
			called(c.q), c.queue(c.kept.Max), c.queue(c.depth), c.queue(c.kept.Max-c.depth), c.remedy()), c.late(), at, c.p.Origin.Alpha)
	case c.kept.Min >= lossless.ECNBound(c.depth, n):
		d = finding(diag.Note, fmt.Sprintf("one port that feeds all %d at once may be paused at %s before %s is marked anywhere, at %s in all",
			n, c.queue(c.depth), called(c.q), c.queue(c.kept.Min*qos.Bytes(n))),
			"ecn.min times the number of ports should be below the depth at which PFC fires. It is advice (the bound of the DCQCN paper, SIGCOMM 2015): such traffic is rare.",
			at, c.p.Origin.Alpha)
	default:
		return
	}
	d.Addr = portAddr(c.sw, c.p).Of(addr.Queue, fmt.Sprint(c.q.ID))
	l.Add(d)
}

// queue writes a depth in bytes and as the time that it takes to leave at the port's speed.
func (c *before) queue(n qos.Bytes) string {
	return fmt.Sprintf("%s (%s)", n.Rounded(), qos.RoundedTime(lossless.Delay(n, c.p.Speed)))
}

// late explains why marking would come too late. It is the same for all queues of a cause, so that they are one finding.
func (c *before) late() string {
	const why = "ECN tells the senders of a queue to slow down; PFC stops whole links, with everyone on them. So ECN must come first.\n"
	if c.g.Static > 0 {
		return why + "PFC fires when one port has brought as much into the queue as buffers.threshold says. Lower ecn.max, write ecn: auto, or raise buffers.threshold."
	}
	return why + "PFC fires when the one port that fills the queue reaches its XOFF threshold: at a depth of alpha x shared / (1 + alpha), where shared is what headroom leaves of the buffer. " +
		"Lower ecn.max, write ecn: auto, which stays at 90 % of that depth, or raise buffers.alpha. explain shows the numbers."
}

// remedy names values that were tried and help at this queue.
func (c *before) remedy() string {
	lower := "ecn: auto"
	if limit := lossless.RoundTo(c.depth*9/10, 1000); limit > c.q.WRED.Min {
		lower = fmt.Sprintf("ecn.max: %s", limit)
	}
	if c.g.Static > 0 {
		if most := mostStatic(c.sw, c.shared); most > c.kept.Max {
			return lower + fmt.Sprintf(" or buffers.threshold: %s", most)
		}
		return lower
	}
	most := qos.MaxAlpha
	if chip := c.sw.ASIC; chip != nil && chip.AlphaMax > 0 {
		most = min(most, chip.AlphaMax)
	}
	for alpha := c.g.Alpha + 1; alpha <= most; alpha++ {
		if lossless.XOFFDepth(alpha, c.shared, 1) > c.kept.Max {
			return lower + fmt.Sprintf(" or buffers.alpha: %s", alpha)
		}
	}
	return lower
}
