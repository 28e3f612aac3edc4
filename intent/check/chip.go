package check

import (
	"fmt"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/inventory/catalog"
)

// chip compares what the intent asks of each switch with what its chip can do, as far as the catalog says.
func chip(f *fabric.Fabric) diag.List {
	var l diag.List
	ports(f, func(sw *fabric.Switch, p *fabric.Port) {
		if sw.ASIC == nil {
			return
		}
		for i := range p.Queues {
			if q := &p.Queues[i]; sw.ASIC.ECN == catalog.No && q.WRED != nil && q.WRED.ECN {
				d := finding(diag.Error, fmt.Sprintf("class %s is to be marked, and the chip (%s) marks nothing", q.Class, sw.ASIC.Name),
					"Where such a chip has a curve at all, it drops by it. Write ecn: off for the class, here or in an override for such switches.", p.Origin.Class[q.Class])
				d.Addr = portAddr(sw, p).Of(addr.Queue, fmt.Sprint(q.ID))
				l.Add(d)
			}
		}
		if sw.ASIC.Watchdog == catalog.No && p.Watchdog != nil {
			d := finding(diag.Error, fmt.Sprintf("the watchdog is on, and the chip (%s) has none", sw.ASIC.Name),
				"Nothing would end a PFC storm here. Write pfc: {watchdog: off} in an override for such switches, so that the plan does not promise it.", p.Origin.Watchdog)
			d.Addr = portAddr(sw, p).Of(addr.Watchdog, "")
			l.Add(d)
		}
		for i := range p.Groups {
			if g := &p.Groups[i]; g.Lossless && g.Static == 0 && chipAlpha(sw.ASIC) && (g.Alpha < sw.ASIC.AlphaMin || g.Alpha > sw.ASIC.AlphaMax) {
				d := finding(diag.Warning, fmt.Sprintf("alpha is %s, and the chip (%s) takes %s to %s", g.Alpha, sw.ASIC.Name, sw.ASIC.AlphaMin, sw.ASIC.AlphaMax),
					"The switch refuses it, or takes another one, and PAUSE is sent at another depth than here. Write buffers.alpha within that range.", p.Origin.Alpha)
				d.Addr = portAddr(sw, p).Of(addr.PG, fmt.Sprint(i))
				l.Add(d)
			}
		}
	})
	return l
}

// chipAlpha says whether the catalog knows which alphas the chip takes.
func chipAlpha(a *catalog.ASIC) bool { return a.AlphaMin != 0 || a.AlphaMax != 0 }
