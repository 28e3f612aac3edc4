package control_test

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/drivers/sim"
	"github.com/weirfabric/weir/intent/plan"
)

// elsewhere is the same repo for an operator on another machine, with a journal of its own.
func (f *testFabric) elsewhere(t *testing.T) *control.Repo {
	t.Helper()
	r, err := control.Open(f.dir, control.Options{Lab: true, Journal: filepath.Join(f.dir, "elsewhere"),
		Effects: control.Effects{Dial: f.network.DialContext, Who: "eve@elsewhere", PID: 7, Boot: "other"}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// markers are the devices that are marked, and the runs that they are marked by, as devices spell them.
func (f *testFabric) markers(t *testing.T) map[string]string {
	t.Helper()
	r := f.open(t)
	out := map[string]string{}
	for _, name := range r.Names {
		target, err := r.Dial(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		standing, err := target.(drivers.Marking).Markers(t.Context())
		if err := errors.Join(err, target.Close()); err != nil {
			t.Fatal(err)
		}
		for _, m := range standing {
			out[name] = strings.ReplaceAll(m.Run, ".", "-")
		}
	}
	return out
}

// TestTwoOperatorsWithAJournalEachAreKeptApart lets the second one come while the first is at work on a device of each platform.
func TestTwoOperatorsWithAJournalEachAreKeptApart(t *testing.T) {
	for device, platform := range map[string]string{"leaf1": "sonic", "leaf2": "eos", "gpu1": "linux"} {
		t.Run(platform, func(t *testing.T) {
			onFabric(t, mixed(), func(t *testing.T, f *testFabric) {
				second := f.elsewhere(t)
				theirs := plannedOf(t, second)
				only := plan.Plan{Format: theirs.Format, ID: theirs.ID, Intent: theirs.Intent}
				for _, w := range theirs.Waves {
					if i := slices.IndexFunc(w, func(s plan.Step) bool { return s.Device == device }); i >= 0 {
						only.Waves = append(only.Waves, w[i:i+1])
					}
				}
				var refused error
				var during map[string]string
				f.observe = func(r control.Record) {
					if r.Kind != journal.Sending || r.Device != device || during != nil {
						return
					}
					during = f.markers(t)
					_, refused = second.Apply(t.Context(), only, control.RunOptions{Settle: blind(), Observe: func(r control.Record) {
						if r.Kind == journal.Sending {
							t.Errorf("the second sends something to %s", r.Device)
						}
					}})
				}
				result := f.applied(t, blind())
				var marked *control.MarkedError
				if !errors.As(refused, &marked) || marked.Device != device || !marked.By.Of(result.Run) {
					t.Errorf("the second got %v", refused)
				}
				if platform != "eos" && refused != nil && !strings.Contains(refused.Error(), "its journal is "+filepath.Join(f.dir, ".weir")) {
					t.Errorf("it is not told where the first is: %v", refused)
				}
				if during[device] != strings.ReplaceAll(result.Run, ".", "-") {
					t.Errorf("%s was marked by %v, want %s", device, during, result.Run)
				}
				if left := f.markers(t); len(left) > 0 {
					t.Errorf("the run is over, and there stand %v", left)
				}
				if _, err := second.Apply(t.Context(), only, control.RunOptions{Settle: blind()}); errors.As(err, &marked) {
					t.Errorf("when the first is done, the second got %v", err)
				}
			})
		})
	}
}

// TestARunThatWasCutOffKeepsOthersOffUntilItIsRecovered takes a device of each platform off its network while it is sent its change,
// and for so long that the run gives up.
func TestARunThatWasCutOffKeepsOthersOffUntilItIsRecovered(t *testing.T) {
	for _, device := range []string{"leaf1", "leaf2", "gpu1"} {
		t.Run(device, func(t *testing.T) {
			onFabric(t, mixed(), func(t *testing.T, f *testFabric) {
				f.provoke(t, failure{device, cutOffManagement, sim.NoFault})
				result := f.apply(t, blind())
				if !result.Outcome.Open() {
					t.Fatalf("got %+v", result)
				}
				if err := f.lab.Revive(device); err != nil {
					t.Fatal(err)
				}
				if left := f.markers(t); len(left) != 1 || left[device] != strings.ReplaceAll(result.Run, ".", "-") {
					t.Errorf("marked are %v", left)
				}
				second := f.elsewhere(t)
				p := plannedOf(t, second)
				var marked *control.MarkedError
				if got, err := second.Apply(t.Context(), p, control.RunOptions{Settle: blind()}); !errors.As(err, &marked) || marked.Device != device {
					t.Errorf("the second got %+v, %v", got, err)
				}
				f.recoveredUnmarked(t)
			})
		})
	}
}

// recoveredUnmarked ends the run that stands open, after which no marker may stand.
func (f *testFabric) recoveredUnmarked(t *testing.T) {
	t.Helper()
	if again := f.recovered(t); again.Outcome.Open() {
		t.Errorf("recover: %+v", again)
	}
	if left := f.markers(t); len(left) > 0 {
		t.Errorf("after recover there stand %v", left)
	}
}

// TestAnotherJournalsRunIsTakenOverByName leaves the first operator's run open, as if its journal were lost.
func TestAnotherJournalsRunIsTakenOverByName(t *testing.T) {
	onFabric(t, mixed(), func(t *testing.T, f *testFabric) {
		f.provoke(t, failure{"leaf2", cutOffManagement, sim.NoFault})
		lost := f.apply(t, blind())
		if err := f.lab.Revive("leaf2"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour) // what waits on the device for a confirmation is over then
		second := f.elsewhere(t)
		taken, err := second.Apply(t.Context(), plannedOf(t, second), control.RunOptions{Settle: blind(), TakeOver: lost.Run})
		if err != nil || taken.Outcome != control.Applied {
			t.Fatalf("got %+v, %v", taken, err)
		}
		if left := f.markers(t); len(left) > 0 {
			t.Errorf("there stand %v", left)
		}
		story, err := second.Store.Read(taken.Run)
		if err != nil || !slices.ContainsFunc(story, func(r control.Record) bool {
			return r.Kind == journal.Marking && r.Device == "leaf2" && strings.HasPrefix(r.Text, "taken over from run ")
		}) {
			t.Errorf("it is not on record: %v", err)
		}
	})
}

// TestAMarkerOutlivesARestartOfTheDevice where the device keeps files; a session of EOS goes, and the run stops then.
func TestAMarkerOutlivesARestartOfTheDevice(t *testing.T) {
	for device, stays := range map[string]bool{"leaf1": true, "gpu1": true, "leaf2": false} {
		t.Run(device, func(t *testing.T) {
			onFabric(t, mixed(), func(t *testing.T, f *testFabric) {
				f.provoke(t, failure{device, cutOffManagement, sim.NoFault})
				f.apply(t, blind())
				if err := errors.Join(f.lab.Revive(device), f.lab.Reboot(device)); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Hour)
				if left := f.markers(t); (len(left) == 1) != stays {
					t.Errorf("marked are %v", left)
				}
				f.recoveredUnmarked(t)
			})
		})
	}
}

// TestADeviceWithoutAMarkerIsToldOfInPlanAndRun reaches a switch over gNMI alone.
func TestADeviceWithoutAMarkerIsToldOfInPlanAndRun(t *testing.T) {
	onFabric(t, mixed(), func(t *testing.T, f *testFabric) {
		f.applied(t, blind())
		f.byHand(t, "leaf1", "sudo sonic-db-cli CONFIG_DB HSET 'WRED_PROFILE|weir_rdma_100G' green_max_threshold 9000000")
		at, err := control.ReadLab(f.dir)
		if err != nil {
			t.Fatal(err)
		}
		gnmiOnly := *at
		gnmiOnly.Devices = maps.Clone(at.Devices)
		gnmiOnly.Devices["leaf1"] = control.LabAddress{GNMI: at.Devices["leaf1"].GNMI}
		r, err := control.Open(f.dir, control.Options{Lab: true, Effects: control.Effects{Dial: f.network.DialContext, Lab: &gnmiOnly}})
		if err != nil {
			t.Fatal(err)
		}
		p := plannedOf(t, r)
		if want := "no marker stands on 1 device while this plan is applied"; !strings.Contains(p.Findings.String(), want) {
			t.Errorf("the plan does not say %q: %s", want, p.Findings)
		}
		result, err := r.Apply(t.Context(), p, f.options(blind()))
		if err != nil || result.Outcome != control.Applied {
			t.Fatalf("got %+v, %v", result, err)
		}
		if diff := cmp.Diff([]control.Left{{Device: "leaf1", Why: "it is reached over gNMI alone"}}, result.Unmarked); diff != "" {
			t.Error(diff)
		}
		f.byHand(t, "leaf1", "sudo sonic-db-cli CONFIG_DB HSET 'WRED_PROFILE|weir_rdma_100G' green_max_threshold 8000000")
		if p := f.planned(t); strings.Contains(p.Findings.String(), "no marker") {
			t.Errorf("with SSH the plan says: %s", p.Findings)
		}
		if result := f.applied(t, blind()); len(result.Unmarked) > 0 {
			t.Errorf("with SSH: %+v", result.Unmarked)
		}
	})
}
