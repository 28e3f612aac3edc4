package check

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/inventory"
)

// withHosts is a switch of the SKU with two hosts, each with a NIC of the model.
func withHosts(platform, sku, nic string) *inventory.Inventory {
	port := func(name string) inventory.Port { return inventory.Port{Name: name, Speed: 100e9} }
	inv := &inventory.Inventory{Devices: []*inventory.Device{
		{Name: at("leaf1", 50), Platform: at(platform, 50), SKU: at(sku, 50), Ports: []inventory.Port{port("Ethernet1"), port("Ethernet2")}, At: place(50)},
	}}
	for i, name := range []string{"gpu1", "gpu2"} {
		eth := port("eth0")
		eth.NIC = nic
		inv.Devices = append(inv.Devices, &inventory.Device{Name: at(name, 51), Platform: at("linux", 51), Ports: []inventory.Port{eth}, At: place(51)})
		inv.Links = append(inv.Links, &inventory.Link{
			A: inventory.End{Device: "leaf1", Port: []string{"Ethernet1", "Ethernet2"}[i]}, B: inventory.End{Device: name, Port: "eth0"}, At: place(60 + i),
		})
	}
	return inv
}

// soundHosts is an intent with hosts that no check objects to.
func soundHosts() *intent.Fabric {
	in := sound()
	in.Classes[0].Guaranteed = at(qos.Percent(10), 3)
	in.Classes[0].ECN.Min, in.Classes[0].ECN.Max = at(intent.Depth{Bytes: 100e3}, 3), at(intent.Depth{Bytes: 400e3}, 3)
	in.Hosts = []intent.HostProfile{{Name: at("gpu", 20), At: place(20), RoCE: intent.RoCE{Version: at(2, 20), CongestionControl: at("dcqcn", 20)}}}
	return in
}

// TestEachRuleSeesWhatBreaksIt complements the archives with cases that differ in one setting.
func TestEachRuleSeesWhatBreaksIt(t *testing.T) {
	off := func(in *intent.Fabric, name string, s intent.Settings) {
		in.Overrides = append(in.Overrides, intent.Override{Name: at("o", 40), Select: intent.Selector{Device: at(name, 40)}, Settings: s, At: place(40)})
	}
	for _, c := range []struct {
		name string
		bend func(*intent.Fabric, *inventory.Inventory)
		want []string
	}{
		{"nothing", func(*intent.Fabric, *inventory.Inventory) {}, nil},
		{
			"no CNP class", func(in *intent.Fabric, _ *inventory.Inventory) { in.Classes = slices.Delete(in.Classes, 1, 2) },
			[]string{"cnp: gpu1/eth0/roce: DCQCN runs here and no class carries its CNPs (and at 1 more)"},
		},
		{
			"CNPs in the data class", func(in *intent.Fabric, _ *inventory.Inventory) { in.Hosts[0].RoCE.CNP = at("rdma", 20) },
			[]string{"cnp: class/rdma: CNPs are sent in class rdma, whose congestion they report"},
		},
		{
			"CNPs in the default class", func(in *intent.Fabric, _ *inventory.Inventory) { in.Hosts[0].RoCE.CNP = at("default", 20) },
			[]string{"cnp: class/default: CNPs are sent in class default, which takes every DSCP that no class names"},
		},
		{
			"a CNP class that is not strict", func(in *intent.Fabric, _ *inventory.Inventory) {
				in.Classes[1].Strict, in.Classes[1].Share = at(false, 4), at(qos.Percent(10), 4)
			},
			[]string{"cnp: leaf1/Ethernet1/queue/6: class cnp carries CNPs and its queue is not strict (and at 1 more)"},
		},
		{
			"RoCE in a lossy class", func(in *intent.Fabric, _ *inventory.Inventory) {
				in.Classes[0].Lossless = at(false, 3)
				in.Hosts[0].RoCE.Class = at("rdma", 20)
			},
			[]string{"roce-class: gpu1/eth0/roce: RoCE is sent in class rdma, which is lossy (and at 1 more)"},
		},
		{
			"RoCE in the default class", func(in *intent.Fabric, _ *inventory.Inventory) { in.Hosts[0].RoCE.Class = at("default", 20) },
			[]string{"roce-class: gpu1/eth0/roce: RoCE is sent in class default, which takes every DSCP that no class names (and at 1 more)"},
		},
		{
			"a NIC without the version", func(in *intent.Fabric, inv *inventory.Inventory) {
				*inv = *withHosts("sonic", "Mellanox-SN4600C-C64", "bnxt")
				in.Hosts[0].RoCE.Version, in.Settings.Trust = at(1, 20), at(qos.TrustPCP, 6)
			},
			[]string{"roce-version: gpu1/eth0/roce: RoCE v1 is wanted and bnxt has none (and at 1 more)"},
		},
		{
			"PCP in a routed fabric", func(in *intent.Fabric, _ *inventory.Inventory) {
				in.Settings.Trust, in.Routing.Routed = at(qos.TrustPCP, 6), at(true, 7)
			},
			[]string{"trust: leaf1/Ethernet1/trust: the port classifies by PCP only, and the fabric is routed (and at 1 more)"},
		},
		{
			"trust that differs", func(in *intent.Fabric, _ *inventory.Inventory) {
				off(in, "gpu1", intent.Settings{Trust: at(qos.TrustPCP, 41)})
			},
			[]string{"trust: leaf1/Ethernet1/trust: the port classifies by dscp, and gpu1/eth0 by pcp"},
		},
		{
			"a host without a profile", func(in *intent.Fabric, _ *inventory.Inventory) { in.Hosts[0].Select.Device = at("gpu2", 20) },
			[]string{"link-priorities: leaf1/Ethernet1/pfc: PFC is on for priority 3, and no host profile sets it at the other end"},
		},
		{
			"PFC off at one end", func(in *intent.Fabric, _ *inventory.Inventory) {
				off(in, "gpu1", intent.Settings{PFC: intent.PFC{Off: at(true, 41)}})
			},
			[]string{"link-priorities: leaf1/Ethernet1/pfc: PFC is on for priority 3 here and for no priority at gpu1/eth0"},
		},
		{
			"an MTU above the port's", func(in *intent.Fabric, _ *inventory.Inventory) {
				off(in, "gpu1", intent.Settings{MTU: at(qos.Bytes(9200), 41)})
			},
			[]string{"link-mtu: leaf1/Ethernet1/mtu: the port takes packets of 9100B, and gpu1/eth0 sends up to 9200B"},
		},
		{
			"a class that is left without", func(in *intent.Fabric, _ *inventory.Inventory) { in.Classes[0].Share = at(qos.Percent(100), 3) },
			[]string{"shares: leaf1/Ethernet1/queue/0: class default has no share of the port (and at 1 more)"},
		},
		{
			"too much guaranteed", func(in *intent.Fabric, _ *inventory.Inventory) {
				in.Classes[0].Guaranteed, in.Classes[2].Guaranteed = at(qos.Percent(60), 3), at(qos.Percent(60), 5)
			},
			[]string{"shares: leaf1/Ethernet1: 120% of the port are guaranteed (and at 1 more)"},
		},
		{
			"a curve that marks nothing", func(in *intent.Fabric, _ *inventory.Inventory) { in.Classes[0].ECN.Probability = at(qos.Percent(0), 3) },
			[]string{"ecn-curve: leaf1/Ethernet1/queue/3: class rdma is marked with a probability of 0 % (and at 1 more)"},
		},
		{
			"a speed without delays", func(_ *intent.Fabric, inv *inventory.Inventory) {
				*inv = *withHosts("eos", "DCS-7060CX-32S", "")
				inv.Devices[0].Ports[0].Speed = 1600e9
			},
			[]string{
				"headroom: leaf1/Ethernet1/pg/3: the headroom of a 1600G port is not known",
				`ecn-before-pfc: leaf1: ECN before PFC cannot be checked: the free buffer of "DCS-7060CX-32S" is not known`,
			},
		},
		{
			"a speed with an estimate", func(_ *intent.Fabric, inv *inventory.Inventory) {
				*inv = *withHosts("eos", "DCS-7060CX-32S", "")
				inv.Devices[0].Ports[0].Speed = 400e9
			},
			[]string{"headroom: leaf1/Ethernet1/pg/3: the headroom of a 400G port is an estimate"},
		},
		{
			"a switch whose own headroom is not known", func(_ *intent.Fabric, inv *inventory.Inventory) { inv.Devices[0].SKU.V = "Force10-S6000" },
			[]string{"headroom: leaf1/Ethernet1/pg/3: the switch works its headroom out by itself, and what it comes to at 100G is not known (and at 1 more)"},
		},
		{
			"no watchdog", func(in *intent.Fabric, _ *inventory.Inventory) { in.Settings.PFC.Watchdog.Off = at(true, 6) },
			[]string{"watchdog: leaf1/Ethernet1/watchdog: PFC is on towards host gpu1 and the watchdog is off (and at 1 more)"},
		},
		{
			"a watchdog that never detects", func(in *intent.Fabric, _ *inventory.Inventory) {
				in.Settings.PFC.Watchdog.Detection = at(time.Duration(0), 6)
			},
			[]string{"watchdog: leaf1/Ethernet1/watchdog: a time of the watchdog is 0 (and at 1 more)"},
		},
		{
			"a switch without a SKU", func(_ *intent.Fabric, inv *inventory.Inventory) { inv.Devices[0].SKU.V = "" },
			[]string{
				"sku: leaf1: the switch has no SKU", `ecn-before-pfc: leaf1: ECN before PFC cannot be checked: the free buffer of "" is not known`,
				"headroom: leaf1/Ethernet1/pg/3: the switch works its headroom out by itself, and what it comes to at 100G is not known (and at 1 more)",
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, inv := soundHosts(), withHosts("sonic", "Mellanox-SN4600C-C64", "ConnectX-6")
			c.bend(in, inv)
			f, findings := fabric.Resolve(in, inv)
			if len(findings) > 0 {
				t.Fatal(findings)
			}
			var got []string
			for _, d := range Run(f, time.Time{}) {
				got = append(got, d.Check+": "+d.Addr.String()+": "+d.Summary)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
