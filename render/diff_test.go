package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/plan"
)

// leaf is a leaf whose path and address are its name.
func leaf(name, value, object string) plan.Leaf {
	return plan.Leaf{Path: []string{name}, Value: value, Addr: addr.Port("leaf1", name), Object: object}
}

func TestADiffSaysWhatIsNewDifferentAndGone(t *testing.T) {
	want := plan.Document{leaf("new", "1", ""), leaf("same", "2", ""), leaf("different", "3", "")}
	have := plan.State{Owned: plan.Document{leaf("same", "2", ""), leaf("gone", "4", ""), leaf("different", "5", "")}}
	got, findings := Diff("leaf1", want, have, nil)
	wanted := []plan.Delta{
		{Leaf: leaf("different", "3", ""), Action: plan.Update, Before: "5"},
		{Leaf: leaf("gone", "4", ""), Action: plan.Delete, Before: "4"},
		{Leaf: leaf("new", "1", ""), Action: plan.Create},
	}
	if diff := cmp.Diff(wanted, got); diff != "" || len(findings) > 0 {
		t.Errorf("(-want +got):\n%s%s", diff, findings)
	}
	if want[0].Path[0] != "new" || have.Owned[0].Path[0] != "same" {
		t.Error("the diff reordered what it was given")
	}
}

func TestAValueThatBecomesEmptyIsAnUpdate(t *testing.T) {
	got, _ := Diff("leaf1", plan.Document{leaf("pfc", "", "")}, plan.State{Owned: plan.Document{leaf("pfc", "3", "")}}, nil)
	if diff := cmp.Diff([]plan.Delta{{Leaf: leaf("pfc", "", ""), Action: plan.Update, Before: "3"}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestASharedObjectIsAdoptedOnlyWhereItStandsAndIsNotYetWeirs(t *testing.T) {
	want := plan.Document{leaf("made", "2", "MAP|made"), leaf("new", "2", "MAP|new"), leaf("theirs", "2", "MAP|theirs")}
	have := plan.State{Owned: plan.Document{leaf("made", "1", "MAP|made"), leaf("theirs", "1", "MAP|theirs")}}
	deltas, findings := Diff("leaf1", want, have, plan.Manifest{"leaf1": {"MAP|made"}})
	got := map[string]bool{}
	for _, d := range deltas {
		got[d.Leaf.Path[0]] = d.Adopt
	}
	if diff := cmp.Diff(map[string]bool{"made": false, "new": false, "theirs": true}, got); diff != "" || len(findings) > 0 {
		t.Errorf("(-want +got):\n%s%s", diff, findings)
	}
}

func TestASharedObjectThatForeignRowsUseIsReportedAndLeftAlone(t *testing.T) {
	want := plan.Document{leaf("a", "2", "MAP|x"), leaf("b", "2", "MAP|x"), leaf("c", "2", "")}
	have := plan.State{
		Owned: plan.Document{leaf("a", "1", "MAP|x"), leaf("b", "1", "MAP|x")},
		Users: map[string][]string{"MAP|x": {"PORT|Ethernet8", "PORT|Ethernet12"}},
	}
	deltas, findings := Diff("leaf1", want, have, plan.Manifest{"leaf1": {"MAP|x"}})
	if len(deltas) != 1 || deltas[0].Leaf.Path[0] != "c" {
		t.Errorf("got %v, want the port's own leaf alone", deltas)
	}
	if len(findings) != 1 || !findings.HasErrors() || !strings.Contains(findings[0].Summary, "PORT|Ethernet8, PORT|Ethernet12") {
		t.Errorf("got %s, want one error that names both users", findings)
	}
}

// tiny is a language that says its device's leaves as they are, and lifts nothing.
type tiny struct {
	Lifter[plan.Document]
	reads plan.State
}

func (tiny) Write(doc plan.Document) (plan.Document, diag.List)      { return doc, nil }
func (tiny) Queries(plan.Document) []plan.Query                      { return nil }
func (l tiny) Read(plan.Document, []plan.Answer) (plan.State, error) { return l.reads, nil }
func (tiny) Print(plan.Document) []File                              { return nil }
func (tiny) Script(_ plan.Document, _ plan.State, deltas []plan.Delta) (plan.Step, diag.List) {
	step := plan.Step{}
	for _, d := range deltas {
		step.Changes = append(step.Changes, plan.Change{Addr: d.Leaf.Addr, Action: d.Action})
	}
	return step, nil
}

func TestABoundDeviceLeavesSharedObjectsAloneThatAreNeitherWantedNorWeirs(t *testing.T) {
	l := tiny{reads: plan.State{Owned: plan.Document{
		leaf("port", "1", ""), leaf("wanted", "1", "MAP|wanted"), leaf("ours", "1", "MAP|ours"), leaf("theirs", "1", "MAP|theirs"),
	}}}
	want := plan.Document{leaf("port", "1", ""), leaf("wanted", "1", "MAP|wanted")}
	b := Bind(l, want, "leaf1", "tiny", plan.Manifest{"leaf1": {"MAP|ours"}})
	state, err := b.Read(nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(state.Owned) != 3 || len(state.Foreign) != 1 || state.Foreign[0].Path[0] != "theirs" {
		t.Errorf("got owned %v and foreign %v", state.Owned, state.Foreign)
	}
	step, findings := b.Step(state, want)
	if len(findings) > 0 || len(step.Changes) != 1 || step.Changes[0].Action != plan.Delete || step.Changes[0].Addr.Port != "ours" {
		t.Errorf("got %v and %s, want weir's own object removed and nothing else", step.Changes, findings)
	}
	if step.Device != "leaf1" || step.Platform != "tiny" || step.Base != state.Owned.Digest() || len(step.Parts) != 3 {
		t.Errorf("the step is not filled in: %+v", step)
	}
}
