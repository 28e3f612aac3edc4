package control

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/telemetry"
	"github.com/weirfabric/weir/telemetry/health"
)

// Watching judges what is gathered, over and over, until it is ended.
type Watching struct {
	Topology health.Topology
	Every    time.Duration // how often it judges, in our own time

	*gathering
	repo *Repo

	mu       sync.Mutex
	verdicts Verdicts
	rounds   int
	flaps    ownFlaps
}

// judgeEvery is how often the fabric is judged, in device time.
const judgeEvery = 5 * time.Second

// WatchOptions say what else a watch does. The zero value judges and is silent.
type WatchOptions struct {
	DriftEvery time.Duration // in device time: how often the configuration is read and compared; 0: never
	Log        *slog.Logger  // nil: silent
}

// Watch begins to gather the counters of devices and to judge them: those and no others. Whoever calls it calls End.
func (r *Repo) Watch(ctx context.Context, names []string, o WatchOptions) (*Watching, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	g, err := r.gather(ctx, names, o.Log)
	if err != nil {
		return nil, err
	}
	w := &Watching{gathering: g, repo: r, Topology: r.topology(names), Every: r.InWall(judgeEvery)}
	w.flaps = ownFlaps{store: r.Store, topology: w.Topology}
	ctx, stop := context.WithCancel(ctx)
	stopBefore := g.stop
	g.stop = func() { stop(); stopBefore() }
	g.all.Go(func() { w.judgeAlways(ctx) })
	if o.DriftEvery > 0 {
		g.all.Go(func() { w.driftAlways(ctx, names, r.InWall(o.DriftEvery)) })
	}
	return w, nil
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
		case now := <-tick.C:
			w.judge(now)
		}
	}
}

// judge judges what is known now, and exports the verdicts.
func (w *Watching) judge(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	window := health.Window{Now: now, Series: w.store.Series(nil), Earlier: w.verdicts, Flaps: w.flaps.at(now)}
	w.verdicts = health.Judge(window, w.Topology, health.Policy{Scale: w.repo.Scale()})
	for _, v := range w.verdicts {
		w.store.Doubt(v.Doubts...)
	}
	w.rounds++
	w.store.Put(health.Matrix(w.verdicts, w.Topology, now, w.Every))
}

// driftAlways reads the configuration of the devices now and then and exports how much differs.
func (w *Watching) driftAlways(ctx context.Context, names []string, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		seen := w.repo.Observe(ctx, names, "", nil)
		if ctx.Err() != nil {
			return
		}
		var samples []telemetry.Sample
		for _, d := range w.repo.Drift(names, seen) {
			if d.Error == "" {
				samples = append(samples, telemetry.Sample{Metric: telemetry.DriftChanges, Addr: addr.Device(d.Device), Value: float64(len(d.Changes)), At: time.Now(), Every: every})
			}
		}
		w.store.Put(samples)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
