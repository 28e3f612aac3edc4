package control_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/drivers/sim"
)

// onBusy runs a test with a fabric on which the intent was applied and whose hosts send. Each host has a NIC at both leaves and sends
// over the one at leaf1: leaf2 and the spine carry nothing.
func onBusy(t *testing.T, test func(t *testing.T, f *testFabric)) {
	t.Helper()
	onFabric(t, mixed(), func(t *testing.T, f *testFabric) {
		f.applied(t, blind())
		test(t, f)
	})
}

// The class gets another DSCP while hosts send in it by the old one, by a plan that says so. From the canary on, what they send is
// taken for another class.
func TestAClassThatPassedBeforeAWaveAndDoesNotAnyMoreLeadsItBackWhateverThePolicy(t *testing.T) {
	onBusy(t, func(t *testing.T, f *testFabric) {
		f.rewrite(t, "fabric.yaml", "dscp: [26]", "dscp: [24]")
		p, unsafe, _ := f.weighed(t)
		result, err := f.open(t).Apply(t.Context(), p, f.options(control.Settle{Idle: "accept"}))
		if err != nil || len(unsafe) == 0 {
			t.Fatal(err, unsafe)
		}
		if len(result.Devices) != 1 || result.Outcome != control.AsBefore {
			t.Fatalf("got %+v", result)
		}
		if !strings.Contains(result.Why, "the class passed here before the wave, and does not any more") || strings.Contains(result.Why, "--idle") {
			t.Errorf("it says: %s", result.Why)
		}
	})
}

// The streams of a switch of the wave stay open and bring nothing.
func TestASwitchWhoseCountersDoNotComeIsNotTakenForIdle(t *testing.T) {
	for _, leaf := range []string{"leaf1", "leaf2"} {
		t.Run(leaf, func(t *testing.T) {
			onBusy(t, func(t *testing.T, f *testFabric) {
				f.rewrite(t, "fabric.yaml", "canary: leaf1", "canary: "+leaf)
				f.rewrite(t, "fabric.yaml", "detection: 200ms", "detection: 210ms")
				if err := f.lab.Inject(sim.Fault{Kind: sim.Hang, Device: leaf, On: sim.Subscribe, Times: 1000}); err != nil {
					t.Fatal(err)
				}
				result := f.apply(t, control.Settle{Idle: "accept"})
				if result.Outcome != control.AsBefore || !strings.Contains(result.Why, "could not see") || !strings.Contains(result.Why, leaf) {
					t.Errorf("got %+v", result)
				}
			})
		})
	}
}

// A change of one value goes through with the policy that holds where nothing is written, though a leaf and the spine carry nothing.
func TestOneValueIsCorrectedOnABusyFabric(t *testing.T) {
	onBusy(t, func(t *testing.T, f *testFabric) {
		f.rewrite(t, "fabric.yaml", "detection: 200ms", "detection: 210ms")
		f.applied(t, control.Settle{})
	})
}

// The window of the counters is longer than the ten minutes that EOS's timer runs at least.
func TestAWindowOfMoreThanTheUsualTimerIsCoveredByTheTimerOfTheSwitch(t *testing.T) {
	onBusy(t, func(t *testing.T, f *testFabric) {
		const change = "kind: Override\nname: detection\nselect: {device: spine1}\npfc: {watchdog: {detection: %s}}\n"
		f.write(t, "intent/detection.yaml", fmt.Sprintf(change, "400ms"))
		f.rewrite(t, "intent/waves.yaml", "apply: {", "apply: {settle: 11m, ")
		began := time.Now()
		result := f.applied(t, control.Settle{})
		if took := time.Since(began); took < 11*time.Minute || len(result.Devices) != 1 {
			t.Errorf("it took %v: %+v", took, result)
		}
		if found := f.drifted(t); len(found) > 0 {
			t.Errorf("drift: %v", found)
		}
		f.write(t, "intent/detection.yaml", fmt.Sprintf(change, "600ms"))
		r := f.open(t)
		_, err := r.Apply(t.Context(), plannedOf(t, r), f.options(control.Settle{Window: 3 * time.Hour}))
		if err == nil || !strings.Contains(err.Error(), "nothing was sent: ") || !strings.Contains(err.Error(), "--settle") {
			t.Errorf("a window that no timer covers: %v", err)
		}
	})
}
