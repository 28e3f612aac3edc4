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

// A port that lost one of two lossless priorities gets it back. Nothing changes at the other end of its cable, which counts as of no wave.
func TestAPlanThatMendsDriftOutsideTheFirstWaveIsNotRefused(t *testing.T) {
	f := &fabric.Fabric{Classes: []fabric.Class{{Name: "rdma", Lossless: true, Priority: 3}, {Name: "storage", Lossless: true, Priority: 4}}}
	end := func(name string) fabric.End {
		port := &fabric.Port{Name: "p1", PFC: qos.Priorities(3, 4)}
		return fabric.End{Switch: &fabric.Switch{Device: fabric.Device{Name: name}, Ports: []*fabric.Port{port}}, Port: port}
	}
	f.Links = []*fabric.Link{{A: end("leaf"), B: end("spine")}, {A: end("spine"), B: end("core")}}
	mend := plan.Step{Device: "spine", Changes: []plan.Change{{Addr: addr.Port("spine", "p1").Of(addr.PFC, "3,4"), Action: plan.Update, Before: "3", After: "3,4",
		Because: []diag.Pos{{File: "fabric.yaml", Line: 3, Column: 5}}}}}
	for name, first := range map[string]plan.Step{
		"the neighbours are in no wave":                                        {Device: "other"},
		"a neighbour changes something else in an earlier wave":                {Device: "leaf"},
		"a neighbour changes something else of the same port, and not its PFC": {Device: "leaf", Changes: []plan.Change{{Addr: addr.Port("leaf", "p1").Of(addr.Queue, "3"), Before: "1", After: "2"}}},
	} {
		if got := boundaries(plan.Plan{Waves: [][]plan.Step{{first}, {mend}}}, f); len(got) != 0 {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}
