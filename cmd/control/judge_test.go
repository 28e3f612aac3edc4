package control

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/source"
	"github.com/weirfabric/weir/telemetry/verify"
)

func TestOnlyAWaveAroundWhichNothingPassedIsAMatterOfPolicy(t *testing.T) {
	at := addr.Port("leaf1", "Ethernet0")
	elsewhere := []addr.Addr{addr.Port("leaf3", "Ethernet4")}
	result := func(v verify.Verdict) verify.Result {
		return verify.Result{Verdict: v, Findings: []verify.Finding{{Verdict: v, Addr: at, Summary: "what was seen"}}, Waited: 30 * time.Second, Ports: 4, Quiet: 1}
	}
	for name, c := range map[string]struct {
		verdict   verify.Verdict
		idle      string
		elsewhere []addr.Addr
		pass      bool
		says      []string
		not       string
	}{
		"what is bad is bad whatever the policy says": {verify.Worse, "accept", nil, false, []string{"leaf1/Ethernet0: what was seen"}, "--idle"},
		"what is missing is not idle":                 {verify.Unseen, "accept", nil, false, []string{"leaf1/Ethernet0: what was seen", "--no-counters"}, "--idle"},
		"an idle fabric, held":                        {verify.Idle, "hold", nil, false, []string{"nothing proven", "--idle accept"}, "Elsewhere"},
		"an idle fabric, accepted":                    {verify.Idle, "accept", nil, true, []string{"nothing proven"}, "--idle"},
		"an idle corner of a busy fabric, held":       {verify.Idle, "hold", elsewhere, false, []string{"nothing proven", "leaf3/Ethernet4"}, "--idle"},
		"all is well":                                 {verify.Pass, "hold", elsewhere, true, []string{"after 30s of counters; 1 of 4 ports carried nothing"}, "--idle"},
	} {
		got := verdictOf(result(c.verdict), c.idle, c.elsewhere)
		if got.Pass != c.pass || strings.Contains(got.Text, c.not) {
			t.Errorf("%s: got %+v", name, got)
		}
		for _, words := range c.says {
			if !strings.Contains(got.Text, words) {
				t.Errorf("%s: %q does not say %q", name, got.Text, words)
			}
		}
	}
}

func TestAnIdlePolicyThatIsNoneIsRefused(t *testing.T) {
	r := &Repo{Fabric: &fabric.Fabric{Intent: &intent.Fabric{Apply: intent.Apply{Idle: source.Value[string]{V: "hold"}}}}}
	for word, ok := range map[string]bool{"": true, "hold": true, "accept": true, "probe": false} {
		if _, _, err := r.judge(t.Context(), nil, Settle{Idle: word, Blind: true}); (err == nil) != ok {
			t.Errorf("--idle %q: got %v", word, err)
		}
	}
}

func TestCountersAreAskedOfNoSwitchThatWeirOnlyWritesFilesFor(t *testing.T) {
	r := pod(t, map[string]string{"inventory/rgos.yaml": `kind: Switches
switches:
  - {name: spine2, role: spine, platform: rgos, sku: RG-S6510-48VS8CQ, ports: [{names: "HundredGigabitEthernet0/[1-2]", speed: 100G, lanes: 4}]}
---
kind: Links
defaults: {length: 30m, medium: fibre}
links:
  - {a: leaf1/Ethernet132, b: spine2/HundredGigabitEthernet0/1}
  - {a: leaf2/Ethernet132, b: spine2/HundredGigabitEthernet0/2}
`})
	if diff := cmp.Diff([]string{"gpu1", "gpu2", "leaf1", "spine1"}, r.counting([]string{"leaf1"})); diff != "" {
		t.Error(diff)
	}
}
