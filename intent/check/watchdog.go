package check

import (
	"fmt"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/inventory/catalog"
)

func watchdog(f *fabric.Fabric) diag.List {
	var l diag.List
	ports(f, func(sw *fabric.Switch, p *fabric.Port) {
		var d diag.Diagnostic
		w := p.Watchdog
		switch {
		case p.PFC == 0:
			return
		case w == nil:
			d = finding(diag.Warning, "PFC is on and the watchdog is off",
				"A NIC or a switch that does not stop sending PAUSE can stop the whole fabric. Leave the watchdog on.", p.Origin.Watchdog)
		case w.Detection == 0 || w.Restoration == 0 || w.Poll == 0:
			d = finding(diag.Error, "a time of the watchdog is 0", "Write detection, restoration and poll as durations, like 200ms.", p.Origin.Watchdog)
		case w.Poll > w.Detection || w.Poll > w.Restoration:
			d = finding(diag.Error, fmt.Sprintf("the watchdog looks every %s, and is to detect in %s and restore in %s", w.Poll, w.Detection, w.Restoration),
				"It cannot be quicker than it looks: lower watchdog.poll.", p.Origin.Watchdog)
		default:
			return
		}
		d.Addr = portAddr(sw, p).Of(addr.Watchdog, "")
		l.Add(d)
	})
	return l
}

func watchdogBandwidth(f *fabric.Fabric) diag.List {
	var l diag.List
	for _, sw := range f.Switches {
		platform := catalog.ByPlatform(sw.Platform)
		if platform == nil || !platform.WatchdogNeedsGuarantee {
			continue
		}
		caveat := ""
		if platform.Unverified {
			caveat = " This is not verified: it rests on " + platform.Source + "."
		}
		for _, p := range sw.Ports {
			for i := range p.Queues {
				q := &p.Queues[i]
				if !q.Lossless || q.Guaranteed > 0 || p.Watchdog == nil || p.PFC == 0 {
					continue
				}
				d := finding(diag.Warning, fmt.Sprintf("class %s has no guaranteed bandwidth, and the watchdog may not watch its queue", q.Class),
					"On this platform the watchdog is said to watch only queues with guaranteed bandwidth: write guaranteed: 10% in the class."+caveat, p.Origin.Class[q.Class])
				d.Addr = portAddr(sw, p).Of(addr.Queue, fmt.Sprint(i))
				l.Add(d)
			}
		}
	}
	return l
}
