package deadlock

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/depend"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/intent/source"
	"github.com/weirfabric/weir/inventory"
)

func TestTheASPlanIsThatOfTheIntent(t *testing.T) {
	f := closOf(t, func(in *intent.Fabric, inv *inventory.Inventory) {
		in.Routing.Policy = at("bgp", 7)
		in.Routing.BGP = intent.BGP{
			AS: []intent.ASNumber{
				{Select: intent.Selector{}, Number: at(1, 7)},
				{Select: role("leaf"), Number: at(65001, 8), Each: at(true, 8)},
				{Select: role("spine"), Number: at(64600, 9)},
			},
			AllowASIn:  []intent.AllowASIn{{Select: role("spine"), Times: at(2, 10)}},
			NoExportUp: []intent.Selector{role("leaf")},
			Default:    []intent.Selector{role("spine")},
			Aggregates: []intent.Aggregate{{Name: at("pod", 11), Select: role("spine"), Of: intent.Selector{Device: at("b", 11)}, SummaryOnly: at(true, 11)}},
		}
		for _, d := range inv.Devices {
			if d.Name.V == "y" {
				d.Labels = map[string]string{"as": "4200000000"}
			}
		}
	})
	d := DependenciesOf(f)
	want := &depend.Plan{
		AS: []uint32{65001, 65002, 64600, 4200000000}, AllowASIn: []int{0, 0, 2, 2}, NoExportUp: []int{0, 1}, Default: []int{2, 3},
		Aggregates: []depend.Aggregate{{Name: "pod", At: []int{2, 3}, Of: []int{1}, SummaryOnly: true}},
	}
	if diff := cmp.Diff(want, d.Plan); diff != "" || len(d.Findings) > 0 {
		t.Errorf("findings %s (-want +got):\n%s", d.Findings, diff)
	}
}

func TestWhatIsWrongAboutRoutingIsNamed(t *testing.T) {
	further := intent.Class{Name: at("further", 6), Lossless: at(true, 6), DSCP: []source.Value[qos.DSCP]{at(qos.DSCP(27), 6)}, Priority: at(qos.Priority(4), 6)}
	dual := func(inv *inventory.Inventory) { // the host of a has a second link, to b
		for _, d := range inv.Devices {
			if d.Name.V == "gpu-a" || d.Name.V == "b" {
				d.Ports = append(d.Ports, inventory.Port{Name: "second", Speed: 100e9})
			}
		}
		inv.Links = append(inv.Links, &inventory.Link{A: inventory.End{Device: "gpu-a", Port: "second"}, B: inventory.End{Device: "b", Port: "second"}, At: place(200)})
	}
	for name, c := range map[string]struct {
		bend func(*intent.Fabric, *inventory.Inventory)
		want []string
	}{
		"no AS": {func(in *intent.Fabric, _ *inventory.Inventory) {
			in.Routing.Policy, in.Routing.BGP.AS = at("bgp", 7), []intent.ASNumber{{Select: role("spine"), Number: at(1, 8)}}
		}, []string{"error: a: policy bgp, and nothing says the AS of this switch", "error: b: policy bgp, and nothing says the AS of this switch"}},
		"a label that is no AS": {func(in *intent.Fabric, inv *inventory.Inventory) {
			in.Routing.Policy, in.Routing.BGP.AS = at("bgp", 7), []intent.ASNumber{{Number: at(1, 8)}}
			inv.Devices[0].Labels = map[string]string{"as": "AS1"}
		}, []string{`error: a: the label as is "AS1"`}},
		"a selection of nothing": {func(in *intent.Fabric, _ *inventory.Inventory) {
			in.Routing.Policy, in.Routing.BGP.AS = at("bgp", 7), []intent.ASNumber{{Number: at(1, 8)}, {Select: role("core"), Number: at(2, 9)}}
		}, []string{"warning: : the selection picks no switch"}},
		"AS numbers that nothing uses": {func(in *intent.Fabric, _ *inventory.Inventory) {
			in.Routing.BGP.AS = []intent.ASNumber{{Number: at(1, 8)}}
		}, []string{"warning: : routing.bgp is written, and the policy is up-down"}},
		"detours without anybody": {func(in *intent.Fabric, _ *inventory.Inventory) { in.Routing.Detour = at("same", 7) },
			[]string{"warning: : routing.detour is written, and no host is joined to two switches"}},
		"detours in a class that is not there": {func(in *intent.Fabric, _ *inventory.Inventory) { in.Routing.Detour = at("rdmb", 7) },
			[]string{`error: : there is no class "rdmb"; did you mean "rdma"?`}},
		"detours in a lossy class": {func(in *intent.Fabric, _ *inventory.Inventory) { in.Routing.Detour = at("cnp", 7) },
			[]string{"error: : detours go on in class cnp, which is lossy"}},
		"detours of two classes in one": {func(in *intent.Fabric, inv *inventory.Inventory) {
			third := further
			third.Name, third.Priority, third.DSCP = at("third", 6), at(qos.Priority(5), 6), []source.Value[qos.DSCP]{at(qos.DSCP(28), 6)}
			in.Classes = append(in.Classes, further, third)
			in.Routing.Detour = at("further", 7)
		}, []string{"error: : detours go on in class further, and hosts send in 2 other lossless classes"}},
		"detours in a class of their own": {func(in *intent.Fabric, inv *inventory.Inventory) {
			in.Classes = append(in.Classes, further)
			in.Routing.Detour = at("further", 7)
			dual(inv)
		}, nil},
	} {
		d := DependenciesOf(closOf(t, c.bend))
		var got []string
		for _, f := range d.Findings {
			got = append(got, fmt.Sprintf("%s: %s: %s", f.Severity, f.Addr, f.Summary))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if want := []depend.Bounce{{From: 0, To: 1, Shift: 1}, {From: 1, To: 0, Shift: 1}}; c.want == nil && !cmp.Equal(want, d.Bounces) {
			t.Errorf("%s: got %v, want %v", name, d.Bounces, want)
		}
	}
}

// TestWhereNothingPausesNothingWaits holds that a circle is not found in a fabric whose PFC is off.
func TestWhereNothingPausesNothingWaits(t *testing.T) {
	for _, off := range []bool{false, true} {
		f := closOf(t, func(in *intent.Fabric, _ *inventory.Inventory) {
			in.Routing.Flooding = at("flood", 7)
			if off {
				in.Settings.PFC.Off = at(true, 8)
			}
		})
		if d := DependenciesOf(f); (d.Priorities == 0) != off || (d.Begin == 0) != off {
			t.Errorf("PFC off %v: priorities %s, of which hosts send %s", off, d.Priorities, d.Begin)
		}
		d := DependenciesOf(f)
		if v, _, err := d.Prove(d.Question(0)); err != nil || v.Free != off {
			t.Errorf("PFC off %v: free is %v (%v)", off, v.Free, err)
		}
	}
}

func TestOnItsWayAFabricHasTheOldPrioritiesBesideTheNew(t *testing.T) {
	of := func(p qos.Priority) *fabric.Fabric {
		return closOf(t, func(in *intent.Fabric, _ *inventory.Inventory) { in.Classes[0].Priority = at(p, 3) })
	}
	d := DependenciesOf(of(4)).Joined(of(3))
	if want := qos.Priorities(3, 4); d.Priorities != want || d.Begin != want {
		t.Errorf("got %s, in which hosts send %s, want %s", d.Priorities, d.Begin, want)
	}
}
