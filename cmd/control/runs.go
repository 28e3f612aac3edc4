package control

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/intent/plan"
)

// RunRow is one run in the list of all.
type RunRow struct {
	Run     string    `json:"run"`
	Verb    string    `json:"verb"`
	Of      string    `json:"of,omitempty"`
	At      time.Time `json:"at"`
	Devices int       `json:"devices"`
	Outcome Outcome   `json:"outcome"` // empty: it was cut off
	Damage  string    `json:"damage,omitempty"`
	journal.Audit
}

// Runs lists the runs of a store, oldest first.
func Runs(store journal.Store) ([]RunRow, error) {
	begun, err := store.Begun()
	if err != nil {
		return nil, err
	}
	rows := []RunRow{}
	for _, r := range begun {
		rows = append(rows, rowOf(r))
	}
	return rows, nil
}

func rowOf(r journal.Run) RunRow {
	return RunRow{Run: r.Name, Verb: r.Verb, Of: r.Of, At: r.Begun, Devices: r.Devices(), Outcome: r.Outcome, Damage: r.Damage, Audit: r.Audit}
}

// RunStory is one run: who made it and why, what it changed, and how it ended.
type RunStory struct {
	RunRow
	Why   string        `json:"why"` // what stopped it; empty when it went through
	Waves [][]DeviceRun `json:"waves"`
}

// DeviceRun is one device in a run.
type DeviceRun struct {
	Device  string        `json:"device"`
	Phase   journal.Kind  `json:"phase"`   // the last that is on record of it; empty: it was not begun
	Outcome Outcome       `json:"outcome"` // empty: not decided
	Why     string        `json:"why,omitempty"`
	Changes []plan.Change `json:"changes"` // that were announced
	Leaves  []string      `json:"leaves"`  // what differs from before, where it is stuck
}

// StoryOf reads the journal of one run.
func StoryOf(store journal.Store, run string) (RunStory, error) {
	r, err := store.Replay(run)
	if err != nil {
		return RunStory{}, err
	}
	story := RunStory{RunRow: rowOf(r), Why: r.Why, Waves: [][]DeviceRun{}}
	for _, w := range r.Waves {
		devices := []DeviceRun{}
		for _, d := range w.Devices {
			devices = append(devices, DeviceRun{Device: d.Name, Phase: d.Phase, Outcome: d.Outcome, Why: d.Why,
				Changes: append([]plan.Change{}, d.Changes...), Leaves: append([]string{}, d.Leaves...)})
		}
		story.Waves = append(story.Waves, devices)
	}
	return story, nil
}

// Repair cuts the damaged end off the journal of a run, and gives the name of the copy that it keeps. Where giveUp is set the run
// is closed for that reason instead, wherever its journal is damaged.
func Repair(store journal.Store, run, giveUp string) (kept string, err error) {
	lease, err := store.Lock(journal.Lock{Run: run, Verb: "repair"})
	if err != nil {
		return "", err
	}
	if giveUp == "" {
		kept, err = store.Repair(run)
	} else if d, unread := store.Damage(run); unread != nil || d == nil {
		err = errors.Join(unread, fmt.Errorf("the journal of run %s is sound: weir recover ends the run, or weir runs --abandon", run))
	} else {
		kept, err = store.GiveUp(run, giveUp)
	}
	return kept, errors.Join(err, lease.Release())
}

// Import copies what a folder has into the state that a team shares, and gives how many runs that were.
func Import(store journal.Store, folder string) (n int, err error) {
	if store.Backend == nil {
		return 0, fmt.Errorf("%s is a folder: your configuration names no state of a team for this fabric", store.Dir)
	}
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return 0, errors.Join(err, fmt.Errorf("%s is no folder that runs are recorded in", folder))
	}
	from := store
	from.Dir, from.Backend, from.Keep = folder, nil, 0
	for _, s := range []journal.Store{from, store} {
		lease, locked := s.Lock(journal.Lock{Run: "import", Verb: "import"})
		if locked != nil {
			return 0, locked
		}
		defer func() { err = errors.Join(err, lease.Release()) }()
	}
	if err := store.Ready(""); err != nil {
		return 0, err
	}
	return store.Import(from)
}
