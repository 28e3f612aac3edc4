package check

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/intent/source"
	"github.com/weirfabric/weir/inventory"
)

// tight is an intent with three lossless classes and a switch of 12 MB whose 32 ports of 100G have cables of 300 m, which does
// not fit.
func tight() (*intent.Fabric, *inventory.Inventory) {
	in := sound()
	for i, name := range []string{"storage", "backup"} {
		c := intent.Class{Name: at(name, 6), Lossless: at(true, 6), Priority: at(qos.Priority(1+i), 6), DSCP: []source.Value[qos.DSCP]{at(qos.DSCP(8*(1+i)), 6)}}
		c.Share = at(qos.Percent(10), 6)
		in.Classes = append(in.Classes, c)
	}
	in.Settings.PFC.Cable = at(qos.Metres(300), 7)
	d := &inventory.Device{Name: at("sw", 50), Platform: at("eos", 50), SKU: at("DCS-7050QX-32", 50), At: place(50)}
	for p := range 32 {
		d.Ports = append(d.Ports, inventory.Port{Name: "Ethernet" + strconv.Itoa(p), Speed: 100e9})
	}
	return in, &inventory.Inventory{Devices: []*inventory.Device{d}}
}

// fits says whether the buffer of the one switch holds what is asked of it, and what bufferFit says.
func fits(t *testing.T, in *intent.Fabric, inv *inventory.Inventory) (bool, string) {
	t.Helper()
	f, findings := fabric.Resolve(in, inv)
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	l := bufferFit(f)
	return !l.HasErrors(), l.String()
}

// suggested is the number in the finding that the pattern finds.
func suggested(t *testing.T, text, pattern string) int {
	t.Helper()
	found := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("%s is not in\n%s", pattern, text)
	}
	n, err := strconv.Atoi(found[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestWhatIsSuggestedFitsAndNothingMoreDoes(t *testing.T) {
	in, inv := tight()
	held, text := fits(t, in, inv)
	if held {
		t.Fatal("it fits as it is")
	}
	off := func(in *intent.Fabric, from int) {
		for p := from; p < 32; p++ {
			in.Overrides = append(in.Overrides, intent.Override{
				Select:   intent.Selector{Port: at("Ethernet"+strconv.Itoa(p), 40)},
				Settings: intent.Settings{PFC: intent.PFC{Off: at(true, 40)}},
			})
		}
	}
	for _, way := range []struct {
		pattern string
		step    int // towards what does not fit
		write   func(*intent.Fabric, int)
	}{
		{`(\d+) lossless class(es)? in place of 3`, 1, func(in *intent.Fabric, n int) {
			for i := n; i < 3; i++ {
				in.Classes[2+i].Lossless.V = false
			}
		}},
		{`no cable longer than (\d+)m`, 1, func(in *intent.Fabric, n int) { in.Settings.PFC.Cable.V = qos.Metres(n) }},
		{`buffers.oversubscribe: (\d+)`, -1, func(in *intent.Fabric, n int) { in.Settings.Buffers.Oversubscribe = at(n, 8) }},
		{`PFC on (\d+) of the 32 ports`, 1, off},
	} {
		n := suggested(t, text, way.pattern)
		for value, want := range map[int]bool{n: true, n + way.step: false} {
			in, inv := tight()
			way.write(in, value)
			if held, says := fits(t, in, inv); held != want {
				t.Errorf("%s with %d: fits %v, want %v\n%s", way.pattern, value, held, want, says)
			}
		}
	}
}

func TestTheSuggestedAlphaAndThresholdLetECNComeFirst(t *testing.T) {
	for name, settings := range map[string]intent.Buffers{"alpha": {Alpha: at(intent.Alpha(-6), 8)}, "threshold": {Threshold: at(qos.Bytes(50e3), 8)}} {
		in, inv := tight()
		in.Classes = in.Classes[:3]
		in.Classes[0].ECN.Min, in.Classes[0].ECN.Max = at(intent.Depth{Bytes: 20e3}, 3), at(intent.Depth{Bytes: 150e3}, 3)
		in.Settings.PFC.Cable, in.Settings.Buffers = at(qos.Metres(5), 7), settings
		found := func() diag.List {
			f, _ := fabric.Resolve(in, inv)
			return append(ecnBeforePFC(f), bufferFit(f)...)
		}
		l := found()
		if !l.HasErrors() {
			t.Fatalf("%s: ECN comes first as it is", name)
		}
		value := regexp.MustCompile(`buffers\.\w+: (\S+) would do`).FindStringSubmatch(l[0].Summary)
		if value == nil {
			t.Fatalf("%s: nothing is suggested: %s", name, l[0].Summary)
		}
		if name == "alpha" {
			alpha, err := qos.ParseAlpha(value[1])
			if err != nil {
				t.Fatal(err)
			}
			in.Settings.Buffers.Alpha.V = alpha
		} else {
			bytes, err := qos.ParseBytes(value[1])
			if err != nil {
				t.Fatal(err)
			}
			in.Settings.Buffers.Threshold.V = bytes
		}
		if l := found(); l.HasErrors() {
			t.Errorf("%s %s does not help:\n%s", name, value[1], l)
		}
	}
}

func TestAPoolIsToldFromOneThatHoldsEverything(t *testing.T) {
	for ratio, want := range map[int]string{0: "", 1: "", 2: "warning", 64: "error"} {
		in, inv := tight()
		in.Settings.Buffers.Oversubscribe = at(ratio, 8)
		f, _ := fabric.Resolve(in, inv)
		text := headroomPool(f).String()
		if severity, _, _ := strings.Cut(text, ":"); severity != want {
			t.Errorf("ratio %d: got %q, want %q", ratio, text, want)
		}
	}
}

func TestAtOnceCountsTheLargestNeedsFirst(t *testing.T) {
	for _, c := range []struct {
		needs []qos.Bytes
		pool  qos.Bytes
		want  int
	}{
		{[]qos.Bytes{10, 10, 10}, 25, 2}, {[]qos.Bytes{5, 20}, 20, 1}, {[]qos.Bytes{5, 20}, 19, 0}, {[]qos.Bytes{1, 2}, 3, 2}, {nil, 3, 0},
	} {
		if got := atOnce(c.needs, c.pool); got != c.want {
			t.Errorf("%v in %d: got %d, want %d", c.needs, c.pool, got, c.want)
		}
	}
}
