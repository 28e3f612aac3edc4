package verify

import (
	"time"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/telemetry"
	"github.com/weirfabric/weir/telemetry/health"
)

// needed is what must be seen of each class on each port, and the counters any of which tells it.
func needed(c health.Class) []struct {
	what   string
	counts []count
} {
	var traffic []count
	for _, f := range flows(c) {
		traffic = append(traffic, f.count)
	}
	return []struct {
		what   string
		counts []count
	}{{"whether packets of the class are dropped", drops(c)}, {"the traffic of the class", traffic}}
}

// deviceCount is a counter on any port of a device.
type deviceCount struct {
	device string
	count
}

// counted are the counters that a device has on some port since the window began: that it can is then known.
func (w *window) counted() map[deviceCount]bool {
	out := map[deviceCount]bool{}
	for k, t := range w.tracks {
		if t.Status.Counts() && t.over(w.scale) > 0 {
			out[deviceCount{k.addr.Device, count{k.metric, k.addr.Name}}] = true
		}
	}
	return out
}

// missing names what could not be seen of a port. A counter that came before the wave, or that comes on another port of the
// device, is missed where it does not come; of the others one that tells is enough.
func (w *window) missing(p Port, counted map[deviceCount]bool) []Finding {
	if w.dead(p.Addr) {
		return nil
	}
	var out []Finding
	if k := (key{telemetry.PortUp, p.Addr}); !w.told(p, k) {
		t, ok := w.tracks[k]
		if !ok || !t.Status.Counts() || len(t.Points) == 0 || t.Stale(time.Now(), forgiven) {
			out = append(out, unseen(p.Addr, "could not see whether the port is up: %s does not arrive", telemetry.PortUp.Name))
		}
	}
	for _, c := range p.Classes {
		at := p.Addr.Of(addr.PFC, number(c.Priority))
		for _, n := range needed(c) {
			seen, told, named := false, false, false
			for _, x := range n.counts {
				k := key{x.metric, x.metric.At(p.Addr.Device, p.Addr.Port, x.number)}
				was := w.before.series[k]
				came := len(was.Points) > 0 && was.Status.Counts()
				switch _, ok := w.at(x.metric, p.Addr, x.number); {
				case ok:
					seen = true
				case !came && w.told(p, k):
					told = true
				case came || counted[deviceCount{p.Addr.Device, x}]:
					named = true
					out = append(out, unseen(at, "could not see %s: %s does not arrive", n.what, x.metric.Name))
				}
			}
			if !seen && !told && !named {
				out = append(out, unseen(at, "could not see %s: no counter of it arrives", n.what))
			}
		}
	}
	return out
}

// told says whether a host says of itself that it has no such counter.
func (w *window) told(p Port, k key) bool {
	t, ok := w.tracks[k]
	return p.Host && ok && t.looks == w.looks && !t.Status.Counts()
}

// dead says whether a port was down before the wave and is down now: nothing can pass or be missed there.
func (w *window) dead(a addr.Addr) bool {
	k := key{telemetry.PortUp, a}
	t, ok := w.tracks[k]
	was := w.before.series[k]
	return ok && t.Status.Counts() && len(t.Points) > 0 && t.Last().Value == 0 && len(was.Points) > 0 && was.Last().Value == 0
}
