package main

import (
	"testing"
	"time"

	"github.com/weirfabric/weir/cmd/control/lab"
	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/drivers/drivertest"
	"github.com/weirfabric/weir/drivers/sim"
)

// TestARolloutOnVirtualTime applies to a fabric in real device time, watches it settle as long as real counters need, and finds
// nothing to do and no drift afterwards. Nothing of it waits for the machine's clock.
func TestARolloutOnVirtualTime(t *testing.T) {
	drivertest.Bubble(t, func(t *testing.T) {
		f := newFabricOf(t, mixed(), lab.Options{Network: sim.NewNetwork()})
		began := time.Now()
		result, code := f.apply(t, "--idle", "accept")
		if code != exitDone || result.Outcome != journal.Applied {
			t.Fatalf("exit code %d: %+v", code, result)
		}
		if took := time.Since(began); took < 10*time.Second {
			t.Errorf("device time was not lived: %v", took)
		}
		if p := f.planned(t); len(p.Waves) > 0 {
			t.Errorf("and then a plan has %+v", p.Summary)
		}
		f.must(t, exitDone, "drift", f.dir)
		if err := f.lab.Close(); err != nil {
			t.Error(err)
		}
	})
}
