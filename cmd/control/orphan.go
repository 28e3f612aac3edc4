package control

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/inventory"
)

// Orphan is a device that weir configured and that is no longer weir's to configure.
type Orphan struct {
	Device  string
	Why     string   // it is none of weir's devices any more
	Objects []string // shared objects that weir made or adopted there, as the manifest has them
}

// Orphans are the devices that the manifest lists objects of and that weir writes no configuration for, as people count.
func (r *Repo) Orphans() []Orphan {
	var out []Orphan
	for _, name := range sortedNames(r.manifest) {
		if len(r.manifest[name]) == 0 || r.bound[name] != nil {
			continue
		}
		why := "it is not in the inventory any more"
		switch d := r.devices[name]; {
		case d != nil && d.StateOf() == inventory.Unmanaged:
			why = "the inventory says unmanaged"
		case d != nil:
			why = "weir writes no configuration for it any more"
		}
		out = append(out, Orphan{name, why, r.manifest[name]})
	}
	return out
}

// listedObjects is how many objects of an orphan a finding names.
const listedObjects = 8

// Orphaned are the findings about orphans.
func (r *Repo) Orphaned() diag.List {
	var findings diag.List
	for _, o := range r.Orphans() {
		findings.Add(diag.Diagnostic{
			Severity: diag.Warning, Check: "orphan", Addr: addr.Device(o.Device),
			Summary: fmt.Sprintf("%s, and %s that weir made or adopted %s there", o.Why, diag.Count(len(o.Objects), "object"), stands(len(o.Objects))),
			Detail: fmt.Sprintf("%s; its ports keep what weir set as well. weir changes nothing there any more. If all of that may stay: weir apply --release %s %s%s. "+
				"If it is to go: %sweir apply --clean %s %s%s.",
				diag.First(o.Objects, listedObjects), o.Device, r.Dir, r.flags, r.first(o.Device), o.Device, r.Dir, r.flags),
		})
	}
	return findings
}

func stands(n int) string {
	if n == 1 {
		return "stands"
	}
	return "stand"
}

// first is what a person has to do before an orphan can be cleaned.
func (r *Repo) first(name string) string {
	if r.devices[name] != nil {
		return ""
	}
	return "put its entry back into the inventory with state: unmanaged, so that weir can reach it; then "
}

// orphan says why a name is not that of an orphan; instead is what the next plan would do to a device that is weir's.
func (r *Repo) orphan(name, instead string) error {
	var known []string
	for _, o := range r.Orphans() {
		known = append(known, o.Device)
	}
	switch {
	case slices.Contains(known, name):
		return nil
	case r.bound[name] != nil:
		return fmt.Errorf("%s is in the inventory, and the next plan would %s: take it out of the inventory first, or write state: unmanaged", name, instead)
	}
	return fmt.Errorf("%s: weir owns nothing there%s", name, orElse(name, known))
}

// Release forgets what weir owns on orphans: it stays on the devices, and is nobody's. The names must be those of orphans.
func (r *Repo) Release(names []string) (err error) {
	for _, name := range names {
		if err := r.orphan(name, "take what it wants there back"); err != nil {
			return err
		}
	}
	lease, err := r.Store.Lock(journal.Lock{Run: "release", Verb: "release"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lease.Release()) }()
	if err := r.Store.Ended(); err != nil {
		return err
	}
	manifest, err := r.Store.Manifest() // as it stands under the lock
	if err != nil {
		return err
	}
	for _, name := range names {
		delete(manifest, name)
	}
	if err := r.Store.SaveManifest(manifest); err != nil {
		return fmt.Errorf("release: %w", err)
	}
	r.listed = manifest
	maps.DeleteFunc(r.manifest, func(name string, _ []string) bool { return slices.Contains(names, name) })
	return nil
}
