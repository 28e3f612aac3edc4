package control

import (
	"testing"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/qos"
)

func TestAPlanWhoseWavesLeaveALinkUnpausedInBetweenIsRefused(t *testing.T) {
	f := &fabric.Fabric{Classes: []fabric.Class{{Name: "rdma", Lossless: true, Priority: 4}}}
	end := func(name string) fabric.End {
		port := &fabric.Port{Name: "p1", PFC: qos.Priorities(4)}
		return fabric.End{Switch: &fabric.Switch{Device: fabric.Device{Name: name}, Ports: []*fabric.Port{port}}, Port: port}
	}
	f.Links = []*fabric.Link{{A: end("leaf"), B: end("spine")}}
	at := []diag.Pos{{File: "fabric.yaml", Line: 3, Column: 5}}
	change := func(device, name, before, after string) plan.Step {
		return plan.Step{Device: device, Changes: []plan.Change{{Addr: addr.Port(device, "p1").Of(addr.PFC, name), Action: plan.Update, Before: before, After: after, Because: at}}}
	}
	for name, c := range map[string]struct {
		waves [][]plan.Step
		want  int
	}{
		"the class moves from 3 to 4, one end after the other": {
			[][]plan.Step{{change("leaf", "4", "3", "4")}, {change("spine", "4", "3", "4")}}, 1},
		"the same, whichever end is first": {
			[][]plan.Step{{change("spine", "4", "3", "4")}, {change("leaf", "4", "3", "4")}}, 1},
		"both ends in one wave": {
			[][]plan.Step{{change("leaf", "4", "3", "4"), change("spine", "4", "3", "4")}}, 0},
		"a priority is only taken away": {
			[][]plan.Step{{change("leaf", "4", "3,4", "4")}, {change("spine", "4", "3,4", "4")}}, 0},
		"a first rollout, over a link that was lossless at one end only": {
			[][]plan.Step{{change("leaf", "4", "3", "4")}, {change("spine", "4", "", "on")}}, 0},
		"nothing about PFC changes": {
			[][]plan.Step{{{Device: "leaf"}}, {{Device: "spine"}}}, 0},
	} {
		got := boundaries(plan.Plan{Waves: c.waves}, f)
		if len(got) != c.want {
			t.Errorf("%s: got %d findings, want %d:\n%s", name, len(got), c.want, got)
		}
	}
}
