package lossless

import (
	"math"
	"strconv"
	"testing"

	"github.com/weirfabric/weir/intent/qos"
)

// The example of DCQCN (Zhu et al., SIGCOMM 2015, section Buffer settings): 12 MB, 32 ports of 40 Gb/s, 8 priorities and
// 22.4 kB of headroom for each.
const (
	exampleBuffer  qos.Bytes = 12e6
	examplePorts             = 32
	exampleClasses           = 8
	exampleFlight  qos.Bytes = 22400
)

// exampleBound is the dynamic bound of the example for a beta of 2^shift and so many priorities. The paper's beta is of the
// part of one priority, so that its share of the buffer goes into the bound.
func exampleBound(shift qos.AlphaShift, classes int) qos.Bytes {
	taken := qos.Bytes(classes) * examplePorts * exampleFlight
	return ECNBound(XOFFDepth(shift, Shared(exampleBuffer, taken)/qos.Bytes(classes), 1), examplePorts)
}

func TestTheThresholdsOfTheDCQCNPaperComeOut(t *testing.T) {
	static := StaticXOFF(exampleBuffer, exampleClasses*examplePorts*exampleFlight, examplePorts, exampleClasses)
	if static != 24475 {
		t.Errorf("t_PFC: got %d, want 24475: the paper's 24.47 kB", static)
	}
	if got := exampleBound(3, exampleClasses); got != 21755 {
		t.Errorf("dynamic t_ECN for beta 8: got %d, want 21755: the paper's 21.75 kB", got)
	}
	// The paper has 0.85 kB for the static t_ECN, which does not follow from its own t_PFC / n: 24,475 / 32 is 0.765 kB. Both
	// are less than one packet, so that its conclusion stands: static thresholds cannot work here.
	if got := ECNBound(static, examplePorts); got != 764 {
		t.Errorf("static t_ECN: got %d, want 764", got)
	}
}

func TestTheSweepsOfTheDCQCNExampleComeOut(t *testing.T) {
	for shift, want := range map[qos.AlphaShift]float64{
		-7: 189.72868217054264, -2: 4895, -1: 8158.333333333333, 0: 12237.5, 1: 16316.666666666666, 2: 19580, 3: 21755.555555555555,
		4: 23035.29411764706,
	} {
		if got := float64(exampleBound(shift, exampleClasses)); got > want || got < want-2 {
			t.Errorf("beta %s: got %v, want %v in whole bytes", shift, got, want)
		}
	}
	for classes, want := range map[int]float64{1: 313422.22222222225, 2: 146755.55555555556, 4: 63422.22222222222, 8: 21755.555555555555} {
		if got := float64(exampleBound(3, classes)); got > want || got < want-2 {
			t.Errorf("%d priorities: got %v, want %v in whole bytes", classes, got, want)
		}
	}
}

func TestThePublishedExampleIsTheOneInTheTest(t *testing.T) {
	var file struct {
		Recomputed struct {
			XOFF    float64 `json:"t_PFC_upper_B"`
			Static  float64 `json:"t_ECN_static_upper_B"`
			Dynamic float64 `json:"t_ECN_dynamic_upper_B_beta8"`
		}
		Beta       map[string]float64 `json:"beta_sweep"`
		Priorities map[string]float64 `json:"priorities_sweep_beta8"`
	}
	shared(t, "dcqcn_buffer_example.json", &file)
	if len(file.Beta) < 8 || len(file.Priorities) != 4 || file.Recomputed.XOFF != 24475 || file.Recomputed.Static != 764.84375 {
		t.Errorf("got %+v", file)
	}
	for text, want := range file.Beta {
		beta, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		if got := float64(exampleBound(qos.AlphaShift(math.Log2(beta)), exampleClasses)); got > want || got < want-2 {
			t.Errorf("beta %s: got %v, want %v", text, got, want)
		}
	}
	for text, want := range file.Priorities {
		classes, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := float64(exampleBound(3, classes)); got > want || got < want-2 {
			t.Errorf("%s priorities: got %v, want %v", text, got, want)
		}
	}
}

func TestAPublishedKmaxPassesOrFailsWithAlpha(t *testing.T) {
	// 16 MB, 32 x 100G, 19.7 kB of headroom a port, one lossless class.
	shared := Shared(16e6, 32*19_700)
	for _, c := range []struct {
		source string
		max    qos.Bytes
		alpha  qos.AlphaShift
		passes bool
	}{
		{"HPCC repo, 100G", 1600e3, -3, true},
		{"HPCC repo, 100G", 1600e3, -4, false},
		{"NX-OS AI/ML guide, 100G", 3000e3, -3, false},
		{"Onyx default", 1500e3, -3, true},
		{"Onyx default", 1500e3, -6, false},
	} {
		if got := c.max < XOFFDepth(c.alpha, shared, 1); got != c.passes {
			t.Errorf("%s: Kmax %s with alpha %s: passes is %v", c.source, c.max, c.alpha, got)
		}
	}
}

func TestTheDepthOfEqualGroupsIsTheMeasuredOne(t *testing.T) {
	// A packet simulation of 12 MB and alpha 1/8 came to these depths for each group; theory is within 1 %.
	for ingresses, measured := range map[int]float64{2: 1199960, 8: 753512, 16: 504088, 32: 302872} {
		within(t, strconv.Itoa(ingresses), float64(XOFFDepth(-3, 12e6, ingresses))/float64(ingresses), measured, 0.01)
	}
	// DCQCN+ reports 4.9 MB for 8 senders in ns3-rdma: 4000 x 1030 B shared, alpha 16, 103 kB of headroom a port.
	within(t, "DCQCN+", float64(XOFFDepth(4, 4000*1030, 8)+8*103_000), 4.9e6, 0.02)
}

func TestStaticThresholdsNeedPortsAndClasses(t *testing.T) {
	if StaticXOFF(12e6, 0, 0, 8) != 0 || StaticXOFF(12e6, 0, 32, 0) != 0 || StaticXOFF(1e6, 2e6, 32, 8) != 0 || ECNBound(1000, 0) != 0 {
		t.Error("a threshold was made of nothing")
	}
	if got := StaticDepth(24475, 4); got != 97900 {
		t.Errorf("four ingresses at 24475 B: got %d", got)
	}
}

func TestThresholdsAreRoundedSoThatMarkingNeverComesLater(t *testing.T) {
	for _, c := range []struct {
		share       qos.Percent
		queue, want qos.Bytes
	}{{15, 1_000_000, 150_000}, {29, 1_000_000, 290_000}, {100, 7, 7}, {50, 7, 3}, {0, 7, 0}} {
		if got := OfPercent(c.share, c.queue); got != c.want {
			t.Errorf("%s of %d: got %d, want %d", c.share, c.queue, got, c.want)
		}
	}
	if RoundTo(1001, 208) != 832 || RoundTo(1001, 0) != 1001 || RoundTo(1001, 1) != 1001 || RoundTo(100, 208) != 0 {
		t.Errorf("got %d, %d, %d, %d", RoundTo(1001, 208), RoundTo(1001, 0), RoundTo(1001, 1), RoundTo(100, 208))
	}
}

func TestAPoolIsTheSumOfHeadroomByItsRatio(t *testing.T) {
	for _, c := range []struct {
		sum, private qos.Bytes
		ratio        int
		want         qos.Bytes
	}{{1000, 0, 2, 500}, {1001, 0, 2, 501}, {1000, 100, 3, 300}, {1000, 0, 0, 1000}, {100, 200, 2, 0}, {1000, 0, 1, 1000}} {
		if got := Pool(c.sum, c.private, c.ratio); got != c.want {
			t.Errorf("(%d - %d) / %d: got %d, want %d", c.sum, c.private, c.ratio, got, c.want)
		}
	}
}
