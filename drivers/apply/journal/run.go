package journal

import (
	"fmt"
	"slices"
	"time"

	"github.com/weirfabric/weir/intent/plan"
)

// Run is what a journal means.
type Run struct {
	Name    string      // of the journal; the records do not know it
	Verb    string      // apply or rollback
	Of      string      // a rollback: the run that it undoes
	Plan    string      // the ID of the plan that is applied
	Content plan.Digest // of what that plan does
	Audit   Audit
	Sent    bool // something was announced to a device
	Stays   bool // something of it is there that was not before it
	Records int  // how many there are; 0: the run was killed before its first
	Begun   time.Time
	Ended   bool
	Outcome Outcome // of a run that has ended
	Why     string  // what stopped a run that has ended
	Waves   []Wave
	Last    int // the wave that the records came to; 0 also where none was begun
	// Recovery is how the run comes to its end where it was cut off; of one that has ended, how it would.
	Recovery Recovery
	Repaired bool   // records were damaged and cut off
	Damage   string // the first thing in the records that no run writes; empty: they are sound
	Mendable bool   // the damage is at the end: it can be cut off
}

// Wave is how far a wave came.
type Wave struct {
	Devices []Device
	Passed  bool // its verdict is good, and nothing of it was undone since
	Undoing bool // a device of it was led back: it will not pass any more
	Ended   bool // every device is confirmed
}

// Device is how far a device of a wave came, and what it takes to finish or undo it.
type Device struct {
	Name    string
	Wave    int
	Phase   Kind                   // the record that says how far it is; empty: it was not begun. What is sent to undo it stays undoing
	Known   bool                   // Before and Objects are in the journal
	Before  plan.Document          // weir's part of it, as it was read before anything was sent
	Objects []string               // shared objects on it that were weir's before
	Rest    plan.Digest            // of the lines of others as they were before; empty: not written down
	Doubt   bool                   // records about it are lost
	Marked  bool                   // the run's marker may stand on it
	Changes []plan.Change          // what was announced, in the operator's terms
	Pending *plan.Pending          // what was announced last; nil: nothing was, or it is undone
	Timer   bool                   // the device may still undo Pending by itself
	Chunks  int                    // how many of Pending took effect, as far as the device said
	Reached plan.Digest            // of what was read back when it held what was wanted; empty: it was not
	Parts   map[string]plan.Digest // Reached by port and shared object
	Lines   []string               // of others, that were new when Reached was read
	Outcome Outcome                // applied once it is confirmed, as before once it is undone; empty: not decided
	Why     string                 // what kept a stuck device from its end
	Leaves  []string               // what differs from before on a stuck device, where that is known
}

// Recovery is how a run that was cut off comes to its end.
type Recovery string

// A run is finished when the verdict of its last wave is good, and that wave undone when it is not; where the wave has ended
// only the run's end is missing.
const (
	Finish  Recovery = "finish"
	Undo    Recovery = "undo"
	Nothing Recovery = "nothing"
)

// Left are the devices that recovery is about: those of the last wave to which something may have happened, and of those before
// it that have no end, where records were lost.
func (r Run) Left() []Device {
	if r.Recovery == Nothing || len(r.Waves) == 0 {
		return nil
	}
	var left []Device
	for n, w := range r.Waves[:r.Last+1] {
		for _, d := range w.Devices {
			if (d.Known || d.Doubt) && !w.Ended && (n == r.Last || r.Repaired) {
				left = append(left, d)
			}
		}
	}
	return left
}

// Result is what the run has come to: how it ends if it ends here.
func (r Run) Result() Outcome {
	worst, stay, all := Outcome(""), 0, 0
	for _, w := range r.Waves {
		for _, d := range w.Devices {
			all++
			switch {
			case d.Outcome == Applied:
				stay++
			case d.Outcome == AsBefore || d.Phase == "" && !d.Doubt:
			case d.Phase == Stuck && len(d.Leaves) > 0:
				if worst == "" {
					worst = Partial
				}
			default:
				worst = Unknown
			}
		}
	}
	switch {
	case worst != "":
		return worst
	case stay == all:
		return Applied
	case stay == 0:
		return AsBefore
	}
	return Incomplete
}

// Devices is how many devices the run is about.
func (r Run) Devices() int {
	n := 0
	for _, w := range r.Waves {
		n += len(w.Devices)
	}
	return n
}

// Past is what a run that has ended left and found: what a rollback starts from.
type Past struct {
	Waves  [][]string               // the devices whose change stays, in the order in which they are rolled back
	Before map[string]plan.Document // as each device was read before the run
	After  map[string]Reading       // as each was read back
	Owned  plan.Manifest            // the shared objects that were weir's before the run
}

// Reading is the digest of a document, whole and by port and shared object.
type Reading struct {
	Digest plan.Digest
	Parts  map[string]plan.Digest
}

// Past is an *UnfinishedError where the run has no end, and an error where nothing of it stays.
func (r Run) Past() (Past, error) {
	p := Past{Before: map[string]plan.Document{}, After: map[string]Reading{}, Owned: plan.Manifest{}}
	if !r.Ended {
		return p, &UnfinishedError{r.Name}
	}
	for _, w := range slices.Backward(r.Waves) {
		var devices []string
		for _, d := range w.Devices {
			if d.Known { // the first wave of a device that is in several comes last
				p.Before[d.Name], p.Owned[d.Name] = d.Before, d.Objects
			}
			if _, later := p.After[d.Name]; d.Outcome == Applied && !later {
				p.After[d.Name] = Reading{d.Reached, d.Parts}
				devices = append(devices, d.Name)
			}
		}
		if len(devices) > 0 {
			p.Waves = append(p.Waves, devices)
		}
	}
	if len(p.Waves) == 0 {
		return p, fmt.Errorf("run %s left nothing applied: there is nothing to roll back", r.Name)
	}
	return p, nil
}
