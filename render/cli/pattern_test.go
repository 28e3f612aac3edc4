package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/templates/pack"
)

func TestAPatternTakesALineApartAndWritesItAgain(t *testing.T) {
	for _, c := range []struct {
		pattern, line string
		want          binding // nil: no match
	}{
		{"mtu {bytes}", "mtu 9000", binding{"bytes": "9000"}},
		{"mtu {bytes}", "mtu", nil},
		{"mtu {bytes}", "mtu 9000 now", nil},
		{"flowcontrol receive {state:on|off}", "flowcontrol receive off", binding{"state": "off"}},
		{"flowcontrol receive {state:on|off}", "flowcontrol receive desired", nil},
		{"qos profile {profile:WEIR*}", "qos profile WEIR-100G", binding{"profile": "WEIR-100G"}},
		{"qos profile {profile:WEIR*}", "qos profile ROCE", nil},
		{"random-detect ecn {curve*}", "random-detect ecn count now", binding{"curve": "count now"}},
		{"random-detect ecn {curve*}", "random-detect ecn", nil},
		{"qos map dscp {dscp...} to traffic-class {class}", "qos map dscp 1 2 3 to traffic-class 4", binding{"dscp": "1 2 3", "class": "4"}},
		{"qos map dscp {dscp...} to traffic-class {class}", "qos map dscp to traffic-class 4", nil},
		{"qos map dscp {dscp...} to {class*}", "qos map dscp 1 2 to traffic-class 4 drop-precedence 2", binding{"dscp": "1 2", "class": "traffic-class 4 drop-precedence 2"}},
	} {
		p, err := parsePattern(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := p.match(strings.Fields(c.line))
		if ok != (c.want != nil) {
			t.Errorf("%q on %q: match is %t", c.pattern, c.line, ok)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q on %q (-want +got):\n%s", c.pattern, c.line, diff)
		}
		if again := p.render(got); ok && again != c.line {
			t.Errorf("%q written again is %q", c.line, again)
		}
	}
}

func TestAPatternWithAMistakeIsRefused(t *testing.T) {
	for _, s := range []string{"mtu {bytes", "mtu {}", "a {rest*} b"} {
		if _, err := parsePattern(s); err == nil {
			t.Errorf("%q was taken", s)
		}
	}
}

func TestATableThatIsNotUnderstoodSaysNothing(t *testing.T) {
	tables := pack.Tables{Maps: []pack.Table{
		{Title: "Cos-tc map", To: "tc:", Count: 8, Skip: []int{7}, Line: "qos map cos {from} to traffic-class {to}"},
		{Title: "Dscp-tc map", Count: 12, Line: "qos map dscp {from} to traffic-class {to}"},
	}}
	row := "   Cos-tc map:\n     cos:   0  1  2  3  4  5  6  7\n     ----\n     tc:    1  0  2  3  4  5  6  7\n\n"
	tens := "   Dscp-tc map:\n     d1 :  d2 0 1 2 3 4 5 6 7 8 9\n     ----\n      0 :     01 01 01 01 01 01 01 01 00 00\n      1 :     05 06\n"
	for name, c := range map[string]struct {
		text string
		want int
	}{
		"both":                {row + tens, 7 + 12},
		"a row too short":     {strings.Replace(row, "6  7\n\n", "6\n\n", 1), 0},
		"no number":           {strings.Replace(row, "tc:    1", "tc:    x", 1), 0},
		"a class that is not": {strings.Replace(row, "tc:    1", "tc:    9", 1), 0},
		"a row of tens lost":  {strings.Replace(tens, "      0 :     01 01", "      2 :     01 01", 1), 0},
		"another command":     {"% Invalid input\n", 0},
	} {
		if got := implied(tables, c.text); len(got) != c.want {
			t.Errorf("%s: got %d lines, want %d: %q", name, len(got), c.want, got)
		}
	}
	want := "qos map dscp 11 to traffic-class 6"
	if got := implied(tables, row+tens); got[len(got)-1] != want {
		t.Errorf("the last line is %q, want %q", got[len(got)-1], want)
	}
}
