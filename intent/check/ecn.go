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
			var d diag.Diagnostic
			switch {
			case q.WRED.Min > q.WRED.Max:
				d = finding(diag.Error, fmt.Sprintf("class %s is marked from %s on and completely from %s", q.Class, q.WRED.Min, q.WRED.Max),
					"ecn.min must not be above ecn.max.", p.Origin.Class[q.Class])
			case q.WRED.Probability == 0:
				d = finding(diag.Error, fmt.Sprintf("class %s is marked with a probability of 0 %%", q.Class),
					"Nothing is marked below ecn.max. Write a probability, or ecn: {off: true}.", p.Origin.Class[q.Class])
			default:
				continue
			}
			d.Addr = portAddr(sw, p).Of(addr.Queue, fmt.Sprint(i))
			l.Add(d)
		}
	})
	return l
}

func ecnBeforePFC(f *fabric.Fabric) diag.List {
	var l diag.List
	for _, sw := range f.Switches {
		shared, known := sw.SharedBuffer()
		if !known {
			if marksLossless(sw) {
				d := finding(diag.Note, fmt.Sprintf("ECN before PFC cannot be checked: the free buffer of %q is not known", sw.SKU),
					"The catalog has no buffer for the SKU, or no headroom. Watch that marks come before PAUSE frames.")
				d.Addr = sw.Address()
				l.Add(d)
			}
			continue
		}
		if shared == 0 {
			continue // buffer-fit says so
		}
		for _, p := range sw.Ports {
			for i := range p.Queues {
				if q := &p.Queues[i]; q.Lossless && q.WRED != nil {
					group := p.Groups[f.Class(q.Class).Group]
					ecnAt(&l, sw, p, q, lossless.XOFFDepth(group.Alpha, shared, 1))
				}
			}
		}
	}
	return l
}

// marksLossless says whether a switch marks any lossless queue.
func marksLossless(sw *fabric.Switch) bool {
	for _, p := range sw.Ports {
		for i := range p.Queues {
			if p.Queues[i].Lossless && p.Queues[i].WRED != nil {
				return true
			}
		}
	}
	return false
}

// ecnAt checks one queue against the depth at which one ingress that feeds it reaches XOFF: marking must be complete below
// it, and should begin below it even when one ingress feeds the queues of all n ports (n*Kmin, the advice of the DCQCN
// paper).
func ecnAt(l *diag.List, sw *fabric.Switch, p *fabric.Port, q *fabric.Queue, depth qos.Bytes) {
	var d diag.Diagnostic
	spread := q.WRED.Min * qos.Bytes(len(sw.Ports))
	switch {
	case q.WRED.Max >= depth:
		d = finding(diag.Error, fmt.Sprintf("class %s is marked completely from %s, and PFC fires at %s already", q.Class, q.WRED.Max, depth),
			"Senders would be paused before they are told to slow down. Lower ecn.max, or raise buffers.alpha: PFC fires at alpha x shared buffer / (1 + alpha).",
			p.Origin.Class[q.Class], p.Origin.Alpha)
	case spread >= depth:
		d = finding(diag.Note, fmt.Sprintf("one port that feeds all %d at once may be paused at %s before class %s is marked anywhere, at %s in all",
			len(sw.Ports), depth, q.Class, spread),
			"ecn.min times the number of ports should be below the depth at which PFC fires. It is advice: such traffic is rare.",
			p.Origin.Class[q.Class], p.Origin.Alpha)
	default:
		return
	}
	d.Addr = portAddr(sw, p).Of(addr.Queue, fmt.Sprint(q.ID))
	l.Add(d)
}
