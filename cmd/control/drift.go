package control

import (
	"github.com/weirfabric/weir/intent/check"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/inventory"
)

// DeviceDrift is what differs on one device from what the intent wants, or why that could not be seen.
type DeviceDrift struct {
	Device   string        `json:"device"`
	State    string        `json:"state,omitempty"` // why it was not looked at: maintenance; empty: it was
	Changes  []plan.Change `json:"changes"`
	Accepted int           `json:"accepted"` // differences that the repo accepts: they are not among the changes
	Error    string        `json:"error,omitempty"`
}

// Drift lists, for each device, what differs from the intent and is not accepted.
func (r *Repo) Drift(names []string, seen map[string]Observation) []DeviceDrift {
	out := []DeviceDrift{}
	waivers := check.WaiversOf(r.Fabric, r.effects.Now())
	for _, name := range names {
		d := DeviceDrift{Device: name, Changes: []plan.Change{}}
		if err := seen[name].Err; err != nil {
			d.Error = err.Error()
		} else {
			for _, change := range r.Changes(name, seen[name].State) {
				if waivers.Cover(check.Drift, change.Addr) {
					d.Accepted++
				} else {
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

// Resting are the selected devices in maintenance: they are shown, and what differs on them is nobody's concern for now.
func (r *Repo) Resting(s Selection) ([]DeviceDrift, error) {
	picked, err := r.Selected(s)
	if err != nil {
		return nil, err
	}
	var out []DeviceDrift
	for _, name := range picked {
		if r.devices[name].StateOf() == inventory.Maintenance {
			out = append(out, DeviceDrift{Device: name, State: string(inventory.Maintenance), Changes: []plan.Change{}})
		}
	}
	return out, nil
}
