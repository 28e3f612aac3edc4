package fabric

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/inventory/catalog"
)

func explained(t *testing.T, f *Fabric, address string) []Value {
	t.Helper()
	a, err := addr.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return Explain(f, a)
}

func TestHeadroomIsExplainedTermByTerm(t *testing.T) {
	f := resolved(t, smallIntent(), smallInventory())
	values := explained(t, f, "spine1/Ethernet1/1/pfc/3:headroom")
	if len(values) < 2 {
		t.Fatalf("got %d values", len(values))
	}
	head := values[0]
	want := Value{
		Name: "headroom", Value: int64(79656), Unit: "bytes",
		Formula: "what may still arrive after PAUSE was decided on: frame(MTU) + frame(lossless MTU) + PAUSE frame + 2 x interface delay + response + 2 x cable",
		Inputs: map[string]any{
			"speed": qos.Rate(100e9), "cable": qos.Metres(40), "mtu": qos.Bytes(9000), "sku": "DCS-7050QX-32", "model": "annex",
		},
		Source: HeadroomOf(f.Switches[1], f.Switches[1].Ports[0]).Source, At: []diag.Pos{line(6)},
	}
	if diff := cmp.Diff(want, head); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var total int64
	for _, v := range values[1:] {
		total += v.Value.(int64)
	}
	if total != head.Value {
		t.Errorf("the terms make %d, the headroom is %v", total, head.Value)
	}
}

func TestEveryKindOfAddressIsExplained(t *testing.T) {
	f := resolved(t, smallIntent(), smallInventory())
	for address, want := range map[string]Value{
		"leaf1/Ethernet9/pfc/3":         {Name: "enabled", Value: true},
		"leaf1/Ethernet9/pfc/4":         {Name: "enabled", Value: false},
		"leaf1/Ethernet9/queue/3":       {Name: "ecn-max", Value: int64(1500e3)},
		"leaf1/Ethernet9/pg/3":          {Name: "xon", Value: int64(19456)},
		"leaf1/Ethernet9/watchdog":      {Name: "action", Value: "drop"},
		"leaf1/Ethernet9/trust":         {Name: "trust", Value: "dscp"},
		"leaf1/Ethernet9/mtu":           {Name: "mtu", Value: int64(9000)},
		"leaf1/Ethernet9/flowcontrol":   {Name: "flowcontrol", Value: false},
		"leaf1/Ethernet9/cable":         {Name: "cable", Value: int64(5)},
		"leaf1/Ethernet9":               {Name: "queue/6:strict", Value: true},
		"leaf1/map/dscp-to-tc/26":       {Name: "dscp-to-tc/26", Value: int64(3)},
		"leaf1/map/tc-to-pg":            {Name: "tc-to-pg/6", Value: int64(0)},
		"leaf1/watchdog":                {Name: "detection", Value: 0.2},
		"leaf1":                         {Name: "asic", Value: "Spectrum"},
		"class/rdma":                    {Name: "priority", Value: int64(3)},
		"gpu1":                          {Name: "module/rdma_cm", Value: "loaded"},
		"gpu1/module/rdma_cm":           {Name: "module/rdma_cm", Value: "loaded"},
		"gpu1/eth0/roce":                {Name: "tos", Value: int64(106)},
		"gpu1/eth0/ets/6":               {Name: "share", Value: "strict"},
		"gpu1/eth0/dscp/26":             {Name: "priority", Value: int64(3)},
		"gpu1/eth0/pfc/3":               {Name: "enabled", Value: true},
		"gpu1/eth0/mtu":                 {Name: "mtu", Value: int64(9000)},
		"spine1/Ethernet1/1/queue/3":    {Name: "alpha", Value: "128"},
		"spine1/Ethernet1/1/pg/3:alpha": {Name: "alpha", Value: "1"},
	} {
		values := explained(t, f, address)
		i := slices.IndexFunc(values, func(v Value) bool { return v.Name == want.Name })
		if i < 0 {
			t.Errorf("%s: no value %s", address, want.Name)
			continue
		}
		if diff := cmp.Diff(want.Value, values[i].Value); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", address, want.Name, diff)
		}
	}
}

func TestAQueueIsExplainedDownToTheMarginBeforePFC(t *testing.T) {
	f := resolved(t, smallIntent(), smallInventory())
	got := map[string]Value{}
	for _, v := range explained(t, f, "spine1/Ethernet1/1/queue/3") {
		got[v.Name] = v
	}
	depth, bound := got["pfc-depth"].Value.(int64), got["ecn-bound"].Value.(int64)
	if got["pfc-margin"].Value != depth-1500e3 || bound != depth/int64(len(f.Switches[1].Ports)) {
		t.Errorf("depth %d, margin %v, bound %d", depth, got["pfc-margin"].Value, bound)
	}
	if got["ecn-min"].Inputs["seconds"] != 12e-6 || got["ecn-flows"].Value.(int64) < 1 {
		t.Errorf("got %+v and %+v", got["ecn-min"], got["ecn-flows"])
	}
	for name := range got {
		if got[name].Formula == "" {
			t.Errorf("%s is not explained in words", name)
		}
	}
	if !strings.Contains(got["ecn-flows"].Formula, "NOT VERIFIED") {
		t.Error("what is recalled from a paper is told as a fact")
	}
}

func TestTheBudgetOfTheSwitchIsExplainedTermByTerm(t *testing.T) {
	f := resolved(t, smallIntent(), smallInventory())
	for _, address := range []string{"spine1", "spine1/Ethernet1/1/pg/3"} {
		var terms, taken, shared, buffer int64
		for _, v := range explained(t, f, address) {
			switch {
			case v.Name == "buffer":
				buffer = v.Value.(int64)
			case v.Name == "shared-buffer":
				shared = v.Value.(int64)
			case v.Name == "buffer: taken in all":
				taken = v.Value.(int64)
			case strings.HasPrefix(v.Name, "buffer: "):
				terms += v.Value.(int64)
			}
		}
		if terms != taken || taken == 0 || buffer-taken != shared {
			t.Errorf("%s: terms of %d B, %d B taken, %d B shared, a buffer of %d B", address, terms, taken, shared, buffer)
		}
	}
}

func TestANICIsExplainedWithTheHeadroomOfItsDriver(t *testing.T) {
	f := resolved(t, smallIntent(), smallInventory())
	nic := f.Hosts[0].NICs[0]
	nic.Model = &catalog.NIC{Name: "ConnectX-6", Receive: true}
	nic.Speed, nic.Cable, nic.MTU = 100e9, 100, 4096
	values := explained(t, f, "gpu1/eth0:receive-headroom")
	// theory: 100G, 100 m, an MTU of 4096 B: 62,841 B by the driver's formula.
	var total int64
	for _, v := range values[1:] {
		total += v.Value.(int64)
	}
	if values[0].Value != int64(62841) || total != 62841 {
		t.Errorf("got %v of terms that make %d, want 62841", values[0].Value, total)
	}
	nic.Model.Receive = false
	if v := explained(t, f, "gpu1/eth0:receive-headroom"); len(v) != 1 || v[0].Value != "not known" {
		t.Errorf("a model whose driver is not known: got %+v", v)
	}
}

func TestWhatIsNotThereHasNoExplanation(t *testing.T) {
	f := resolved(t, smallIntent(), smallInventory())
	for _, address := range []string{"leaf9", "leaf1/Ethernet1", "leaf1/Ethernet9/pfc/8", "class/video", "leaf1/Ethernet9/queue/3:colour", "gpu1/eth9"} {
		if values := explained(t, f, address); len(values) > 0 {
			t.Errorf("%s is explained: %v", address, values)
		}
	}
}

func TestAnExplanationWritesItsEmptyPartsAsSuch(t *testing.T) {
	f := resolved(t, smallIntent(), smallInventory())
	text, err := json.Marshal(explained(t, f, "leaf1/Ethernet9:speed"))
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"name":"speed","value":100000000000,"unit":"bit/s","formula":"","inputs":{},"source":"inventory","at":[]}]`
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAWrittenHeadroomSaysWhatItReplaces(t *testing.T) {
	in := smallIntent()
	in.Settings.PFC.Headroom = at(intent.Headroom{Bytes: 50_000}, 8)
	f := resolved(t, in, smallInventory())
	g := f.Switches[1].Ports[0].Groups[3]
	if g.Headroom != 50_000 || g.ByDevice || g.Reserved != g.XON+50_000 {
		t.Errorf("got %+v", g)
	}
	v := explained(t, f, "spine1/Ethernet1/1/pg/3:headroom")[0]
	if v.Source != "intent" || v.Inputs["computed"] != qos.Bytes(79656) || !slices.Contains(v.At, line(8)) {
		t.Errorf("got %+v", v)
	}
}
