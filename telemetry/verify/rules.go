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
			t, ok := w.at(x.metric, p.Addr, x.number)
			was := w.before.series[key{x.metric, x.metric.At(p.Addr.Device, p.Addr.Port, x.number)}]
			switch {
			case !ok && len(was.Points) > 0 && was.Status.Counts():
				out = append(out, unclear(at, "the counter of dropped packets does not arrive any more (%s)", x.metric.Name))
			case ok && t.growth > 0 && w.newly(t):
				out = append(out, bad(at, "%.0f packets of a lossless class were dropped in %s (%s)", t.growth, t.over(w.scale).Round(time.Second), x.metric.Name))
			}
		}
		out = append(out, w.storms(p.Addr, at, c)...)
	}
	return out
}

// drop is one counter of lost packets.
type drop struct {
	metric *telemetry.Metric
	number string
}

func drops(c health.Class) []drop {
	return []drop{{telemetry.GroupDropped, number(c.Group)}, {telemetry.QueueDropped, number(c.Queue)}, {telemetry.PriorityDropped, number(c.Priority)}}
}

// newly says whether a counter grows that did not grow before the wave, or more slowly.
func (w *window) newly(t *track) bool {
	was, ok := w.before.series[key{t.Metric, t.Addr}]
	if over := was.Over(w.scale); ok && over > 0 {
		return t.growth/t.over(w.scale).Seconds() > moreThanBefore*was.Growth()/over.Seconds()
	}
	return true
}

func (w *window) down(a addr.Addr) (Finding, bool) {
	k := key{telemetry.PortUp, a}
	t, ok := w.tracks[k]
	if !ok || !t.Status.Counts() || t.Last().Value != 0 || len(t.Points) == 0 {
		return Finding{}, false
	}
	if was := w.before.series[k]; len(was.Points) > 0 && was.Last().Value == 0 {
		return Finding{}, false
	}
	return bad(a, "the port is down, and was up before"), true
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

// device judges whether the window can tell anything of the device: readings came, and traffic of each class was there.
func (w *window) device(name string) []Finding {
	type known struct {
		class         health.Class
		counted, busy bool
	}
	var classes []known
	for _, p := range w.before.ports {
		if p.Addr.Device != name {
			continue
		}
		for _, c := range p.Classes {
			i := 0
			for i < len(classes) && classes[i].class.Priority != c.Priority {
				i++
			}
			if i == len(classes) {
				classes = append(classes, known{class: c})
			}
			classes[i].counted = classes[i].counted || w.counts(p.Addr, c)
			classes[i].busy = classes[i].busy || w.busy(p.Addr, c)
		}
	}
	var out []Finding
	for _, k := range classes {
		at := addr.Device(name).Of(addr.PFC, number(k.class.Priority))
		switch {
		case !k.counted:
			out = append(out, unclear(at, "no counter of dropped packets arrived in the window"))
		case !k.busy:
			out = append(out, unclear(at, "no traffic of the class passed in the window: nothing is proven"))
		}
	}
	return out
}

// counts says whether any drop counter of the class was seen over the window.
func (w *window) counts(a addr.Addr, c health.Class) bool {
	for _, d := range drops(c) {
		if _, ok := w.at(d.metric, a, d.number); ok {
			return true
		}
	}
	return false
}

// busy says whether traffic of the class passed the port.
func (w *window) busy(a addr.Addr, c health.Class) bool {
	for _, x := range []drop{{telemetry.QueuePackets, number(c.Queue)}, {telemetry.PriorityReceivedBytes, number(c.Priority)},
		{telemetry.PriorityTransmittedBytes, number(c.Priority)}} {
		if t, ok := w.at(x.metric, a, x.number); ok && t.growth > 0 {
			return true
		}
	}
	return false
}
