package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/drivers/drivertest"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/inventory"
)

// few is a fabric of one device of each kind, and two more switches, so that a wave has two.
func few() inventory.ClosSpec {
	return inventory.ClosSpec{Name: "pod1", Leaves: 1, Spines: 3, Hosts: 1, Ports: 8, Leaf: []string{"sonic"}, Spine: []string{"eos", "sonic"}}
}

// TestARunThatIsKilledIsRecovered kills a weir of its own process, on devices on loopback, when a record of the second wave is on disk. One
// recover ends the run: a wave whose good verdict was on disk is finished, any other is as before. The next apply works. The
// simulation kills at every place, of a process that is not one.
func TestARunThatIsKilledIsRecovered(t *testing.T) {
	whole := newFabric(t, few())
	done, code := whole.apply(t, blind()...)
	if code != exitDone {
		t.Fatalf("exit code %d: %+v", code, done)
	}
	records, err := journal.Store{Dir: control.LabDir(whole.dir)}.Read(done.Run)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []journal.Kind{journal.Sending, journal.Reached, journal.Passed} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel() // they wait for devices
			n := 1 + slices.IndexFunc(records, func(r journal.Record) bool { return r.Kind == kind && r.Wave == 1 })
			f := newFabric(t, few())
			before := f.states(t)
			f.recovered(t, before, f.killed(t, n))
			f.whole(t)
		})
	}
}

// killed starts an apply that kills itself after record n, and gives the journal that it leaves.
func (f *testFabric) killed(t *testing.T, n int) []journal.Record {
	t.Helper()
	status, said := f.signalled(t, syscall.SIGKILL, n)
	if status.Signal() != syscall.SIGKILL {
		t.Fatalf("it was not killed: %v\n%s", status, said)
	}
	store := journal.Store{Dir: control.LabDir(f.dir)}
	runs, err := store.Runs()
	if err != nil || len(runs) != 1 {
		t.Fatalf("runs %v: %v", runs, err)
	}
	records, err := store.Read(runs[0])
	if err != nil || len(records) != n {
		t.Fatalf("%d records: %v", len(records), err)
	}
	return records
}

// signalled starts an apply that sends itself the signal after record n, and gives how it ended and what it printed.
func (f *testFabric) signalled(t *testing.T, signal syscall.Signal, n int) (syscall.WaitStatus, string) {
	t.Helper()
	cmd := exec.Command("weir", append([]string{"apply", f.dir, "--lab"}, agreed(blind()...)...)...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d:%d", signalAt, signal, n))
	said, err := cmd.CombinedOutput()
	var ended *exec.ExitError
	if !errors.As(err, &ended) {
		t.Fatalf("it went on: %v\n%s", err, said)
	}
	return ended.Sys().(syscall.WaitStatus), string(said)
}

// TestAnInterruptLeadsTheWaveBack presses Ctrl-C while the first device is sent its change.
func TestAnInterruptLeadsTheWaveBack(t *testing.T) {
	f := newFabric(t, few())
	before := f.states(t)
	status, said := f.signalled(t, syscall.SIGINT, 6)
	if status.ExitStatus() != exitRolledBack || !strings.Contains(said, "interrupted") || !strings.Contains(said, "leaf1: as before") {
		t.Fatalf("exit code %d\n%s", status.ExitStatus(), said)
	}
	if diff := cmp.Diff(drivertest.Leaves(before, drivertest.Owned), drivertest.Leaves(f.states(t), drivertest.Owned)); diff != "" {
		t.Errorf("not as before: %s", diff)
	}
	f.whole(t)
}

// recovered ends the run that was killed, and checks that what passed is applied and all else is as before.
func (f *testFabric) recovered(t *testing.T, before map[string]plan.State, killed []journal.Record) {
	t.Helper()
	if code, _, said := f.weir("apply", f.dir, "--yes"); code != exitError || !strings.Contains(said, "weir recover") {
		t.Errorf("an apply meanwhile: exit code %d: %s", code, said)
	}
	code, out, said := f.weir(append([]string{"recover", f.dir}, blind()...)...)
	if code != exitDone {
		t.Fatalf("recover: exit code %d\n%s\n%s", code, out, said)
	}
	passed := map[int]bool{}
	for _, r := range killed {
		passed[r.Wave] = passed[r.Wave] || r.Kind == journal.Passed
	}
	now, again := f.states(t), f.planned(t)
	for wave, devices := range killed[0].Devices {
		for _, device := range devices {
			changes := slices.ContainsFunc(slices.Concat(again.Waves...), func(s plan.Step) bool { return s.Device == device })
			if passed[wave] == changes {
				t.Errorf("%s of wave %d: passed %t, and the next plan changes it: %t\n%s", device, wave, passed[wave], changes, out)
			}
			if passed[wave] {
				continue
			}
			if diff := cmp.Diff(leavesOf(before, device), leavesOf(now, device)); diff != "" {
				t.Errorf("%s is not as before: %s", device, diff)
			}
		}
	}
	if diff := cmp.Diff(drivertest.Leaves(before, drivertest.Foreign), drivertest.Leaves(now, drivertest.Foreign)); diff != "" {
		t.Errorf("what is not weir's: %s", diff)
	}
}

// whole brings the fabric to what is wanted, and checks that nothing is left of the run that was killed.
func (f *testFabric) whole(t *testing.T) {
	t.Helper()
	if code, out, said := f.weir(append([]string{"recover", f.dir}, blind()...)...); code != exitDone || !strings.Contains(out, "Nothing to recover") && out != "" {
		t.Errorf("a second recover: exit code %d\n%s\n%s", code, out, said)
	}
	if result, code := f.apply(t, blind()...); code != exitDone {
		t.Fatalf("the next apply: exit code %d: %+v", code, result)
	}
	if p := f.planned(t); len(p.Waves) > 0 {
		t.Errorf("and then a plan has %+v", p.Summary)
	}
	if out := f.must(t, exitDone, "locks", f.dir); out != "Not locked.\n" {
		t.Errorf("the lock: %s", out)
	}
}
