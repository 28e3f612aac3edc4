package sonic

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/weirfabric/weir/drivers/sim"
)

// The device time that SONiC's Generic Config Updater takes, fitted to what was observed on a real 202511 (one small Set
// 3.7 s; PORT_QOS_MAP of 1, 2, 4 and 8 ports 5.0, 8.3, 11.8 and 23.4 s; QUEUE of 1, 4 and 8 ports 3.3, 7.7 and 15.3 s; one
// Set of 162 rows not done after 600 s): a part for every row, and one that grows with the square of their number.
const (
	updateTime  = 2200 * time.Millisecond
	mapTime     = 2400 * time.Millisecond // a PORT_QOS_MAP row
	flapRowTime = 1500 * time.Millisecond // any other row that flaps its port
	rowTime     = 200 * time.Millisecond
	squareTime  = 18 * time.Millisecond // times the square of the rows that flap

	saveTime       = 1300 * time.Millisecond
	checkpointTime = 600 * time.Millisecond
	dryRunTime     = 1300 * time.Millisecond
	loadTime       = 500 * time.Millisecond

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
func costs(have database, rows []row) []time.Duration {
	flapping := 0
	for _, r := range rows {
		if r.flaps(have) {
			flapping++
		}
	}
	times := make([]time.Duration, len(rows))
	for i, r := range rows {
		switch {
		case !r.flaps(have):
			times[i] = rowTime
		case r.table == "PORT_QOS_MAP":
			times[i] = mapTime + time.Duration(flapping)*squareTime
		default:
			times[i] = flapRowTime + time.Duration(flapping)*squareTime
		}
	}
	return times
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
	for i, cost := range costs(have, rows) {
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
