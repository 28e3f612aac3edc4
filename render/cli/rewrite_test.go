package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/weirfabric/weir/intent/proof/deadlock"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/render"
)

// bump is the rule of a leaf with two uplinks and one class, which goes on in a second lossless class and then in the default one.
func bump() render.Rewrite {
	return render.Rewrite{
		In: []string{"Ethernet1/1", "Ethernet2/1"}, Out: []string{"Ethernet1/1", "Ethernet2/1"},
		Chains: [][]deadlock.Lane{{
			{Class: "rdma", Priority: 3, TC: 3, Queue: 3, Group: 3, DSCP: []qos.DSCP{26}},
			{Class: "rdma-2", Priority: 4, TC: 4, Queue: 4, Group: 4, DSCP: []qos.DSCP{27}, New: true},
		}},
		Off: deadlock.Lane{Class: "default", DSCP: []qos.DSCP{0}},
	}
}

func TestRulesSayWhatTheyCannotSay(t *testing.T) {
	const path = goldens + "bump.txtar"
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	files, findings := eos(t).Rewrite(leaf("DCS-7060CX-32S", "Ethernet1/1", "Ethernet2/1", "Ethernet3/1"), bump())
	if len(files) != 1 || files[0].Name != "bump.cfg" {
		t.Fatalf("got %v", files)
	}
	for i, got := range []string{string(files[0].Body), findings.String()} {
		if diff := cmp.Diff(string(archive.Files[i].Data), got); diff != "" && !*update {
			t.Errorf("%s (-want +got):\n%s", archive.Files[i].Name, diff)
		}
		archive.Files[i].Data = []byte(got)
	}
	if *update {
		if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRulesForALossyClassNeedNoSecondPriority(t *testing.T) {
	r := bump()
	r.Chains[0] = r.Chains[0][:1]
	files, findings := eos(t).Rewrite(leaf("DCS-7060CX-32S", "Ethernet1/1", "Ethernet2/1"), r)
	if body := string(files[0].Body); !strings.Contains(body, "set dscp 0\n      set traffic-class 0\n") || strings.Contains(body, "PFC counters") {
		t.Errorf("got\n%s", body)
	}
	if strings.Contains(findings.String(), "priority group") {
		t.Errorf("got\n%s", findings)
	}
}

func TestRulesWithoutWordsForThemAreAFinding(t *testing.T) {
	if files, findings := rgos(t).Rewrite(watched(example, 5), bump()); len(files) > 0 || !findings.HasErrors() {
		t.Errorf("got %v and %s", files, findings)
	}
	sw := leaf("DCS-7060CX-32S", "Ethernet1/1", "Ethernet2/1")
	sw.Ports[1].Trust = qos.TrustPCP
	if _, findings := eos(t).Rewrite(sw, bump()); !strings.Contains(findings.String(), "error: leaf1/Ethernet2/1: the rules go by DSCP, and the port trusts pcp") {
		t.Errorf("got %s", findings)
	}
}
