package health

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestThePublishedThresholdsAreOurs compares the policy with the collected figures of the field.
func TestThePublishedThresholdsAreOurs(t *testing.T) {
	body, err := os.ReadFile("../../../shared/data/diagnosis_rules.json")
	if err != nil {
		t.Skip("the collected diagnosis rules are not here: ", err)
	}
	var rules struct {
		Thresholds []struct{ Name, Value string } `json:"thresholds"`
	}
	if err := json.Unmarshal(body, &rules); err != nil {
		t.Fatal(err)
	}
	p := Policy{}.withDefaults()
	found := 0
	for _, r := range rules.Thresholds {
		switch r.Name {
		case "deadlock/storm (SONiC mellanox)":
			found++
			if want := fmt.Sprintf("pause duration >= %s%%", strings.TrimSuffix(percent(p.Storm), " %")); !strings.HasPrefix(r.Value, want) {
				t.Errorf("%s: %q does not begin %q", r.Name, r.Value, want)
			}
		case "max pause frames/s to hold link":
			found++
			if want := fmt.Sprintf("%.0f/s @100G", 100e9/pauseQuanta); !strings.Contains(r.Value, want) {
				t.Errorf("%s: %q does not hold %q", r.Name, r.Value, want)
			}
		case "pause ratio warn/major":
			found++
			if want := fmt.Sprintf("%s / %s", percent(p.Paused), percent(p.Major)); r.Value != want {
				t.Errorf("%s: %q, want %q", r.Name, r.Value, want)
			}
		}
	}
	if found != 3 {
		t.Errorf("found %d of the thresholds, want 3", found)
	}
}
