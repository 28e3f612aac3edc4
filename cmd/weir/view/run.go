package view

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/weirfabric/weir/drivers/apply"
	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
)

// stillEvery is how often a run says of a device that it is still at work.
const stillEvery = 10 * time.Second

// Run prints a run's records as they come, and of what takes long that it still goes on.
type Run struct {
	view  View
	quiet bool
	all   sync.WaitGroup
	stop  chan struct{}

	mu    sync.Mutex
	began map[string]time.Time // the devices at work
}

// ShowRun begins to show a run. A quiet one prints nothing. Whoever calls it calls End.
func ShowRun(v View, quiet bool) *Run {
	t := &Run{view: v, quiet: quiet, stop: make(chan struct{}), began: map[string]time.Time{}}
	t.all.Go(t.still)
	return t
}

// End stops showing.
func (t *Run) End() {
	close(t.stop)
	t.all.Wait()
}

// still prints now and then which devices are at work, and for how long.
func (t *Run) still() {
	tick := time.NewTicker(stillEvery)
	defer tick.Stop()
	for {
		select {
		case <-t.stop:
			return
		case <-tick.C:
		}
		t.mu.Lock()
		for _, device := range slices.SortedFunc(maps.Keys(t.began), addr.Natural) {
			if took := time.Since(t.began[device]); !t.quiet && took > stillEvery {
				t.view.Printf("  %s: still at work (%v)\n", device, took.Round(time.Second))
			}
		}
		t.mu.Unlock()
	}
}

// Record prints one record.
func (t *Run) Record(r journal.Record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	began := t.began[r.Device]
	switch r.Kind {
	case journal.Pending, journal.Undoing:
		t.began[r.Device] = time.Now()
	case journal.Reached, journal.Confirmed, journal.Undone, journal.Stuck:
		delete(t.began, r.Device)
	}
	if t.quiet {
		return
	}
	v := t.view
	switch r.Kind {
	case journal.Started:
		v.Printf("%s\n", v.Bold("run "+waves(r)))
	case journal.Pending:
		v.Printf("  %s: sending\n", r.Device)
	case journal.Reached:
		took := ""
		if !began.IsZero() {
			took = v.Dim(fmt.Sprintf(" (%.1fs)", time.Since(began).Seconds()))
		}
		v.Printf("  %s: reads back as wanted%s\n", r.Device, took)
	case journal.Passed:
		v.Printf("  wave %d: %s: %s\n", r.Wave+1, v.Good("stays"), cmp.Or(r.Text, "no counters were watched"))
	case journal.Confirmed:
		v.Printf("  %s: %s\n", r.Device, v.Good("confirmed"))
	case journal.Undoing:
		v.Printf("  %s: %s\n", r.Device, v.Bad("leading back"))
	case journal.Undone:
		v.Printf("  %s: as before\n", r.Device)
	case journal.Stuck:
		v.Printf("  %s: %s: %s\n", r.Device, v.Bad(string(r.Outcome)), r.Text)
	}
}

// waves says how many waves a run has, and what it undoes.
func waves(r journal.Record) string {
	if r.Of != "" {
		return fmt.Sprintf("that undoes %s, %d waves", r.Of, len(r.Devices))
	}
	return fmt.Sprintf("of %d waves", len(r.Devices))
}

// Next are the commands that an operator may want after a run.
type Next struct{ Recover, Rollback, Abandon string }

// RunResult prints how a run ended.
func (v View) RunResult(verb string, result apply.Result, next Next) {
	count := map[journal.Outcome]int{}
	for _, d := range result.Devices {
		count[d.Outcome]++
		if d.Outcome.Open() {
			v.Printf("%s: %s: %s\n", v.Bold(d.Device), v.Bad(string(d.Outcome)), d.Why)
			for _, leaf := range d.Leaves {
				v.Printf("    %s\n", leaf)
			}
		}
		if len(d.Lost) > 0 {
			v.Printf("%s: %s that others wrote meanwhile went with the device's own undo; weir does not write them:\n", v.Bold(d.Device), diag.Count(len(d.Lost), "line"))
			for _, line := range d.Lost {
				v.Printf("    %s\n", line)
			}
		}
	}
	v.left(result.Left)
	v.markers("no marker stood on %s, and nothing kept a run with another journal off", result.Unmarked)
	v.markers("the marker of this run could not be removed from %s; the next run of this journal does that", result.Marked)
	if result.Why != "" {
		v.Printf("%s\n", result.Why)
	}
	v.Printf("%s %s: %s. Devices: %d changed, %d as before, %d partial, %d unknown.\n", verb, result.Run, v.outcome(result.Outcome),
		count[journal.Applied], count[journal.AsBefore], count[journal.Partial], count[journal.Unknown])
	if result.Outcome == journal.Incomplete {
		v.Printf("What was changed stays and is whole; the rest was not begun or is as before.\n")
	}
	switch {
	case result.Outcome.Open():
		v.Printf("The run stays open. When the devices can be reached again: %s\nWhere that cannot end it: %s\n", next.Recover, next.Abandon)
	case verb == "apply" && count[journal.Applied] > 0:
		v.Printf("To undo it: %s\n", next.Rollback)
	}
}

// left names the devices that a rollback does not touch.
func (v View) left(devices []apply.Left) {
	for _, l := range devices {
		v.Printf("%s: %s: %s\n", v.Bold(l.Device), v.paint(yellow, "left as it is"), l.Why)
	}
}

// markers says something of devices and markers, once for all that have the same reason.
func (v View) markers(format string, devices []apply.Left) {
	by := map[string][]string{}
	for _, l := range devices {
		by[l.Why] = append(by[l.Why], l.Device)
	}
	for _, why := range slices.Sorted(maps.Keys(by)) {
		v.Printf("%s: "+format+": %s\n", v.paint(yellow, "note"), diag.First(by[why], mostNamed), why)
	}
}

// mostNamed is how many devices of a group are named.
const mostNamed = 8

func (v View) outcome(o journal.Outcome) string {
	if o == journal.Applied {
		return v.Good(string(o))
	}
	return v.Bad(string(o))
}
