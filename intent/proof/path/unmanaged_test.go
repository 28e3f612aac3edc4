package path

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestASwitchThatIsNotWeirsIsProvenByWhatIsStatedOfIt has spine2 be somebody else's. Routes go over it and over spine1.
func TestASwitchThatIsNotWeirsIsProvenByWhatIsStatedOfIt(t *testing.T) {
	unknown := "the switch is unmanaged, and nothing is stated of it"
	for name, c := range map[string]struct {
		override string
		breaks   []string
		assumed  bool
	}{
		"nothing is stated":                 {"", []string{"unknown: spine2/Ethernet1: " + unknown, "unknown: spine2/Ethernet2: " + unknown}, false},
		"it is like the rest of the fabric": {"kind: Override\nselect: {device: spine2}\n", nil, true},
		"it has no PFC": {"kind: Override\nselect: {device: spine2}\npfc: off\n",
			[]string{"spine2/Ethernet1/pfc/3: PFC is off for priority 3", "spine2/Ethernet2/pfc/3: PFC is off for priority 3"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			files := pod()
			files["inventory/devices.yaml"] = strings.Replace(files["inventory/devices.yaml"], `  - {names: "spine[1-2]", role: spine}`,
				"  - {name: spine1, role: spine}\n  - {name: spine2, role: spine, state: unmanaged}", 1)
			if c.override != "" {
				files["intent/theirs.yaml"] = c.override
			}
			f := resolved(t, files)
			got := New(f).Prove(end(t, f, "gpu1/eth0"), end(t, f, "gpu2/eth0"), "")
			var breaks []string
			for _, b := range said(got.Breaks) {
				if !slices.Contains(breaks, b) {
					breaks = append(breaks, b)
				}
			}
			if diff := cmp.Diff(c.breaks, breaks); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			assumed := slices.ContainsFunc(got.Assumes, func(a Assumption) bool { return strings.Contains(a.What, "which is unmanaged") })
			if assumed != c.assumed {
				t.Errorf("assumed %t: %+v", assumed, got.Assumes)
			}
			all := New(f).All("rdma")
			if all.Proven() != got.Lossless {
				t.Errorf("the pair is lossless: %t, all pairs: %t", got.Lossless, all.Proven())
			}
		})
	}
}
