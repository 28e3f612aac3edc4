package control

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/diag"
)

// Reread is the repo as its files and the record of what is weir's on the devices say now; nil where they say what they said. It asks
// the operator nothing.
func (r *Repo) Reread() (*Repo, error) {
	digest, err := intent.Digest(r.effects.Files)
	if err != nil {
		return nil, err
	}
	manifest, err := r.Store.Manifest()
	if err != nil {
		return nil, err
	}
	if digest == r.Digest && (reflect.DeepEqual(manifest, r.listed) || len(manifest) == 0 && len(r.listed) == 0) {
		return nil, nil //nolint:nilnil // nothing is what has changed
	}
	o := r.options
	o.Effects.Allow, o.Effects.State = nil, r.Store.Backend
	next, err := Open(r.Dir, o)
	if err != nil {
		return nil, err
	}
	if next.Fabric == nil {
		return nil, fmt.Errorf("%s: it says no fabric any more, for %s: weir check names them", r.Dir, diag.Count(next.Findings.Count(diag.Error), "error"))
	}
	return next, nil
}

// rereadAlways follows the repo as it changes. What it says when it cannot be read changes nothing.
func (w *Watching) rereadAlways(ctx context.Context, o WatchOptions) {
	tick := time.NewTicker(o.Reread)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		next, err := w.now().repo.Reread()
		var names []string
		if next != nil {
			names, _, err = next.Reached(o.Devices)
		}
		switch {
		case err != nil:
			w.log.Warn("the repo has changed and cannot be followed: what it said before is watched", "err", err)
		case next != nil:
			w.become(ctx, next, names)
		}
	}
}

// become watches what the repo says now.
func (w *Watching) become(ctx context.Context, next *Repo, names []string) {
	w.follow(ctx, next, names)
	w.mu.Lock()
	w.watched = watched{next, names, next.topology(names)}
	w.mu.Unlock()
	select {
	case w.looked <- struct{}{}:
	default: // it is going to be looked at
	}
}
