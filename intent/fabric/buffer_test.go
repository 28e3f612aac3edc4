package fabric

import (
	"testing"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/lossless"
	"github.com/weirfabric/weir/intent/qos"
)

func TestTheBudgetIsWhatIsTaken(t *testing.T) {
	for _, ratio := range []int{0, 1, 3} {
		in := smallIntent()
		in.Settings.Buffers.Oversubscribe = at(ratio, 7)
		sw := resolved(t, in, smallInventory()).Switches[1]
		b, known := sw.Budget()
		taken, _ := sw.TakenBuffer()
		if !known || b.Taken() != taken || b.Other != 0 {
			t.Errorf("ratio %d: the budget takes %d B, %d of them nobody's; the ports take %d", ratio, b.Taken(), b.Other, taken)
		}
		ports := 0
		for _, d := range b.Demands {
			ports += d.Ports
			if at := d.At(d.Cable); at.Headroom != d.Headroom || at.Reserved != d.Reserved {
				t.Errorf("ratio %d: %s: at its own cable it asks %+v", ratio, d.Name, at)
			}
		}
		if ports != len(sw.Ports) {
			t.Errorf("ratio %d: %d of %d ports ask", ratio, ports, len(sw.Ports))
		}
	}
}

func TestWrittenHeadroomDoesNotChangeWithTheCable(t *testing.T) {
	in := smallIntent()
	in.Settings.PFC.Headroom = at(intent.Headroom{Bytes: 50_000}, 8)
	b, _ := resolved(t, in, smallInventory()).Switches[1].Budget()
	if b.Demands[0].At != nil {
		t.Error("the budget pretends to know what another cable would need")
	}
}

func TestAStaticThresholdIsKnownWithoutABuffer(t *testing.T) {
	if got := XOFFDepth(0, 96e3, 0, false); got != 96e3 {
		t.Errorf("got %s", got)
	}
	if got := XOFFDepth(0, 0, 0, false); got != 0 {
		t.Errorf("an unknown buffer gives %s", got)
	}
	if got, want := XOFFDepth(-3, 0, 9e6, true), lossless.XOFFDepth(-3, 9e6, 1); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAPictureHasWhatTheClassUses(t *testing.T) {
	f := resolved(t, smallIntent(), smallInventory())
	sw := f.Switches[1]
	pictures := Pictures(f, sw, sw.Ports[0])
	if len(pictures) != 1 {
		t.Fatalf("got %d pictures", len(pictures))
	}
	p := pictures[0]
	var terms qos.Bytes
	for _, term := range p.Terms {
		terms += term.Bytes
	}
	shared, _ := sw.SharedBuffer()
	if !p.Lossless || p.Address != "spine1/Ethernet1/1" || p.Buffer-p.Taken != shared || p.XOFF == 0 || terms != p.Group.Headroom || p.WRED == nil {
		t.Errorf("got %+v", p)
	}
}
