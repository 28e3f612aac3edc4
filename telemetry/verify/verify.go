// Package verify watches the counters for the settle window after a wave and says whether the fabric is as well as before.
package verify

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/telemetry"
	"github.com/weirfabric/weir/telemetry/health"
)

// Store is where the readings are. Series gives those of the devices, with their last points.
type Store interface {
	Series(devices []string, metrics ...*telemetry.Metric) []telemetry.Series
}

// Port is a port that the wave touched, or that faces one.
type Port struct {
	Addr    addr.Addr
	Classes []health.Class // the lossless ones
}

// Options of a window. Zero values take the default that is named.
type Options struct {
	Settle  time.Duration // at least so long; it is never less than twice the slowest interval of the counters that are needed
	Longest time.Duration // what has not come by then is not known; 0: twice the settle window
	Storm   float64       // share of the time that a stopped port counts as a storm from; 0.99
	Scale   float64       // seconds of the devices in one of ours; 1. Only in a laboratory is it another
}

// Verdict is how a window ended.
type Verdict string

// A window without traffic of the class, or without readings, is inconclusive: it is no pass.
const (
	Pass         Verdict = "pass"
	Worse        Verdict = "bad"
	Inconclusive Verdict = "inconclusive"
)

// Finding is one thing that a window saw.
type Finding struct {
	Verdict Verdict   `json:"verdict"` // what it makes of the window
	Addr    addr.Addr `json:"address"`
	Summary string    `json:"summary"`
}

// Result is what a window saw: bad where anything is, else inconclusive where anything is, else pass.
type Result struct {
	Verdict  Verdict       `json:"verdict"`
	Findings []Finding     `json:"findings"`
	Waited   time.Duration `json:"waited"` // in nanoseconds
}

// watched are the metrics that a window compares.
var watched = []*telemetry.Metric{
	telemetry.GroupDropped, telemetry.QueueDropped, telemetry.PriorityDropped, telemetry.PortUp, telemetry.PFCSeconds, telemetry.PFCReceived,
	telemetry.WatchdogDetected, telemetry.WatchdogStormed, telemetry.QueuePackets, telemetry.PriorityReceivedBytes, telemetry.PriorityTransmittedBytes,
}

// Before is how the ports were before a wave.
type Before struct {
	ports  []Port
	series map[key]telemetry.Series
}

type key struct {
	metric *telemetry.Metric
	addr   addr.Addr
}

// Take remembers the counters as they are. It is called before the wave is sent.
func Take(s Store, ports []Port) Before {
	b := Before{ports: ports, series: map[key]telemetry.Series{}}
	for _, x := range s.Series(devices(ports), watched...) {
		b.series[key{x.Metric, x.Addr}] = x
	}
	return b
}

func devices(ports []Port) []string {
	var out []string
	for _, p := range ports {
		if !slices.Contains(out, p.Addr.Device) {
			out = append(out, p.Addr.Device)
		}
	}
	return out
}

// Window watches until the counters have settled, and judges. It is called when the wave has been sent. The error is ctx's.
func Window(ctx context.Context, s Store, b Before, o Options) (Result, error) {
	w := &window{before: b, store: s, began: time.Now(), tracks: map[key]*track{}}
	w.storm = cmp.Or(o.Storm, 0.99)
	w.scale = cmp.Or(o.Scale, 1)
	w.look()
	settle := max(o.Settle, 2*w.slowest())
	longest := max(settle, cmp.Or(o.Longest, 2*settle))
	ticker := time.NewTicker(max(settle/looks, time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return Result{}, ctx.Err()
		case <-ticker.C:
		}
		w.look()
		// A series that is only known now may need a longer window.
		settle = max(settle, 2*w.slowest())
		longest = max(longest, settle)
		waited := time.Since(w.began)
		if waited < settle {
			continue
		}
		// What is bad stays so, whatever is still to come.
		if r := w.judge(); waited >= longest || w.complete() || r.Verdict == Worse {
			return r, nil
		}
	}
}

// looks is how often in a settle window the store is looked at: often enough that no point is lost from its history.
const looks = 20

// window is a Window at work.
type window struct {
	before Before
	store  Store
	began  time.Time
	storm  float64
	scale  float64
	tracks map[key]*track
}

// track is what a series did since the window began.
type track struct {
	telemetry.Series                  // as it was last seen
	points           telemetry.Series // the first and the last point since the window began
	growth           float64
}

// look takes in what has come since the last look.
func (w *window) look() {
	for _, s := range w.store.Series(devices(w.before.ports), watched...) {
		k := key{s.Metric, s.Addr}
		t, ok := w.tracks[k]
		if !ok {
			t = &track{}
			w.tracks[k] = t
		}
		t.Series = s
		for _, p := range s.Points {
			if p.At.After(w.began) && p.At.After(t.points.Last().At) {
				t.add(p)
			}
		}
	}
}

func (t *track) add(p telemetry.Point) {
	if len(t.points.Points) == 0 {
		t.points.Points = []telemetry.Point{p}
		return
	}
	t.growth += telemetry.Series{Points: []telemetry.Point{t.points.Last(), p}}.Growth()
	t.points.Points = []telemetry.Point{t.points.Points[0], p}
}

// over is the time, as the device lives it, for which the growth was seen; 0: not yet.
func (t *track) over(scale float64) time.Duration { return t.points.Over(scale) }

// at is the track of a metric on a port; ok is false where it does not count or has not been seen twice.
func (w *window) at(m *telemetry.Metric, a addr.Addr, number string) (*track, bool) {
	t, ok := w.tracks[key{m, m.At(a.Device, a.Port, number)}]
	return t, ok && t.Status.Counts() && t.over(w.scale) > 0
}

// slowest is the longest interval of the counters that are needed.
func (w *window) slowest() time.Duration {
	var d time.Duration
	for k, t := range w.tracks {
		if k.metric.Counter && t.Status.Counts() {
			d = max(d, t.Every)
		}
	}
	return d
}

// complete says whether every counter has been seen over a whole interval.
func (w *window) complete() bool {
	for k, t := range w.tracks {
		if k.metric.Counter && t.Status.Counts() && t.over(w.scale) == 0 {
			return false
		}
	}
	return true
}

func (w *window) judge() Result {
	r := Result{Verdict: Pass, Waited: time.Since(w.began)}
	for _, p := range w.before.ports {
		r.Findings = append(r.Findings, w.port(p)...)
	}
	for _, d := range devices(w.before.ports) {
		r.Findings = append(r.Findings, w.device(d)...)
	}
	for _, f := range r.Findings {
		if f.Verdict == Worse || f.Verdict == Inconclusive && r.Verdict == Pass {
			r.Verdict = f.Verdict
		}
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(rank[a.Verdict], rank[b.Verdict]), addr.Compare(a.Addr, b.Addr))
	})
	return r
}

var rank = map[Verdict]int{Worse: 0, Inconclusive: 1, Pass: 2}

func bad(a addr.Addr, format string, args ...any) Finding {
	return Finding{Worse, a, fmt.Sprintf(format, args...)}
}

func unclear(a addr.Addr, format string, args ...any) Finding {
	return Finding{Inconclusive, a, fmt.Sprintf(format, args...)}
}
