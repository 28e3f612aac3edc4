package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirfabric/weir/cmd/control/lab"
	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/drivers/drivertest"
	"github.com/weirfabric/weir/drivers/sim"
)

// rewrite replaces words in a file of the repo.
func (f *testFabric) rewrite(t *testing.T, name, was, is string) {
	t.Helper()
	path := filepath.Join(f.dir, name)
	body, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(body), was) {
		t.Fatalf("%s has no %q: %v", name, was, err)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(body), was, is)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// onBusy runs a test on virtual time, with a fabric on which the intent was applied and whose hosts send. Each host has a NIC at both
// leaves and sends over the one at leaf1: leaf2 and the spine carry nothing.
func onBusy(t *testing.T, test func(t *testing.T, f *testFabric)) {
	t.Helper()
	drivertest.Bubble(t, func(t *testing.T) {
		f := newFabricOf(t, mixed(), lab.Options{Network: sim.NewNetwork()})
		if result, code := f.apply(t, blind()...); code != exitDone {
			t.Fatalf("exit code %d: %+v", code, result)
		}
		test(t, f)
		if err := f.lab.Close(); err != nil {
			t.Error(err)
		}
	})
}

// The class gets another DSCP while hosts send in it by the old one. From the canary on, what they send is taken for another class.
func TestAClassThatPassedBeforeAWaveAndDoesNotAnyMoreLeadsItBackWhateverThePolicy(t *testing.T) {
	onBusy(t, func(t *testing.T, f *testFabric) {
		f.rewrite(t, "fabric.yaml", "dscp: [26]", "dscp: [24]")
		result, code := f.apply(t, "--idle", "accept")
		if code != exitRolledBack || len(result.Devices) != 1 || result.Outcome != journal.AsBefore {
			t.Fatalf("exit code %d: %+v", code, result)
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
				result, code := f.apply(t, "--idle", "accept")
				if code != exitRolledBack || !strings.Contains(result.Why, "could not see") || !strings.Contains(result.Why, leaf) {
					t.Errorf("exit code %d: %+v", code, result)
				}
			})
		})
	}
}

// A change of one value goes through with the policy that holds where nothing is written, though a leaf and the spine carry nothing.
func TestOneValueIsCorrectedOnABusyFabric(t *testing.T) {
	onBusy(t, func(t *testing.T, f *testFabric) {
		f.rewrite(t, "fabric.yaml", "detection: 200ms", "detection: 210ms")
		if result, code := f.apply(t); code != exitDone || result.Outcome != journal.Applied {
			t.Fatalf("exit code %d: %+v", code, result)
		}
	})
}

// The window of the counters is longer than the ten minutes that EOS's timer runs at least.
func TestAWindowOfAnHourIsCoveredByTheTimerOfTheSwitch(t *testing.T) {
	onBusy(t, func(t *testing.T, f *testFabric) {
		f.rewrite(t, "fabric.yaml", "detection: 200ms", "detection: 210ms")
		f.rewrite(t, "fabric.yaml", "apply: {", "apply: {settle: 1h, ")
		if result, code := f.apply(t); code != exitDone || result.Outcome != journal.Applied {
			t.Fatalf("exit code %d: %+v", code, result)
		}
		f.must(t, exitDone, "drift", f.dir)
		f.rewrite(t, "fabric.yaml", "detection: 210ms", "detection: 220ms")
		code, _, said := f.weir(append([]string{"apply", f.dir, "--settle", "3h"}, agreed()...)...)
		if code != exitError || !strings.Contains(said, "nothing was sent: ") || !strings.Contains(said, "--settle") {
			t.Errorf("a window that no timer covers: exit code %d: %s", code, said)
		}
	})
}
