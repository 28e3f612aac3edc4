package control

import (
	"github.com/weirfabric/weir/intent/check"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/proof/path"
	"github.com/weirfabric/weir/inventory"
)

// DeviceDrift is what differs on one device from what the intent wants, or why that could not be seen.
type DeviceDrift struct {
	Device   string        `json:"device"`
	State    string        `json:"state,omitempty"` // why it was not looked at: maintenance; empty: it was
	Changes  []plan.Change `json:"changes"`
	Accepted int           `json:"accepted"` // differences that the repo accepts: they are not among the changes
	Error    string        `json:"error,omitempty"`
	// Lossless is what the drift does: broken where a break of what runs lies at the device, lossless where none does that it could
	// have caused, and unknown; empty without changes.
	Lossless string       `json:"lossless,omitempty"`
	Breaks   []path.Break `json:"breaks,omitempty"` // of what runs, at the device
}

// What a drift does to the lossless classes.
const (
	StillLossless = "lossless"
	BreaksIt      = "broken"
	NotKnown      = "unknown"
)

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

// Weigh says of the devices that drifted whether a lossless class is lossless no more, by the proof of what was seen. A device at
// which nothing breaks is not the cause where all breaks lie at others that drifted; else it may be, with the one at the other end.
func (r *Repo) Weigh(found []DeviceDrift, seen map[string]Observation) {
	drifted := map[string]*DeviceDrift{}
	for i := range found {
		if len(found[i].Changes) > 0 {
			drifted[found[i].Device] = &found[i]
			found[i].Lossless = StillLossless
		}
	}
	if len(drifted) == 0 {
		return
	}
	proof, err := ProveAllPaths(r.LiveOf(seen).Provable(), "")
	elsewhere := err != nil
	for _, all := range proof.All {
		for _, j := range all.Breaks {
			for _, at := range j.Addresses {
				d := drifted[at.Device]
				switch {
				case d == nil:
					elsewhere = true
				case !j.Break.Unknown:
					b := j.Break
					b.At, d.Lossless = at, BreaksIt
					d.Breaks = append(d.Breaks, b)
				case d.Lossless == StillLossless:
					d.Lossless = NotKnown
				}
			}
		}
	}
	for _, d := range drifted {
		if elsewhere && d.Lossless == StillLossless {
			d.Lossless = NotKnown
		}
	}
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
