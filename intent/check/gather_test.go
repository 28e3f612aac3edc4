package check

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
)

func place(line int) diag.Pos { return diag.Pos{File: "intent.yaml", Line: line, Column: 1} }

func TestFindingsOfOneCauseAreOneFinding(t *testing.T) {
	var g gather
	for i := range 10 {
		d := finding(diag.Error, fmt.Sprintf("the MTU is %d", i), "Raise it.", []diag.Pos{place(3)})
		d.Addr = addr.Port("leaf1", fmt.Sprintf("Ethernet%d", 9-i))
		g.add(d)
	}
	other := finding(diag.Error, "the MTU is 1", "Raise it.", []diag.Pos{place(4)})
	other.Addr = addr.Port("leaf2", "Ethernet0")
	g.add(other)
	want := diag.List{
		{
			Severity: diag.Error, Summary: "the MTU is 9 (and at 9 more)", Addr: addr.Port("leaf1", "Ethernet0"), At: []diag.Pos{place(3)},
			Detail: "Raise it.\nAlso at leaf1/Ethernet1, leaf1/Ethernet2, leaf1/Ethernet3, and 6 more.",
		},
		{Severity: diag.Error, Summary: "the MTU is 1", Detail: "Raise it.", Addr: addr.Port("leaf2", "Ethernet0"), At: []diag.Pos{place(4)}},
	}
	if diff := cmp.Diff(want, g.list()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAJoinedFindingConcernsEveryDeviceOfIt(t *testing.T) {
	var g gather
	for _, name := range []string{"leaf1", "leaf2", "leaf10"} {
		d := finding(diag.Error, "the MTU differs", "Raise it.", []diag.Pos{place(3)})
		d.Addr, d.Devices = addr.Port(name, "Ethernet0"), []string{name, "spine1"}
		g.add(d)
	}
	got := g.list()
	for name, want := range map[string]bool{"leaf1": true, "leaf10": true, "spine1": true, "leaf3": false} {
		concerning := got.Concerning(func(device string) bool { return device == name })
		if (len(concerning) == 1) != want {
			t.Errorf("%s: got %v", name, concerning)
		}
	}
}

func TestAFloodOfCausesIsOneFinding(t *testing.T) {
	var g gather
	for i := range 1000 {
		d := finding(diag.Warning, "odd", "Look.", []diag.Pos{place(i + 1)})
		d.Addr = addr.Port("leaf1", fmt.Sprintf("Ethernet%d", i))
		g.add(d)
	}
	got := g.list()
	if len(got) != 1 || got[0].Summary != "odd (and at 999 more)" || len(got[0].At) != listedPlaces {
		t.Errorf("got %d findings, the first %+v", len(got), got[0])
	}
}

func TestFindingsAboutTheIntentStayApart(t *testing.T) {
	var g gather
	for _, name := range []string{"a", "b"} {
		d := finding(diag.Error, "odd", "Look.", []diag.Pos{place(1)})
		d.Addr = classAddr(name)
		g.add(d)
	}
	if got := g.list(); len(got) != 2 {
		t.Errorf("got %d findings, want 2", len(got))
	}
}
