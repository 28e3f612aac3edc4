package control

import (
	"context"
	"time"

	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/telemetry/health"
)

// ownFlaps are the ports that runs of weir take down and up, as the journal announces it, and when they last did.
type ownFlaps struct {
	store    journal.Store
	topology health.Topology
	known    map[addr.Addr]time.Time
	run      string // whose journal may hold more than was read; empty: none does
	begun    bool   // the newest run was looked at, which may have ended just before
}

// at gives them as they are known now. A journal that cannot be read announces nothing: a port that is down is then told of.
func (f *ownFlaps) at(now time.Time) map[addr.Addr]time.Time {
	held, err := f.store.Locked()
	if err != nil {
		return f.known
	}
	goesOn := held != nil
	if goesOn {
		f.run = held.Run
	} else if !f.begun {
		if runs, err := f.store.Runs(); err == nil && len(runs) > 0 {
			f.run = runs[len(runs)-1]
		}
	}
	f.begun = true
	if f.run == "" {
		return f.known
	}
	records, err := f.store.Announced(f.run)
	if err != nil {
		return f.known
	}
	known := flapsIn(records, f.topology, goesOn, now)
	for a, at := range f.known {
		if at.After(known[a]) {
			known[a] = at
		}
	}
	f.known = known
	if !goesOn {
		f.run = ""
	}
	return f.known
}

// flapsAlways follows what runs announce, where that takes as long as a server may take to answer: judging does not wait for it.
func (w *Watching) flapsAlways(ctx context.Context, f ownFlaps) {
	tick := time.NewTicker(w.Every)
	defer tick.Stop()
	for {
		f.topology = w.now().topology
		known := f.at(time.Now())
		w.mu.Lock()
		w.flaps = func(time.Time) map[addr.Addr]time.Time { return known }
		w.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// flapsIn are the ports that a run took down and up by its records. What is being sent while the run goes on is so now.
func flapsIn(records []journal.Record, t health.Topology, goesOn bool, now time.Time) map[addr.Addr]time.Time {
	out := map[addr.Addr]time.Time{}
	announced, sending := map[string][]addr.Addr{}, map[string]bool{}
	note := func(device string, at time.Time) {
		for _, a := range announced[device] {
			out[a] = at
		}
	}
	for _, r := range records {
		switch r.Kind {
		case journal.Pending:
			announced[r.Device] = flapping(t, r.Flaps)
		case journal.Sending, journal.Sent:
			sending[r.Device] = r.Kind == journal.Sending
			note(r.Device, r.At)
		}
	}
	for device, still := range sending {
		if still && goesOn {
			note(device, now)
		}
	}
	return out
}
