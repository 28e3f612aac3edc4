package view

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/drivers/apply"
	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/plan"
)

func printed(print func(View)) string {
	var out bytes.Buffer
	print(View{Out: &out})
	return out.String()
}

func TestFindingsThatSayTheSameArePrintedOnce(t *testing.T) {
	at := diag.Pos{File: "fabric.yaml", Line: 3, Column: 5}
	note := func(device string) diag.Diagnostic {
		return diag.Diagnostic{Severity: diag.Note, Check: "x", Summary: "it derives headroom", Detail: "That is no drift.", Addr: addr.Device(device), At: []diag.Pos{at}}
	}
	l := diag.List{{Severity: diag.Error, Check: "y", Summary: "MTU differs", Addr: addr.Port("leaf1", "p1")}, note("leaf1"), note("leaf2")}
	want := `error: leaf1/p1: MTU differs [y]
note: leaf1, leaf2: it derives headroom [x]
  at fabric.yaml:3:5
  That is no drift.
1 error, 2 notes
`
	if diff := cmp.Diff(want, printed(func(v View) { v.Findings(l) })); diff != "" {
		t.Error(diff)
	}
}

func TestAPlanPutsTheSameChangesTogether(t *testing.T) {
	step := func(device string) plan.Step {
		s := plan.Step{Device: device, Platform: "sonic", Route: plan.SSHBulk, Cost: 2 * time.Second,
			Chunks: []plan.Chunk{{Send: []plan.Message{{Op: plan.Run, Body: "config load -y x"}}, Undo: []plan.Message{{Op: plan.Run, Body: "config load -y y"}}, Impact: plan.Flaps}}}
		for _, port := range []string{"Ethernet0", "Ethernet4", "Ethernet8"} {
			s.Changes = append(s.Changes, plan.Change{Addr: addr.Port(device, port).Of(addr.PFC, "3"), Action: plan.Update, Before: "3,4", After: "3", Impact: plan.Flaps})
		}
		for _, dscp := range []string{"0", "1", "2", "26"} {
			s.Changes = append(s.Changes, plan.Change{Addr: addr.Device(device).Of(addr.Map, "dscp-to-tc/"+dscp), Action: plan.Create, After: "0", Adopt: dscp == "26"})
		}
		return s
	}
	p := plan.Plan{Waves: [][]plan.Step{{step("leaf1")}, {step("leaf2"), step("leaf3")}}, Summary: plan.Summary{Devices: 3, Create: 12, Update: 9}}
	want := `+ create   ~ update

Wave 1 of 2: 1 device

  leaf1 (sonic) by SSH, as one load, about 2s
      + map/dscp-to-tc/0-2  0         
      + map/dscp-to-tc/26   0  adopt  
    Ethernet0, Ethernet4, Ethernet8 (3 ports, the same 1 change each)
      ~ pfc/3  3,4 -> 3  flaps  

Wave 2 of 2: 2 devices

  leaf2, leaf3 (sonic) by SSH, as one load, about 2s
  these 2 devices: the same 7 changes each
      + map/dscp-to-tc/0-2  0         
      + map/dscp-to-tc/26   0  adopt  
    Ethernet0, Ethernet4, Ethernet8 (3 ports, the same 1 change each)
      ~ pfc/3  3,4 -> 3  flaps  

Plan: 3 devices: 12 to create, 9 to update, 0 to delete.
note: traffic is touched on 3 devices (apply needs --allow-flap).
note: settings that weir did not make would become weir's on 3 devices, marked "adopt" (apply needs --adopt).
Saved. To carry out exactly this: weir apply plan.json
`
	if diff := cmp.Diff(want, printed(func(v View) { v.Plan(p, PlanOptions{Apply: "weir apply plan.json"}) })); diff != "" {
		t.Error(diff)
	}
}

func TestAnEmptyPlanSaysSo(t *testing.T) {
	want := "No changes: every device that was read holds what the intent wants.\n"
	if diff := cmp.Diff(want, printed(func(v View) { v.Plan(plan.Plan{}, PlanOptions{}) })); diff != "" {
		t.Error(diff)
	}
}

func TestDriftThatCouldNotBeReadIsNeverNoDrift(t *testing.T) {
	devices := []control.DeviceDrift{
		{Device: "leaf1", Accepted: 2, Changes: []plan.Change{{Addr: addr.Device("leaf1").Of(addr.WRED, "x"), Action: plan.Update, Before: "9", After: "8"}}},
		{Device: "leaf2", Error: "leaf2: cannot reach it"},
	}
	want := `leaf1/wred/x: is 9, the intent wants 8  
error: leaf2: cannot reach it
1 device could not be read: whether they drifted is not known.
1 difference.
2 more differences accepted in the repo (accept: {check: drift}).
`
	if diff := cmp.Diff(want, printed(func(v View) { v.Drift(devices) })); diff != "" {
		t.Error(diff)
	}
}

func TestRowsFoldNumbersIntoRanges(t *testing.T) {
	for want, names := range map[string][]string{"0-2,5": {"0", "1", "2", "5"}, "a,b": {"a", "b"}, "7": {"7"}} {
		if got := ranges(names); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestDevicesWithoutAMarkerAreToldOfOnceForEachReason(t *testing.T) {
	result := apply.Result{Run: "1", Outcome: journal.Applied,
		Unmarked: []apply.Left{{Device: "leaf1", Why: "no SSH"}, {Device: "leaf2", Why: "sudo refuses"}, {Device: "leaf3", Why: "no SSH"}},
		Marked:   []apply.Left{{Device: "gpu1", Why: "connection refused"}}}
	got := printed(func(v View) { v.RunResult("apply", result, Next{}) })
	want := `note: no marker stood on leaf1, leaf3, and nothing kept a run with another journal off: no SSH
note: no marker stood on leaf2, and nothing kept a run with another journal off: sudo refuses
note: the marker of this run could not be removed from gpu1; the next run of this journal does that: connection refused
`
	if !strings.HasPrefix(got, want) {
		t.Errorf("got:\n%s", got)
	}
}
