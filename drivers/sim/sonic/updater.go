package sonic

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/weirfabric/weir/drivers/sim"
)

// The device time that SONiC's Generic Config Updater takes, fitted to what was observed on a real 202511 (a Set of 1 leaf of 10
// ports 3.3 s, of 20 leaves 17.2 s; 128 leaves of 64 ports in two Sets 150.8 s; QUEUE of 1, 4 and 8 ports 3.3, 7.7 and 15.3 s; one
// Set of 162 rows not done after 600 s): a part for every leaf, which grows with the database, and two leaves' more for every row
// whose port goes down and up.
const (
	updateTime = 2200 * time.Millisecond
	leafTime   = 620 * time.Millisecond
	leafGrowth = 290 * time.Microsecond // for each value that the database holds
	flapLeaves = 2                      // admin_status down and up

	saveTime       = 1300 * time.Millisecond
	checkpointTime = 600 * time.Millisecond
	dryRunTime     = 1300 * time.Millisecond
	loadTime       = 500 * time.Millisecond
	settingTime    = 3 * time.Millisecond // more of it, for each setting: 1,045 took 4.4 to 7.2 s in four loads

	hangTime      = 30 * time.Second  // that a change which got no answer still takes; the lab's choice
	serverTimeout = 600 * time.Second // sonic-gnmi waits this long for the updater
	queueTimeout  = 60 * time.Second  // and this long for its turn
)

// flaps says whether the updater takes the port down around a change of the row (sonic-utilities, patch_sorter.py).
func (r row) flaps(db database) bool {
	switch r.table {
	case "BUFFER_PG", "BUFFER_QUEUE", "BUFFER_PORT_INGRESS_PROFILE_LIST", "BUFFER_PORT_EGRESS_PROFILE_LIST", "PORT_QOS_MAP", "QUEUE":
		return db["PORT"][r.port()]["admin_status"] == "up"
	}
	return false
}

// moves are the rows that the updater changes on the way, in its order: what others refer to first, then what refers to
// it, and what nobody needs any more last.
func moves(have, want database) []row {
	rows := differences(have, want)
	rank := func(r row) int {
		gone := want[r.table][r.key] == nil
		switch {
		case gone && !r.flaps(have):
			return 3
		case gone:
			return 2
		case r.flaps(have):
			return 1
		}
		return 0
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a.table, b.table), strings.Compare(a.key, b.key))
	})
	return rows
}

// costs are the device times of the moves.
func costs(have, want database, rows []row) []time.Duration {
	leaf := leafTime + time.Duration(have.values())*leafGrowth
	times := make([]time.Duration, len(rows))
	for i, r := range rows {
		leaves := changes(have[r.table][r.key], want[r.table][r.key])
		if r.flaps(have) {
			leaves += flapLeaves
		}
		times[i] = time.Duration(leaves) * leaf
	}
	return times
}

// changes is how many fields two rows do not have alike; a row without fields counts as one.
func changes(a, b map[string]string) int {
	n := 0
	for field, value := range a {
		if other, ok := b[field]; !ok || other != value {
			n++
		}
	}
	for field := range b {
		if _, ok := a[field]; !ok {
			n++
		}
	}
	return max(n, 1)
}

// values is how many values the database holds.
func (db database) values() int {
	n := 0
	for _, rows := range db {
		for _, row := range rows {
			n += len(row)
		}
	}
	return n
}

// task is one run of the updater.
type task struct {
	process string // as ps shows it
	want    database
	fault   sim.Fault
	save    bool // make the configuration persistent afterwards
}

// update leads the device to t.want by itself: whoever asked for it may wait on the channel, and it goes on when nobody
// does. The caller holds the updater, which is given back at the end. The channel gives one error or nil.
func (d *Device) update(t task) <-chan error {
	done := make(chan error, 1)
	end := d.begin(t.process)
	d.mu.Lock()
	d.answers = d.running
	d.mu.Unlock()
	d.work.Go(func() {
		err := d.carryOut(t)
		end()
		d.mu.Lock()
		d.answers = nil
		if err == nil && t.save {
			d.saved = d.running
		}
		d.mu.Unlock()
		<-d.turn
		done <- err
	})
	return done
}

// carryOut makes the moves one by one. It does not end with whoever asked for it; it ends with the device's power.
func (d *Device) carryOut(t task) error {
	ctx := context.Background()
	have, _ := d.snapshot()
	rows := moves(have, t.want)
	wait := updateTime
	switch t.fault.Kind {
	case sim.Partial, sim.Reboot:
		rows = rows[:(len(rows)+1)/2]
	case sim.Ignore:
		rows = nil
	case sim.Hang:
		wait += hangTime
	case sim.Lie:
		defer func() { d.lie(have, t.fault.For) }()
	}
	if err := d.hw.Sleep(ctx, wait); err != nil {
		return err
	}
	for i, cost := range costs(have, t.want, rows) {
		if err := d.hw.Sleep(ctx, cost); err != nil {
			return err
		}
		r := rows[i]
		if r.flaps(have) {
			d.hw.Flap(r.port())
		}
		d.commit(func(db database) {
			if row := t.want[r.table][r.key]; row != nil {
				db.put(r.table, r.key, row)
			} else {
				db.remove(r.table, r.key)
			}
		})
	}
	if t.fault.Kind == sim.Partial {
		return errNoPath
	}
	if t.save {
		return d.hw.Sleep(ctx, saveTime)
	}
	return nil
}
