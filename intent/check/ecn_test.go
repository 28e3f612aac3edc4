package check

import (
	"testing"
	"time"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/inventory/catalog"
)

// TestThresholdsAreComparedAsTheSwitchKeepsThem writes 100 kB of ecn.max above the depth at which PFC fires: exactly it is too
// much, in units of 200 kB the switch keeps less.
func TestThresholdsAreComparedAsTheSwitchKeepsThem(t *testing.T) {
	for unit, want := range map[qos.Bytes]int{0: 1, 1: 1, 200_000: 0} {
		in, inv := soundHosts(), withHosts("eos", "OWN-1", "ConnectX-6")
		inv.Catalog = &catalog.Catalog{}
		inv.Catalog.SetASIC(catalog.ASIC{Name: "Own", Buffer: 16e6, Model: catalog.Annex, ThresholdUnit: unit, Source: "a test"})
		inv.Catalog.SetSKU(catalog.SKU{Name: "OWN-1", ASIC: "Own", Source: "a test"})
		in.Settings.Buffers.Threshold = at(qos.Bytes(900e3), 7)
		in.Classes[0].ECN.Min, in.Classes[0].ECN.Max = at(intent.Depth{Bytes: 200e3}, 3), at(intent.Depth{Bytes: 950e3}, 3)
		f, findings := fabric.Resolve(in, inv)
		if len(findings) > 0 {
			t.Fatal(findings)
		}
		errors := 0
		for _, d := range Run(f, time.Time{}) {
			if d.Check == "ecn-before-pfc" && d.Severity.String() == "error" {
				errors++
			}
		}
		if errors != want {
			t.Errorf("units of %d B: got %d errors, want %d", unit, errors, want)
		}
	}
}

func TestAStaticThresholdIsComparedWithoutABuffer(t *testing.T) {
	in, inv := soundHosts(), withHosts("eos", "ACME-1", "ConnectX-6")
	in.Settings.Buffers.Threshold = at(qos.Bytes(96e3), 7)
	f, _ := fabric.Resolve(in, inv)
	if l := ecnBeforePFC(f); !l.HasErrors() {
		t.Errorf("a curve up to 400 kB passes over a threshold of 96 kB: %s", l)
	}
}

func TestOnlyFlowsThatDCQCNSendsAndMarkingCannotHoldAreTold(t *testing.T) {
	for _, c := range []struct {
		name  string
		flows int
		bend  func(*intent.Fabric)
		want  int
	}{
		{"no flows are written", 0, func(*intent.Fabric) {}, 0},
		{"few flows", 8, func(*intent.Fabric) {}, 0},
		{"too many flows", 5000, func(*intent.Fabric) {}, 2},
		{"too many flows of senders without DCQCN", 5000, func(in *intent.Fabric) { in.Hosts[0].RoCE.CongestionControl = at("none", 20) }, 0},
		{"too many flows in a class that is not marked", 5000, func(in *intent.Fabric) { in.Classes[0].ECN.Off = at(true, 3) }, 0},
		{"too many flows in a class that RDMA is not sent in", 5000, func(in *intent.Fabric) { in.Hosts[0].RoCE.Class = at("default", 20) }, 0},
	} {
		in, inv := soundHosts(), withHosts("eos", "DCS-7060CX-32S", "ConnectX-6")
		if c.flows > 0 {
			in.Classes[0].ECN.Flows = at(c.flows, 3)
		}
		c.bend(in)
		f, _ := fabric.Resolve(in, inv)
		if l := dcqcnMarking(f); len(l) != c.want {
			t.Errorf("%s: got %d findings, want %d:\n%s", c.name, len(l), c.want, l)
		}
	}
}
