package inventory

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRangesStandForAllTheirNames(t *testing.T) {
	for text, want := range map[string][]string{
		"leaf1":             {"leaf1"},
		"Ethernet[0-12/4]":  {"Ethernet0", "Ethernet4", "Ethernet8", "Ethernet12"},
		"Ethernet[0-13/4]":  {"Ethernet0", "Ethernet4", "Ethernet8", "Ethernet12"},
		"leaf[08-11]":       {"leaf08", "leaf09", "leaf10", "leaf11"},
		"Ethernet[1-2]/1":   {"Ethernet1/1", "Ethernet2/1"},
		"Ethernet[1-2/[1-2": nil,
		"e[1-2]/[3-4]":      {"e1/3", "e1/4", "e2/3", "e2/4"},
		"[7-7]":             {"7"},
	} {
		var n names
		_, err := n.Spread(text)
		if want == nil {
			if err == nil {
				t.Errorf("%s was read as %v", text, n.all)
			}
			continue
		}
		if diff := cmp.Diff(want, n.all); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", text, err, diff)
		}
	}
}

func TestARangeThatIsNoneIsAnError(t *testing.T) {
	for _, text := range []string{"e[4-1]", "e[1-4/0]", "e[1-]", "e[a-b]", "e[1,2]", "e]1-2[", "e[0-99999]", "e[1-100]/[1-100]", "e[1-2]]"} {
		var n names
		if _, err := n.Spread(text); err == nil {
			t.Errorf("%q was read as %d names", text, len(n.all))
		}
	}
}

func TestAShortenedRangeStandsForTheFirstNames(t *testing.T) {
	for text, want := range map[string]string{
		"Ethernet[0-252/4]": "Ethernet[0-8/4]", "Ethernet[1-32]/1": "Ethernet[1-3]/1", "eth[0-1]": "eth[0-1]",
	} {
		if got := shorten(text, 3); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}
