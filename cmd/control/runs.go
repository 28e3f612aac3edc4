package control

import (
	"time"

	"github.com/weirfabric/weir/drivers/apply/journal"
)

// RunRow is one run in the list of all.
type RunRow struct {
	Run     string    `json:"run"`
	Verb    string    `json:"verb"`
	Of      string    `json:"of,omitempty"`
	At      time.Time `json:"at"`
	Devices int       `json:"devices"`
	Outcome Outcome   `json:"outcome"` // empty: it was cut off
}

// Runs lists the runs of a store, oldest first.
func Runs(store journal.Store) ([]RunRow, error) {
	begun, err := store.Begun()
	if err != nil {
		return nil, err
	}
	rows := []RunRow{}
	for _, r := range begun {
		rows = append(rows, RunRow{Run: r.Name, Verb: r.Verb, Of: r.Of, At: r.Begun, Devices: r.Devices(), Outcome: r.Outcome})
	}
	return rows, nil
}
