package view

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/lossless"
	"github.com/weirfabric/weir/intent/qos"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// pictures are ports whose drawing is kept: one of which all is known, with a second class that is only marked, and one whose
// buffer is not known.
func pictures() map[string][]fabric.Picture {
	annex := lossless.Annex{Speed: 100e9, Cable: 40, MTU: 9100, NoDropMTU: 9100}.Headroom()
	rdma := fabric.Picture{
		Address: "leaf1/Ethernet0", SKU: "DCS-7060CX-32S", Class: "rdma", Speed: 100e9, Lossless: true,
		Buffer: 16e6, Taken: 3_140_000, Own: annex.Reserved, XOFF: 1_428_000, Terms: annex.Terms,
		Group: fabric.Group{ID: 3, Lossless: true, Priorities: qos.Priorities(3), Alpha: -3, XON: annex.XON, Headroom: annex.Headroom, Reserved: annex.Reserved},
		WRED:  &qos.WRED{Min: 150e3, Max: 800e3, Probability: 20, ECN: true},
	}
	bulk := fabric.Picture{
		Address: rdma.Address, SKU: rdma.SKU, Class: "bulk <2>", Speed: 100e9, Buffer: rdma.Buffer, Taken: rdma.Taken, Own: rdma.Own,
		WRED: &qos.WRED{Min: 30e3, Max: 90e3, Probability: 100, ECN: true},
	}
	unknown := rdma
	unknown.Address, unknown.SKU, unknown.Buffer, unknown.Taken, unknown.XOFF, unknown.Terms = "leaf2/Ethernet0", "ACME-1", 0, 0, 0, nil
	static := rdma
	static.Group.Static, static.XOFF, static.Pooled = 402e3, 402e3, true
	static.WRED = &qos.WRED{Min: 150e3, Max: 300e3, Probability: 20, ECN: true}
	only := rdma
	only.WRED = nil
	return map[string][]fabric.Picture{"port": {rdma, bulk}, "port-unknown": {unknown}, "port-static": {static}, "port-pfc-only": {only}}
}

func TestThePortOfEachKindIsDrawnAsItWas(t *testing.T) {
	for name, p := range pictures() {
		var got bytes.Buffer
		PortSVG(&got, p)
		file := "testdata/" + name + ".svg"
		if *update {
			if err := os.MkdirAll("testdata", 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestADrawingIsXMLThatSaysWhatIsNotKnown(t *testing.T) {
	for name, p := range pictures() {
		var got bytes.Buffer
		PortSVG(&got, p)
		for d := xml.NewDecoder(bytes.NewReader(got.Bytes())); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if says := strings.Contains(got.String(), "not known for SKU"); says != (p[0].Buffer == 0) {
			t.Errorf("%s: says that the buffer is not known: %v", name, says)
		}
	}
}

func TestLabelsDoNotOverlap(t *testing.T) {
	for name, ys := range map[string][]int{
		"all at the foot":  {bandTop + barHeight, bandTop + barHeight, bandTop + barHeight - 1, bandTop + barHeight - 2},
		"all at the top":   {bandTop + 2, bandTop + 1, bandTop, bandTop},
		"far from another": {400, 300, 200},
	} {
		all := make([]label, len(ys))
		for i, y := range ys {
			all[i].y = y
		}
		at := spread(all)
		for i := range at {
			if i > 0 && at[i-1]-at[i] < labelGap {
				t.Errorf("%s: labels at %v", name, at)
			}
			if at[i] < bandTop || at[i] > bandTop+barHeight+labelGap {
				t.Errorf("%s: a label at %d is beside no bar", name, at[i])
			}
		}
	}
}
