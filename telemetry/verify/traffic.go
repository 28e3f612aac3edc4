package verify

import (
	"slices"
	"time"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/telemetry"
	"github.com/weirfabric/weir/telemetry/health"
)

// Under so much in a second what passes is chatter: that it stops says nothing.
const (
	chatterPackets = 1
	chatterBytes   = 1000
)

// stopped is the share of what passed before under which a port counts as idle: what somebody pings with is no traffic.
const stopped = 0.01

// recent is how many intervals before the wave tell whether a port was busy.
const recent = 2

// flow is one counter of the traffic of a class.
type flow struct {
	count
	chatter float64
}

func flows(c health.Class) []flow {
	return []flow{
		{count{telemetry.QueuePackets, number(c.Queue)}, chatterPackets},
		{count{telemetry.PriorityReceivedBytes, number(c.Priority)}, chatterBytes},
		{count{telemetry.PriorityTransmittedBytes, number(c.Priority)}, chatterBytes},
	}
}

// rate is what a counter grew by in a second of the device over the last intervals before the wave. It is not known where the
// counter had not come twice, or came no more.
func (b Before) rate(x count, a addr.Addr, scale float64) (rate float64, known bool) {
	s := b.series[key{x.metric, x.metric.At(a.Device, a.Port, x.number)}]
	if !s.Status.Counts() || s.Stale(b.at, forgiven) {
		return 0, false
	}
	all, newest := last(s, recent), last(s, 1)
	over := all.Over(scale)
	switch {
	case over <= 0:
		return 0, false
	case newest.Growth() == 0:
		return 0, true // it had stopped before
	}
	return all.Growth() / over.Seconds(), true
}

// last is the series with the points of its last intervals alone. Points may come in a burst when a device or its stream was late:
// they go back by at least so many intervals, less half of one.
func last(s telemetry.Series, intervals int) telemetry.Series {
	from := len(s.Points) - 1
	for from > 0 && (from == len(s.Points)-1 || s.Last().At.Sub(s.Points[from].At) < time.Duration(intervals)*s.Every-s.Every/2) {
		from--
	}
	s.Points = s.Points[max(0, from):]
	return s
}

// settling is how many intervals after a port's grace its traffic must be seen again.
const settling = 2

// every is the interval of a counter.
func (w *window) every(x count, a addr.Addr) time.Duration {
	t, _ := w.at(x.metric, a, x.number)
	return t.Every
}

// forgiven is how many readings a series may miss and is still believed: as many as a store keeps it for.
const forgiven = 3

// Busy are the ports that carried a lossless class before the wave, in their order. Scale is that of the options.
func (b Before) Busy(scale float64) []addr.Addr {
	var out []addr.Addr
	for _, p := range b.ports {
		if slices.ContainsFunc(p.Classes, func(c health.Class) bool { return b.busy(p.Addr, c, scale) }) {
			out = append(out, p.Addr)
		}
	}
	return out
}

func (b Before) busy(a addr.Addr, c health.Class, scale float64) bool {
	return slices.ContainsFunc(flows(c), func(f flow) bool {
		rate, _ := b.rate(f.count, a, scale)
		return rate >= f.chatter
	})
}

// now is what a counter grows by in a second of the device since the window began.
func (w *window) now(x count, a addr.Addr) (rate float64, known bool) {
	t, ok := w.at(x.metric, a, x.number)
	if !ok {
		return 0, false
	}
	return t.growth / t.over(w.scale).Seconds(), true
}

// carries says whether the class passes the port since the window began.
func (w *window) carries(a addr.Addr, c health.Class) bool {
	return slices.ContainsFunc(flows(c), func(f flow) bool {
		rate, _ := w.now(f.count, a)
		return rate >= f.chatter
	})
}

// carried says whether any class passed the port, before the wave or since.
func (w *window) carried(p Port) bool {
	return slices.ContainsFunc(p.Classes, func(c health.Class) bool { return w.before.busy(p.Addr, c, w.scale) || w.carries(p.Addr, c) })
}

// moved is the share of what a class carried that must pass in others, beside what passed there before, where the class was taken
// away on purpose: without PAUSE its flows are slower, and what else passes goes up and down.
const moved = 0.1

// gained is how much more the port counts in a second than before the wave, in all queues or priorities but that of x. What was not
// seen is nothing.
func (w *window) gained(x count, a addr.Addr) float64 {
	sum := 0.0
	for k := range w.tracks {
		if k.metric != x.metric || k.addr.Device != a.Device || k.addr.Port != a.Port || k.addr.Name == x.number {
			continue
		}
		other := count{x.metric, k.addr.Name}
		now, known := w.now(other, a)
		was, before := w.before.rate(other, a, w.scale)
		if known && before {
			sum += now - was
		}
	}
	return sum
}

// traffic finds the classes that passed a port before the wave and do not any more. Where another class begins on the port, the
// traffic has moved and is not lost. A port that was idle before proves nothing and holds up nothing.
func (w *window) traffic(p Port) []Finding {
	if slices.ContainsFunc(p.Classes, func(c health.Class) bool { return !w.before.busy(p.Addr, c, w.scale) && w.carries(p.Addr, c) }) {
		return nil
	}
	var out []Finding
	for _, c := range p.Classes {
		at := p.Addr.Of(addr.PFC, number(c.Priority))
		for _, f := range flows(c) {
			now, known := w.now(f.count, p.Addr)
			was, before := w.before.rate(f.count, p.Addr, w.scale)
			switch {
			case !known || w.dead(p.Addr):
			case !before && now < f.chatter:
				out = append(out, unseen(at, "could not see whether the class passed before the wave: %s did not arrive", f.metric.Name))
			case was < f.chatter || now >= stopped*was:
			case w.excused(p.Addr, time.Now().Add(-settling*w.every(f.count, p.Addr))):
				w.flapping = true
			case p.Withdrawn.Has(c.Priority) && w.gained(f.count, p.Addr) >= moved*was:
			case p.Withdrawn.Has(c.Priority):
				out = append(out, bad(at, "the change takes the class away here, and its traffic does not pass in any other either (%s)", f.metric.Name))
			default:
				out = append(out, bad(at, "the class passed here before the wave, and does not any more (%s)", f.metric.Name))
			}
		}
	}
	return out
}
