package control

import (
	"strings"
	"testing"

	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/intent/plan"
)

// onRecord writes the journal of a run that was about devices.
func onRecord(t *testing.T, s journal.Store, devices ...string) {
	t.Helper()
	j, err := s.Create("20000101-000000.000", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range []journal.Record{{Kind: journal.Started, Verb: "apply", Devices: [][]string{devices}}, {Kind: journal.Ended, Outcome: journal.AsBefore}} {
		if err := j.Append(rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestADeviceThatLeftTheInventoryIsAnOrphanUntilItIsReleased(t *testing.T) {
	r := podOf(t, map[string]string{"spine1": "unmanaged"}, nil)
	if err := r.Store.SaveManifest(plan.Manifest{"leaf1": {"M|x"}, "leaf9": {"MAP|a", "MAP|b"}, "leaf8": {}, "spine1": {"qos map 3"}}); err != nil {
		t.Fatal(err)
	}
	onRecord(t, r.Store, "leaf1", "leaf8", "leaf9", "spine1")
	again := func() *Repo {
		if err := r.own(); err != nil {
			t.Fatal(err)
		}
		return r
	}
	told := func(o PlanOptions) string {
		names, _, err := again().Reached(o.Device)
		if err != nil {
			t.Fatal(err)
		}
		p, err := r.Plan(names, inOrder(r), o)
		if err != nil {
			t.Fatal(err)
		}
		return p.Findings.String()
	}
	all := told(PlanOptions{})
	for _, want := range []string{
		"warning: leaf9: it is not in the inventory any more, and 2 objects that weir made or adopted stand there [orphan]\n  MAP|a, MAP|b; its ports keep",
		"weir apply --release leaf9 ",
		"warning: spine1: the inventory says unmanaged, and 1 object that weir made or adopted stands there [orphan]",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
	if part := told(PlanOptions{Device: Selection{"leaf1"}}); strings.Contains(part, "[orphan]") {
		t.Errorf("a part of the fabric: %s", part)
	}
	for _, c := range []struct{ name, want string }{
		{"leaf1", "leaf1 is in the inventory"},
		{"leaf7", `leaf7: weir owns nothing there; did you mean "leaf9"?`},
	} {
		if err := r.Release([]string{"leaf9", c.name}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
	lease, err := r.Store.Lock(journal.Lock{Run: "1", Verb: "apply"})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Release([]string{"leaf9"}); err == nil {
		t.Error("released while a run holds the lock")
	}
	if err := lease.Release(); err != nil {
		t.Fatal(err)
	}
	if err := r.Release([]string{"leaf9", "spine1"}); err != nil {
		t.Fatal(err)
	}
	if left := again().Orphans(); len(left) != 0 || !r.manifest.Has("leaf1", "M|x") {
		t.Errorf("orphans %v, manifest %v", left, r.manifest)
	}
	if held, err := r.Store.Locked(); held != nil || err != nil {
		t.Errorf("the lock was not given back: %v, %v", held, err)
	}
}
