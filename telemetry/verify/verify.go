// Package verify watches the counters for the settle window after a wave and says whether the fabric is as well as before. A
// counter that is missing is never taken for one that stands still.
package verify

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/qos"
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
	Host    bool           // of a host: what its driver says not to count is not missed, since the switch's end of the cable is seen
	Witness bool           // it only tells whether there is traffic that the wave could have hurt: nothing of it is judged or missed
	// Withdrawn are the priorities of classes that the run takes away here on purpose. That such a class does not pass any more is
	// no failure where its traffic goes on in others; nor is it idle for want of traffic.
	Withdrawn qos.PrioritySet
}

// Options of a window. Zero values take the default that is named.
type Options struct {
	Settle  time.Duration // at least so long; it is never less than twice the slowest interval of the counters that are needed
	Longest time.Duration // what has not come by then is missing; 0: what Longest gives
	Storm   float64       // share of the time that a stopped port counts as a storm from; 0.99
	Scale   float64       // seconds of the devices in one of ours; 1. Only in a laboratory is it another
	// Flaps are the ports that the wave itself takes down and up, with those at the other ends of their cables, and when the
	// last message to the device was answered.
	Flaps map[addr.Addr]time.Time
	Grace time.Duration // for which such a port may be down, as the device lives it; DefaultGrace
}

// DefaultGrace is that of a health.Policy: a port that comes up slowly takes some tens of seconds.
const DefaultGrace = time.Minute

// patience is how much longer than it must a window lasts for counters that have not come.
const patience = 5 * time.Minute

// Longest is how long a window lasts at most that must not end before settle.
func Longest(settle time.Duration) time.Duration { return settle + min(settle, patience) }

// Verdict is how a window ended.
type Verdict string

// A window that could not see what it must, and one around which nothing is sent, prove nothing: they are no pass.
const (
	Pass   Verdict = "pass"
	Worse  Verdict = "bad"
	Unseen Verdict = "unseen" // a counter is missing
	Idle   Verdict = "idle"   // everything was seen, and no lossless class carried anything, neither before nor since
)

// Finding is one thing that a window saw.
type Finding struct {
	Verdict Verdict   `json:"verdict"` // what it makes of the window
	Addr    addr.Addr `json:"address"`
	Summary string    `json:"summary"`
}

// Result is what a window saw: bad where anything is, else unseen where anything is, else idle, else pass.
type Result struct {
	Verdict  Verdict       `json:"verdict"`
	Findings []Finding     `json:"findings"`
	Waited   time.Duration `json:"waited"` // in nanoseconds
	Ports    int           `json:"ports"`  // that were judged
	Quiet    int           `json:"quiet"`  // of them: carried nothing, neither before nor since, and prove nothing
}

// watched are the metrics that a window compares.
var watched = []*telemetry.Metric{
	telemetry.GroupDropped, telemetry.QueueDropped, telemetry.PriorityDropped, telemetry.PortUp, telemetry.PFCSeconds, telemetry.PFCReceived,
	telemetry.WatchdogDetected, telemetry.WatchdogStormed, telemetry.QueuePackets, telemetry.PriorityReceivedBytes, telemetry.PriorityTransmittedBytes,
}

// Before is how the ports were before a wave.
type Before struct {
	at     time.Time
	ports  []Port
	series map[key]telemetry.Series
}

type key struct {
	metric *telemetry.Metric
	addr   addr.Addr
}

// Take remembers the counters as they are. It is called before the wave is sent.
func Take(s Store, ports []Port) Before {
	b := Before{at: time.Now(), ports: ports, series: map[key]telemetry.Series{}}
	for _, x := range s.Series(devices(ports), watched...) {
		b.series[key{x.Metric, x.Addr}] = x
	}
	return b
}

func devices(ports []Port) []string {
	var out []string
	known := map[string]bool{}
	for _, p := range ports {
		if !known[p.Addr.Device] {
			known[p.Addr.Device] = true
			out = append(out, p.Addr.Device)
		}
	}
	return out
}

// Window watches until the counters have settled, and judges. It is called when the wave has been sent. The error is ctx's.
func Window(ctx context.Context, s Store, b Before, o Options) (Result, error) {
	w := &window{before: b, store: s, began: time.Now(), tracks: map[key]*track{}, flaps: o.Flaps, judged: map[addr.Addr]bool{}}
	w.storm = cmp.Or(o.Storm, 0.99)
	w.scale = cmp.Or(o.Scale, 1)
	w.grace = time.Duration(float64(cmp.Or(o.Grace, DefaultGrace)) / w.scale)
	for _, p := range b.ports {
		w.judged[p.Addr] = !p.Witness
	}
	w.look()
	settle := max(o.Settle, 2*w.slowest())
	longest := max(settle, cmp.Or(o.Longest, Longest(settle)))
	ticker := time.NewTicker(max(settle/looksInSettle, time.Millisecond))
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
		// What is bad stays so, whatever is still to come. What weir itself did to a port is waited for as long as was announced.
		r := w.judge()
		if r.Verdict == Worse || !w.flapping && (waited >= longest || w.complete() && r.Verdict != Unseen) {
			return r, nil
		}
	}
}

// looksInSettle is how often in a settle window the store is looked at: often enough that no point is lost from its history.
const looksInSettle = 20

// window is a Window at work.
type window struct {
	before   Before
	store    Store
	began    time.Time
	storm    float64
	scale    float64
	grace    time.Duration // as we live it
	flaps    map[addr.Addr]time.Time
	judged   map[addr.Addr]bool // ports
	flapping bool               // the last judgement waits for a port that weir took down
	tracks   map[key]*track
	looks    int
}

// track is what a series did since the window began.
type track struct {
	telemetry.Series                  // as it was last seen
	points           telemetry.Series // the first and the last point since the window began
	growth           float64
	looks            int       // of the window when it was last there
	zero             time.Time // the newest point of value 0 since the counters were taken before the wave
}

// look takes in what has come since the last look.
func (w *window) look() {
	w.looks++
	for _, s := range w.store.Series(devices(w.before.ports), watched...) {
		k := key{s.Metric, s.Addr}
		t, ok := w.tracks[k]
		if !ok {
			t = &track{}
			w.tracks[k] = t
		}
		t.Series, t.looks = s, w.looks
		for _, p := range s.Points {
			if p.Value == 0 && p.At.After(w.before.at) {
				t.zero = p.At
			}
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
		if k.metric.Counter && w.judged[addr.Port(k.addr.Device, k.addr.Port)] && t.Status.Counts() && t.over(w.scale) == 0 {
			return false
		}
	}
	return true
}

func (w *window) judge() Result {
	r := Result{Verdict: Pass, Waited: time.Since(w.began)}
	w.flapping = false
	busy, withdrawn, counted := false, true, w.counted()
	for _, p := range w.before.ports {
		carried := w.carried(p)
		busy, withdrawn = busy || carried, withdrawn && p.withdrawn()
		if p.Witness {
			continue
		}
		r.Ports++
		if !carried {
			r.Quiet++
		}
		r.Findings = append(r.Findings, w.port(p)...)
		r.Findings = append(r.Findings, w.traffic(p)...)
		r.Findings = append(r.Findings, w.missing(p, counted)...)
	}
	if !busy && !withdrawn && r.Ports > 0 {
		for _, d := range w.changed() {
			r.Findings = append(r.Findings, Finding{Idle, addr.Device(d), "no lossless class carried anything before the wave or since: nothing is proven"})
		}
	}
	for _, f := range r.Findings {
		if rank[f.Verdict] < rank[r.Verdict] {
			r.Verdict = f.Verdict
		}
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(rank[a.Verdict], rank[b.Verdict]), addr.Compare(a.Addr, b.Addr))
	})
	return r
}

// withdrawn says whether no class is to pass the port after the wave.
func (p Port) withdrawn() bool {
	return !slices.ContainsFunc(p.Classes, func(c health.Class) bool { return !p.Withdrawn.Has(c.Priority) })
}

// changed are the devices of the ports that are judged.
func (w *window) changed() []string {
	return devices(slices.DeleteFunc(slices.Clone(w.before.ports), func(p Port) bool { return p.Witness }))
}

var rank = map[Verdict]int{Worse: 0, Unseen: 1, Idle: 2, Pass: 3}

func bad(a addr.Addr, format string, args ...any) Finding {
	return Finding{Worse, a, fmt.Sprintf(format, args...)}
}

func unseen(a addr.Addr, format string, args ...any) Finding {
	return Finding{Unseen, a, fmt.Sprintf(format, args...)}
}
