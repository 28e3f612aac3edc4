package control

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/telemetry"
	"github.com/weirfabric/weir/telemetry/collect"
	"github.com/weirfabric/weir/telemetry/health"
)

// Watching judges what is gathered, over and over, until it is ended.
type Watching struct {
	Every time.Duration // how often it judges, in our own time

	*gathering
	looked chan struct{} // that the configuration is to be compared anew

	mu       sync.Mutex
	watched  watched
	verdicts Verdicts
	rounds   int
	flaps    func(now time.Time) map[addr.Addr]time.Time // of weir's own
	view     *collect.View
}

// watched is what is watched: it changes when the repo does.
type watched struct {
	repo     *Repo
	names    []string
	topology health.Topology
}

// judgeEvery is how often the fabric is judged, in device time.
const judgeEvery = 5 * time.Second

// WatchOptions say what else a watch does. The zero value judges and is silent.
type WatchOptions struct {
	DriftEvery time.Duration // in device time: how often the configuration is read and compared; 0: never
	Reread     time.Duration // in our time: how often it is looked whether the repo has changed; 0: never
	Devices    Selection     // that are watched once the repo has changed
	Log        *slog.Logger  // nil: silent
}

// Watch begins to gather the counters of devices and to judge them: those and no others. Whoever calls it calls End.
func (r *Repo) Watch(ctx context.Context, names []string, o WatchOptions) *Watching {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	g := r.gather(ctx, names, o.Log)
	w := &Watching{gathering: g, looked: make(chan struct{}, 1), Every: r.InWall(judgeEvery), watched: watched{r, names, r.topology(names)}}
	own := ownFlaps{store: r.Store}
	w.flaps, w.view = func(now time.Time) map[addr.Addr]time.Time {
		own.topology = w.watched.topology
		return own.at(now)
	}, g.store.View()
	ctx, stop := context.WithCancel(ctx)
	stopBefore := g.stop
	g.stop = func() { stop(); stopBefore() }
	if r.Store.Backend != nil {
		w.flaps = func(time.Time) map[addr.Addr]time.Time { return nil }
		g.all.Go(func() { w.flapsAlways(ctx, own) })
	}
	g.all.Go(func() { w.judgeAlways(ctx) })
	if o.DriftEvery > 0 {
		g.all.Go(func() { w.driftAlways(ctx, r.InWall(o.DriftEvery)) })
	}
	if o.Reread > 0 {
		g.all.Go(func() { w.rereadAlways(ctx, o) })
	}
	return w
}

// Topology is what is judged, as the repo said when it was read last.
func (w *Watching) Topology() health.Topology { return w.now().topology }

func (w *Watching) now() watched {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.watched
}

// End stops watching and waits until all that belongs to it has ended.
func (w *Watching) End() { w.end() }

// Verdict is one thing that the counters say of the fabric.
type Verdict = health.Verdict

// Checks that a verdict may be of; health.Checks has all.
const (
	CheckIncast   = health.Incast
	CheckPFCStorm = health.PFCStorm
)

// Verdicts are what one judgement says of the fabric.
type Verdicts []Verdict

// Without are the verdicts that the other judgement had not: other in what they are about, or newly known or unknown.
func (v Verdicts) Without(other Verdicts) Verdicts {
	return slices.DeleteFunc(slices.Clone(v), func(x health.Verdict) bool {
		return slices.ContainsFunc(other, func(o health.Verdict) bool { return o.Check == x.Check && o.At() == x.At() && o.State == x.State })
	})
}

// Verdicts are those of the newest judgement, and how many judgements there were.
func (w *Watching) Verdicts() (Verdicts, int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.verdicts, w.rounds
}

func (w *Watching) judgeAlways(ctx context.Context) {
	tick := time.NewTicker(w.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			w.judge(time.Now()) // a tick may have waited
		}
	}
}

// judge judges what is known now, and exports the verdicts.
func (w *Watching) judge(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.view.Reset()
	window := health.Window{Now: now, Source: w.view, Earlier: w.verdicts, Flaps: w.flaps(now), Reasons: w.reasons()}
	w.verdicts = health.Judge(window, w.watched.topology, health.Policy{Scale: w.watched.repo.Scale()})
	for _, v := range w.verdicts {
		w.store.Doubt(v.Doubts...)
	}
	w.rounds++
	w.store.Put(health.Matrix(w.verdicts, w.watched.topology, now, w.Every))
}

// driftAlways reads the configuration of the devices now and then, and when the repo has changed, and exports how much differs.
func (w *Watching) driftAlways(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		at := w.now()
		seen := at.repo.Observe(ctx, at.names, "", nil)
		if ctx.Err() != nil {
			return
		}
		var samples []telemetry.Sample
		for _, d := range at.repo.Drift(at.names, seen) {
			if d.Error != "" {
				w.log.Warn("the configuration could not be compared", "device", d.Device, "err", d.Error)
				continue
			}
			samples = append(samples, telemetry.Sample{Metric: telemetry.DriftChanges, Addr: addr.Device(d.Device), Value: float64(len(d.Changes)), At: time.Now(), Every: every})
		}
		w.store.Put(samples)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-w.looked:
		}
	}
}
