package control_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/drivers/drivertest"
	"github.com/weirfabric/weir/drivers/sim"
)

// orphaned is the repo with a leaf that weir set up and that is somebody else's now.
func (f *testFabric) orphaned(t *testing.T, leaf string) *control.Repo {
	t.Helper()
	f.rewrite(t, "inventory/switches.yaml", "{name: "+leaf+", ", "{name: "+leaf+", state: unmanaged, ")
	return f.orphan(t)
}

// orphan is the repo as it is now, whatever its checks find.
func (f *testFabric) orphan(t *testing.T) *control.Repo {
	t.Helper()
	r, err := control.Open(f.dir, control.Options{Lab: true, Effects: control.Effects{Dial: f.network.DialContext}})
	if err != nil || r.Fabric == nil {
		t.Fatal(err, r.Findings)
	}
	return r
}

func TestAnOrphanIsCleaned(t *testing.T) {
	for _, leaf := range []string{"leaf1", "leaf2"} {
		onFabric(t, mixed(), func(t *testing.T, f *testFabric) {
			of := func(all map[string]string) map[string]string {
				for path := range all {
					if !strings.HasPrefix(path, leaf+" ") {
						delete(all, path)
					}
				}
				return all
			}
			factory := of(drivertest.Leaves(f.states(t), drivertest.Owned))
			f.applied(t, blind())
			f.write(t, "intent/timer.yaml", "kind: Override\nname: timer\nselect: {role: leaf}\npfc: {watchdog: {detection: 300ms}}\n")
			f.applied(t, blind()) // a second run, whose beginning is not the beginning
			r := f.orphaned(t, leaf)
			if found := r.Orphaned().String(); !strings.Contains(found, "If it is to go: weir apply --clean "+leaf+" ") {
				t.Errorf("the finding says %s", found)
			}
			c, err := r.PlanClean(t.Context(), leaf)
			if err != nil || len(c.Waves) != 1 || len(c.Waves[0]) != 1 {
				t.Fatal(err, len(c.Waves))
			}
			result, err := r.Clean(t.Context(), c, f.options(control.Settle{Idle: "accept"}))
			if err != nil || result.Outcome != control.Applied {
				t.Fatal(err, result)
			}
			m, err := r.Store.Manifest()
			if _, left := m[leaf]; err != nil || left {
				t.Errorf("the manifest still has it: %v, %v", m[leaf], err)
			}
			f.rewrite(t, "inventory/switches.yaml", "state: unmanaged, ", "")
			if diff := cmp.Diff(factory, of(drivertest.Leaves(f.states(t), drivertest.Owned))); diff != "" {
				t.Errorf("%s is not as before weir: %s", leaf, diff)
			}
		})
	}
}

func TestWhatCannotBeCleanedSaysWhatToDo(t *testing.T) {
	onFabric(t, mixed(), func(t *testing.T, f *testFabric) {
		f.applied(t, blind())
		r := f.orphaned(t, "leaf1")
		clean := func(name string) string {
			_, err := r.PlanClean(t.Context(), name)
			if err == nil {
				t.Fatalf("%s is cleaned", name)
			}
			return err.Error()
		}
		m, err := r.Store.Manifest()
		if err != nil {
			t.Fatal(err)
		}
		j, err := r.Store.Create("20990101-000000.000", nil) // as if weir had set up a leaf9 once
		if err != nil {
			t.Fatal(err)
		}
		for _, rec := range []journal.Record{{Kind: journal.Started, Devices: [][]string{{"leaf9"}}}, {Kind: journal.Ended, Outcome: journal.Applied}} {
			if err := j.Append(rec); err != nil {
				t.Fatal(err)
			}
		}
		m["leaf9"] = m["leaf1"]
		if err := errors.Join(j.Close(), r.Store.SaveManifest(m)); err != nil {
			t.Fatal(err)
		}
		r = f.open(t)
		for name, want := range map[string]string{
			"leaf2": "leaf2 is in the inventory, and the next plan would set up again what is cleaned there: take it out",
			"leaf7": "leaf7: weir owns nothing there",
			"leaf9": "leaf9: the inventory does not say how to reach it: put its entry back with state: unmanaged",
		} {
			if got := clean(name); !strings.Contains(got, want) {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
		}
	})
}

// TestACleaningThatWasCutOffIsRecovered takes an orphan off its network while it is led back.
func TestACleaningThatWasCutOffIsRecovered(t *testing.T) {
	for _, leaf := range []string{"leaf1", "leaf2"} {
		onFabric(t, mixed(), func(t *testing.T, f *testFabric) {
			f.applied(t, blind())
			r := f.orphaned(t, leaf)
			c, err := r.PlanClean(t.Context(), leaf)
			if err != nil {
				t.Fatal(err)
			}
			f.provoke(t, failure{leaf, cutOffManagement, sim.NoFault})
			result, err := r.Clean(t.Context(), c, f.options(blind()))
			if err != nil || !result.Outcome.Open() {
				t.Fatalf("%s: got %+v, %v", leaf, result, err)
			}
			if err := f.lab.Revive(leaf); err != nil {
				t.Fatal(err)
			}
			if again, err := f.orphan(t).Recover(t.Context(), result.Run, f.options(blind())); err != nil || again.Outcome.Open() {
				t.Errorf("%s: recover: %+v, %v", leaf, again, err)
			}
		})
	}
}
