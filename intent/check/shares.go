package check

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
)

func shares(f *fabric.Fabric) diag.List {
	var l diag.List
	ports(f, func(sw *fabric.Switch, p *fabric.Port) {
		var total, guaranteed qos.Percent
		for i := range p.Queues {
			q := &p.Queues[i]
			total += q.Scheduler.Weight
			guaranteed += q.Guaranteed
			if q.Class != "" && !q.Scheduler.Strict && q.Scheduler.Weight == 0 {
				d := finding(diag.Error, fmt.Sprintf("class %s has no share of the port", q.Class),
					"The other classes leave nothing: lower a share, or make the class strict.", p.Origin.Class[q.Class])
				d.Addr = portAddr(sw, p).Of(addr.Queue, fmt.Sprint(i))
				l.Add(d)
			}
		}
		if total > 0 && off(total) {
			l.Add(sumFinding(portAddr(sw, p), total, p.Origin))
		}
		if guaranteed > 100 {
			d := finding(diag.Error, fmt.Sprintf("%s of the port are guaranteed", guaranteed), "No more than 100 % can be: lower a guaranteed.", classPlaces(p.Origin))
			d.Addr = portAddr(sw, p)
			l.Add(d)
		}
	})
	nics(f, func(h *fabric.Host, n *fabric.NIC) {
		var total qos.Percent
		for _, s := range n.ETS {
			total += s.Weight
		}
		if total > 0 && off(total) {
			l.Add(sumFinding(addr.Port(h.Name, n.Name), total, n.Origin))
		}
	})
	return l
}

// off says whether shares do not sum to 100, with room for the rounding of fractions.
func off(total qos.Percent) bool { return math.Abs(float64(total)-100) > 1e-6 }

func sumFinding(a addr.Addr, total qos.Percent, o *fabric.Origin) diag.Diagnostic {
	d := finding(diag.Error, fmt.Sprintf("the shares sum to %s", total),
		"They divide what strict classes leave: write shares that sum to 100 %, or leave one out to let it take the rest.", classPlaces(o))
	d.Addr = a
	return d
}

// classPlaces are where the classes and their overrides were written, in order.
func classPlaces(o *fabric.Origin) []diag.Pos {
	var at []diag.Pos
	for _, name := range slices.SortedFunc(maps.Keys(o.Class), cmp.Compare[string]) {
		at = append(at, o.Class[name]...)
	}
	return at
}
