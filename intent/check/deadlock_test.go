package check

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/proof/deadlock"
	"github.com/weirfabric/weir/inventory"
)

// cabled is an inventory of switches, written name:role, and of cables between them, written name-name. A name with @ is
// that of a switch with a host.
func cabled(switches, cables []string) *inventory.Inventory {
	inv := &inventory.Inventory{}
	devices := map[string]*inventory.Device{}
	port := func(name string) inventory.End {
		d := devices[name]
		d.Ports = append(d.Ports, inventory.Port{Name: fmt.Sprintf("Ethernet%d", len(d.Ports)+1), Speed: 100e9})
		return inventory.End{Device: name, Port: d.Ports[len(d.Ports)-1].Name}
	}
	for i, s := range switches {
		name, role, _ := strings.Cut(s, ":")
		name, host := strings.CutSuffix(name, "@")
		devices[name] = &inventory.Device{Name: at(name, i), Role: at(role, i), Platform: at("sonic", i), SKU: at("Mellanox-SN4600C-C64", i), At: place(i)}
		inv.Devices = append(inv.Devices, devices[name])
		if host {
			h := &inventory.Device{Name: at("gpu-"+name, i), Platform: at("linux", i)}
			devices[h.Name.V] = h
			inv.Devices = append(inv.Devices, h)
			inv.Links = append(inv.Links, &inventory.Link{A: port(name), B: port(h.Name.V)})
		}
	}
	for i, c := range cables {
		a, b, _ := strings.Cut(c, "-")
		inv.Links = append(inv.Links, &inventory.Link{A: port(a), B: port(b), At: place(100 + i)})
	}
	return inv
}

func TestTheProofSeesWhatTheFabricIs(t *testing.T) {
	clos := []string{"a@:leaf", "b@:leaf", "x:spine", "y:spine"}
	full := []string{"a-x", "a-y", "b-x", "b-y"}
	for _, c := range []struct {
		name             string
		switches, cables []string
		bend             func(*intent.Fabric, *inventory.Inventory)
		want             []string
	}{
		{"a Clos", clos, full, nil, nil},
		{"a Clos with parallel cables", clos, append(full, full...), nil, nil},
		{"leaves that are joined for a detour", clos, append(full, "a-b"), nil, nil},
		{"no hosts and no roles", []string{"a:", "b:"}, []string{"a-b", "a-b"}, nil, nil},
		{"roles by their distance from the hosts", []string{"a@:t0", "b@:t0", "x:t1", "y:t1"}, full, nil, nil},
		{"a border leaf without hosts", append(clos, "c:leaf"), append(full, "c-x", "c-y"), nil, nil},
		{
			"a ring of leaves", []string{"a@:leaf", "b@:leaf", "c@:leaf", "d@:leaf"}, []string{"a-b", "b-c", "c-d", "d-a"}, nil,
			[]string{"error: a: up-down routes lead nowhere from a to c, though cables join them (and between 3 more pairs)"},
		},
		{
			"a ring of leaves by the shortest way", []string{"a@:leaf", "b@:leaf", "c@:leaf", "d@:leaf"}, []string{"a-b", "b-c", "c-d", "d-a"},
			func(in *intent.Fabric, _ *inventory.Inventory) { in.Routing.Policy = at("shortest-path", 7) },
			[]string{"error: b/Ethernet2/pfc/3: 4 buffers can wait for each other in a circle, with every link and switch up"},
		},
		{
			"ranks by label", []string{"a@:x", "b@:x", "c@:x"}, []string{"a-b", "b-c"}, func(_ *intent.Fabric, inv *inventory.Inventory) {
				for _, d := range inv.Devices {
					if d.Name.V == "b" {
						d.Labels = map[string]string{"rank": "2"}
					}
				}
			}, nil,
		},
		{
			"a label that is no number", clos, full, func(_ *intent.Fabric, inv *inventory.Inventory) {
				inv.Devices[0].Labels = map[string]string{"rank": "low"}
			}, []string{`error: a: the label rank is "low"`},
		},
		{
			"one layer-2 domain with loops", clos, full, func(in *intent.Fabric, _ *inventory.Inventory) { in.Routing.Routed = at(false, 7) },
			[]string{"warning: : the switches are one layer-2 domain whose cables have loops, and the deadlock proof does not know which of them are blocked"},
		},
		{
			"one layer-2 domain without loops", clos, full[:3], func(in *intent.Fabric, _ *inventory.Inventory) { in.Routing.Routed = at(false, 7) }, nil,
		},
		{
			"no lossless class", clos, full, func(in *intent.Fabric, _ *inventory.Inventory) {
				in.Classes[0].Lossless, in.Routing.Policy = at(false, 3), at("shortest-path", 7)
			}, nil,
		},
		{
			"a policy that nobody knows", clos, full, func(in *intent.Fabric, _ *inventory.Inventory) { in.Routing.Policy = at("random", 7) },
			[]string{`error: : no proof: there is no routing policy "random": the proof knows up-down, shortest-path and bgp`},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, inv := sound(), cabled(c.switches, c.cables)
			if c.bend != nil {
				c.bend(in, inv)
			}
			f, findings := fabric.Resolve(in, inv)
			if len(findings) > 0 {
				t.Fatal(findings)
			}
			var got []string
			for _, d := range deadlocks(f) {
				got = append(got, fmt.Sprintf("%s: %s: %s", d.Severity, d.Addr, d.Summary))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestAProofThatIsCutShortSaysSo allows for less work than the states of a star need, which has no cycle to stop at.
func TestAProofThatIsCutShortSaysSo(t *testing.T) {
	in := sound()
	in.Routing.Policy = at("shortest-path", 7)
	f, findings := fabric.Resolve(in, cabled([]string{"a@:leaf", "b@:leaf", "c@:leaf", "x:spine"}, []string{"a-x", "b-x", "c-x"}))
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	if got := deadlocks(f); len(got) > 0 {
		t.Errorf("got %s, want nothing", got)
	}
	got := proven(deadlock.DependenciesOf(f), in.Routing, 1)
	if len(got) != 1 || got[0].Severity != diag.Warning || !strings.Contains(got[0].Detail, "one link down, converged: 1 of 3 gone through") {
		t.Errorf("got %s, want a warning with what was covered", got)
	}
}

// BenchmarkDeadlock is a Clos of 1,024 switches of 64 ports: 24 pods of 32 leaves and 8 spines, and 64 cores.
func BenchmarkDeadlock(b *testing.B) {
	var switches, cables []string
	for pod := range 24 {
		for s := range 8 {
			switches = append(switches, fmt.Sprintf("p%ds%d:spine", pod, s))
			for c := range 8 {
				cables = append(cables, fmt.Sprintf("p%ds%d-c%d", pod, s, s*8+c))
			}
		}
		for l := range 32 {
			switches = append(switches, fmt.Sprintf("p%dl%d@:leaf", pod, l))
			for s := range 8 {
				for range 4 {
					cables = append(cables, fmt.Sprintf("p%dl%d-p%ds%d", pod, l, pod, s))
				}
			}
		}
	}
	for c := range 64 {
		switches = append(switches, fmt.Sprintf("c%d:core", c))
	}
	for _, policy := range []string{"up-down", "shortest-path"} {
		b.Run(policy, func(b *testing.B) {
			in := sound()
			in.Routing.Policy = at(policy, 7)
			f, findings := fabric.Resolve(in, cabled(switches, cables))
			if len(findings) > 0 {
				b.Fatal(findings)
			}
			b.ReportAllocs()
			for b.Loop() {
				if got := len(deadlocks(f)); got != map[string]int{"up-down": 0, "shortest-path": 1}[policy] {
					b.Fatal(got)
				}
			}
		})
	}
}
