package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/drivers/apply"
	"github.com/weirfabric/weir/drivers/apply/journal"
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

func (f failure) injected() sim.Fault {
	return sim.Fault{Kind: f.fault, Device: f.device, On: sim.Operation(f.operation)}
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
	f.observe = func(r journal.Record) {
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
		for _, then := range f.later {
			err = errors.Join(err, f.lab.Inject(then.injected()))
		}
		if err != nil {
			t.Error(err)
		}
	}
}

// TestAFaultInTheMiddleOfAWaveIsUndoneOrRecovered makes each kind of device fail in each way. What waves before confirmed stays; every
// device of the wave that can be reached is as before; recover ends the rest when it is back; and the next apply works.
func TestAFaultInTheMiddleOfAWaveIsUndoneOrRecovered(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	for _, x := range failures() {
		t.Run(x.String(), func(t *testing.T) {
			t.Parallel()
			f := newFabric(t, pairs())
			before := f.states(t)
			f.provoke(t, x)
			result, code := f.apply(t, blind()...)
			if f.observe != nil {
				t.Fatal("nothing was sent to the device")
			}
			f.consistent(t, x.device, before, result, code)
			if x.operation == cutOffManagement {
				if err := f.lab.Revive(x.device); err != nil {
					t.Fatal(err)
				}
			}
			if code == exitUnknown {
				if again, code := f.end(t, append([]string{"recover", f.dir, "--json"}, blind()...)...); code != exitDone || again.Outcome != journal.AsBefore && again.Outcome != journal.Incomplete {
					t.Fatalf("recover: exit code %d: %+v", code, again)
				}
			}
			f.asSaid(t, x.device, before, result)
			if next, code := f.apply(t, blind()...); code != exitDone {
				t.Fatalf("the next apply: exit code %d: %+v", code, next)
			}
			if p := f.planned(t); len(p.Waves) > 0 {
				t.Errorf("and then a plan has %+v", p.Summary)
			}
		})
	}
}

// consistent checks what a run says of itself.
func (f *testFabric) consistent(t *testing.T, failing string, before map[string]plan.State, result apply.Result, code int) {
	t.Helper()
	t.Logf("exit code %d, %s: %s", code, result.Outcome, result.Why)
	wave := -1
	for _, d := range result.Devices {
		if d.Device == failing {
			wave = d.Wave
		}
	}
	if result.Outcome == journal.AsBefore && wave > 0 || result.Outcome == journal.Incomplete && wave == 0 {
		t.Errorf("a run that fails in wave %d is %s", wave, result.Outcome)
	}
	for _, d := range result.Devices {
		want := []journal.Outcome{journal.Applied}
		switch {
		case d.Device == failing:
			want = []journal.Outcome{journal.AsBefore, journal.Unknown, journal.Partial}
		case d.Wave == wave:
			want = []journal.Outcome{journal.AsBefore}
		}
		if !slices.Contains(want, d.Outcome) {
			t.Errorf("%s of wave %d is %s, want %v", d.Device, d.Wave, d.Outcome, want)
		}
		if d.Outcome == journal.Partial && len(d.Leaves) == 0 {
			t.Errorf("%s is partial, and no leaf is named", d.Device)
		}
	}
	if codes := map[journal.Outcome]int{journal.AsBefore: exitRolledBack, journal.Incomplete: exitIncomplete, journal.Unknown: exitUnknown, journal.Partial: exitUnknown}; codes[result.Outcome] != code {
		t.Errorf("a run that ends %s has exit code %d", result.Outcome, code)
	}
}

// asSaid checks that devices are what the result of a run says, once nothing is left to recover.
func (f *testFabric) asSaid(t *testing.T, failing string, before map[string]plan.State, result apply.Result) {
	t.Helper()
	now := f.states(t)
	wanted := map[string]bool{}
	for _, s := range slices.Concat(f.planned(t).Waves...) {
		wanted[s.Device] = true // is not as the intent says
	}
	confirmed := map[string]bool{}
	for _, d := range result.Devices {
		confirmed[d.Device] = d.Outcome == journal.Applied
	}
	for device := range before {
		if confirmed[device] == wanted[device] {
			t.Errorf("%s: confirmed %t, and the next plan changes it: %t", device, confirmed[device], wanted[device])
		}
		if !confirmed[device] {
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

// TestADeviceThatRefusesItsUndoIsPartialAndItsLeavesAreListed takes half a change and then refuses to be led back, until somebody has
// made it willing again.
func TestADeviceThatRefusesItsUndoIsPartialAndItsLeavesAreListed(t *testing.T) {
	f := newFabric(t, pairs())
	before := f.states(t)
	f.provoke(t, failure{"spine1", "set", sim.Partial})
	for range 3 { // as often as a device is led back before it is given up
		f.later = append(f.later, failure{"spine1", "set", sim.Reject})
	}
	result, code := f.apply(t, blind()...)
	f.consistent(t, "spine1", before, result, code)
	i := slices.IndexFunc(result.Devices, func(d apply.DeviceResult) bool { return d.Device == "spine1" })
	if code != exitUnknown || result.Outcome != journal.Partial || i < 0 || len(result.Devices[i].Leaves) == 0 {
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
	if again, code := f.end(t, append([]string{"recover", f.dir, "--json"}, blind()...)...); code != exitDone || again.Outcome != journal.AsBefore && again.Outcome != journal.Incomplete {
		t.Fatalf("recover: exit code %d: %+v", code, again)
	}
	f.asSaid(t, "spine1", before, result)
}

// TestAConfirmationThatGoesWrongIsFinished makes the confirmation of a wave fail that the verdict was good for. It is asked for again, also
// where the device kept the change and only its answer was lost; a device that is cut off is left to recover, which finishes the wave
// and does not undo it.
func TestAConfirmationThatGoesWrongIsFinished(t *testing.T) {
	if testing.Short() {
		t.Skip("takes ten seconds")
	}
	for _, fault := range []sim.FaultKind{sim.Reject, sim.Hang, sim.Drop, sim.DropBefore, cutOffManagement} {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			f := newFabric(t, few())
			f.observe = func(r journal.Record) {
				switch {
				case r.Kind != journal.Passed || r.Wave != 1:
				case fault == cutOffManagement:
					if err := f.lab.Kill("spine1"); err != nil {
						t.Error(err)
					}
				default:
					if err := f.lab.Inject(sim.Fault{Kind: fault, Device: "spine1", On: sim.Commit}); err != nil {
						t.Error(err)
					}
				}
			}
			result, code := f.apply(t, "--no-counters", "--timeout", "1s", "--patience", "3s")
			if fault != cutOffManagement {
				if code != exitDone {
					t.Fatalf("exit code %d: %+v", code, result)
				}
				return
			}
			if code != exitUnknown {
				t.Fatalf("exit code %d: %+v", code, result)
			}
			if err := f.lab.Revive("spine1"); err != nil {
				t.Fatal(err)
			}
			if again, code := f.end(t, append([]string{"recover", f.dir, "--json"}, blind()...)...); code != exitDone || again.Outcome != journal.Incomplete { // the host's wave was not begun
				t.Fatalf("recover: exit code %d: %+v", code, again)
			}
			if left := f.planned(t); left.Summary.Devices != 2 {
				t.Errorf("the third spine and the host are left to do; the next plan has %+v", left.Summary)
			}
		})
	}
}

// TestWhatOthersWriteWhileADeviceWaitsForItsConfirmationStays has somebody write a line to a switch whose commit timer runs, and another
// switch of its wave refuse: what is led back is weir's change, and not the line.
func TestWhatOthersWriteWhileADeviceWaitsForItsConfirmationStays(t *testing.T) {
	f := newFabric(t, pairs())
	before := f.states(t)
	const line = "snmp-server location row-7"
	f.observe = func(r journal.Record) {
		if r.Kind == journal.Reached && r.Device == "spine2" {
			f.observe = nil
			f.byHand(t, "spine2", "enable", "configure", line, "end")
			f.byHand(t, "spine1", "sudo sonic-db-cli CONFIG_DB HSET 'WRED_PROFILE|weir_rdma_100G' green_max_threshold 9000000")
		}
	}
	result, code := f.apply(t, blind()...)
	if code != exitIncomplete || f.observe != nil {
		t.Fatalf("exit code %d: %+v", code, result)
	}
	config, err := f.lab.Config("spine2")
	if err != nil || !strings.Contains(string(config), line) {
		t.Errorf("what somebody wrote is gone: %v\n%s", err, config)
	}
	now := f.states(t)
	for _, device := range []string{"spine1", "spine2"} {
		one := func(s map[string]plan.State) map[string]string {
			return leaves(map[string]plan.State{device: s[device]}, owned)
		}
		if diff := cmp.Diff(one(before), one(now)); diff != "" {
			t.Errorf("%s is not as before: %s", device, diff)
		}
	}
}
