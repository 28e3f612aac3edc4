package diag

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/addr"
)

func at(file string, line int) []Pos { return []Pos{{File: file, Line: line, Column: 1}} }

func TestAFindingSaysWhereWhatAndWhatToDo(t *testing.T) {
	for name, c := range map[string]struct {
		finding Diagnostic
		want    string
	}{
		"with everything": {
			Diagnostic{Severity: Error, Check: "mtu", Summary: "the MTU differs", Detail: "Packets are dropped.\nSet one.",
				Addr: addr.Port("leaf1", "Ethernet0"), At: []Pos{{File: "fabric.yaml", Line: 3, Column: 7}, {File: "inventory/spines.yaml"}}},
			"error: leaf1/Ethernet0: the MTU differs [mtu]\n  at fabric.yaml:3:7\n  at inventory/spines.yaml\n  Packets are dropped.\n  Set one.\n",
		},
		"with a summary only": {Diagnostic{Severity: Note, Summary: "nothing differs"}, "note: nothing differs\n"},
	} {
		if diff := cmp.Diff(c.finding.String(), c.want); diff != "" {
			t.Errorf("%s (-got +want):\n%s", name, diff)
		}
	}
}

func TestGraverFindingsComeFirstThenPlaces(t *testing.T) {
	list := List{
		{Severity: Note, Summary: "last"},
		{Severity: Warning, Summary: "fourth", Addr: addr.Device("leaf10")},
		{Severity: Warning, Summary: "third", Addr: addr.Device("leaf2"), At: at("b.yaml", 12)},
		{Severity: Warning, Summary: "second", Addr: addr.Device("leaf2"), At: at("b.yaml", 9)},
	}
	list.Errorf("mtu", addr.Device("spine1"), at("a.yaml", 1), "%s", "first")
	list.Sort()
	var got []string
	for _, d := range list {
		got = append(got, d.Summary)
	}
	if diff := cmp.Diff(got, []string{"first", "second", "third", "fourth", "last"}); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
	if list.Count(Warning) != 3 || !list.HasErrors() || list[1:].HasErrors() {
		t.Errorf("%d warnings, errors %v, errors behind the first %v", list.Count(Warning), list.HasErrors(), list[1:].HasErrors())
	}
}

func TestAFindingConcernsItsDevicesOrTheWholeFabric(t *testing.T) {
	for name, c := range map[string]struct {
		finding Diagnostic
		want    bool
	}{
		"at the device":                     {Diagnostic{Addr: addr.Port("leaf1", "Ethernet0")}, true},
		"at another one":                    {Diagnostic{Addr: addr.Device("leaf2")}, false},
		"about a link of the device":        {Diagnostic{Addr: addr.Device("leaf2"), Devices: []string{"leaf2", "leaf1"}}, true},
		"about a link between others":       {Diagnostic{Addr: addr.Device("leaf2"), Devices: []string{"leaf2", "spine1"}}, false},
		"about a class":                     {Diagnostic{Addr: addr.Addr{Kind: addr.Class, Name: "rdma"}}, true},
		"about the fabric, shown elsewhere": {Diagnostic{Addr: addr.Device("leaf2"), Devices: []string{""}}, true},
	} {
		if got := c.finding.Concerns(func(device string) bool { return device == "leaf1" }); got != c.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}

func TestFindingsComeBackFromJSON(t *testing.T) {
	list := List{{Severity: Warning, Check: "ecn", Summary: "no marking", Addr: addr.Device("leaf1"), At: at("fabric.yaml", 2)}}
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	var back List
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(back, list); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
	if none, err := json.Marshal(List(nil)); err != nil || string(none) != "[]" {
		t.Errorf("no findings: %s, %v, want []", none, err)
	}
	var s Severity
	if err := s.UnmarshalText([]byte("fatal")); err == nil || err.Error() != `severity "fatal": want error, warning or note` {
		t.Errorf("a severity that does not exist: %v", err)
	}
}
