package control_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/drivers/drivertest"
	"github.com/weirfabric/weir/drivers/sim"
)

// rolledBack undoes a run, judged by counters.
func (f *testFabric) rolledBack(t *testing.T, run string, settle control.Settle) control.Result {
	t.Helper()
	r := f.open(t)
	ret, err := r.PlanRollback(t.Context(), run, control.RollbackOptions{})
	if err != nil {
		t.Fatal(err)
	}
	result, err := r.Rollback(t.Context(), ret, f.options(settle))
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestARollbackOfTheFirstRolloutTakesTheClassAwayAndStays(t *testing.T) {
	for _, traffic := range []sim.Traffic{sim.Steady, sim.Quiet} {
		onFabric(t, mixed(), func(t *testing.T, f *testFabric) {
			if err := f.lab.SetTraffic(traffic); err != nil {
				t.Fatal(err)
			}
			factory := drivertest.Leaves(f.states(t), drivertest.Owned)
			result := f.applied(t, control.Settle{Idle: "accept"})
			back := f.rolledBack(t, result.Run, control.Settle{})
			if back.Outcome != control.Applied || back.Why != "" {
				t.Fatalf("%s: got %+v", traffic, back)
			}
			if diff := cmp.Diff(factory, drivertest.Leaves(f.states(t), drivertest.Owned)); diff != "" {
				t.Errorf("%s: not as before the rollout: %s", traffic, diff)
			}
		})
	}
}

func TestARollbackUnderWhichTheTrafficVanishesIsLedBack(t *testing.T) {
	onFabric(t, mixed(), func(t *testing.T, f *testFabric) {
		result := f.applied(t, control.Settle{Idle: "accept"})
		good := drivertest.Leaves(f.states(t), drivertest.Owned)
		f.observe = func(r control.Record) {
			if r.Kind == journal.Sent {
				if err := f.lab.SetTraffic(sim.Quiet); err != nil {
					t.Error(err)
				}
			}
		}
		back := f.rolledBack(t, result.Run, control.Settle{})
		if back.Outcome != control.AsBefore || !strings.Contains(back.Why, "takes the class away here, and its traffic does not pass in any other either") {
			t.Fatalf("got %+v", back)
		}
		if diff := cmp.Diff(good, drivertest.Leaves(f.states(t), drivertest.Owned)); diff != "" {
			t.Errorf("not as before the rollback: %s", diff)
		}
	})
}
