package control_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/drivers/drivertest"
	"github.com/weirfabric/weir/drivers/sim"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/inventory"
)

// pairs is a fabric in which each kind of device shares a wave with another: two of the spines, and the hosts but the first.
func pairs() inventory.ClosSpec {
	return inventory.ClosSpec{Name: "pod1", Leaves: 2, Spines: 3, Hosts: 3, Ports: 8, Leaf: []string{"sonic", "eos"}, Spine: []string{"sonic", "eos"}}
}

// failure is one thing that goes wrong on a device in the middle of its change.
type failure struct {
	device, operation string
	fault             sim.FaultKind
}

// injected lets the look at the marker before the change be well: what goes wrong with it is tried again.
func (f failure) injected() sim.Fault {
	x := sim.Fault{Kind: f.fault, Device: f.device, On: sim.Operation(f.operation)}
	if x.On == sim.Session {
		x.After = 1
	}
	return x
}

func (f failure) String() string {
	return strings.TrimSuffix(fmt.Sprintf("%s-%s-%s", f.device, f.operation, f.fault), "-")
}

// cutOffManagement is the failure of a device whose management network goes away. It forwards on.
const cutOffManagement = "kill"

// failures are the ways in which a device of each kind may fail. A line of a session takes effect whole or not at all.
func failures() []failure {
	every := []sim.FaultKind{sim.Reject, sim.Hang, sim.Drop, sim.DropBefore, sim.Partial, sim.Reboot}
	var all []failure
	for _, d := range []struct {
		device, operation string
		faults            []sim.FaultKind
	}{
		{"spine1", "set", every},
		{"spine1", "session", []sim.FaultKind{sim.Reject, sim.Hang}},
		{"spine2", "set", []sim.FaultKind{sim.Reject, sim.Hang, sim.Drop, sim.DropBefore, sim.Reboot}},
		{"spine2", "commit", every},
		{"gpu2", "set", every},
	} {
		for _, fault := range d.faults {
			all = append(all, failure{d.device, d.operation, fault})
		}
	}
	for _, device := range []string{"spine1", "spine2", "gpu2"} {
		all = append(all, failure{device, cutOffManagement, sim.NoFault})
	}
	return all
}

// provoke makes a device fail as it is sent its change.
func (f *testFabric) provoke(t *testing.T, x failure) {
	f.observe = func(r control.Record) {
		if r.Kind != journal.Sending || r.Device != x.device {
			return
		}
		f.observe = nil
		var err error
		if x.operation == cutOffManagement {
			err = f.lab.Kill(x.device)
		} else {
			err = f.lab.Inject(x.injected())
		}
		if err != nil {
			t.Error(err)
		}
	}
}

// TestAFaultInTheMiddleOfAWaveIsUndoneOrRecovered makes each kind of device fail in each way. What waves before confirmed stays; every
// device of the wave that can be reached is as before; recover ends the rest when it is back; and the next apply works.
func TestAFaultInTheMiddleOfAWaveIsUndoneOrRecovered(t *testing.T) {
	for _, x := range failures() {
		t.Run(x.String(), func(t *testing.T) {
			onFabric(t, pairs(), func(t *testing.T, f *testFabric) {
				r, seen := f.observed(t)
				before := statesOf(t, seen)
				f.provoke(t, x)
				result, err := r.Apply(t.Context(), planFor(t, r, seen), f.options(blind()))
				if err != nil {
					t.Fatal(err)
				}
				if f.observe != nil {
					t.Fatal("nothing was sent to the device")
				}
				consistent(t, x.device, result)
				if x.operation == cutOffManagement {
					if err := f.lab.Revive(x.device); err != nil {
						t.Fatal(err)
					}
				}
				if result.Outcome != control.AsBefore && result.Outcome != control.Incomplete {
					if again := f.recovered(t); again.Outcome != control.AsBefore && again.Outcome != control.Incomplete {
						t.Fatalf("recover: %+v", again)
					}
				}
				f.asSaid(t, before, result)
				f.applied(t, blind())
				if p := f.planned(t); len(p.Waves) > 0 {
					t.Errorf("and then a plan has %+v", p.Summary)
				}
			})
		})
	}
}

// consistent checks what a run in which a device failed says of itself.
func consistent(t *testing.T, failing string, result control.Result) {
	t.Helper()
	t.Logf("%s: %s", result.Outcome, result.Why)
	wave := -1
	for _, d := range result.Devices {
		if d.Device == failing {
			wave = d.Wave
		}
	}
	if result.Outcome == control.AsBefore && wave > 0 || result.Outcome == control.Incomplete && wave == 0 {
		t.Errorf("a run that fails in wave %d is %s", wave, result.Outcome)
	}
	for _, d := range result.Devices {
		want := []control.Outcome{control.Applied}
		switch {
		case d.Device == failing:
			want = []control.Outcome{control.AsBefore, control.Unknown, control.Partial}
		case d.Wave == wave:
			want = []control.Outcome{control.AsBefore}
		}
		if !slices.Contains(want, d.Outcome) {
			t.Errorf("%s of wave %d is %s, want %v", d.Device, d.Wave, d.Outcome, want)
		}
		if d.Outcome == control.Partial && len(d.Leaves) == 0 {
			t.Errorf("%s is partial, and no leaf is named", d.Device)
		}
	}
}

// asSaid checks that devices are what the result of a run says, once nothing is left to recover.
func (f *testFabric) asSaid(t *testing.T, before map[string]plan.State, result control.Result) {
	t.Helper()
	r, seen := f.observed(t)
	now := statesOf(t, seen)
	wanted := map[string]bool{}
	for _, s := range slices.Concat(planFor(t, r, seen).Waves...) {
		wanted[s.Device] = true // is not as the intent says
	}
	confirmed := map[string]bool{}
	for _, d := range result.Devices {
		confirmed[d.Device] = d.Outcome == control.Applied
	}
	for device := range before {
		if confirmed[device] == wanted[device] {
			t.Errorf("%s: confirmed %t, and the next plan changes it: %t", device, confirmed[device], wanted[device])
		}
		if !confirmed[device] {
			one := func(s map[string]plan.State) map[string]string {
				return drivertest.Leaves(map[string]plan.State{device: s[device]}, drivertest.Owned)
			}
			if diff := cmp.Diff(one(before), one(now)); diff != "" {
				t.Errorf("%s is not as before: %s", device, diff)
			}
		}
	}
	if diff := cmp.Diff(drivertest.Leaves(before, drivertest.Foreign), drivertest.Leaves(now, drivertest.Foreign)); diff != "" {
		t.Errorf("what is not weir's: %s", diff)
	}
}

// few is a fabric of one device of each kind, and two more switches, so that a wave has two.
func few() inventory.ClosSpec {
	return inventory.ClosSpec{Name: "pod1", Leaves: 1, Spines: 3, Hosts: 1, Ports: 8, Leaf: []string{"sonic"}, Spine: []string{"eos", "sonic"}}
}

// TestAConfirmationThatGoesWrongIsFinished makes the confirmation of a wave fail that the verdict was good for. It is asked for again, also
// where the device kept the change and only its answer was lost; a device that is cut off is left to recover, which finishes the wave
// and does not undo it.
func TestAConfirmationThatGoesWrongIsFinished(t *testing.T) {
	for _, fault := range []sim.FaultKind{sim.Reject, sim.Hang, sim.Drop, sim.DropBefore, cutOffManagement} {
		t.Run(string(fault), func(t *testing.T) {
			onFabric(t, few(), func(t *testing.T, f *testFabric) {
				met := false
				f.observe = func(r control.Record) {
					switch {
					case r.Kind != journal.Passed || r.Wave != 1:
						return
					case fault == cutOffManagement:
						if err := f.lab.Kill("spine1"); err != nil {
							t.Error(err)
						}
					default:
						if err := f.lab.Inject(sim.Fault{Kind: fault, Device: "spine1", On: sim.Commit}); err != nil {
							t.Error(err)
						}
					}
					met = true
				}
				result := f.apply(t, blind())
				if !met {
					t.Fatal("the wave was never confirmed")
				}
				if fault != cutOffManagement {
					if result.Outcome != control.Applied {
						t.Fatalf("got %+v", result)
					}
					return
				}
				if result.Outcome != control.Unknown {
					t.Fatalf("got %+v", result)
				}
				if err := f.lab.Revive("spine1"); err != nil {
					t.Fatal(err)
				}
				f.observe = nil
				if again := f.recovered(t); again.Outcome != control.Incomplete { // the host's wave was not begun
					t.Fatalf("recover: %+v", again)
				}
				if left := f.planned(t); left.Summary.Devices != 2 {
					t.Errorf("the third spine and the host are left to do; the next plan has %+v", left.Summary)
				}
			})
		})
	}
}

// TestWhatOthersWriteWhileADeviceWaitsForItsConfirmationStays has somebody write a line to a switch whose commit timer runs, and another
// switch of its wave refuse: what is led back is weir's change, and not the line.
func TestWhatOthersWriteWhileADeviceWaitsForItsConfirmationStays(t *testing.T) {
	onFabric(t, pairs(), func(t *testing.T, f *testFabric) {
		before := f.states(t)
		const line = "snmp-server location row-7"
		f.observe = func(r control.Record) {
			if r.Kind == journal.Reached && r.Device == "spine2" {
				f.observe = nil
				f.byHand(t, "spine2", "enable", "configure", line, "end")
				f.byHand(t, "spine1", "sudo sonic-db-cli CONFIG_DB HSET 'WRED_PROFILE|weir_rdma_100G' green_max_threshold 9000000")
			}
		}
		result := f.apply(t, blind())
		if result.Outcome != control.Incomplete || f.observe != nil {
			t.Fatalf("got %+v", result)
		}
		config, err := f.lab.Config("spine2")
		if err != nil || !strings.Contains(string(config), line) {
			t.Errorf("what somebody wrote is gone: %v\n%s", err, config)
		}
		now := f.states(t)
		for _, device := range []string{"spine1", "spine2"} {
			one := func(s map[string]plan.State) map[string]string {
				return drivertest.Leaves(map[string]plan.State{device: s[device]}, drivertest.Owned)
			}
			if diff := cmp.Diff(one(before), one(now)); diff != "" {
				t.Errorf("%s is not as before: %s", device, diff)
			}
		}
	})
}
