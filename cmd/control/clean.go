package control

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/weirfabric/weir/drivers/apply"
	"github.com/weirfabric/weir/render"
)

// Cleaning is an orphan on its way back to what it was before weir.
type Cleaning struct {
	Return
	repo *Repo // in which the orphan has a language
}

// PlanClean reads an orphan and works out the step that leads it back to what was read there before the run that brought weir to
// it, whatever was done to weir's part of it since. It needs the inventory's entry of the device, to reach it.
func (r *Repo) PlanClean(ctx context.Context, name string) (Cleaning, error) {
	if err := r.orphan(name, "set up again what is cleaned there"); err != nil {
		return Cleaning{}, err
	}
	if r.devices[name] == nil {
		return Cleaning{}, fmt.Errorf("%s: the inventory does not say how to reach it: put its entry back with state: unmanaged, run this again, and take it out after that; "+
			"or forget what stands there with --release", name)
	}
	c := r.speaking([]string{name})
	if c.bound[name] == nil {
		return Cleaning{}, fmt.Errorf("%s: weir speaks no language of platform %q: write the platform and the SKU that it had into its entry", name, r.devices[name].Platform.V)
	}
	run, err := r.brought(name)
	if err != nil {
		return Cleaning{}, err
	}
	only := func(device string) bool { return device == name }
	ret, err := c.config(RunOptions{}).PlanRollback(ctx, run, apply.ReturnOptions{Only: only, Moved: true})
	return Cleaning{ret, c}, err
}

// Clean carries a cleaning out, judged like a rollback. When the device is back, weir owns nothing there.
func (r *Repo) Clean(ctx context.Context, c Cleaning, o RunOptions) (Result, error) {
	return c.repo.Rollback(ctx, c.Return, o)
}

// brought is the run that brought weir to a device: the newest of those that stay there before which weir owned nothing on it.
func (r *Repo) brought(name string) (string, error) {
	begun, err := r.Store.Begun()
	if err != nil {
		return "", err
	}
	for _, listed := range slices.Backward(begun) {
		if !listed.Stays || !listed.Ended {
			continue
		}
		run, err := r.Store.Replay(listed.Name)
		if err != nil {
			return "", err
		}
		past, err := run.Past()
		if err != nil {
			return "", err
		}
		if _, stays := past.After[name]; stays && len(past.Owned[name]) == 0 {
			return listed.Name, nil
		}
	}
	return "", fmt.Errorf("%s: no run is on record here that brought weir to it, so that what was there before is not known: clean it by hand, and forget it with --release", name)
}

// speaking is the repo with a language also for those of the devices that it writes nothing for, unmanaged ones among them. Nil are
// all.
func (r *Repo) speaking(names []string) *Repo {
	more := *r
	more.bound = maps.Clone(r.bound)
	bind := func(name string, b func() render.Bound) {
		if more.bound[name] == nil && (names == nil || slices.Contains(names, name)) {
			more.bound[name] = b()
		}
	}
	for _, s := range r.Fabric.Switches {
		if l, ok := switchLanguages[s.Platform]; ok {
			bind(s.Name, func() render.Bound { return render.Bind(l, s, s.Name, s.Platform, r.manifest) })
		}
	}
	for _, h := range r.Fabric.Hosts {
		if l, ok := hostLanguages[h.Platform]; ok {
			bind(h.Name, func() render.Bound { return render.Bind(l, h, h.Name, h.Platform, r.manifest) })
		}
	}
	return &more
}
