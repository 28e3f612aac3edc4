package main

import (
	"strings"
	"testing"

	"github.com/weirfabric/weir/inventory"
)

// TestOneDeadSpineStopsNobodyWhoSaysSo changes the rest, judges it without the spine, and plans the spine when it is back.
func TestOneDeadSpineStopsNobodyWhoSaysSo(t *testing.T) {
	onFabric(t, inventory.ClosSpec{Name: "pod1", Leaves: 2, Spines: 2, Hosts: 2, Ports: 8}, "", func(t *testing.T, f *testFabric) {
		if err := f.lab.Kill("spine2"); err != nil {
			t.Fatal(err)
		}
		apply := []string{"apply", f.dir, "--yes", "--adopt", "--allow-flap", "--idle", "accept"}
		if code, _, said := f.weir(apply...); code != exitError || !strings.Contains(said, "spine2: cannot reach") {
			t.Errorf("without a word for it: exit code %d: %s", code, said)
		}
		out := f.must(t, exitDone, append(apply, "--skip-unreachable")...)
		if !strings.Contains(out, "LEFT OUT of this plan, since they could not be reached: spine2") || strings.Contains(out, "spine2: no PAUSE") {
			t.Errorf("it says:\n%s", out)
		}
		out = f.must(t, exitDone, "plan", f.dir, "--skip-unreachable")
		if !strings.Contains(out, "No changes: every device that was read holds what the intent wants") {
			t.Errorf("a second plan says:\n%s", out)
		}
		if err := f.lab.Revive("spine2"); err != nil {
			t.Fatal(err)
		}
		if p := f.planned(t); p.Summary.Devices != 1 {
			t.Errorf("once it is back: %+v", p.Summary)
		}
	})
}
