package fabric

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/inventory"
)

// cabling builds an inventory cable by cable.
type cabling struct {
	inv     *inventory.Inventory
	devices map[string]*inventory.Device
}

func newCabling() *cabling {
	return &cabling{&inventory.Inventory{}, map[string]*inventory.Device{}}
}

// add adds devices of one role: linux hosts, and else switches of a chip whose buffer is known.
func (c *cabling) add(role string, names ...string) *cabling {
	for _, name := range names {
		d := &inventory.Device{Name: at(name, 1), Role: at(role, 1), Platform: at("sonic", 1), SKU: at("Mellanox-SN4600C-C64", 1), At: line(1)}
		if role == "gpu" {
			d.Platform, d.SKU.V = at("linux", 1), ""
		}
		c.devices[name] = d
		c.inv.Devices = append(c.inv.Devices, d)
	}
	return c
}

// join adds so many cables between two devices, with ports of that speed at both ends.
func (c *cabling) join(count int, a, b string, speed qos.Rate) *cabling {
	return c.uneven(count, a, b, speed, speed)
}

// uneven is join with ports of different speed at the ends.
func (c *cabling) uneven(count int, a, b string, speedA, speedB qos.Rate) *cabling {
	end := func(name string, speed qos.Rate) inventory.End {
		d := c.devices[name]
		port := inventory.Port{Name: fmt.Sprintf("Ethernet%d", len(d.Ports)), Speed: speed, Lanes: 4}
		d.Ports = append(d.Ports, port)
		return inventory.End{Device: name, Port: port.Name}
	}
	for range count {
		c.inv.Links = append(c.inv.Links, &inventory.Link{A: end(a, speedA), B: end(b, speedB)})
	}
	return c
}

func (c *cabling) resolved(t testing.TB) *Fabric {
	t.Helper()
	f, findings := Resolve(smallIntent(), c.inv)
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	return f
}

func loadOf(t *testing.T, f *Fabric, name string) Load {
	t.Helper()
	for _, l := range f.Loads(f.Ranks()) {
		if l.Switch.Name == name {
			return l
		}
	}
	t.Fatalf("there is no switch %s", name)
	return Load{}
}

// hosts cables so many hosts to a switch, one link each.
func (c *cabling) hosts(count int, to string, speed qos.Rate) *cabling {
	for i := range count {
		name := fmt.Sprintf("%s-gpu%d", to, i)
		c.add("gpu", name).join(1, name, to, speed)
	}
	return c
}

// TestTheRatioOfASwitchIsThePublishedOne has the two switches of the reference: 48x10G over 6x40G is 2:1, 48x25G over
// 8x100G is 1.5:1.
func TestTheRatioOfASwitchIsThePublishedOne(t *testing.T) {
	for _, c := range []struct {
		name             string
		down, up         int
		slow, fast       qos.Rate
		want, oneDown    float64
		wantDown, wantUp Bundle
	}{
		{"48x10G and 6x40G", 48, 6, 10e9, 40e9, 2, 2.4, Bundle{48, 480e9}, Bundle{6, 240e9}},
		{"48x25G and 8x100G", 48, 8, 25e9, 100e9, 1.5, 12.0 / 7, Bundle{48, 1200e9}, Bundle{8, 800e9}},
		{"one link upwards", 2, 1, 100e9, 100e9, 2, math.Inf(1), Bundle{2, 200e9}, Bundle{1, 100e9}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newCabling().add("leaf", "leaf1").add("spine", "spine1").hosts(c.down, "leaf1", c.slow).join(c.up, "leaf1", "spine1", c.fast).resolved(t)
			l := loadOf(t, f, "leaf1")
			got := []any{l.Known(), l.Ratio(), l.OneDown(), l.OnceRatio(), l.Down, l.Up}
			if diff := cmp.Diff([]any{true, c.want, c.oneDown, c.want, c.wantDown, c.wantUp}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAHostWithSeveralSwitchesIsCountedOnce(t *testing.T) {
	fabric := func() *cabling {
		return newCabling().add("leaf", "leaf1", "leaf2", "leaf3", "leaf4").add("spine", "spine1").add("gpu", "gpu1").
			join(1, "leaf1", "spine1", 100e9).join(1, "leaf2", "spine1", 100e9).join(1, "leaf3", "spine1", 100e9).join(1, "leaf4", "spine1", 100e9)
	}
	for _, c := range []struct {
		name       string
		cable      func(*cabling)
		down, once qos.Rate // at leaf1
	}{
		{"one switch", func(c *cabling) { c.join(1, "gpu1", "leaf1", 100e9) }, 100e9, 100e9},
		{"two links to one switch", func(c *cabling) { c.join(2, "gpu1", "leaf1", 100e9) }, 200e9, 200e9},
		{"two switches", func(c *cabling) { c.join(1, "gpu1", "leaf1", 100e9).join(1, "gpu1", "leaf2", 100e9) }, 100e9, 50e9},
		{"two links to each of two", func(c *cabling) { c.join(2, "gpu1", "leaf1", 100e9).join(2, "gpu1", "leaf2", 100e9) }, 200e9, 100e9},
		{"a slow link here", func(c *cabling) { c.join(1, "gpu1", "leaf1", 25e9).join(1, "gpu1", "leaf2", 100e9) }, 25e9, 20e9},
		{"four switches", func(c *cabling) {
			for _, leaf := range []string{"leaf1", "leaf2", "leaf3", "leaf4"} {
				c.join(1, "gpu1", leaf, 100e9)
			}
		}, 100e9, 25e9},
	} {
		t.Run(c.name, func(t *testing.T) {
			cables := fabric()
			c.cable(cables)
			l := loadOf(t, cables.resolved(t), "leaf1")
			if l.Down.Rate != c.down || l.Once != c.once {
				t.Errorf("got %s and %s once, want %s and %s", l.Down.Rate, l.Once, c.down, c.once)
			}
		})
	}
}

func TestTheLoadOfASwitchFollowsItsCables(t *testing.T) {
	f := newCabling().add("leaf", "leaf1", "leaf2", "leaf3", "leaf4").add("spine", "spine1", "spine2").
		uneven(1, "leaf1", "spine1", 100e9, 40e9).join(1, "leaf1", "spine2", 100e9).join(2, "leaf1", "leaf2", 100e9).hosts(2, "leaf1", 25e9).
		hosts(1, "leaf2", 25e9).                            // without a link upwards
		join(1, "leaf3", "spine1", 100e9).                  // without a host
		join(1, "leaf4", "spine2", 0).hosts(1, "leaf4", 0). // without speeds
		join(1, "leaf3", "spine2", 100e9).                  // and once more
		resolved(t)
	type facts struct {
		Known, Top     bool
		Down, Up, Side Bundle
		Fastest        qos.Rate
		Speedless      int
	}
	want := map[string]facts{
		"leaf1":  {true, false, Bundle{2, 50e9}, Bundle{2, 140e9}, Bundle{2, 200e9}, 100e9, 0},
		"leaf2":  {true, false, Bundle{1, 25e9}, Bundle{}, Bundle{2, 200e9}, 0, 0},
		"leaf3":  {false, false, Bundle{}, Bundle{2, 200e9}, Bundle{}, 100e9, 0},
		"leaf4":  {false, false, Bundle{1, 0}, Bundle{1, 0}, Bundle{}, 0, 2},
		"spine1": {false, true, Bundle{2, 140e9}, Bundle{}, Bundle{}, 0, 0},
		"spine2": {false, true, Bundle{3, 200e9}, Bundle{}, Bundle{}, 0, 1},
	}
	got := map[string]facts{}
	for _, l := range f.Loads(f.Ranks()) {
		got[l.Switch.Name] = facts{l.Known(), l.Top, l.Down, l.Up, l.Side, l.Fastest, l.Speedless}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if r := loadOf(t, f, "leaf2").Ratio(); !math.IsInf(r, 1) {
		t.Errorf("a leaf without a link upwards has the ratio %v", r)
	}
}

func TestATierTellsItsUsualAndItsWorstSwitch(t *testing.T) {
	f := newCabling().add("leaf", "leaf1", "leaf2", "leaf3").add("tor", "tor1").add("spine", "spine1").
		hosts(2, "leaf1", 100e9).join(1, "leaf1", "spine1", 100e9).
		hosts(2, "leaf2", 100e9).join(2, "leaf2", "spine1", 50e9).
		hosts(3, "leaf3", 100e9).join(3, "leaf3", "spine1", 50e9).
		hosts(3, "tor1", 100e9).join(1, "tor1", "spine1", 100e9).
		resolved(t)
	tiers := Tiers(f.Loads(f.Ranks()))
	if len(tiers) != 2 {
		t.Fatalf("got %d tiers", len(tiers))
	}
	low, high := tiers[0], tiers[1]
	got := []any{low.Rank, low.Roles, low.Switches, low.Top, low.Known, low.Usual, low.Worst.Switch.Name, low.OneDown.Switch.Name, low.Ratio()}
	want := []any{1, []string{"leaf", "tor"}, 4, false, 4, 2.0, "tor1", "leaf1", 1000.0 / 450}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !high.Top || high.Known != 0 || high.Switches != 1 {
		t.Errorf("the upper tier is %+v", high)
	}
}

// TestHeightsComeFromRolesLabelsOrDistance covers what the ranks are taken from; the checks cover what they are used for.
func TestHeightsComeFromRolesLabelsOrDistance(t *testing.T) {
	for _, c := range []struct {
		name  string
		bend  func(*cabling)
		from  string
		want  map[string]int
		wrong int
	}{
		{"roles", func(*cabling) {}, "the roles leaf, spine and core", map[string]int{"a": 1, "x": 2}, 0},
		{"distance", func(c *cabling) { c.devices["x"].Role.V = "upper" }, "the distance of each role from the hosts", map[string]int{"a": 1, "x": 2}, 0},
		{
			"a label", func(c *cabling) { c.devices["x"].Labels = map[string]string{"rank": "7"} },
			"the roles leaf, spine and core, and the label rank", map[string]int{"a": 1, "x": 7}, 0,
		},
		{
			"a label that is no number", func(c *cabling) { c.devices["x"].Labels = map[string]string{"rank": "high"} },
			"the roles leaf, spine and core, and the label rank", map[string]int{"a": 1, "x": 2}, 1,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			cables := newCabling().add("leaf", "a").add("spine", "x").join(1, "a", "x", 100e9).hosts(1, "a", 100e9)
			c.bend(cables)
			f := cables.resolved(t)
			r := f.Ranks()
			got := map[string]int{}
			for sw, rank := range r.Of {
				got[sw.Name] = rank
			}
			if diff := cmp.Diff(c.want, got); diff != "" || r.From != c.from || len(r.Findings) != c.wrong {
				t.Errorf("from %q, findings %v (-want +got):\n%s", r.From, r.Findings, diff)
			}
			if c.wrong > 0 && r.Findings[0].Severity != diag.Error {
				t.Errorf("got %s", r.Findings)
			}
		})
	}
}

// TestFanOutsTellWhatAnAlikeHashLeaves has the published pairs of n1 and n2.
func TestFanOutsTellWhatAnAlikeHashLeaves(t *testing.T) {
	for _, c := range []struct{ leaf, spine, used int }{{8, 8, 1}, {8, 4, 1}, {6, 4, 2}, {4, 8, 2}, {3, 8, 8}} {
		cables := newCabling().add("leaf", "leaf1").add("core", "core1").hosts(1, "leaf1", 100e9)
		for i := range c.leaf {
			spine := fmt.Sprintf("spine%d", i)
			cables.add("spine", spine).join(1, "leaf1", spine, 100e9).join(c.spine, spine, "core1", 100e9)
		}
		f := cables.resolved(t)
		fans := f.FanOuts(f.Loads(f.Ranks()))
		if len(fans) != 2 || len(fans[0].Next) != 1 || len(fans[1].Next) != 0 {
			t.Fatalf("got %+v", fans)
		}
		got := []int{fans[0].Links, fans[0].Switches, fans[1].Links, fans[1].Switches, fans[0].Next[0].Links, fans[0].Next[0].Used}
		if diff := cmp.Diff([]int{c.leaf, 1, c.spine, c.leaf, c.spine, c.used}, got); diff != "" {
			t.Errorf("%d and %d (-want +got):\n%s", c.leaf, c.spine, diff)
		}
		if c.leaf == 8 && (math.Abs(fans[0].NoCollision-0.00240325927734375) > 1e-15 || math.Abs(fans[0].WorstLink-2.59) > 0.01) {
			t.Errorf("8 flows on 8 links: %v and %v", fans[0].NoCollision, fans[0].WorstLink)
		}
	}
}

func TestASwitchExplainsItsLoad(t *testing.T) {
	f := newCabling().add("leaf", "leaf1").add("spine", "spine1").hosts(48, "leaf1", 25e9).join(8, "leaf1", "spine1", 100e9).resolved(t)
	of := func(device, name string) any {
		for _, v := range explained(t, f, device) {
			if v.Name == name {
				return v.Value
			}
		}
		return nil
	}
	for name, want := range map[string]any{
		"downlinks": int64(1200e9), "uplinks": int64(800e9), "oversubscription": 1.5, "oversubscription-one-uplink-down": 12.0 / 7,
	} {
		if got := of("leaf1", name); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	if got := of("spine1", "oversubscription"); got != nil {
		t.Errorf("the top of the fabric has the ratio %v", got)
	}
}

// BenchmarkCongestion1024x64 is all of it for a Clos of 1,024 switches of 64 ports: 24 pods of 32 leaves and 8 spines, and
// 64 cores.
func BenchmarkCongestion1024x64(b *testing.B) {
	c := newCabling()
	for i := range 64 {
		c.add("core", fmt.Sprintf("c%d", i))
	}
	for pod := range 24 {
		for s := range 8 {
			spine := fmt.Sprintf("p%ds%d", pod, s)
			c.add("spine", spine)
			for i := range 8 {
				c.join(1, spine, fmt.Sprintf("c%d", s*8+i), 100e9)
			}
		}
		for l := range 32 {
			leaf := fmt.Sprintf("p%dl%d", pod, l)
			c.add("leaf", leaf).hosts(32, leaf, 100e9)
			for s := range 8 {
				c.join(4, leaf, fmt.Sprintf("p%ds%d", pod, s), 100e9)
			}
		}
	}
	f := c.resolved(b)
	b.ReportAllocs()
	for b.Loop() {
		if c := f.Congestion(); len(c.Tiers) != 3 || len(c.FanOuts) != 2 || len(c.Incasts) == 0 {
			b.Fatal(len(c.Tiers), len(c.FanOuts), len(c.Incasts))
		}
	}
}
