package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/weirfabric/weir/drivers/apply"
)

// stillEvery is how often a run says of a device that it is still at work.
const stillEvery = 10 * time.Second

// teller prints a run's records as they come, and of what takes long that it still goes on.
type teller struct {
	*console
	all  sync.WaitGroup
	stop chan struct{}

	mu    sync.Mutex
	began map[string]time.Time // the devices at work
}

// tell begins to tell. Whoever calls it calls end.
func (c *console) tell() *teller {
	t := &teller{console: c, stop: make(chan struct{}), began: map[string]time.Time{}}
	t.all.Go(t.still)
	return t
}

func (t *teller) end() {
	close(t.stop)
	t.all.Wait()
}

// still says now and then which devices are at work, and for how long.
func (t *teller) still() {
	tick := time.NewTicker(stillEvery)
	defer tick.Stop()
	for {
		select {
		case <-t.stop:
			return
		case <-tick.C:
		}
		t.mu.Lock()
		for _, device := range sortedNames(t.began) {
			if took := time.Since(t.began[device]); !t.json && took > stillEvery {
				t.say().Printf("  %s: still at work (%v)\n", device, took.Round(time.Second))
			}
		}
		t.mu.Unlock()
	}
}

// take prints one record.
func (t *teller) take(r apply.Record) {
	if t.observe != nil {
		defer t.observe(r)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	began := t.began[r.Device]
	switch r.Kind {
	case apply.Pending, apply.Undoing:
		t.began[r.Device] = time.Now()
	case apply.Reached, apply.Confirmed, apply.Undone, apply.Stuck:
		delete(t.began, r.Device)
	}
	if t.json {
		return
	}
	v := t.say()
	switch r.Kind {
	case apply.Started:
		v.Printf("%s\n", v.Bold("run "+waves(r)))
	case apply.Pending:
		v.Printf("  %s: sending\n", r.Device)
	case apply.Reached:
		v.Printf("  %s: reads back as wanted %s\n", r.Device, v.Dim(fmt.Sprintf("(%.1fs)", time.Since(began).Seconds())))
	case apply.Passed:
		v.Printf("  wave %d: %s: %s\n", r.Wave+1, v.Good("stays"), r.Text)
	case apply.Confirmed:
		v.Printf("  %s: %s\n", r.Device, v.Good("confirmed"))
	case apply.Undoing:
		v.Printf("  %s: %s\n", r.Device, v.Bad("leading back"))
	case apply.Undone:
		v.Printf("  %s: as before\n", r.Device)
	case apply.Stuck:
		v.Printf("  %s: %s: %s\n", r.Device, v.Bad(string(r.Outcome)), r.Text)
	}
}

// waves says how many waves a run has, and what it undoes.
func waves(r apply.Record) string {
	if r.Of != "" {
		return fmt.Sprintf("that undoes %s, %d waves", r.Of, len(r.Devices))
	}
	return fmt.Sprintf("of %d waves", len(r.Devices))
}
