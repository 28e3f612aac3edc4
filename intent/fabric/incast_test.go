package fabric

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/lossless"
	"github.com/weirfabric/weir/intent/qos"
)

// TestPortClassesTellTheLargestFanIn bends a leaf with two hosts and two spines in one setting at a time.
func TestPortClassesTellTheLargestFanIn(t *testing.T) {
	type row struct {
		Class, Role, Far string
		Host             bool
		Ports, Wanted    int
		Known            bool
		Why              string
	}
	usual := []row{
		{"rdma", "leaf", "gpu", true, 2, 0, true, ""}, {"rdma", "leaf", "spine", false, 2, 0, true, ""}, {"rdma", "spine", "leaf", false, 2, 0, true, ""},
	}
	change := func(bend func(*row)) []row {
		var out []row
		for _, r := range usual {
			bend(&r)
			out = append(out, r)
		}
		return out
	}
	deaf := change(func(r *row) { r.Why = "nothing tells senders to slow down, and PFC holds back any two" })
	for _, c := range []struct {
		name string
		bend func(*intent.Fabric, *cabling)
		want []row
	}{
		{"nothing", func(*intent.Fabric, *cabling) {}, usual},
		{"a wanted fan-in", func(in *intent.Fabric, _ *cabling) { in.Classes[0].FanIn = at(16, 4) }, change(func(r *row) { r.Wanted = 16 })},
		{"no marking", func(in *intent.Fabric, _ *cabling) { in.Classes[0].ECN.Off = at(true, 4) }, deaf},
		{"no DCQCN", func(in *intent.Fabric, _ *cabling) {
			in.Hosts = []intent.HostProfile{{RoCE: intent.RoCE{Class: at("rdma", 9), CongestionControl: at("none", 9)}, At: line(9)}}
		}, deaf},
		{"no PFC", func(in *intent.Fabric, _ *cabling) { in.Settings.PFC.Off = at(true, 4) }, nil},
		{"a SKU that nobody knows", func(_ *intent.Fabric, c *cabling) { c.devices["leaf1"].SKU.V = "X1" }, change(func(r *row) {
			if r.Role == "leaf" {
				r.Known, r.Why = false, `the catalog has no chip for the SKU "X1"`
			}
		})},
		{"nothing left of the buffer", func(in *intent.Fabric, _ *cabling) {
			in.Settings.PFC.Headroom = at(intent.Headroom{Bytes: 100e6}, 4)
		}, change(func(r *row) {
			r.Known, r.Why = false, "headroom and guarantees leave nothing of the buffer to share"
		})},
	} {
		t.Run(c.name, func(t *testing.T) {
			cables := newCabling().add("leaf", "leaf1").add("spine", "spine1", "spine2").join(1, "leaf1", "spine1", 100e9).join(1, "leaf1", "spine2", 100e9).hosts(2, "leaf1", 100e9)
			in := smallIntent()
			in.Hosts = nil
			c.bend(in, cables)
			f, findings := Resolve(in, cables.inv)
			if len(findings) > 0 {
				t.Fatal(findings)
			}
			var got []row
			for _, i := range f.Incasts() {
				got = append(got, row{i.Class, i.Role, i.Far, i.Host, len(i.Ports), i.Wanted, i.Senders > 0, i.Why})
				if i.Why == "" && i.Senders != i.Largest() || i.Why != "" && i.Senders > 1 {
					t.Errorf("%s: %d senders", i.At(), i.Senders)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestWithoutHostsThePortsWithoutACableAreThoseOfHosts keeps a wanted fan-in from being passed over in an inventory of
// switches alone.
func TestWithoutHostsThePortsWithoutACableAreThoseOfHosts(t *testing.T) {
	cables := newCabling().add("leaf", "leaf1").add("spine", "spine1").join(1, "leaf1", "spine1", 100e9)
	d := cables.devices["leaf1"]
	d.Ports = append(d.Ports, d.Ports[0])
	d.Ports[1].Name = "Ethernet9"
	var got []string
	for _, i := range cables.resolved(t).Incasts() {
		got = append(got, fmt.Sprintf("%s %q", i.At(), i.Far))
	}
	if diff := cmp.Diff(`leaf1/Ethernet9 "", leaf1/Ethernet0 "spine", spine1/Ethernet0 "leaf"`, strings.Join(got, ", ")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTheCNPIntervalIsTheLongestThatTheHostsAreSaidToHave(t *testing.T) {
	for _, c := range []struct {
		name     string
		interval time.Duration
		want     CNPInterval
	}{
		{"not said", 0, CNPInterval{50 * time.Microsecond, false}},
		{"said", 4 * time.Microsecond, CNPInterval{4 * time.Microsecond, true}},
	} {
		cables := newCabling().add("leaf", "leaf1").hosts(2, "leaf1", 100e9)
		in := smallIntent()
		roce := intent.RoCE{Class: at("rdma", 9)}
		in.Hosts = []intent.HostProfile{{RoCE: roce, At: line(9)}}
		if c.interval > 0 {
			in.Hosts[0].RoCE.CNPInterval = at(c.interval, 9)
		}
		f, findings := Resolve(in, cables.inv)
		if len(findings) > 0 {
			t.Fatal(findings)
		}
		for _, i := range f.Incasts() {
			if i.CNP != c.want || i.CNPInterval != c.want.Interval {
				t.Errorf("%s: got %+v and %s", c.name, i.CNP, i.CNPInterval)
			}
		}
	}
}

// TestAStaticThresholdTakesThePlaceOfAlpha compares the two at a threshold so low that it must be the one that counts.
func TestAStaticThresholdTakesThePlaceOfAlpha(t *testing.T) {
	cables := newCabling().add("leaf", "leaf1").hosts(2, "leaf1", 100e9)
	in := smallIntent()
	in.Classes[0].ECN.Max = at(intent.Depth{Bytes: 400e3}, 4)
	in.Classes[0].ECN.Min = at(intent.Depth{Bytes: 100e3}, 4)
	senders := func() int {
		f, findings := Resolve(in, cables.inv)
		if len(findings) > 0 {
			t.Fatal(findings)
		}
		all := f.Incasts()
		if len(all) != 1 {
			t.Fatalf("got %d port classes", len(all))
		}
		return all[0].Senders
	}
	dynamic := senders()
	in.Settings.Buffers.Threshold = at(qos.Bytes(600e3), 5)
	static := senders()
	peak := lossless.Incast{Speed: 100e9, RTT: lossless.UsualRTT, CNPInterval: 50 * time.Microsecond, Max: 400e3}
	if static >= dynamic || peak.Peak(static) >= qos.Bytes(static)*600e3 || peak.Peak(static+1) < qos.Bytes(static+1)*600e3 {
		t.Errorf("%d senders with alpha, %d with 600 kB for each", dynamic, static)
	}
}
