package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/drivers/apply"
	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/drivers/drivertest"
	"github.com/weirfabric/weir/drivers/sim"
)

// TestADeviceThatRefusesItsUndoIsPartialAndItsLeavesAreListed takes half a change and then refuses to be led back, until somebody has
// made it willing again.
func TestADeviceThatRefusesItsUndoIsPartialAndItsLeavesAreListed(t *testing.T) {
	onFabric(t, few(), "", func(t *testing.T, f *testFabric) {
		before := f.states(t)
		f.observe = func(r journal.Record) {
			if r.Kind != journal.Sending || r.Device != "spine2" {
				return
			}
			f.observe = nil
			faults := []sim.FaultKind{sim.Partial}
			for range 3 { // as often as a device is led back before it is given up
				faults = append(faults, sim.Reject)
			}
			for _, kind := range faults {
				if err := f.lab.Inject(sim.Fault{Kind: kind, Device: "spine2", On: sim.Set}); err != nil {
					t.Error(err)
				}
			}
		}
		result, code := f.apply(t, blind()...)
		i := slices.IndexFunc(result.Devices, func(d apply.DeviceResult) bool { return d.Device == "spine2" })
		if code != exitUnknown || result.Outcome != journal.Partial || i < 0 || result.Devices[i].Outcome != journal.Partial || len(result.Devices[i].Leaves) == 0 {
			t.Fatalf("exit code %d: %+v", code, result)
		}
		if code, _, said := f.weir("apply", f.dir, "--yes"); code != exitError || !strings.Contains(said, "weir recover") {
			t.Errorf("an apply meanwhile: exit code %d: %s", code, said)
		}
		for _, reading := range []string{"plan", "drift"} {
			if _, _, said := f.weir(reading, f.dir); !strings.Contains(said, "weir recover") {
				t.Errorf("%s does not say where the run stands: %s", reading, said)
			}
		}
		if again, code := f.end(t, append([]string{"recover", f.dir, "--json"}, blind()...)...); code != exitDone || again.Outcome != journal.Incomplete { // the wave before it stays
			t.Fatalf("recover: exit code %d: %+v", code, again)
		}
		now := f.states(t)
		for _, device := range []string{"spine1", "spine2", "spine3", "gpu1"} { // all but the wave before
			if diff := cmp.Diff(leavesOf(before, device), leavesOf(now, device)); diff != "" {
				t.Errorf("%s is not as before: %s", device, diff)
			}
		}
		if diff := cmp.Diff(drivertest.Leaves(before, drivertest.Foreign), drivertest.Leaves(now, drivertest.Foreign)); diff != "" {
			t.Errorf("what is not weir's: %s", diff)
		}
		if result, code := f.apply(t, blind()...); code != exitDone || result.Outcome != journal.Applied {
			t.Errorf("the next apply: exit code %d: %+v", code, result)
		}
	})
}
