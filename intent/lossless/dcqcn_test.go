package lossless

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/weirfabric/weir/intent/qos"
)

// profile is the settings that rows of the computed table were made with. The model counts packets of 1000 B.
func profile(t *testing.T, name string, rate qos.Rate) DCQCN {
	t.Helper()
	switch {
	case strings.HasPrefix(name, "DCQCN paper"):
		return PaperDCQCN(rate, 1000, qos.WRED{Min: 5e3, Max: 200e3, Probability: 1})
	case strings.HasPrefix(name, "HPCC repo"):
		return DCQCN{
			Rate: rate, MTU: 1000, Curve: qos.WRED{Min: 400e3, Max: 1600e3, Probability: 20},
			CNPInterval: 4 * time.Microsecond, AlphaTimer: time.Microsecond, RateTimer: 300 * time.Microsecond,
			ByteCounter: 10e6, FastRecovery: 1, AdditiveIncrease: 20e6,
		}
	case strings.HasPrefix(name, "ns3-rdma sample"):
		d := PaperDCQCN(rate, 1000, qos.WRED{Min: 40e3, Max: 1000e3, Probability: 100})
		d.RateTimer, d.ByteCounter = 60*time.Microsecond, 300e6*1000 // its BYTE_COUNTER, taken for packets in the table
		return d
	}
	t.Fatalf("no profile %q", name)
	return DCQCN{}
}

func TestTheFixedPointIsTheExactRoot(t *testing.T) {
	for _, name := range []string{"testdata/dcqcn.json", "../../../shared/data/dcqcn_fixed_point.json"} {
		t.Run(name, func(t *testing.T) {
			body, err := os.ReadFile(name)
			if err != nil {
				t.Skip("the computed table is not here")
			}
			var file struct {
				Rows []struct {
					N       int
					Gbps    int64    `json:"C_gbps"`
					P       float64  `json:"p_star"`
					About   float64  `json:"p_approx"`
					Alpha   float64  `json:"alpha_star"`
					Queue   *float64 `json:"q_star_bytes"`
					Exceeds bool     `json:"p_exceeds_pmax"`
					Profile string
				}
			}
			if err := json.Unmarshal(body, &file); err != nil {
				t.Fatal(err)
			}
			if len(file.Rows) != 24 {
				t.Errorf("%d rows, want 24", len(file.Rows))
			}
			for _, row := range file.Rows {
				what := fmt.Sprintf("%s, %d flows", row.Profile, row.N)
				d := profile(t, row.Profile, qos.Rate(row.Gbps)*1e9)
				p, queue, ok := d.FixedPoint(row.N)
				within(t, what+": p", p, row.P, 1e-6)
				within(t, what+": alpha", d.alpha(p, d.packets(d.Rate)/float64(row.N)), row.Alpha, 1e-6)
				within(t, what+": approximation", approximation(d, row.N), row.About, 1e-6)
				if ok == row.Exceeds || ok != (row.Queue != nil) {
					t.Errorf("%s: ok is %v", what, ok)
				}
				if row.Queue != nil {
					within(t, what+": queue", d.depth(p), *row.Queue, 1e-6)
					if math.Abs(float64(queue)-*row.Queue) > 0.51 {
						t.Errorf("%s: got %d B, want %v", what, queue, *row.Queue)
					}
				}
			}
		})
	}
}

// approximation is the root for small probabilities, which is 19 to 70 % too high.
func approximation(d DCQCN, flows int) float64 {
	n, c := float64(flows), d.packets(d.Rate)
	steps := float64(d.MTU)/float64(d.ByteCounter) + n/(d.RateTimer.Seconds()*c)
	return math.Cbrt(d.packets(d.AdditiveIncrease) * n * n / (d.AlphaTimer.Seconds() * c * c) * steps * steps)
}

func TestTheFixedPointSolvesTheEquation(t *testing.T) {
	d := PaperDCQCN(100e9, 4096, qos.WRED{Min: 150e3, Max: 1500e3, Probability: 20})
	for flows := 1; flows < 2000; flows = flows*3/2 + 1 {
		p, _, _ := d.FixedPoint(flows)
		rate := d.packets(d.Rate) / float64(flows)
		tau := d.CNPInterval.Seconds()
		within(t, fmt.Sprint(flows, " flows"), d.balance(p, rate), tau*tau*d.packets(d.AdditiveIncrease)*rate, 1e-9)
	}
}

func TestACurveHoldsTheFlowsUpToItsFullProbability(t *testing.T) {
	d := PaperDCQCN(40e9, 1000, qos.WRED{Min: 5e3, Max: 200e3, Probability: 1})
	p, _, _ := d.FixedPoint(8)
	for share, want := range map[float64]bool{1.001: true, 0.999: false} {
		d.Curve.Probability = qos.Percent(100 * p * share)
		got, queue, ok := d.FixedPoint(8)
		if ok != want || got != p || ok && (queue < 199e3 || queue > 200e3) || !ok && queue != 0 {
			t.Errorf("a curve of %s: %g at %d B, %v", d.Curve.Probability, got, queue, ok)
		}
	}
}

func TestTheMostFlowsAreTheLastWithAFixedPoint(t *testing.T) {
	for _, c := range []struct {
		probability qos.Percent
		want        int
	}{{1, 14}, {0.01, 0}} {
		d := PaperDCQCN(40e9, 1000, qos.WRED{Min: 5e3, Max: 200e3, Probability: c.probability})
		got := d.MostFlows()
		if got != c.want {
			t.Errorf("%s: got %d flows, want %d", c.probability, got, c.want)
		}
		if _, _, ok := d.FixedPoint(got + 1); ok {
			t.Errorf("%s: one flow more has a fixed point too", c.probability)
		}
	}
	d := PaperDCQCN(40e9, 1000, qos.WRED{Min: 5e3, Max: 200e3, Probability: 1})
	last := 0.0
	for flows := 1; flows <= 4096; flows *= 2 {
		p, _, _ := d.FixedPoint(flows)
		if p <= last {
			t.Errorf("%d flows need a probability of %g and half of them %g", flows, p, last)
		}
		last = p
	}
}

func TestWithoutSettingsThereIsNoFixedPoint(t *testing.T) {
	whole := PaperDCQCN(40e9, 1000, qos.WRED{Min: 5e3, Max: 200e3, Probability: 1})
	for name, change := range map[string]func(*DCQCN){
		"rate":  func(d *DCQCN) { d.Rate = 0 },
		"mtu":   func(d *DCQCN) { d.MTU = 0 },
		"cnp":   func(d *DCQCN) { d.CNPInterval = 0 },
		"alpha": func(d *DCQCN) { d.AlphaTimer = 0 },
		"timer": func(d *DCQCN) { d.RateTimer = 0 },
		"bytes": func(d *DCQCN) { d.ByteCounter = 0 },
		"rise":  func(d *DCQCN) { d.AdditiveIncrease = 0 },
		"curve": func(d *DCQCN) { d.Curve = qos.WRED{} },
	} {
		d := whole
		change(&d)
		if p, _, ok := d.FixedPoint(2); ok || d.MostFlows() != 0 || p != 0 && name != "curve" {
			t.Errorf("%s: a fixed point without it, at %g", name, p)
		}
	}
	if _, _, ok := whole.FixedPoint(0); ok {
		t.Error("no flows have a fixed point")
	}
}
