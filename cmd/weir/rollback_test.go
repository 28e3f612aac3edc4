package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/drivers/drivertest"
	"github.com/weirfabric/weir/drivers/sim"
	"github.com/weirfabric/weir/intent/plan"
)

// edit is what somebody does to one value of a device, in its own words, and what weir calls that value.
type edit struct{ device, line, want string }

func meddling() []edit {
	return []edit{
		{"leaf1", "sonic-db-cli CONFIG_DB HSET 'WRED_PROFILE|weir_rdma_100G' green_max_threshold 9000000", "leaf1/wred/weir_rdma_100G:green_max_threshold"},
		{"leaf2", "priority-flow-control pause watchdog default recovery-time 0.8", "leaf2/watchdog:restoration"},
		{"gpu1", "dcb pfc set dev eth0 prio-pfc 3:off", "gpu1/eth0/pfc/3"},
	}
}

// byHand has somebody change a device.
func (f *testFabric) byHand(t *testing.T, device, line string) {
	t.Helper()
	if err := f.lab.Inject(sim.Fault{Kind: sim.ForeignEdit, Device: device, Text: line}); err != nil {
		t.Fatal(err)
	}
}

func TestRollbackLeadsEveryDeviceBackLeafForLeaf(t *testing.T) {
	onFabric(t, mixed(), "", func(t *testing.T, f *testFabric) {
		before, config := f.states(t), f.configs(t)
		result, code := f.apply(t, blind()...)
		if code != exitDone {
			t.Fatalf("exit code %d: %+v", code, result)
		}
		applied := f.states(t)
		if diff := cmp.Diff(drivertest.Leaves(before, drivertest.Foreign), drivertest.Leaves(applied, drivertest.Foreign)); diff != "" {
			t.Errorf("apply changed what is not weir's: %s", diff)
		}
		for _, m := range meddling() {
			f.byHand(t, m.device, m.line)
			code, _, said := f.weir(append([]string{"rollback", result.Run, "--repo", f.dir, "--all-or-nothing"}, blind()...)...)
			if code != exitError || !strings.Contains(said, "stale") || !strings.Contains(said, m.device+": ") {
				t.Errorf("rollback over %s that changed since: exit code %d: %s", m.device, code, said)
			}
			if result, code := f.apply(t, blind()...); code != exitDone {
				t.Fatalf("%s is not set back: %+v", m.device, result)
			}
		}
		if code, _, said := f.weir(append([]string{"rollback", result.Run, "--repo", f.dir, "--yes"}, blind()...)...); code != exitError || !strings.Contains(said, "--allow-flap") {
			t.Errorf("it touches traffic without consent: exit code %d: %s", code, said)
		}
		if out := f.must(t, exitDone, "rollback", result.Run, "--repo", f.dir, "--plan"); !strings.Contains(out, "Rollback of "+result.Run+": 5 devices") {
			t.Errorf("the preview: %s", out)
		}
		back, code := f.end(t, append([]string{"rollback", result.Run, "--repo", f.dir, "--json"}, agreed(blind()...)...)...)
		if code != exitDone || len(back.Devices) != 5 {
			t.Fatalf("exit code %d: %+v", code, back)
		}
		after := f.states(t)
		if diff := cmp.Diff(drivertest.Leaves(before, drivertest.Owned), drivertest.Leaves(after, drivertest.Owned)); diff != "" {
			t.Errorf("owned: %s", diff)
		}
		if diff := cmp.Diff(drivertest.Leaves(before, drivertest.Foreign), drivertest.Leaves(after, drivertest.Foreign)); diff != "" {
			t.Errorf("foreign: %s", diff)
		}
		if diff := cmp.Diff(config, f.configs(t)); diff != "" {
			t.Errorf("the devices' own configurations: %s", diff)
		}
	})
}

// TestARollbackLeavesWhatChangedSinceAndIsThenIncomplete changes a switch by hand after a run: the rest is led back, and the run says
// so. What is left of the run is led back by another rollback.
func TestARollbackLeavesWhatChangedSinceAndIsThenIncomplete(t *testing.T) {
	onFabric(t, mixed(), "", func(t *testing.T, f *testFabric) {
		before := f.states(t)
		result, code := f.apply(t, blind()...)
		if code != exitDone {
			t.Fatalf("exit code %d: %+v", code, result)
		}
		applied := f.states(t)["leaf1"]
		m := meddling()[0]
		f.byHand(t, m.device, m.line)
		back, code := f.end(t, append([]string{"rollback", result.Run, "--repo", f.dir, "--json"}, agreed(blind()...)...)...)
		if code != exitIncomplete || back.Outcome != journal.Incomplete || len(back.Devices) != 4 || len(back.Left) != 1 || back.Left[0].Device != m.device {
			t.Fatalf("exit code %d: %+v", code, back)
		}
		wred := func(s plan.State) string {
			for _, l := range s.Owned {
				if l.Addr.String() == m.want {
					return l.Value
				}
			}
			return ""
		}
		f.byHand(t, m.device, strings.Replace(m.line, "9000000", wred(applied), 1))
		back, code = f.end(t, append([]string{"rollback", result.Run, "--repo", f.dir, "--json"}, agreed(blind()...)...)...)
		if code != exitDone || len(back.Devices) != 1 || len(back.Left) != 0 {
			t.Fatalf("exit code %d: %+v", code, back)
		}
		if diff := cmp.Diff(drivertest.Leaves(before, drivertest.Owned), drivertest.Leaves(f.states(t), drivertest.Owned)); diff != "" {
			t.Errorf("owned: %s", diff)
		}
		if out := f.must(t, exitDone, "show", result.Run, "--repo", f.dir); !strings.Contains(out, "leaf1: applied") || !strings.Contains(out, "  by ") {
			t.Errorf("the run: %s", out)
		}
	})
}

// configs are the whole configurations of all devices, in their own words, line by line, without the rows that a device derives.
func (f *testFabric) configs(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for device, state := range f.states(t) {
		body, err := f.lab.Config(device)
		if err != nil {
			t.Fatal(err)
		}
		if json.Valid(body) {
			body = withoutRows(t, body, state.Derived)
		}
		out[device] = strings.Split(string(body), "\n")
	}
	return out
}

// withoutRows takes the rows of a document's leaves out of a configuration that is a database.
func withoutRows(t *testing.T, body []byte, rows plan.Document) []byte {
	t.Helper()
	var tables map[string]map[string]map[string]string
	if err := json.Unmarshal(body, &tables); err != nil {
		t.Fatal(err)
	}
	for _, l := range rows {
		delete(tables[l.Path[0]], l.Path[1])
	}
	body, err := json.MarshalIndent(tables, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return body
}
