package fabric

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/lossless"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/intent/source"
	"github.com/weirfabric/weir/inventory"
)

// at is a value written on a line of intent.yaml.
func at[T any](v T, line int) source.Value[T] {
	return source.Value[T]{V: v, At: diag.Pos{File: "intent.yaml", Line: line, Column: 1}}
}

func line(n int) diag.Pos { return diag.Pos{File: "intent.yaml", Line: n, Column: 1} }

// smallIntent is a lossless class, one for CNPs and one for the rest.
func smallIntent() *intent.Fabric {
	rdma := intent.Class{Name: at("rdma", 3), Lossless: at(true, 3), DSCP: []source.Value[qos.DSCP]{at(qos.DSCP(26), 3)}, Priority: at(qos.Priority(3), 3)}
	rdma.Share, rdma.ECN.Min, rdma.ECN.Max = at(qos.Percent(50), 3), at(intent.Depth{Bytes: 150e3}, 3), at(intent.Depth{Bytes: 1500e3}, 3)
	cnp := intent.Class{Name: at("cnp", 4), DSCP: []source.Value[qos.DSCP]{at(qos.DSCP(48), 4)}, Priority: at(qos.Priority(6), 4)}
	cnp.Strict = at(true, 4)
	rest := intent.Class{Name: at("default", 5), Priority: at(qos.Priority(0), 5)}
	return &intent.Fabric{
		Name: at("pod1", 2), Classes: []intent.Class{rdma, cnp, rest},
		Settings: intent.Settings{MTU: at(qos.Bytes(9000), 6)},
		Hosts:    []intent.HostProfile{{Name: at("gpu", 20), At: line(20), RoCE: intent.RoCE{CongestionControl: at("dcqcn", 21)}}},
	}
}

// smallInventory is a leaf with two ports, a spine and a host.
func smallInventory() *inventory.Inventory {
	port := func(name string) inventory.Port { return inventory.Port{Name: name, Speed: 100e9} }
	device := func(name, platform, sku, role string, ports ...inventory.Port) *inventory.Device {
		return &inventory.Device{Name: at(name, 1), Platform: at(platform, 1), SKU: at(sku, 1), Role: at(role, 1), Ports: ports}
	}
	return &inventory.Inventory{
		Devices: []*inventory.Device{
			device("leaf1", "sonic", "ACS-MSN2700", "leaf", port("Ethernet10"), port("Ethernet9")),
			device("spine1", "eos", "DCS-7050QX-32", "spine", port("Ethernet1/1")),
			device("gpu1", "linux", "", "gpu", port("eth0")),
		},
		Links: []*inventory.Link{
			{A: inventory.End{Device: "leaf1", Port: "Ethernet9"}, B: inventory.End{Device: "gpu1", Port: "eth0"}, Length: at(qos.Metres(3), 30), At: line(30)},
			{A: inventory.End{Device: "leaf1", Port: "Ethernet10"}, B: inventory.End{Device: "spine1", Port: "Ethernet1/1"}, At: line(31)},
		},
	}
}

// resolved resolves without findings.
func resolved(t *testing.T, in *intent.Fabric, inv *inventory.Inventory) *Fabric {
	t.Helper()
	f, findings := Resolve(in, inv)
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	return f
}

func TestEveryNumberOfASmallFabricIsFilledIn(t *testing.T) {
	f := resolved(t, smallIntent(), smallInventory())
	leaf := f.Switches[0]
	host := leaf.Ports[0]
	type numbers struct {
		Name                    string
		Cable                   qos.Metres
		PFC, Peer               string
		Headroom, XON, Reserved qos.Bytes
		ByDevice                bool
		Rest                    string
	}
	got := numbers{
		host.Name, host.Cable, host.PFC.String(), host.Peer.Device + "/" + host.Peer.Port, host.Groups[3].Headroom, host.Groups[3].XON,
		host.Groups[3].Reserved, host.Groups[3].ByDevice, host.Groups[0].Priorities.String(),
	}
	// MSN2700 at 100G: the published row for 5 m, the shortest of its table.
	want := numbers{"Ethernet9", 5, "3", "gpu1/eth0", 30720, 19456, 50176, true, "0,1,2,4,5,6,7"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("leaf1/Ethernet9 (-want +got):\n%s", diff)
	}
	wantQueue := Queue{
		ID: 3, Class: "rdma", Lossless: true, Scheduler: qos.Scheduler{Weight: 50}, Alpha: 7,
		WRED: &qos.WRED{Min: 150e3, Max: 1500e3, Probability: 20, ECN: true},
		Marking: &Marking{
			Min: intent.Depth{Bytes: 150e3}, Max: intent.Depth{Bytes: 1500e3}, RTT: lossless.UsualRTT,
			Depth: depthOf(f.Switches[0], 0),
		},
	}
	if diff := cmp.Diff(wantQueue, host.Queues[3]); diff != "" {
		t.Errorf("queue 3 (-want +got):\n%s", diff)
	}
	if !host.Queues[6].Scheduler.Strict || host.Queues[0].Scheduler.Weight != 50 {
		t.Errorf("queue 6 is %+v and queue 0 %+v, want strict and the other half", host.Queues[6].Scheduler, host.Queues[0].Scheduler)
	}
	if f.Switches[1].Ports[0].Groups[3].ByDevice {
		t.Error("the spine works nothing out by itself, and its headroom is called its own")
	}
}

func TestEveryCodePointGoesSomewhere(t *testing.T) {
	f := resolved(t, smallIntent(), smallInventory())
	maps := f.Switches[0].Maps
	for dscp, tc := range maps.DSCPToTC {
		want := map[int]qos.TrafficClass{26: 3, 48: 6}[dscp]
		if tc != want {
			t.Errorf("DSCP %d: got class %d, want %d", dscp, tc, want)
		}
	}
	if len(f.Class("default").DSCP) != 62 {
		t.Errorf("the default class takes %d code points, want 62", len(f.Class("default").DSCP))
	}
	if maps.TCToGroup != [8]qos.PriorityGroup{3: 3} {
		t.Errorf("got groups %v, want the lossless class alone in its group", maps.TCToGroup)
	}
}

func TestANICSendsAsTheSwitchesExpect(t *testing.T) {
	f := resolved(t, smallIntent(), smallInventory())
	n := f.Hosts[0].NICs[0]
	type sends struct {
		RoCE        int
		DSCP        qos.DSCP
		TOS         uint8
		PFC         string
		CNPDSCP     qos.DSCP
		CNPPriority qos.Priority
		Class, CNP  string
		ETS         qos.Scheduler
	}
	got := sends{n.RoCE, n.DSCP, n.TOS, n.PFC.String(), n.CNPDSCP, n.CNPPriority, n.Class, n.CNP, n.ETS[6]}
	if diff := cmp.Diff(sends{2, 26, 106, "3", 48, 6, "rdma", "cnp", qos.Scheduler{Strict: true}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var modules []string
	for _, m := range f.Hosts[0].Modules {
		modules = append(modules, m.Name)
	}
	if diff := cmp.Diff([]string{"ib_uverbs", "rdma_cm", "rdma_ucm"}, modules); diff != "" {
		t.Errorf("modules (-want +got):\n%s", diff)
	}
}

func TestWithoutDCQCNOrECNNothingIsSentAsECT(t *testing.T) {
	in := smallIntent()
	in.Hosts[0].RoCE.CongestionControl = at("none", 21)
	if got := resolved(t, in, smallInventory()).Hosts[0].NICs[0].TOS; got != 104 {
		t.Errorf("without DCQCN: got TOS %d, want 104", got)
	}
	in = smallIntent()
	in.Classes[0].ECN = intent.ECN{Off: at(true, 3)}
	f := resolved(t, in, smallInventory())
	if got := f.Hosts[0].NICs[0].TOS; got != 104 {
		t.Errorf("with a class of PFC only: got TOS %d, want 104", got)
	}
	if w := f.Switches[0].Ports[0].Queues[3].WRED; w != nil {
		t.Errorf("with a class of PFC only: got curve %+v", w)
	}
}

func TestRoCEv1HasNoTOS(t *testing.T) {
	in := smallIntent()
	in.Hosts[0].RoCE.Version = at(1, 21)
	if n := resolved(t, in, smallInventory()).Hosts[0].NICs[0]; n.RoCE != 1 || n.TOS != 0 {
		t.Errorf("got RoCE v%d with TOS %d", n.RoCE, n.TOS)
	}
}

func TestTheNearestProfileWinsAndOfEqualsTheLater(t *testing.T) {
	in := smallIntent()
	in.Hosts = []intent.HostProfile{
		{Name: at("near", 20), At: line(20), Select: intent.Selector{Device: at("gpu1", 20)}, RoCE: intent.RoCE{CNP: at("default", 20)}},
		{Name: at("a", 22), At: line(22), RoCE: intent.RoCE{Version: at(1, 22), CNP: at("rdma", 22)}, Modules: []source.Value[string]{at("svcrdma", 22)}},
		{Name: at("b", 24), At: line(24), RoCE: intent.RoCE{Version: at(2, 24)}},
	}
	h := resolved(t, in, smallInventory()).Hosts[0]
	n := h.NICs[0]
	if n.CNP != "default" || n.RoCE != 2 {
		t.Errorf("got CNP class %s and RoCE v%d, want those of the nearest and of the later profile", n.CNP, n.RoCE)
	}
	if len(h.At) != 3 || h.Modules[len(h.Modules)-1].Name != "svcrdma" {
		t.Errorf("got profiles %v and modules %v", h.At, h.Modules)
	}
}

func TestAHostWithoutAProfileIsLeftAlone(t *testing.T) {
	in := smallIntent()
	in.Hosts[0].Select.Device = at("gpu9", 20)
	h := resolved(t, in, smallInventory()).Hosts[0]
	if n := h.NICs[0]; len(h.At) > 0 || len(h.Modules) > 0 || n.RoCE != 0 || n.PFC != 0 {
		t.Errorf("got %+v with NIC %+v", h, n)
	}
}

func TestAClassHasThePCPOfItsPriority(t *testing.T) {
	in := smallIntent()
	in.Classes[1].PCP = []source.Value[qos.Priority]{at(qos.Priority(5), 4)}
	f := resolved(t, in, smallInventory())
	if diff := cmp.Diff([8]qos.TrafficClass{3: 3, 5: 6}, f.Switches[0].Maps.PCPToTC); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestASharedPoolTakesAFractionOfTheHeadroom(t *testing.T) {
	in := smallIntent()
	f := resolved(t, in, smallInventory())
	alone, _ := f.Switches[1].TakenBuffer()
	in.Settings.Buffers.Oversubscribe = at(2, 7)
	in.Settings.PFC.Headroom = at(intent.Headroom{Bytes: 79656}, 8)
	shared, _ := resolved(t, in, smallInventory()).Switches[1].TakenBuffer()
	if want := alone - 79656/2; shared != want {
		t.Errorf("a pool for half of it takes %d B, want %d", shared, want)
	}
}

func TestAPoolHoldsTheHeadroomThatWeirWorksOutOnlyOnce(t *testing.T) {
	in := smallIntent()
	alone, _ := resolved(t, in, smallInventory()).Switches[1].TakenBuffer()
	in.Settings.Buffers.Oversubscribe = at(1, 7)
	sw := resolved(t, in, smallInventory()).Switches[1]
	if pooled, _ := sw.TakenBuffer(); pooled != alone {
		t.Errorf("a pool for all of it takes %d B, without it %d B are taken", pooled, alone)
	}
	if g := sw.Ports[0].Groups[3]; g.Reserved != g.XON {
		t.Errorf("%d B are guaranteed beside the pool, want XON, %d B", g.Reserved, g.XON)
	}
}

func TestALongCableTakesThePublishedSlope(t *testing.T) {
	sw := resolved(t, smallIntent(), smallInventory()).Switches[1]
	p := *sw.Ports[0]
	p.Cable = 80_000
	// sonic-buildimage, device/arista/x86_64-arista_7280dr3a_36, pg_profile_lookup.ini: 100G, 80 km.
	if got := HeadroomOf(sw, &p).Headroom; got != 13_357_056 {
		t.Errorf("got %d B, want 13357056", got)
	}
}

func TestPFCOffLeavesNothingLossless(t *testing.T) {
	in := smallIntent()
	in.Settings.PFC.Off = at(true, 7)
	p := resolved(t, in, smallInventory()).Switches[0].Ports[0]
	if p.PFC != 0 || p.Groups[3].Lossless || p.Queues[3].Lossless || p.Queues[3].WRED == nil {
		t.Errorf("got PFC %q, group %+v, queue %+v", p.PFC, p.Groups[3], p.Queues[3])
	}
}

func TestTheNearestOverrideWinsAndOfEqualsTheLater(t *testing.T) {
	mtu := func(v qos.Bytes, line int) intent.Settings { return intent.Settings{MTU: at(v, line)} }
	overrides := []intent.Override{
		{Select: intent.Selector{Port: at("Ethernet1*", 40)}, Settings: mtu(1000, 41)},
		{Select: intent.Selector{Device: at("leaf1", 42)}, Settings: mtu(2000, 43)},
		{Select: intent.Selector{Device: at("leaf*", 44)}, Settings: mtu(3000, 45)},
		{Select: intent.Selector{Role: at("leaf", 46)}, Settings: mtu(4000, 47)},
	}
	in := smallIntent()
	in.Overrides = overrides
	f := resolved(t, in, smallInventory())
	got := map[string]qos.Bytes{}
	for _, sw := range f.Switches {
		for _, p := range sw.Ports {
			got[sw.Name+"/"+p.Name] = p.MTU
		}
	}
	want := map[string]qos.Bytes{"leaf1/Ethernet9": 3000, "leaf1/Ethernet10": 1000, "spine1/Ethernet1/1": 1000}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]diag.Pos{line(45)}, f.Switches[0].Ports[0].Origin.MTU); diff != "" {
		t.Errorf("origin (-want +got):\n%s", diff)
	}
}

func TestALinkToNowhereIsAFinding(t *testing.T) {
	inv := smallInventory()
	inv.Links[1].B.Port = "Ethernet2/1"
	inv.Links = append(inv.Links, &inventory.Link{A: inv.Links[0].A, B: inv.Links[0].A, At: line(32)})
	_, findings := Resolve(smallIntent(), inv)
	var got []string
	for _, d := range findings {
		got = append(got, d.Addr.String()+": "+d.Summary)
	}
	want := []string{
		"spine1/Ethernet2/1: a link ends here, but the inventory has no such port",
		"leaf1/Ethernet9: two links end at this port", "leaf1/Ethernet9: two links end at this port",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDefaultMarkingThresholdsStayBelowPFC(t *testing.T) {
	in := smallIntent()
	in.Classes[0].ECN = intent.ECN{}
	in.Settings.Buffers.Alpha = at(intent.Alpha(-6), 7)
	f := resolved(t, in, smallInventory())
	spine := f.Switches[1]
	shared, known := spine.SharedBuffer()
	if !known {
		t.Fatal("the spine's buffer is not known")
	}
	w := spine.Ports[0].Queues[3].WRED
	if depth := shared / 65; w.Max >= depth || w.Min >= w.Max || w.Min == 0 {
		t.Errorf("marks from %d to %d B, PFC fires at %d B", w.Min, w.Max, depth)
	}
	in.Settings.Buffers.Alpha = at(intent.Alpha(0), 7)
	if w := resolved(t, in, smallInventory()).Switches[0].Ports[0].Queues[3].WRED; w.Min != 150_000 || w.Max != 800_000 {
		t.Errorf("at 100G: got %+v, want 12 and 64 us", w)
	}
}

// depthOf is the depth at which PFC fires on a switch with an alpha.
func depthOf(sw *Switch, alpha qos.AlphaShift) qos.Bytes {
	shared, known := sw.SharedBuffer()
	return XOFFDepth(alpha, 0, shared, known)
}

// clos is an inventory of leaves and spines, each with as many ports, half of a leaf's to hosts that are not in it.
func clos(switches, ports int) *inventory.Inventory {
	inv := &inventory.Inventory{}
	for i := range switches {
		d := &inventory.Device{Name: at(fmt.Sprintf("sw%d", i), i+1), Platform: at("sonic", i+1), SKU: at("ACS-MSN4700", i+1), Role: at("leaf", i+1)}
		for p := range ports {
			d.Ports = append(d.Ports, inventory.Port{Name: fmt.Sprintf("Ethernet%d", p*8), Speed: 400e9, Lanes: 8})
		}
		inv.Devices = append(inv.Devices, d)
	}
	for i := range switches / 2 {
		for p := range ports / 2 {
			inv.Links = append(inv.Links, &inventory.Link{
				A:      inventory.End{Device: fmt.Sprintf("sw%d", i), Port: fmt.Sprintf("Ethernet%d", p*8)},
				B:      inventory.End{Device: fmt.Sprintf("sw%d", i+switches/2), Port: fmt.Sprintf("Ethernet%d", p*8)},
				Length: at(qos.Metres(30), i*ports+p), At: line(i*ports + p),
			})
		}
	}
	return inv
}

func TestPortsOfEqualSettingsShareTheirQueues(t *testing.T) {
	f := resolved(t, smallIntent(), clos(4, 8))
	a, b := f.Switches[0].Ports[0], f.Switches[3].Ports[1]
	if &a.Queues[0] != &b.Queues[0] || &a.Groups[0] != &b.Groups[0] || a.Watchdog != b.Watchdog {
		t.Error("two ports with the same settings keep two copies of them")
	}
}

func BenchmarkResolve1024x64(b *testing.B) {
	in, inv := smallIntent(), clos(1024, 64)
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		f, _ := Resolve(in, inv)
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/1e6, "MB-kept")
		if len(f.Switches) != 1024 {
			b.Fatal("not all switches are there")
		}
	}
}
