package fabric

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/inventory"
)

// threeCabled is a leaf with two ports, a spine and a host, of which the intent wants priority 3 lossless.
func threeCabled() *Fabric {
	port := func(name string) *Port {
		return &Port{Name: name, Speed: 100e9, Cable: 5, MTU: 9100, PFC: qos.Priorities(3), Origin: &Origin{}, Queues: make([]Queue, 8), Groups: make([]Group, 8)}
	}
	leaf := &Switch{Device: Device{Name: "leaf1"}, Ports: []*Port{port("1"), port("2")}}
	spine := &Switch{Device: Device{Name: "spine1"}, Ports: []*Port{port("1")}}
	host := &Host{Device: Device{Name: "gpu1"}, NICs: []*NIC{{Name: "eth0", RoCE: 2, Origin: &Origin{}}}}
	f := &Fabric{
		Switches: []*Switch{leaf, spine}, Hosts: []*Host{host}, Intent: &intent.Fabric{}, Inventory: &inventory.Inventory{}, Classes: []Class{{Name: "rdma"}},
	}
	up := &Link{A: End{Switch: leaf, Port: leaf.Ports[1]}, B: End{Switch: spine, Port: spine.Ports[0]}}
	down := &Link{A: End{Switch: leaf, Port: leaf.Ports[0]}, B: End{Host: host, NIC: host.NICs[0]}}
	f.Links = []*Link{up, down}
	leaf.Ports[0].Peer, leaf.Ports[1].Peer = &Peer{Device: "gpu1", Port: "eth0", Host: true, Link: down}, &Peer{Device: "spine1", Port: "1", Link: up}
	spine.Ports[0].Peer, host.NICs[0].Peer = &Peer{Device: "leaf1", Port: "2", Link: up}, &Peer{Device: "leaf1", Port: "1", Link: down}
	return f
}

// lifted is a switch that runs with DSCP 26 in class 4.
func lifted(name string, ports ...string) Lifted[*Switch] {
	sw := &Switch{Device: Device{Name: name}}
	for i := range 8 {
		sw.Maps.TCToQueue[i], sw.Maps.PriorityToQueue[i], sw.Maps.TCToGroup[i], sw.Maps.PriorityToGroup[i] = qos.Queue(i), qos.Queue(i), qos.PriorityGroup(i), qos.PriorityGroup(i)
	}
	sw.Maps.DSCPToTC[26] = 4
	for _, p := range ports {
		sw.Ports = append(sw.Ports, &Port{Name: p, MTU: 4200, PFC: qos.Priorities(4), Queues: make([]Queue, 8), Groups: make([]Group, 8)})
	}
	return Lifted[*Switch]{Device: sw}
}

func TestWhatRunsStandsInThePlaceOfWhatIsWanted(t *testing.T) {
	f := threeCabled()
	nic := &NIC{Name: "eth0", RoCE: 2, DSCP: 26, TOS: 106, DCQCN: true, CNPDSCP: 48, MTU: 9000}
	Assemble(f, Runs{
		Switches: map[string]Lifted[*Switch]{"leaf1": lifted("leaf1", "1", "2"), "spine1": lifted("spine1", "1")},
		Hosts:    map[string]Lifted[*Host]{"gpu1": {Device: &Host{Device: Device{Name: "gpu1"}, NICs: []*NIC{nic}}}},
	})
	p := f.Switches[0].Ports[0]
	if p.MTU != 4200 || p.PFC != qos.Priorities(4) || p.Speed != 100e9 || p.Peer == nil || p.Cable != 5 || f.Links[1].A.Port != p {
		t.Errorf("the port is %+v", p)
	}
	var names []string
	for _, c := range f.Classes {
		names = append(names, c.Name)
	}
	if diff := cmp.Diff([]string{"dscp-26", "cnp-48"}, names); diff != "" || f.Classes[0].Priority != 4 || f.Classes[0].Queue != 4 || !f.Classes[0].Lossless {
		t.Errorf("classes %+v:\n%s", f.Classes, diff)
	}
	if n := f.Hosts[0].NICs[0]; n.Class != "dscp-26" || n.CNP != "cnp-48" || n.Peer == nil || f.Switches[0].Ports[0].Queues[4].Class != "dscp-26" {
		t.Errorf("the NIC is %+v", n)
	}
	if f.Unread(addr.Port("leaf1", "1").Of(addr.PFC, "4")) || !f.Runs {
		t.Error("what was read is not known")
	}
}

func TestADeviceThatWasNotReadHoldsNothingThatTheIntentWants(t *testing.T) {
	f := threeCabled()
	Assemble(f, Runs{Switches: map[string]Lifted[*Switch]{"leaf1": lifted("leaf1", "1")}, Unread: map[string]string{"spine1": "no route to host", "gpu1": "no route to host"}})
	spine := f.Switches[1].Ports[0]
	if spine.PFC != 0 || spine.MTU != 0 || !f.Unread(addr.Port("spine1", "1").Of(addr.PFC, "3")) {
		t.Errorf("the spine has %+v", spine)
	}
	if !f.Unread(addr.Port("leaf1", "2")) || f.Switches[0].Ports[1].PFC != 0 {
		t.Error("a port that the device does not have is taken for known")
	}
	if g, _ := f.Switches[1].Unread(addr.Port("spine1", "1")); g.Line != "no route to host" {
		t.Errorf("the reason is %+v", g)
	}
	if f.Marking() {
		t.Error("it is known what hosts mark, of which none was read")
	}
	f.WithoutHosts()
	// No host was read: each priority with PFC is a class, of the DSCPs that most switches send in it.
	if len(f.Hosts) > 0 || len(f.Links) != 1 || f.Switches[0].Ports[0].Peer != nil || len(f.Classes) != 1 || f.Classes[0].Name != "priority-4" || !slices.Equal(f.Classes[0].DSCP, []qos.DSCP{26}) {
		t.Errorf("%d hosts, %d links, classes %+v", len(f.Hosts), len(f.Links), f.Classes)
	}
}

func TestExplainSaysOfWhatRunsHowItIsKnown(t *testing.T) {
	f := threeCabled()
	leaf := lifted("leaf1", "1", "2")
	g := Gaps{Platform: "sonic"}
	g.Unset(addr.Port("leaf1", "1").Of(addr.MTU, ""))
	g.Strange("trust me", addr.Port("leaf1", "1").Of(addr.Trust, ""))
	leaf.Gaps = g.Sorted()
	Assemble(f, Runs{Switches: map[string]Lifted[*Switch]{"leaf1": leaf, "spine1": lifted("spine1", "1")}})
	got := map[string]string{}
	for _, v := range Explain(f, addr.Port("leaf1", "1")) {
		got[v.Name] = v.Source
		if v.Name == "trust" && v.Value != "not known" {
			t.Errorf("trust is %v", v.Value)
		}
	}
	if got["flowcontrol"] != "device" || got["trust"] != "trust me" || got["speed"] != "inventory" || got["mtu"] != g.list[0].Source {
		t.Errorf("sources %v", got)
	}
}
