package path

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/intent/source"
)

func TestASoundPathIsLossless(t *testing.T) {
	f := resolved(t, pod())
	got := New(f).Prove(end(t, f, "gpu1/eth0"), end(t, f, "gpu2/eth0"), "")
	if !got.Lossless || got.Class != "rdma" || got.Switches != 4 || got.Links != 6 {
		t.Errorf("lossless %v, class %s, %d switches, %d links: %v", got.Lossless, got.Class, got.Switches, got.Links, said(got.Breaks))
	}
	var hops []string
	for _, h := range got.Hops {
		hops = append(hops, h.Address.String()+" "+string(h.Way))
	}
	want := []string{
		"gpu1/eth0 out", "leaf1/Ethernet1 in", "leaf1/Ethernet3 out", "spine1/Ethernet1 in", "spine1/Ethernet2 out",
		"leaf2/Ethernet3 in", "leaf2/Ethernet1 out", "gpu2/eth0 in",
	}
	if diff := cmp.Diff(want, hops); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Packet{RoCE: 2, DSCP: 26, ECT: true, TrafficClass: 106, MTU: 9100}, got.Packet); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got.Answers == nil || got.Answers.DSCP != 48 || len(got.Answers.Hops) != 8 || !got.Answers.Hops[2].Strict {
		t.Errorf("answers: %+v", got.Answers)
	}
	hop := got.Hops[1]
	hop.Headroom = 0
	if diff := cmp.Diff(Hop{Address: hop.Address, Way: In, Speed: 100e9, MTU: 9100, PFC: []int{3}, Trust: qos.TrustDSCP, Class: 3, Buffer: 3, Lossless: true}, hop); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestWhatTheHostPartAssumesIsPrinted holds the traffic class that RDMA-CM's default does not bind.
func TestWhatTheHostPartAssumesIsPrinted(t *testing.T) {
	f := resolved(t, pod())
	var got []string
	for _, a := range New(f).Prove(end(t, f, "gpu1/eth0"), end(t, f, "gpu2/eth0"), "").Assumes {
		got = append(got, a.At[0].String()+": "+a.What)
	}
	want := []string{
		"gpu1/eth0: applications that do not use RDMA-CM set traffic class 106 (DSCP 26, ECT(0)) themselves, in ah_attr.grh.traffic_class: weir sets the default of RDMA-CM, which binds no others",
		"leaf1/Ethernet1: the switch works its headroom out by itself and reserves no less than weir reckons",
		"gpu2/eth0: the NIC keeps enough room in its own receive buffer for what arrives after its PAUSE: weir does not set it",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// bent is a fabric after one change, and the breaks that it makes from gpu1/eth0 to gpu2/eth0.
type bent struct {
	name string
	file func(map[string]string)
	bend func(*testing.T, *fabric.Fabric)
	want []string
}

func TestEveryBreakIsFoundWhereItIs(t *testing.T) {
	for _, c := range breaksOnTheWay() {
		t.Run(c.name, func(t *testing.T) {
			files := pod()
			if c.file != nil {
				c.file(files)
			}
			f := resolved(t, files)
			if c.bend != nil {
				c.bend(t, f)
			}
			got := New(f).Prove(end(t, f, "gpu1/eth0"), end(t, f, "gpu2/eth0"), "")
			if diff := cmp.Diff(c.want, said(got.Breaks)); diff != "" || got.Lossless {
				t.Errorf("lossless %v (-want +got):\n%s", got.Lossless, diff)
			}
		})
	}
}

func onPort(name string, bend func(*fabric.Switch, *fabric.Port)) func(*testing.T, *fabric.Fabric) {
	return func(t *testing.T, f *fabric.Fabric) {
		sw, p := port(t, f, name)
		bend(sw, p)
	}
}

func onNIC(name string, bend func(*fabric.NIC)) func(*testing.T, *fabric.Fabric) {
	return func(t *testing.T, f *fabric.Fabric) { bend(end(t, f, name).NIC) }
}

func in(file, from, to string) func(map[string]string) {
	return func(files map[string]string) { files[file] = strings.ReplaceAll(files[file], from, to) }
}

func breaksOnTheWay() []bent {
	return []bent{
		{"a switch classifies the DSCP otherwise", nil, onPort("spine1/Ethernet1", func(sw *fabric.Switch, _ *fabric.Port) { sw.Maps.DSCPToTC[26] = 0 }),
			[]string{"spine1/map/dscp-to-tc/26: DSCP 26 is traffic class 0 here, and class rdma is 3"}},
		{"a port trusts PCP between routers", nil, onPort("spine2/Ethernet1", func(_ *fabric.Switch, p *fabric.Port) { p.Trust = qos.TrustPCP }),
			[]string{"spine2/Ethernet1/trust: the port classifies by PCP, and the fabric is routed"}},
		{"a port trusts PCP behind a host", nil, onPort("leaf1/Ethernet1", func(_ *fabric.Switch, p *fabric.Port) { p.Trust = qos.TrustPCP }),
			[]string{"unknown: leaf1/Ethernet1/trust: the port classifies by PCP, and whether packets have a VLAN tag here is unknown"}},
		{"PFC is off where packets come in", nil, onPort("leaf1/Ethernet1", func(_ *fabric.Switch, p *fabric.Port) { p.PFC = 0 }),
			[]string{"leaf1/Ethernet1/pfc/3: PFC is off for priority 3"}},
		{"PFC is off where packets go out", nil, onPort("leaf1/Ethernet4", func(_ *fabric.Switch, p *fabric.Port) { p.PFC = qos.Priorities(4) }),
			[]string{"leaf1/Ethernet4/pfc/3: PFC is off for priority 3"}},
		{"the priority group is lossy", nil, onPort("spine1/Ethernet1", func(_ *fabric.Switch, p *fabric.Port) { p.Groups[3].Lossless = false }),
			[]string{"spine1/Ethernet1/pg/3: priority group 3, which class rdma comes in by, is lossy"}},
		{"no headroom", nil, onPort("spine1/Ethernet1", func(_ *fabric.Switch, p *fabric.Port) { p.Groups[3].Headroom, p.Groups[3].ByDevice = 0, false }),
			[]string{"spine1/Ethernet1/pg/3: priority group 3 has no headroom that is known"}},
		{"little headroom", nil, onPort("spine1/Ethernet1", func(_ *fabric.Switch, p *fabric.Port) { p.Groups[3].Headroom = 1000 }),
			[]string{"spine1/Ethernet1/pg/3: the headroom is 1kB, and 33KiB may arrive after PAUSE"}},
		{"the priority group pauses nobody", nil, onPort("leaf2/Ethernet3", func(sw *fabric.Switch, _ *fabric.Port) { sw.Maps.PriorityToGroup[3] = 0 }), []string{
			"leaf2/Ethernet3/pg/3: no priority is paused when priority group 3 fills", "leaf2/Ethernet4/pg/3: no priority is paused when priority group 3 fills",
		}},
		{"the queue is lossy", nil, onPort("leaf1/Ethernet3", func(_ *fabric.Switch, p *fabric.Port) { p.Queues[3].Lossless = false }),
			[]string{"leaf1/Ethernet3/queue/3: queue 3, which class rdma leaves by, is lossy"}},
		{"PAUSE stops another queue", nil, onPort("leaf2/Ethernet1", func(sw *fabric.Switch, _ *fabric.Port) { sw.Maps.PriorityToQueue[3] = 4 }),
			[]string{"leaf2/Ethernet1/queue/3: no PAUSE stops queue 3, which class rdma leaves by"}},
		{"the ends pause different priorities", nil, onPort("leaf1/Ethernet3", func(sw *fabric.Switch, p *fabric.Port) {
			sw.Maps.PriorityToQueue[4], sw.Maps.PriorityToQueue[3] = 3, 5
			for _, p := range sw.Ports {
				p.PFC |= qos.Priorities(4)
			}
		}), []string{
			"spine1/Ethernet1/pfc/3: it pauses priority 3, and the other end stops the class for priority 4 alone",
			"spine2/Ethernet1/pfc/3: it pauses priority 3, and the other end stops the class for priority 4 alone",
		}},
		{"a curve that drops", nil, onPort("leaf1/Ethernet3", func(_ *fabric.Switch, p *fabric.Port) { p.Queues[3].WRED.ECN = false }),
			[]string{"leaf1/Ethernet3/queue/3: the curve of queue 3 drops packets and marks none"}},
		{"the MTU of a switch is too small", nil, onPort("spine1/Ethernet2", func(_ *fabric.Switch, p *fabric.Port) { p.MTU = 1500 }),
			[]string{"spine1/Ethernet2/mtu: the port takes packets of up to 1500B, and the sender's have up to 9100B"}},
		{"the MTU of the receiver is too small", nil, onNIC("gpu2/eth0", func(n *fabric.NIC) { n.MTU = 1500 }),
			[]string{"gpu2/eth0/mtu: the port takes packets of up to 1500B, and the sender's have up to 9100B"}},
		{"802.3x", nil, onPort("spine1/Ethernet2", func(_ *fabric.Switch, p *fabric.Port) { p.FlowControl = true }),
			[]string{"spine1/Ethernet2/flowcontrol: IEEE 802.3x flow control is on"}},
		{"two speeds", nil, onPort("spine1/Ethernet2", func(_ *fabric.Switch, p *fabric.Port) { p.Speed = 200e9 }),
			[]string{"leaf2/Ethernet3: the port runs at 100G, and the other end of the cable at 200G"}},
		{"the sender sends another DSCP", nil, onNIC("gpu1/eth0", func(n *fabric.NIC) { n.TOS = 106 + 4 }), []string{
			"gpu1/eth0/pfc/0: PFC is off for priority 0", "leaf1/map/dscp-to-tc/27: DSCP 27 is traffic class 0 here, and class rdma is 3",
			"spine1/map/dscp-to-tc/27: DSCP 27 is traffic class 0 here, and class rdma is 3", "spine2/map/dscp-to-tc/27: DSCP 27 is traffic class 0 here, and class rdma is 3",
			"leaf2/map/dscp-to-tc/27: DSCP 27 is traffic class 0 here, and class rdma is 3", "gpu2/eth0/pfc/0: PFC is off for priority 0",
		}},
		{"packets without ECT where queues mark", nil, onNIC("gpu1/eth0", func(n *fabric.NIC) { n.TOS, n.DCQCN = 104, false }), []string{
			"leaf1/Ethernet3/queue/3: queue 3 marks, and the packets come without ECT", "leaf1/Ethernet4/queue/3: queue 3 marks, and the packets come without ECT",
			"spine1/Ethernet2/queue/3: queue 3 marks, and the packets come without ECT", "spine2/Ethernet2/queue/3: queue 3 marks, and the packets come without ECT",
			"leaf2/Ethernet1/queue/3: queue 3 marks, and the packets come without ECT",
		}},
		{"the receiver has PFC off", nil, onNIC("gpu2/eth0", func(n *fabric.NIC) { n.PFC = 0 }), []string{"gpu2/eth0/pfc/3: PFC is off for priority 3"}},
		{"the receiver sends RoCE v1", nil, onNIC("gpu2/eth0", func(n *fabric.NIC) { n.RoCE = 1 }), []string{"gpu2/eth0/roce: RoCE v1 here, and v2 at the sender"}},
		{"the receiver does not answer marks", nil, onNIC("gpu2/eth0", func(n *fabric.NIC) { n.DCQCN = false }), []string{"gpu2/eth0/roce: it does not answer marked packets with CNPs"}},
		{"no class for CNPs", nil, onNIC("gpu2/eth0", func(n *fabric.NIC) { n.CNP = "" }), []string{"gpu2/eth0/roce: nothing says which class carries its CNPs"}},
		{"CNPs in the default class", nil, onNIC("gpu2/eth0", func(n *fabric.NIC) { n.CNPDSCP = 5 }), []string{
			"leaf2/map/dscp-to-tc/5: DSCP 5 is traffic class 0 here, and class cnp is 6", "spine1/map/dscp-to-tc/5: DSCP 5 is traffic class 0 here, and class cnp is 6",
			"spine2/map/dscp-to-tc/5: DSCP 5 is traffic class 0 here, and class cnp is 6", "leaf1/map/dscp-to-tc/5: DSCP 5 is traffic class 0 here, and class cnp is 6",
		}},
		{"CNPs that wait", nil, onPort("spine1/Ethernet1", func(_ *fabric.Switch, p *fabric.Port) { p.Queues[6].Scheduler.Strict = false }),
			[]string{"spine1/Ethernet1/queue/6: CNPs leave by queue 6, which is not strict"}},
		{"CNPs that PFC pauses", nil, onPort("leaf1/Ethernet1", func(sw *fabric.Switch, p *fabric.Port) { sw.Maps.PriorityToQueue[6] = 6; p.PFC |= qos.Priorities(6) }),
			[]string{"leaf1/Ethernet1/queue/6: CNPs leave by queue 6, which PFC pauses"}},
		{"a NIC that pauses its CNPs", nil, onNIC("gpu2/eth0", func(n *fabric.NIC) { n.PriorityToTC[6] = 3 }), []string{"gpu2/eth0/ets/3: CNPs leave with priority 6, which PFC pauses"}},
		{"no host profile", in("intent/hosts.yaml", "role: gpu", "role: other"), nil, []string{
			"unknown: gpu1/eth0/roce: no host profile selects this NIC",
			"unknown: gpu2/eth0/roce: no host profile selects this NIC",
		}},
		{"a lossy class", in("fabric.yaml", "lossless: true", "lossless: false"), nil, []string{"class/rdma: class rdma is lossy"}},
		{"PFC off everywhere", in("fabric.yaml", "name: pod1", "name: pod1\npfc: {off: true}"), nil, []string{
			"gpu1/eth0/pfc/3: PFC is off for priority 3", "leaf1/Ethernet1/pfc/3: PFC is off for priority 3", "leaf1/Ethernet3/pfc/3: PFC is off for priority 3",
			"spine1/Ethernet1/pfc/3: PFC is off for priority 3", "leaf1/Ethernet4/pfc/3: PFC is off for priority 3", "spine2/Ethernet1/pfc/3: PFC is off for priority 3",
			"spine1/Ethernet2/pfc/3: PFC is off for priority 3", "leaf2/Ethernet3/pfc/3: PFC is off for priority 3", "spine2/Ethernet2/pfc/3: PFC is off for priority 3",
			"leaf2/Ethernet4/pfc/3: PFC is off for priority 3", "leaf2/Ethernet1/pfc/3: PFC is off for priority 3", "gpu2/eth0/pfc/3: PFC is off for priority 3",
		}},
		{"static thresholds that the shared buffer cannot hold", in("fabric.yaml", "name: pod1", "name: pod1\nbuffers: {threshold: 50MB}"), nil, []string{
			"leaf1: the static thresholds of all lossless groups make 200MB, and 60.6MB of the buffer are shared",
			"spine1: the static thresholds of all lossless groups make 200MB, and 60.58MB of the buffer are shared",
			"spine2: the static thresholds of all lossless groups make 200MB, and 60.58MB of the buffer are shared",
			"leaf2: the static thresholds of all lossless groups make 200MB, and 60.6MB of the buffer are shared",
		}},
		{"a headroom pool that does not hold one port", in("fabric.yaml", "name: pod1", "name: pod1\nbuffers: {oversubscribe: 5}"), nil, []string{
			"leaf1: the headroom pool holds 27.03kB, and a single port may need 33KiB after PAUSE",
			"spine1: the headroom pool holds 31.13kB, and a single port may need 43KiB after PAUSE",
			"spine2: the headroom pool holds 31.13kB, and a single port may need 43KiB after PAUSE",
			"leaf2: the headroom pool holds 27.03kB, and a single port may need 33KiB after PAUSE",
		}},
		{"MACsec, and the ends differ", in("inventory/links.yaml", "{a: leaf2/Ethernet3,", "{macsec: {a: strict, b: bypass}, a: leaf2/Ethernet3,"), nil,
			[]string{"leaf2/Ethernet3/pfc: MACsec: what is done with PFC frames is strict here and bypass at the other end"}},
		{"MACsec, and nobody says what becomes of PFC", in("inventory/links.yaml", "{a: leaf2/Ethernet3,", "{macsec: on, a: leaf2/Ethernet3,"), nil,
			[]string{"unknown: leaf2/Ethernet3/pfc: the link has MACsec, and nothing says what both ends do with PFC frames"}},
		{"RoCE v1 over routers", in("intent/hosts.yaml", "version: 2", "version: 1"), nil, []string{
			"leaf1/Ethernet1/trust: the port classifies by DSCP, and RoCE v1 has none", "spine1/Ethernet1/trust: RoCE v1 comes to a router",
			"spine2/Ethernet1/trust: RoCE v1 comes to a router", "leaf2/Ethernet3/trust: RoCE v1 comes to a router", "leaf2/Ethernet4/trust: RoCE v1 comes to a router",
			"gpu2/eth0/trust: the port classifies by DSCP, and RoCE v1 has none",
		}},
		{"one layer-2 domain with loops", in("fabric.yaml", "name: pod1", "name: pod1\nrouting: {routed: false}"), nil,
			[]string{"unknown: the switches are one layer-2 domain whose cables have loops, and which of them are blocked is unknown"}},
		{"no cable", in("inventory/links.yaml", "  - {a: leaf2/Ethernet1, b: gpu2/eth0}\n", ""), nil, []string{"unknown: gpu2/eth0: the inventory has no cable here"}},
		{"another plane", func(files map[string]string) {
			for _, cable := range []string{"  - {a: leaf2/Ethernet3, b: spine1/Ethernet2}\n", "  - {a: leaf2/Ethernet4, b: spine2/Ethernet2}\n"} {
				in("inventory/links.yaml", cable, "")(files)
			}
		}, nil, []string{"unknown: gpu1/eth0: no cables of the inventory lead to gpu2/eth0"}},
		{"routes that lead nowhere", in("inventory/devices.yaml", "role: spine", "role: spine, labels: {rank: 0}"), nil, []string{
			"leaf1: up-down routes lead nowhere from here to the other end, though cables join them",
			"leaf2: up-down routes lead nowhere from here to the other end, though cables join them",
		}},
	}
}

func TestHeadroomThatDoesNotFitTheBufferIsABreak(t *testing.T) {
	f := resolved(t, pod())
	sw, p := port(t, f, "leaf2/Ethernet1")
	p.Groups[4].Reserved = sw.ASIC.Buffer
	got := said(New(f).Prove(end(t, f, "gpu1/eth0"), end(t, f, "gpu2/eth0"), "").Breaks)
	if len(got) != 1 || !strings.HasPrefix(got[0], "leaf2: headroom and guarantees take ") {
		t.Errorf("%q", got)
	}
}

func TestABreakOnAnotherRouteIsShownOnThatRoute(t *testing.T) {
	f := resolved(t, pod())
	_, p := port(t, f, "spine2/Ethernet2")
	p.PFC = 0
	got := New(f).Prove(end(t, f, "gpu1/eth0"), end(t, f, "gpu2/eth0"), "")
	var broken []string
	for _, h := range got.Hops {
		if h.Broken {
			t.Errorf("%s of the first route is marked", h.Address)
		}
	}
	for _, r := range got.Others {
		for _, h := range r.Hops {
			if h.Broken {
				broken = append(broken, h.Address.String())
			}
		}
	}
	if diff := cmp.Diff([]string{"spine2/Ethernet2"}, broken); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTwoNICsOfOneSwitchNeedNoOther(t *testing.T) {
	f := resolved(t, pod())
	got := New(f).Prove(end(t, f, "gpu1/eth0"), end(t, f, "gpu2/eth1"), "")
	if !got.Lossless || len(got.Hops) != 4 || got.Switches != 1 || got.Links != 2 {
		t.Errorf("%+v", got)
	}
}

func TestNICsThatAreCabledToEachOtherNeedNoSwitch(t *testing.T) {
	files := pod()
	in("inventory/links.yaml", "links:", "links:\n  - {a: gpu3/eth0, b: gpu3/eth1}")(files)
	in("inventory/devices.yaml", "gpu[1-2]", "gpu[1-3]")(files)
	f := resolved(t, files)
	got := New(f).Prove(end(t, f, "gpu3/eth0"), end(t, f, "gpu3/eth1"), "")
	if !got.Lossless || len(got.Hops) != 2 || got.Links != 1 {
		t.Errorf("%+v", got)
	}
}

func TestPortsOfSwitchesStandForHostsThatTheInventoryLacks(t *testing.T) {
	files := pod()
	in("inventory/links.yaml", "  - {a: leaf1/Ethernet1, b: gpu1/eth0}\n  - {a: leaf2/Ethernet1, b: gpu2/eth0}\n", "")(files)
	f := resolved(t, files)
	got := New(f).Prove(end(t, f, "leaf1/Ethernet1"), end(t, f, "leaf2/Ethernet1"), "")
	if !got.Lossless || len(got.Hops) != 6 || !strings.Contains(got.Assumes[0].What, "the hosts there, which the proof leaves out, send with traffic class 106") {
		t.Errorf("%+v", got)
	}
}

func TestANameThatIsNotThereIsCorrected(t *testing.T) {
	f := resolved(t, pod())
	for name, want := range map[string]string{
		"gpu3x/eth0":     `gpu3x/eth0: the inventory has no device gpu3x` + source.DidYouMean("gpu3x", []string{"gpu1", "gpu2"}),
		"gpu1/eht0":      `gpu1/eht0: the host has no such NIC in the inventory; did you mean "eth0"?`,
		"leaf1/Ethernt1": `leaf1/Ethernt1: the switch has no such port in the inventory; did you mean "Ethernet1"?`,
	} {
		if _, err := Ends(f, name); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if ends, err := Ends(f, "gpu1"); err != nil || len(ends) != 2 {
		t.Errorf("gpu1: %v, %v", ends, err)
	}
}

func TestTheASPlanOfTheIntentSaysWhichWaysAreProven(t *testing.T) {
	lossless := func(as string) bool {
		files := pod()
		files["fabric.yaml"] += "routing: {policy: bgp, bgp: {as: [" + as + "]}}\n"
		f := resolved(t, files)
		return New(f).Prove(end(t, f, "gpu1/eth0"), end(t, f, "gpu2/eth0"), "").Lossless
	}
	if !lossless("{select: {role: leaf}, number: 11, each: true}, {select: {role: spine}, number: 10}") {
		t.Error("an AS for each leaf, and one for the spines: not lossless")
	}
	if lossless("{select: {}, number: 1}") {
		t.Error("one AS everywhere: no route, and yet lossless")
	}
}
