package render

import (
	"strconv"
	"strings"
	"testing"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/plan"
)

func TestWhatStandsAndWouldBecomeLessIsSaid(t *testing.T) {
	port := addr.Port("leaf1", "Ethernet0")
	update := func(a addr.Addr, before, after string) plan.Delta {
		return plan.Delta{Leaf: plan.Leaf{Path: []string{a.String()}, Value: after, Addr: a}, Action: plan.Update, Before: before}
	}
	dscp := func(n int) addr.Addr { return addr.Device("leaf1").Of(addr.Map, codePoints+strconv.Itoa(n)) }
	var have plan.State
	for n := range 64 {
		class := "1"
		if n == 46 {
			class = "5"
		}
		have.Owned = append(have.Owned, plan.Leaf{Path: []string{dscp(n).String()}, Value: class, Addr: dscp(n)})
	}
	rest := func(but map[int]string) []plan.Delta {
		var out []plan.Delta
		for n, l := range have.Owned {
			after := "0"
			if class, ok := but[n]; ok {
				after = class
			}
			if l.Value != after {
				out = append(out, update(l.Addr, l.Value, after))
			}
		}
		return out
	}
	for name, c := range map[string]struct {
		deltas []plan.Delta
		want   string
	}{
		"a cable that gets shorter":                          {[]plan.Delta{update(port.Of(addr.Cable, ""), "300m", "40m")}, "warning: leaf1/Ethernet0/cable: the length of the cable goes down from 300m to 40m"},
		"a cable that gets longer":                           {[]plan.Delta{update(port.Of(addr.Cable, ""), "5m", "40m")}, ""},
		"an MTU that goes down":                              {[]plan.Delta{update(port.Of(addr.MTU, ""), "9216", "9100")}, "warning: leaf1/Ethernet0/mtu: the MTU goes down from 9216 to 9100"},
		"an MTU that goes up":                                {[]plan.Delta{update(port.Of(addr.MTU, ""), "9100", "9216")}, ""},
		"a code point that somebody mapped and nobody lists": {rest(nil), "go to the class of all others, 0: 46 (class 5)"},
		"a code point that the intent lists":                 {rest(map[int]string{46: "6"}), ""},
	} {
		got := shrinks("leaf1", have, c.deltas).String()
		if !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
