package control

import (
	"time"

	"github.com/weirfabric/weir/drivers/apply"
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
func Runs(store apply.Store) ([]RunRow, error) {
	names, err := store.Runs()
	if err != nil {
		return nil, err
	}
	rows := []RunRow{}
	for _, name := range names {
		records, err := store.Read(name)
		if err != nil {
			return nil, err
		}
		if len(records) > 0 {
			rows = append(rows, rowOf(name, records))
		}
	}
	return rows, nil
}

func rowOf(name string, records []Record) RunRow {
	first, last := records[0], records[len(records)-1]
	row := RunRow{Run: name, Verb: first.Verb, Of: first.Of, At: first.At, Outcome: last.Outcome}
	if last.Kind != apply.Ended {
		row.Outcome = ""
	}
	for _, wave := range first.Devices {
		row.Devices += len(wave)
	}
	return row
}
