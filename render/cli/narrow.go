package cli

import (
	"fmt"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
)

// deadlockView is the watchdog of one priority, for languages that count looks.
type deadlockView struct {
	Priority int
	Detect   int64 // how many looks in a row must find PAUSE
	Recover  int64 // milliseconds
}

// narrow is the view for a language of which no source shows more than the watchdog.
func (v *viewer) narrow() *view {
	v.report(diag.Warning, v.sw.Address(), []diag.Pos{v.sw.At},
		"only the watchdog can be said in this language: MTU, trust, maps, PFC, queues, ECN and buffers cannot, and stay as they are", v.pack.WatchdogOnly)
	var watched qos.PrioritySet
	var first *fabric.Port
	for _, p := range v.sw.Ports {
		switch {
		case p.PFC == 0:
		case p.Watchdog == nil:
			v.report(diag.Error, addr.Port(v.sw.Name, p.Name).Of(addr.Watchdog, ""), originOf(p).Watchdog, "no watchdog for one port cannot be said", "Give all ports of the switch the same watchdog.")
		case first != nil && *first.Watchdog != *p.Watchdog:
			v.report(diag.Error, addr.Port(v.sw.Name, p.Name).Of(addr.Watchdog, ""), originOf(p).Watchdog, "a watchdog of its own cannot be said for one port", "Give all ports of the switch the same watchdog.")
		default:
			if first == nil {
				first = p
			}
			watched |= p.PFC
		}
	}
	out := &view{}
	if first == nil {
		return out
	}
	times := v.looks(first)
	for _, p := range watched.All() {
		times.Priority = int(p)
		out.Deadlocks = append(out.Deadlocks, times)
	}
	return out
}

// looks are the watchdog's times as looks and milliseconds, which are 10 ms each where the pack says so.
func (v *viewer) looks(p *fabric.Port) deadlockView {
	w, can := p.Watchdog, v.pack.Watchdog
	a, at := v.sw.Address().Of(addr.Watchdog, ""), originOf(p).Watchdog
	if string(w.Action) != can.Action {
		v.report(diag.Error, a.With("action"), at, fmt.Sprintf("watchdog action %q cannot be said", w.Action),
			fmt.Sprintf("The only action that is known of this platform is %q: write watchdog.action: %s for it.", can.Action, can.Action))
	}
	if w.Poll != can.Only {
		v.report(diag.Error, a.With("poll"), at, fmt.Sprintf("the watchdog cannot look every %s: it looks every %s", w.Poll, can.Only),
			fmt.Sprintf("Write watchdog.poll: %s for this platform.", can.Only))
	}
	detection := v.rounded("detection", w.Detection, can.Timer, a, at)
	recovery := v.rounded("restoration", w.Restoration, can.Recovery, a, at)
	return deadlockView{Detect: int64(detection / can.Only), Recover: recovery.Milliseconds()}
}
