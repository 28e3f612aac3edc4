package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/addr"
)

func TestADigestKnowsPathsAndValuesAndNoOrder(t *testing.T) {
	leaf := func(value string, path ...string) Leaf { return Leaf{Path: path, Value: value} }
	base := Document{leaf("9100", "PORT", "mtu"), leaf("3", "PORT", "pfc")}
	for name, c := range map[string]struct {
		doc  Document
		same bool
	}{
		"another order":                 {Document{leaf("3", "PORT", "pfc"), leaf("9100", "PORT", "mtu")}, true},
		"another value":                 {Document{leaf("9100", "PORT", "mtu"), leaf("4", "PORT", "pfc")}, false},
		"a path that is cut elsewhere":  {Document{leaf("9100", "PORTm", "tu"), leaf("3", "PORT", "pfc")}, false},
		"a value that was in the path":  {Document{leaf("mtu9100", "PORT"), leaf("3", "PORT", "pfc")}, false},
		"a leaf less":                   {base[:1], false},
		"an address, which is no value": {Document{{Path: base[0].Path, Value: "9100", Addr: addr.Device("leaf1")}, base[1]}, true},
	} {
		if got := c.doc.Digest() == base.Digest(); got != c.same {
			t.Errorf("%s: same digest is %v, want %v", name, got, c.same)
		}
	}
	if base[0].Value != "9100" {
		t.Error("the digest has sorted the document itself")
	}
}

func TestPartsNameWhatMoved(t *testing.T) {
	port := addr.Port("leaf1", "Ethernet0")
	before := Document{
		{Path: []string{"PORT", "mtu"}, Value: "9100", Addr: port},
		{Path: []string{"WRED", "rdma"}, Value: "1", Addr: port, Object: "WRED|rdma"},
		{Path: []string{"hostname"}, Value: "leaf1", Addr: addr.Device("leaf1")},
	}
	after := append(Document(nil), before...)
	after[1].Value = "2"
	var moved, kept []string
	parts := before.Parts()
	for part, digest := range after.Parts() {
		if parts[part] != digest {
			moved = append(moved, part)
		} else {
			kept = append(kept, part)
		}
	}
	if diff := cmp.Diff(moved, []string{"WRED|rdma"}); diff != "" || len(kept) != 2 {
		t.Errorf("moved (-got +want):\n%skept: %q", diff, kept)
	}
}

func TestTheInverseLeadsBack(t *testing.T) {
	at := func(value string) Leaf { return Leaf{Path: []string{"x"}, Value: value} }
	forth := []Delta{
		{Leaf: at("new"), Action: Create},
		{Leaf: at("new"), Action: Update, Before: "old"},
		{Leaf: at("old"), Action: Delete, Before: "old"},
	}
	want := []Delta{
		{Leaf: at("new"), Action: Delete, Before: "new"},
		{Leaf: at("old"), Action: Update, Before: "new"},
		{Leaf: at("old"), Action: Create},
	}
	back := Inverse(forth)
	if diff := cmp.Diff(back, want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
	if diff := cmp.Diff(Inverse(back), forth); diff != "" {
		t.Errorf("twice (-got +want):\n%s", diff)
	}
}

func TestTheImpactOfAStepIsTheGravestOfItsChunks(t *testing.T) {
	if got := (Step{Chunks: []Chunk{{Impact: Drains}, {Impact: Flaps}, {}}}).Impact(); got != Flaps {
		t.Errorf("got %v, want %v", got, Flaps)
	}
	for i := None; i <= Reboots; i++ {
		text, err := i.MarshalText()
		var back Impact
		if err != nil || back.UnmarshalText(text) != nil || back != i {
			t.Errorf("%v comes back as %v from %q, %v", i, back, text, err)
		}
	}
	var i Impact
	if err := i.UnmarshalText([]byte("harmless")); err == nil || err.Error() != `impact "harmless": want none, drains, flaps or reboots` {
		t.Errorf("an impact that does not exist: %v", err)
	}
}
