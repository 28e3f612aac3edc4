package verify

import (
	"strconv"
	"time"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/telemetry"
	"github.com/weirfabric/weir/telemetry/health"
)

// moreThanBefore is how much faster something may count than before the wave without being blamed on it.
const moreThanBefore = 2

func number[T ~uint8](n T) string { return strconv.Itoa(int(n)) }

// port judges one port.
func (w *window) port(p Port) []Finding {
	var out []Finding
	if f, found := w.down(p.Addr); found {
		out = append(out, f)
	}
	for _, c := range p.Classes {
		at := p.Addr.Of(addr.PFC, number(c.Priority))
		for _, x := range drops(c) {
			if t, ok := w.at(x.metric, p.Addr, x.number); ok && t.growth > 0 && w.newly(t) {
				out = append(out, bad(at, "%.0f packets of a lossless class were dropped in %s (%s)", t.growth, t.over(w.scale).Round(time.Second), x.metric.Name))
			}
		}
		out = append(out, w.storms(p.Addr, at, c)...)
	}
	return out
}

// count is one counter of a class.
type count struct {
	metric *telemetry.Metric
	number string
}

// drops are the counters of lost packets.
func drops(c health.Class) []count {
	return []count{{telemetry.GroupDropped, number(c.Group)}, {telemetry.QueueDropped, number(c.Queue)}, {telemetry.PriorityDropped, number(c.Priority)}}
}

// newly says whether a counter grows that did not grow before the wave, or more slowly.
func (w *window) newly(t *track) bool {
	was, ok := w.before.series[key{t.Metric, t.Addr}]
	if over := was.Over(w.scale); ok && over > 0 {
		return t.growth/t.over(w.scale).Seconds() > moreThanBefore*was.Growth()/over.Seconds()
	}
	return true
}

// down judges whether the port is up, or went down meanwhile. What the plan said that weir would do to it is no finding for as
// long as was announced.
func (w *window) down(a addr.Addr) (Finding, bool) {
	k := key{telemetry.PortUp, a}
	t, ok := w.tracks[k]
	was := w.before.series[k]
	if !ok || !t.Status.Counts() || len(t.Points) == 0 || len(was.Points) > 0 && was.Last().Value == 0 {
		return Finding{}, false
	}
	switch {
	case t.Last().Value == 0 && w.excused(a, time.Now()):
		w.flapping = true
	case t.Last().Value == 0 && w.excused(a, since(t.Points)):
		return bad(a, "the change takes the port down and up, and it did not come up within %v", time.Duration(float64(w.grace)*w.scale)), true
	case t.Last().Value == 0:
		return bad(a, "the port is down, and was up before"), true
	case !t.zero.IsZero() && !w.excused(a, t.zero):
		return bad(a, "the port went down and came up again"), true
	}
	return Finding{}, false
}

// since is when the value became what it is.
func since(points []telemetry.Point) time.Time {
	i := len(points) - 1
	for i > 0 && points[i-1].Value == points[i].Value {
		i--
	}
	return points[i].At
}

// excused says whether weir said beforehand that it would take the port down at that time.
func (w *window) excused(a addr.Addr, at time.Time) bool {
	sent, ok := w.flaps[a]
	return ok && at.Sub(sent) <= w.grace
}

// storms judges what the watchdog saw, and ports that are stopped for good.
func (w *window) storms(port, at addr.Addr, c health.Class) []Finding {
	var out []Finding
	if t, ok := w.at(telemetry.WatchdogDetected, port, number(c.Queue)); ok && t.growth > 0 {
		out = append(out, bad(at, "the watchdog saw %.0f storms", t.growth))
	}
	k := key{telemetry.WatchdogStormed, telemetry.WatchdogStormed.At(port.Device, port.Port, number(c.Queue))}
	if t, ok := w.tracks[k]; ok && t.Status.Counts() && t.Last().Value == 1 && w.before.series[k].Last().Value != 1 {
		out = append(out, bad(at, "the watchdog holds the queue in storm"))
	}
	if t, ok := w.at(telemetry.PFCSeconds, port, number(c.Priority)); ok && w.newly(t) {
		if share := t.growth / t.over(w.scale).Seconds(); share >= w.storm {
			out = append(out, bad(at, "PAUSE stopped the port for %.0f %% of the window", min(1, share)*100))
		}
	}
	return out
}
