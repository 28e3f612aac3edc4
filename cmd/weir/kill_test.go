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
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/inventory"
)

// few is a fabric of one device of each kind, and two more switches, so that a wave has two.
func few() inventory.ClosSpec {
	return inventory.ClosSpec{Name: "pod1", Leaves: 1, Spines: 3, Hosts: 1, Ports: 8, Leaf: []string{"sonic"}, Spine: []string{"eos", "sonic"}}
}

// TestARunThatIsKilledAfterAnyRecordIsRecovered applies once, to learn how many records a run has. Then, for every number of them, a
// weir of its own process applies to a fresh lab and is killed when that record is on disk. One recover ends the run: a wave whose
// good verdict was on disk is finished, any other is as before. The next apply works.
func TestARunThatIsKilledAfterAnyRecordIsRecovered(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	whole := newFabric(t, few())
	done, code := whole.apply(t, blind()...)
	if code != exitDone {
		t.Fatalf("exit code %d: %+v", code, done)
	}
	records, err := journal.Store{Dir: control.LabDir(whole.dir)}.Read(done.Run)
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= len(records); n++ {
		flags := blind()
		if n == len(records)/2 {
			flags = []string{"--idle", "accept"} // once with the counters
		}
		t.Run(fmt.Sprintf("%d-%s", n, records[n-1].Kind), func(t *testing.T) {
			t.Parallel()
			f := newFabric(t, few())
			before := f.states(t)
			if killed := f.killed(t, n, flags); killed[len(killed)-1].Kind != journal.Ended {
				f.recovered(t, before, killed, flags)
			}
			f.whole(t, flags)
		})
	}
}

// killed starts an apply that kills itself after record n, and gives the journal that it leaves.
func (f *testFabric) killed(t *testing.T, n int, flags []string) []journal.Record {
	t.Helper()
	status, said := f.signalled(t, syscall.SIGKILL, n, flags)
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
func (f *testFabric) signalled(t *testing.T, signal syscall.Signal, n int, flags []string) (syscall.WaitStatus, string) {
	t.Helper()
	cmd := exec.Command("weir", append([]string{"apply", f.dir, "--lab"}, agreed(flags...)...)...)
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
	status, said := f.signalled(t, syscall.SIGINT, 6, blind())
	if status.ExitStatus() != exitRolledBack || !strings.Contains(said, "interrupted") || !strings.Contains(said, "leaf1: as before") {
		t.Fatalf("exit code %d\n%s", status.ExitStatus(), said)
	}
	if diff := cmp.Diff(leaves(before, owned), leaves(f.states(t), owned)); diff != "" {
		t.Errorf("not as before: %s", diff)
	}
	f.whole(t, blind())
}

// recovered ends the run that was killed, and checks that what passed is applied and all else is as before.
func (f *testFabric) recovered(t *testing.T, before map[string]plan.State, killed []journal.Record, flags []string) {
	t.Helper()
	if code, _, said := f.weir("apply", f.dir, "--yes"); code != exitError || !strings.Contains(said, "weir recover") {
		t.Errorf("an apply meanwhile: exit code %d: %s", code, said)
	}
	code, out, said := f.weir(append([]string{"recover", f.dir}, flags...)...)
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
			one := func(s map[string]plan.State) map[string]string {
				return leaves(map[string]plan.State{device: s[device]}, owned)
			}
			if diff := cmp.Diff(one(before), one(now)); diff != "" {
				t.Errorf("%s is not as before: %s", device, diff)
			}
		}
	}
	if diff := cmp.Diff(leaves(before, foreign), leaves(now, foreign)); diff != "" {
		t.Errorf("what is not weir's: %s", diff)
	}
}

// whole brings the fabric to what is wanted, and checks that nothing is left of the run that was killed.
func (f *testFabric) whole(t *testing.T, flags []string) {
	t.Helper()
	if code, out, said := f.weir(append([]string{"recover", f.dir}, flags...)...); code != exitDone || !strings.Contains(out, "Nothing to recover") && out != "" {
		t.Errorf("a second recover: exit code %d\n%s\n%s", code, out, said)
	}
	if result, code := f.apply(t, flags...); code != exitDone {
		t.Fatalf("the next apply: exit code %d: %+v", code, result)
	}
	if p := f.planned(t); len(p.Waves) > 0 {
		t.Errorf("and then a plan has %+v", p.Summary)
	}
	if out := f.must(t, exitDone, "locks", f.dir); out != "Not locked.\n" {
		t.Errorf("the lock: %s", out)
	}
}
