package control

import (
	"time"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/plan"
)

// DeviceDrift is what differs on one device from what the intent wants, or why that could not be seen.
type DeviceDrift struct {
	Device  string        `json:"device"`
	Changes []plan.Change `json:"changes"`
	Error   string        `json:"error,omitempty"`
}

// Drift lists, for each device, what differs from the intent and is not accepted.
func (r *Repo) Drift(names []string, seen map[string]Observation) []DeviceDrift {
	out := []DeviceDrift{}
	for _, name := range names {
		d := DeviceDrift{Device: name, Changes: []plan.Change{}}
		if err := seen[name].Err; err != nil {
			d.Error = err.Error()
		} else {
			for _, change := range r.Changes(name, seen[name].State) {
				if !r.accepted(change, r.effects.Now()) {
					d.Changes = append(d.Changes, change)
				}
			}
		}
		out = append(out, d)
	}
	return out
}

// Changes are what leads a device from a state to what is wanted.
func (r *Repo) Changes(name string, have plan.State) []plan.Change {
	step, _ := r.bound[name].Step(have, r.Wanted(name))
	return step.Changes
}

// accepted says whether a difference was weighed and accepted in the repo, and still is.
func (r *Repo) accepted(change plan.Change, now time.Time) bool {
	for _, w := range r.Fabric.Intent.Accept {
		at, err := addr.Parse(w.Address.V)
		if err == nil && w.Check.V == "drift" && now.Before(w.Expires.V.AddDate(0, 0, 1)) && at.Contains(change.Addr) {
			return true
		}
	}
	return false
}
