package check

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/lossless"
	"github.com/weirfabric/weir/intent/source"
	"github.com/weirfabric/weir/inventory/catalog"
)

// hash is what the intent says of a role's hash; an empty seed is not written.
func hash(role, seed string, fields ...string) intent.Hash {
	h := intent.Hash{Role: at(role, 30)}
	if seed != "" {
		h.Seed = at(seed, 30)
	}
	for _, f := range fields {
		h.Fields = append(h.Fields, at(f, 30))
	}
	return h
}

// told is what a check says of a fabric, shortly.
func told(t *testing.T, in *intent.Fabric, switches, cables []string, run func(*fabric.Fabric) diag.List) []string {
	t.Helper()
	f, findings := fabric.Resolve(in, cabled(switches, cables))
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	var got []string
	for _, d := range run(f) {
		got = append(got, fmt.Sprintf("%s: %s: %s", d.Severity, d.Addr, d.Summary))
	}
	return got
}

func TestTiersThatHashAlikeAreTold(t *testing.T) {
	switches := []string{"a@:leaf", "x:spine", "y:spine", "c:core", "d:core"}
	cables := []string{"a-x", "a-y", "x-c", "x-d", "y-c", "y-d"}
	alike := []string{"warning: a: role spine hashes as role leaf does: for what comes from here, a spine uses 1 of its 2 links upwards (2 / gcd(2, 2))"}
	for _, c := range []struct {
		name   string
		hashes []intent.Hash
		more   []string // cables
		want   []string
	}{
		{"nothing written", nil, nil, nil},
		{"one seed", []intent.Hash{hash("leaf", "1"), hash("spine", "1")}, nil, alike},
		{"one seed and the same fields", []intent.Hash{hash("leaf", "1", "qp", "source-ip"), hash("spine", "1", "source-ip", "qp")}, nil, alike},
		{"one seed and fields on one side", []intent.Hash{hash("leaf", "1", "qp"), hash("spine", "1")}, nil, alike},
		{"one seed and other fields", []intent.Hash{hash("leaf", "1", "qp"), hash("spine", "1", "source-ip")}, nil, nil},
		{"two seeds", []intent.Hash{hash("leaf", "1"), hash("spine", "2")}, nil, nil},
		{"one seed not written", []intent.Hash{hash("leaf", "1"), hash("spine", "")}, nil, nil},
		{"one tier not written", []intent.Hash{hash("leaf", "1")}, nil, nil},
		{"numbers of links without a common divisor", []intent.Hash{hash("leaf", "1"), hash("spine", "1")}, []string{"a-x"}, nil},
		{
			"a role twice", []intent.Hash{hash("leaf", "1"), hash("leaf", "2")}, nil,
			[]string{"error: : the hash of role leaf is written twice"},
		},
		{
			"a role that no switch has", []intent.Hash{hash("lief", "1")}, nil,
			[]string{`error: : no switch has the role lief; did you mean "leaf"?`},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := sound()
			in.Routing.Hash = c.hashes
			if diff := cmp.Diff(c.want, told(t, in, switches, append(cables, c.more...), polarisation)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAHashWithoutTheQueuePairIsToldWhereThereIsAChoice(t *testing.T) {
	missing := []string{"note: a: the hash of role leaf does not read the destination queue pair"}
	for _, c := range []struct {
		name   string
		hash   intent.Hash
		cables []string
		want   []string
	}{
		{"without", hash("leaf", "", "source-ip"), []string{"a-x", "a-x"}, missing},
		{"with", hash("leaf", "", "source-ip", "qp"), []string{"a-x", "a-x"}, nil},
		{"not written", hash("leaf", "1"), []string{"a-x", "a-x"}, nil},
		{"one link", hash("leaf", "", "source-ip"), []string{"a-x"}, nil},
	} {
		in := sound()
		in.Routing.Hash = []intent.Hash{c.hash}
		if diff := cmp.Diff(c.want, told(t, in, []string{"a@:leaf", "x:spine"}, c.cables, hashFields)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestOversubscriptionIsComparedWithWhatIsWanted(t *testing.T) {
	ratio := func(r intent.Ratio) source.Value[intent.Ratio] { return at(r, 30) }
	for _, c := range []struct {
		name              string
		healthy, degraded source.Value[intent.Ratio]
		cables            []string
		want              []string
	}{
		{"nothing written", source.Value[intent.Ratio]{}, source.Value[intent.Ratio]{}, []string{"a-x"}, nil},
		{"just kept", ratio(1), source.Value[intent.Ratio]{}, []string{"a-x", "b-x"}, nil},
		{
			"not kept", ratio(0.5), source.Value[intent.Ratio]{}, []string{"a-x", "b-x", "b-x"},
			[]string{"error: a: 100G from below (1 link) for 100G upwards (1 link): 1:1, and at most 0.5:1 is wanted"},
		},
		{
			"no link upwards", ratio(1), source.Value[intent.Ratio]{}, []string{"a-x"},
			[]string{"error: b: 100G from below (1 link), and no link leads upwards"},
		},
		{
			"not with a link down", source.Value[intent.Ratio]{}, ratio(1), []string{"a-x", "a-x", "b-x"},
			[]string{"error: b: while the fastest link upwards (100G) is down, nothing is left for 100G from below, and at most 1:1 is wanted"},
		},
	} {
		in := sound()
		in.Routing.Oversubscription, in.Routing.OneUplinkDown = c.healthy, c.degraded
		if diff := cmp.Diff(c.want, told(t, in, []string{"a@:leaf", "b@:leaf", "x:spine"}, c.cables, oversubscription)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestWhatIsSaidToLetAFanInStartDoes tries each change that is proposed, and one a little less.
func TestWhatIsSaidToLetAFanInStartDoes(t *testing.T) {
	c := fabric.Incast{
		PortClass: fabric.PortClass{Wanted: 16, Incast: lossless.Incast{
			Speed: 100e9, RTT: 12 * time.Microsecond, CNPInterval: 50 * time.Microsecond, Max: 800e3, Alpha: -3, Shared: 30e6,
		}},
		Ports: []fabric.End{{Switch: &fabric.Switch{ASIC: &catalog.ASIC{Buffer: 60e6}}}},
	}
	c.Senders = c.Largest()
	want := []string{
		"buffers.alpha of 1/4", "ecn.max of at most 679kB",
		"a shared buffer of at least 32888kB of the chip's 60MB (shorter cables, fewer ports with PFC, or buffers.oversubscribe)",
		"a CNP interval of the NICs of at most 35.9us", "at most 14 senders at a moment, by how the application schedules them",
	}
	if diff := cmp.Diff(want, fanInRemedies(c)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	fits := func(change func(*lossless.Incast)) bool {
		with := c.Incast
		change(&with)
		return with.Largest() >= c.Wanted
	}
	for name, pair := range map[string][2]bool{
		"alpha":         {fits(func(i *lossless.Incast) { i.Alpha = -2 }), fits(func(*lossless.Incast) {})},
		"ecn.max":       {fits(func(i *lossless.Incast) { i.Max = 679e3 }), fits(func(i *lossless.Incast) { i.Max = 680e3 })},
		"shared buffer": {fits(func(i *lossless.Incast) { i.Shared = 32.888e6 }), fits(func(i *lossless.Incast) { i.Shared = 32.887e6 })},
		"CNP interval": {
			fits(func(i *lossless.Incast) { i.CNPInterval = 35900 * time.Nanosecond }),
			fits(func(i *lossless.Incast) { i.CNPInterval = 36100 * time.Nanosecond }),
		},
	} {
		if !pair[0] || pair[1] {
			t.Errorf("%s: what is said does: %v; a little less does: %v", name, pair[0], pair[1])
		}
	}
}

// TestAStaticThresholdMayBeRaised has groups that share nothing but are let fill up to a threshold.
func TestAStaticThresholdMayBeRaised(t *testing.T) {
	c := fabric.Incast{
		PortClass: fabric.PortClass{Wanted: 16, Incast: lossless.Incast{
			Speed: 100e9, RTT: 12 * time.Microsecond, CNPInterval: 50 * time.Microsecond, Max: 800e3, Static: 1e6, Shared: 30e6,
		}},
		Ports: []fabric.End{{Switch: &fabric.Switch{ASIC: &catalog.ASIC{Buffer: 60e6}}}},
	}
	c.Senders = c.Largest()
	want := []string{"buffers.threshold of at least 1371kB", "ecn.max of at most 429kB", "a CNP interval of the NICs of at most 6.9us", "at most 2 senders at a moment, by how the application schedules them"}
	if diff := cmp.Diff(want, fanInRemedies(c)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if c.Static = 1.371e6; c.Largest() < c.Wanted {
		t.Errorf("the threshold that is proposed lets %d start", c.Largest())
	}
}

// TestAFanInThatNothingLetsStartLeavesTheApplication has a chip whose whole buffer is less than the burst.
func TestAFanInThatNothingLetsStartLeavesTheApplication(t *testing.T) {
	c := fabric.Incast{
		PortClass: fabric.PortClass{Wanted: 512, Incast: lossless.Incast{
			Speed: 400e9, RTT: 12 * time.Microsecond, CNPInterval: 50 * time.Microsecond, Max: 800e3, Shared: 10e6,
		}},
		Ports: []fabric.End{{Switch: &fabric.Switch{ASIC: &catalog.ASIC{Buffer: 12e6}}}},
	}
	c.Senders = c.Largest()
	if got := fanInRemedies(c); len(got) != 1 {
		t.Errorf("got %q", got)
	}
}

func TestAFanInWithoutMarkingIsTold(t *testing.T) {
	in := sound()
	in.Classes[0].FanIn, in.Classes[0].ECN.Off = at(2, 3), at(true, 3)
	got := told(t, in, []string{"a@:leaf"}, nil, incast)
	want := "warning: a/Ethernet1: 1 sender may start at once towards this port without PFC, and fanIn of class rdma wants 2"
	if !slices.Contains(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// BenchmarkCongestion1024x64 is the four checks of a fabric of 1,024 switches of 64 ports that asks for all that they compare.
func BenchmarkCongestion1024x64(b *testing.B) {
	in := sound()
	in.Classes[0].FanIn = at(512, 3)
	in.Routing.Oversubscription, in.Routing.OneUplinkDown = at(intent.Ratio(1), 30), at(intent.Ratio(1), 30)
	in.Routing.Hash = []intent.Hash{hash("leaf", "1", "source-ip"), hash("spine", "1", "source-ip")}
	inv := leaves(1024, 64)
	for i, d := range inv.Devices {
		d.Role = at([]string{"leaf", "spine"}[i/512], i+1)
	}
	f, findings := fabric.Resolve(in, inv)
	if len(findings) > 0 {
		b.Fatal(findings)
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, run := range []func(*fabric.Fabric) diag.List{oversubscription, polarisation, hashFields, incast} {
			run(f)
		}
	}
}
