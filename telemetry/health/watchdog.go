package health

import (
	"fmt"
	"time"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/telemetry"
)

// watchdog judges by transitions, since the drop counters of watchdogs are known to be wrong (sonic-buildimage issue 19067).
func (j *judge) watchdog(a addr.Addr, c Class) {
	detected, counted := j.growth(telemetry.WatchdogDetected, a, digit(c.Queue))
	stormed, seen := j.inStorm(a, c)
	if !stormed && (!counted || detected.growth == 0) {
		return
	}
	r := detected
	if !counted || detected.growth == 0 {
		r = reading{since: seen, seen: seen}
	}
	v := about(Watchdog, a, c.Priority, diag.Error, "")
	sent, _ := j.recent(telemetry.PFCTransmitted, a, digit(c.Priority))
	received, heard := j.recent(telemetry.PFCReceived, a, digit(c.Priority))
	switch {
	case counted && int(detected.growth) >= j.policy.Flapping:
		v.Summary = fmt.Sprintf("the watchdog went in and out of storm %.0f times in %s: it flaps", detected.growth, detected.over.Round(time.Second))
	case stormed && heard && received.growth == 0:
		v.Summary = "the watchdog holds the queue in storm though no PAUSE arrives: its traffic is lost until the state is cleared"
	case stormed && sent.growth > 0:
		v.Summary = "the queue is in storm, and the port goes on sending PAUSE upstream"
	case stormed:
		v.Summary = "the watchdog holds the queue in storm"
	default:
		v.Severity = diag.Warning
		v.Summary = fmt.Sprintf("the watchdog saw a storm, which is over: %.0f in %s", detected.growth, detected.over.Round(time.Second))
	}
	j.add(v, r)
}

// inStorm says whether the device's watchdog holds the queue in its storm state now: by that state, or where the device does
// not tell it by storms that have begun and not ended.
func (j *judge) inStorm(a addr.Addr, c Class) (stormed bool, seen time.Time) {
	if s, ok := j.at(telemetry.WatchdogStormed, a, digit(c.Queue)); ok {
		return s.Last().Value == 1, s.Last().At
	}
	begun, ok := j.at(telemetry.WatchdogDetected, a, digit(c.Queue))
	ended, ok2 := j.at(telemetry.WatchdogRestored, a, digit(c.Queue))
	return ok && ok2 && begun.Last().Value > ended.Last().Value, begun.Last().At
}

// stormed says whether the device's watchdog saw a storm on the queue in the window.
func (j *judge) stormed(a addr.Addr, c Class) bool {
	if now, _ := j.inStorm(a, c); now {
		return true
	}
	r, ok := j.growth(telemetry.WatchdogDetected, a, digit(c.Queue))
	return ok && r.growth > 0
}
