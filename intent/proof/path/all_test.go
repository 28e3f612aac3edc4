package path

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/inventory"
)

func TestAllCountsEveryPairOfASoundPod(t *testing.T) {
	f := resolved(t, pod())
	got := New(f).All("rdma")
	if !got.Proven() || got.Ends != 4 || got.Pairs != 12 || got.Lossless != 12 || len(got.Alike) != 1 || len(got.Paths) != 1 {
		t.Errorf("%+v", got)
	}
}

func TestAllSaysOfEachBreakHowManyPairsPassIt(t *testing.T) {
	f := resolved(t, pod())
	_, p := port(t, f, "spine2/Ethernet2")
	p.PFC = 0
	_, p = port(t, f, "leaf1/Ethernet1")
	p.MTU = 1500
	got := New(f).All("rdma")
	var words []string
	for _, j := range got.Breaks {
		words = append(words, fmt.Sprintf("%s: %s (%d)", j.Break.At, j.Break.What, j.Pairs))
	}
	want := []string{
		"spine2/Ethernet2/pfc/3: PFC is off for priority 3 (8)",
		"leaf1/Ethernet1/mtu: the port takes packets of up to 1500B, and the sender's have up to 9100B (6)",
	}
	if diff := cmp.Diff(want, words); diff != "" || got.Lossless != 2 || got.Paths[0].Lossless {
		t.Errorf("%d lossless (-want +got):\n%s", got.Lossless, diff)
	}
}

func TestAllGoesFromLeafToLeafWhereTheInventoryHasNoHosts(t *testing.T) {
	files := pod()
	devices, _, _ := strings.Cut(files["inventory/devices.yaml"], "---")
	files["inventory/devices.yaml"] = devices
	_, between, _ := strings.Cut(files["inventory/links.yaml"], "  - {a: leaf1/Ethernet3")
	files["inventory/links.yaml"] = "kind: Links\nlinks:\n  - {a: leaf1/Ethernet3" + between
	p := New(resolved(t, files))
	got := p.All("rdma")
	if diff := cmp.Diff([]string{"rdma"}, p.Classes()); diff != "" || got.Hosts || !got.Proven() || got.Ends != 4 || got.Pairs != 12 {
		t.Errorf("%s%+v", diff, got)
	}
}

func TestBreaksWhereNoRouteLeadsStandAside(t *testing.T) {
	files := pod()
	in("inventory/devices.yaml", `Ethernet[1-4]`, `Ethernet[1-5]`)(files)
	files["inventory/links.yaml"] += "  - {a: leaf1/Ethernet5, b: spine1/Ethernet3}\n  - {a: spine1/Ethernet4, b: spine2/Ethernet4}\n"
	f := resolved(t, files)
	_, p := port(t, f, "spine1/Ethernet4")
	p.PFC = 0
	got := New(f).All("rdma")
	if !got.Proven() || len(got.Aside) != 1 || got.Aside[0].Break.At.String() != "spine1/Ethernet4/pfc/3" {
		t.Errorf("%+v", got)
	}
}

func TestNICsWithoutAProfileAreNamed(t *testing.T) {
	files := pod()
	in("intent/hosts.yaml", "role: gpu", "device: gpu1")(files)
	got := New(resolved(t, files)).All("rdma")
	if got.Ends != 2 || len(got.Unmanaged) != 2 || got.Unmanaged[0].String() != "gpu2/eth0" {
		t.Errorf("%+v", got)
	}
}

// TestAllAgreesWithProvingEveryPair proves random fabrics with random mistakes pair by pair, and wants the same counts of
// lossless pairs and of pairs for each kind of break.
func TestAllAgreesWithProvingEveryPair(t *testing.T) {
	lossless, broken := 0, 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 6))
		f := randomFabric(t, r)
		p := New(f)
		got := p.All("rdma")
		pairs, good, touched := everyPair(p, f)
		if got.Pairs != pairs || got.Lossless != good || got.Unjoined != got.Ends*(got.Ends-1)-pairs {
			t.Fatalf("seed %d: %d of %d pairs, and one by one %d of %d", seed, got.Lossless, got.Pairs, good, pairs)
		}
		counted := map[words]int{}
		for _, j := range got.Breaks {
			if j.Pairs > 0 || j.Break.What != "the inventory has no cable here" {
				counted[j.Break.words()] = j.Pairs
			}
		}
		if diff := cmp.Diff(touched, counted, cmp.AllowUnexported(words{})); diff != "" {
			t.Fatalf("seed %d (-one by one +all):\n%s", seed, diff)
		}
		lossless, broken = lossless+good, broken+pairs-good
	}
	if lossless < 1000 || broken < 1000 {
		t.Errorf("%d lossless pairs and %d others: the fabrics do not try both", lossless, broken)
	}
}

// everyPair proves all pairs of ends of the class one by one.
func everyPair(p *Prover, f *fabric.Fabric) (pairs, good int, touched map[words]int) {
	var ends []End
	for _, h := range f.Hosts {
		for _, n := range h.NICs {
			if n.RoCE != 0 && n.Class == "rdma" {
				ends = append(ends, End{fabric.End{Host: h, NIC: n}})
			}
		}
	}
	if len(f.Hosts) == 0 {
		ends = p.edge()
	}
	touched = map[words]int{}
	for _, a := range ends {
		for _, b := range ends {
			if a == b || !p.Joined(a, b) {
				continue
			}
			path := New(f).Prove(a, b, "rdma")
			pairs++
			if path.Lossless {
				good++
			}
			once := map[words]bool{}
			for _, b := range path.Breaks {
				once[b.words()] = true
			}
			for w := range once {
				touched[w]++
			}
		}
	}
	return pairs, good, touched
}

// randomFabric is a few leaves and spines, cabled at random, with or without hosts, and with up to three mistakes.
func randomFabric(t *testing.T, r *rand.Rand) *fabric.Fabric {
	t.Helper()
	policy := []string{"up-down", "shortest-path"}[r.IntN(2)]
	if r.IntN(12) == 0 {
		policy += ", routed: false"
	}
	devices, links := randomPlant(r)
	f := resolved(t, map[string]string{
		"fabric.yaml":       soundIntent + "routing: {policy: " + policy + "}\n",
		"intent/hosts.yaml": soundHosts, "inventory/devices.yaml": devices, "inventory/links.yaml": links,
	})
	for range r.IntN(4) {
		if len(f.Hosts) > 0 && r.IntN(2) == 0 {
			h := f.Hosts[r.IntN(len(f.Hosts))]
			bendNIC(r, h.NICs[r.IntN(len(h.NICs))])
			continue
		}
		sw := f.Switches[r.IntN(len(f.Switches))]
		bendPort(r, sw, sw.Ports[r.IntN(len(sw.Ports))])
	}
	return f
}

func randomPlant(r *rand.Rand) (devices, links string) {
	const ports = 12
	leaves, spines, hosts := 1+r.IntN(3), 1+r.IntN(3), r.IntN(4)
	devices = fmt.Sprintf("kind: Switches\ndefaults: {platform: sonic, sku: ACS-MSN4600C, ports: [{names: \"Ethernet[1-%d]\", speed: 100G, lanes: 4}]}\n", ports)
	devices += fmt.Sprintf("switches:\n  - {names: \"leaf[1-%d]\", role: leaf}\n  - {names: \"spine[1-%d]\", role: spine}\n", leaves, spines)
	if hosts > 0 {
		devices += "---\nkind: Hosts\ndefaults: {role: gpu, nics: [{names: \"eth[0-1]\", speed: 100G, model: bnxt, rdma: \"mlx5_[0-1]\"}]}\n"
		devices += fmt.Sprintf("hosts:\n  - {names: \"gpu[1-%d]\"}\n", hosts)
	}
	used := map[string]int{}
	free := func(sw string) string {
		used[sw]++
		return fmt.Sprintf("%s/Ethernet%d", sw, used[sw])
	}
	var lines []string
	cable := func(a, b string) { lines = append(lines, fmt.Sprintf("  - {a: %s, b: %s}", a, b)) }
	for l := range leaves {
		for s := range spines {
			if r.IntN(6) > 0 {
				cable(free(fmt.Sprintf("leaf%d", l+1)), free(fmt.Sprintf("spine%d", s+1)))
			}
		}
	}
	if leaves > 1 && r.IntN(3) == 0 {
		cable(free("leaf1"), free("leaf2"))
	}
	for h := range hosts {
		switch r.IntN(8) {
		case 0:
			cable(fmt.Sprintf("gpu%d/eth0", h+1), fmt.Sprintf("gpu%d/eth1", h+1))
		case 1:
			cable(fmt.Sprintf("gpu%d/eth0", h+1), free(fmt.Sprintf("leaf%d", 1+r.IntN(leaves))))
		default:
			cable(fmt.Sprintf("gpu%d/eth0", h+1), free(fmt.Sprintf("leaf%d", 1+r.IntN(leaves))))
			cable(fmt.Sprintf("gpu%d/eth1", h+1), free(fmt.Sprintf("leaf%d", 1+r.IntN(leaves))))
		}
	}
	if len(lines) == 0 {
		cable(free("leaf1"), free("spine1"))
	}
	return devices, "kind: Links\nlinks:\n" + strings.Join(lines, "\n") + "\n"
}

// bendPort makes one mistake at a switch or a port.
func bendPort(r *rand.Rand, sw *fabric.Switch, p *fabric.Port) {
	mistakes := []func(){
		func() { sw.Maps.DSCPToTC[[]int{26, 48, 0}[r.IntN(3)]] = qos.TrafficClass(r.IntN(8)) },
		func() { sw.Maps.TCToQueue[[]int{3, 6}[r.IntN(2)]] = qos.Queue(r.IntN(8)) },
		func() { sw.Maps.TCToGroup[[]int{3, 6}[r.IntN(2)]] = qos.PriorityGroup(r.IntN(8)) },
		func() { sw.Maps.PriorityToQueue[r.IntN(8)] = qos.Queue([]int{3, 6}[r.IntN(2)]) },
		func() { sw.Maps.PriorityToGroup[r.IntN(8)] = 3 },
		func() { sw.Maps.PriorityToGroup[3] = qos.PriorityGroup(r.IntN(8)) },
		func() { p.PFC = qos.PrioritySet(r.IntN(256)) },
		func() { p.Trust = qos.TrustPCP },
		func() { p.MTU = []qos.Bytes{1500, 4200, 9216}[r.IntN(3)] },
		func() { p.FlowControl = true },
		func() { p.Speed = 200e9 },
		func() { p.Groups[3].Lossless = false },
		func() { p.Groups[3].Headroom = qos.Bytes(r.IntN(2)) * 1000 },
		func() { p.Groups[3].Reserved = 1e9 },
		func() { p.Queues[3].Lossless = false },
		func() { p.Queues[6].Scheduler.Strict = false },
		func() { p.Queues[6].Lossless = true },
		func() { p.Watchdog = nil },
		func() { p.Queues[3].WRED = nil },
		func() {
			if w := p.Queues[3].WRED; w != nil {
				w.ECN = false
			}
		},
	}
	mistakes[r.IntN(len(mistakes))]()
}

// bendNIC makes one mistake at a NIC.
func bendNIC(r *rand.Rand, n *fabric.NIC) {
	mistakes := []func(){
		func() { n.RoCE = r.IntN(3) },
		func() { n.RoCE, n.Trust = 1, qos.TrustPCP },
		func() { n.TOS = uint8(r.IntN(256)) },
		func() { n.TOS &^= 3 },
		func() { n.CNPDSCP = qos.DSCP([]int{26, 0, 46}[r.IntN(3)]) },
		func() { n.CNPPriority = qos.Priority(r.IntN(8)) },
		func() { n.CNP = "" },
		func() { n.Class = "default" },
		func() { n.DCQCN = false },
		func() { n.PFC = qos.PrioritySet(r.IntN(256)) },
		func() { n.MTU = 1500 },
		func() { n.FlowControl = true },
		func() { n.Speed = 200e9 },
		func() { n.PriorityToTC[6] = 3 },
		func() { n.ETS[6].Strict = false },
		func() { n.DSCPToPriority[26] = qos.Priority(r.IntN(8)) },
		func() { n.Trust = qos.TrustPCP },
	}
	mistakes[r.IntN(len(mistakes))]()
}

// BenchmarkAll1024x64 is the proof of a Clos of 1,024 switches of 64 ports with 14,336 NICs. Goal: under 10 s.
func BenchmarkAll1024x64(b *testing.B) {
	for _, hosts := range []int{512, 0} {
		for _, bend := range []string{"sound", "a mistake in every switch"} {
			f := clos(b, inventory.ClosSpec{Pods: 14, Leaves: 32, Spines: 32, Cores: 4, Hosts: hosts})
			if bend != "sound" {
				for _, sw := range f.Switches {
					sw.Maps.PriorityToGroup[3] = 0
				}
			}
			b.Run(fmt.Sprintf("%d hosts, %s", 14*hosts, bend), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					all := New(f).All("rdma")
					if all.Proven() != (bend == "sound") {
						b.Fatal(all.Breaks)
					}
					b.ReportMetric(float64(all.Pairs), "pairs")
				}
			})
		}
	}
}

func clos(b *testing.B, spec inventory.ClosSpec) *fabric.Fabric {
	b.Helper()
	files, err := inventory.Scaffold(spec, intent.Schema())
	if err != nil {
		b.Fatal(err)
	}
	repo := map[string]string{}
	for _, f := range files {
		if !slices.Contains([]string{"README.md", ".gitignore"}, f.Name) {
			repo[f.Name] = string(f.Body)
		}
	}
	return resolved(b, repo)
}
