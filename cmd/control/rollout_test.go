package control_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/drivers/drivertest"
	"github.com/weirfabric/weir/drivers/sim"
	"github.com/weirfabric/weir/inventory"
)

// mixed is a fabric of both switch languages and hosts.
func mixed() inventory.ClosSpec {
	return inventory.ClosSpec{Name: "pod1", Leaves: 2, Spines: 1, Hosts: 2, Ports: 8, Leaf: []string{"sonic", "eos"}, Spine: []string{"eos"}}
}

// meddling is what somebody does to one value of a device of each kind, and what weir calls that value.
func meddling() []struct {
	device string
	lines  []string
	want   string
} {
	return []struct {
		device string
		lines  []string
		want   string
	}{
		{"leaf1", []string{"sudo sonic-db-cli CONFIG_DB HSET 'WRED_PROFILE|weir_rdma_100G' green_max_threshold 9000000"}, "leaf1/wred/weir_rdma_100G:green_max_threshold"},
		{"leaf2", []string{"enable", "configure session byhand", "priority-flow-control pause watchdog default recovery-time 0.8", "commit"}, "leaf2/watchdog:restoration"},
		{"gpu1", []string{"sudo dcb pfc set dev eth0 prio-pfc 3:off"}, "gpu1/eth0/pfc/3"},
	}
}

func TestApplyReachesEveryDeviceAndASecondPlanIsEmpty(t *testing.T) {
	onFabric(t, mixed(), func(t *testing.T, f *testFabric) {
		first := f.planned(t)
		if first.Summary.Devices != 5 || len(first.Waves) < 3 {
			t.Fatalf("the first plan has %+v in %d waves", first.Summary, len(first.Waves))
		}
		began := time.Now()
		result := f.applied(t, control.Settle{Idle: "accept"}) // factory hosts do not send in the class yet
		if len(result.Devices) != 5 {
			t.Fatalf("got %+v", result)
		}
		if took := time.Since(began); took < 10*time.Second {
			t.Errorf("device time was not lived: %v", took)
		}
		if again := f.planned(t); len(again.Waves) != 0 {
			t.Errorf("a second plan has %+v", again.Summary)
		}
		if found := f.drifted(t); len(found) > 0 {
			t.Errorf("drift: %v", found)
		}
		for _, m := range meddling() {
			f.byHand(t, m.device, m.lines...)
			if diff := cmp.Diff([]string{m.want}, f.drifted(t)); diff != "" {
				t.Errorf("%s: %s", m.device, diff)
			}
			if result := f.apply(t, blind()); result.Outcome != control.Applied {
				t.Errorf("%s is not set back: %+v", m.device, result)
			}
		}
	})
}

// TestAWaveThatMakesTheNetworkDropIsLedBack takes PFC off one leaf, with the check against it waived, while all hosts send to one.
func TestAWaveThatMakesTheNetworkDropIsLedBack(t *testing.T) {
	spec := inventory.ClosSpec{Name: "pod1", Leaves: 2, Spines: 1, Hosts: 8, NICs: 1, Ports: 8, Leaf: []string{"sonic", "eos"}, Spine: []string{"eos"}}
	onFabric(t, spec, func(t *testing.T, f *testFabric) {
		f.applied(t, blind())
		f.write(t, "intent/experiment.yaml", fmt.Sprintf(`kind: Override
name: experiment
select: {device: leaf1}
pfc: off
---
kind: Fabric
accept:
  - {check: link-priorities, address: leaf1, reason: "to see it drop", expires: %s}
`, time.Now().AddDate(0, 0, 7).Format(time.DateOnly)))
		good := f.states(t)
		if err := f.lab.SetTraffic(sim.Incast, "gpu1"); err != nil {
			t.Fatal(err)
		}
		result := f.apply(t, control.Settle{})
		if result.Outcome != control.AsBefore || !strings.Contains(result.Why, "drop") {
			t.Fatalf("got %+v", result)
		}
		if diff := cmp.Diff(drivertest.Leaves(good, drivertest.Owned), drivertest.Leaves(f.states(t), drivertest.Owned)); diff != "" {
			t.Errorf("not as before: %s", diff)
		}
	})
}
