package check

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/lossless"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/intent/source"
	"github.com/weirfabric/weir/inventory"
	"github.com/weirfabric/weir/inventory/catalog"
)

// pick is one of the choices.
func pick[T any](r *rand.Rand, choices ...T) T { return choices[r.IntN(len(choices))] }

// sometimes is the value as if written in one case of n, and else not written.
func sometimes[T any](r *rand.Rand, n int, v T) source.Value[T] {
	if r.IntN(n) > 0 {
		return source.Value[T]{}
	}
	return at(v, 3)
}

// randomFabric is an intent and an inventory of two switches and the links between them, right or wrong.
func randomFabric(r *rand.Rand) (*intent.Fabric, *inventory.Inventory) {
	in := sound()
	in.Classes[0].ECN = randomECN(r)
	for i := range r.IntN(4) {
		c := intent.Class{Name: at(fmt.Sprintf("more%d", i), 6), Lossless: at(true, 6), Priority: at(qos.Priority([]int{1, 2, 4}[i]), 6)}
		c.DSCP, c.Share, c.ECN = []source.Value[qos.DSCP]{at(qos.DSCP(30+i), 6)}, at(qos.Percent(5), 6), randomECN(r)
		in.Classes = append(in.Classes, c)
	}
	s := &in.Settings
	s.MTU = sometimes(r, 2, pick[qos.Bytes](r, 1500, 4200, 9000, 9216))
	s.PFC.Headroom = sometimes(r, 8, intent.Headroom{Bytes: qos.Bytes(10_000 + r.IntN(300_000))})
	s.Buffers.Alpha = sometimes(r, 2, qos.AlphaShift(r.IntN(13)-7))
	s.Buffers.Threshold = sometimes(r, 5, qos.Bytes(10_000+r.IntN(1_000_000)))
	s.Buffers.Oversubscribe = sometimes(r, 3, r.IntN(6))
	inv := &inventory.Inventory{Catalog: &catalog.Catalog{}}
	inv.Catalog.SetASIC(catalog.ASIC{Name: "Own", Buffer: qos.Bytes(4e6 + r.IntN(60e6)), Model: catalog.Annex, ThresholdUnit: qos.Bytes(r.IntN(3) * 5000), Source: "a test"})
	inv.Catalog.SetSKU(catalog.SKU{Name: "OWN-1", ASIC: "Own", Source: "a test"})
	sku := pick(r, "OWN-1", "DCS-7050QX-32", "DCS-7060CX-32S", "Mellanox-SN4600C-C64", "ACS-MSN3700", "ACS-MSN2700", "ACME-1")
	speed, ports := pick[qos.Rate](r, 10e9, 25e9, 40e9, 100e9, 200e9, 400e9, 1600e9), 1+r.IntN(32)
	for i := range 2 {
		d := &inventory.Device{Name: at(fmt.Sprintf("sw%d", i), i+50), Platform: at(pick(r, "sonic", "eos"), 50), SKU: at(sku, 50), Role: at("leaf", 50)}
		for p := range ports {
			d.Ports = append(d.Ports, inventory.Port{Name: fmt.Sprintf("Ethernet%d", p), Speed: speed, Lanes: pick(r, 0, 4, 8)})
		}
		inv.Devices = append(inv.Devices, d)
	}
	for p := range ports {
		inv.Links = append(inv.Links, &inventory.Link{
			A: inventory.End{Device: "sw0", Port: fmt.Sprintf("Ethernet%d", p)}, B: inventory.End{Device: "sw1", Port: fmt.Sprintf("Ethernet%d", p)},
			Length: sometimes(r, 2, pick[qos.Metres](r, 1, 5, 40, 300, 2000, 20_000, 80_000)), At: place(60 + p),
		})
	}
	return in, inv
}

func randomECN(r *rand.Rand) intent.ECN {
	depth := func() intent.Depth {
		if r.IntN(3) == 0 {
			return intent.Depth{Percent: qos.Percent(1 + r.IntN(100))}
		}
		return intent.Depth{Bytes: qos.Bytes(1000 * (1 + r.IntN(3000)))}
	}
	return intent.ECN{
		Off: sometimes(r, 8, true), Auto: sometimes(r, 6, true), Min: sometimes(r, 3, depth()), Max: sometimes(r, 3, depth()),
		RTT: sometimes(r, 4, time.Duration(1+r.IntN(100))*time.Microsecond),
	}
}

// TestAFabricThatPassesIsInOrderAtEveryPort resolves random fabrics. What check lets pass without an error, and without a
// warning about headroom that the operator wrote too low, must hold together by the numbers themselves.
func TestAFabricThatPassesIsInOrderAtEveryPort(t *testing.T) {
	const fabrics, least = 1500, 100
	passed := 0
	for seed := range uint64(fabrics) {
		f, findings := fabric.Resolve(randomFabric(rand.New(rand.NewPCG(seed, 1))))
		if findings = append(findings, Run(f, time.Time{})...); stopped(findings) {
			continue
		}
		passed++
		for _, sw := range f.Switches {
			if wrong := disorder(f, sw); wrong != "" {
				t.Fatalf("seed %d: %s passes, and %s", seed, sw.Name, wrong)
			}
		}
	}
	if passed < least || passed > fabrics-least {
		t.Errorf("%d of %d fabrics pass: the test tells little", passed, fabrics)
	}
}

func stopped(findings diag.List) bool {
	for _, d := range findings {
		if d.Severity == diag.Error || d.Severity == diag.Warning && d.Check == "headroom" {
			return true
		}
	}
	return false
}

// disorder is what is wrong with a switch; empty if nothing is. It works from the numbers of the ports alone.
func disorder(f *fabric.Fabric, sw *fabric.Switch) string {
	var kept, all, static qos.Bytes
	for _, p := range sw.Ports {
		for i := range p.Groups {
			kept, all, static = kept+p.Groups[i].Reserved, all+p.Groups[i].Headroom, static+p.Groups[i].Static
		}
	}
	if sw.Oversubscribe > 0 {
		kept += (all + qos.Bytes(sw.Oversubscribe) - 1) / qos.Bytes(sw.Oversubscribe)
	}
	bounded := sw.ASIC != nil && sw.ASIC.Buffer > 0
	if bounded && kept+static > sw.ASIC.Buffer {
		return fmt.Sprintf("%d B of %d B are taken", kept+static, sw.ASIC.Buffer)
	}
	for _, p := range sw.Ports {
		needed := fabric.HeadroomOf(sw, p)
		for i := range p.Groups {
			g := &p.Groups[i]
			switch {
			case !g.Lossless:
			case g.Headroom <= 0 || g.Headroom < needed.Headroom:
				return fmt.Sprintf("%s has %d B of headroom and needs %d", p.Name, g.Headroom, needed.Headroom)
			case g.Static > 0 && g.XON >= g.Static:
				return fmt.Sprintf("%s: XON is %d B and XOFF %d", p.Name, g.XON, g.Static)
			}
		}
		for i := range p.Queues {
			q := &p.Queues[i]
			if !q.Lossless || q.WRED == nil {
				continue
			}
			w, g := sw.Rounded(*q.WRED), p.Groups[f.Class(q.Class).Group]
			if w.Min <= 0 || w.Min > w.Max {
				return fmt.Sprintf("%s marks from %d to %d B", p.Name, w.Min, w.Max)
			}
			depth := g.Static
			if depth == 0 && bounded {
				depth = lossless.XOFFDepth(g.Alpha, sw.ASIC.Buffer-kept, 1)
				if g.XON >= depth {
					return fmt.Sprintf("%s: XON is %d B and PFC fires at %d", p.Name, g.XON, depth)
				}
			}
			if depth > 0 && w.Max >= depth {
				return fmt.Sprintf("%s marks up to %d B and PFC fires at %d", p.Name, w.Max, depth)
			}
		}
	}
	return ""
}
