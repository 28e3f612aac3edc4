package lossless

import (
	"math"
	"time"

	"github.com/weirfabric/weir/intent/qos"
)

// DCQCN is what the fluid model of DCQCN reads: a port, its marking curve, and how the senders answer to marks.
type DCQCN struct {
	Rate  qos.Rate  // of the port that the flows share
	MTU   qos.Bytes // of a packet: the model counts in packets
	Curve qos.WRED

	CNPInterval      time.Duration // tau: between two CNPs of a flow, and between two cuts of its rate
	AlphaTimer       time.Duration // tau': after which alpha falls without a CNP
	RateTimer        time.Duration // T: after which the rate rises by time
	ByteCounter      qos.Bytes     // B: after which the rate rises by bytes
	FastRecovery     int           // F: rises before the additive ones
	AdditiveIncrease qos.Rate      // R_AI
}

// PaperDCQCN is a port whose senders have the settings of the paper: Zhu et al., Congestion Control for Large-Scale RDMA
// Deployments, SIGCOMM 2015. NICs come with others.
func PaperDCQCN(rate qos.Rate, mtu qos.Bytes, curve qos.WRED) DCQCN {
	return DCQCN{
		Rate: rate, MTU: mtu, Curve: curve,
		CNPInterval: 50 * time.Microsecond, AlphaTimer: 55 * time.Microsecond, RateTimer: 55 * time.Microsecond,
		ByteCounter: 10e6, FastRecovery: 5, AdditiveIncrease: 40e6,
	}
}

// MostFlows is the largest number of flows, up to MostModelFlows, that the curve can hold below its Max: with more, even
// its full probability marks too little, the queue rises above Max and nothing but marking every packet is left. It is 0
// when not even one flow has a fixed point, or when the settings are not all there.
func (d DCQCN) MostFlows() int {
	return greatest(MostModelFlows, func(n int) bool {
		_, _, ok := d.FixedPoint(n)
		return ok
	})
}

// MostModelFlows is where the search for the largest number of flows ends.
const MostModelFlows = 1 << 16

// FixedPoint is the marking probability at which so many equal flows neither gain nor lose, and the depth of the queue at
// which the curve marks so. It is not ok where that probability is above the curve's, so that no queue below Max holds the
// flows, and where the settings are not all there; the probability is then still given if there is one.
//
// UNVERIFIED: the equations were recalled from Zhu et al., ECN or Delay: Lessons Learnt from Analysis of DCQCN and TIMELY
// (CoNEXT 2016), and re-derived, but not read there. Use the result as advice. With R = C/N in packets per second,
//
//	a^2*alpha / ((b+d)*(c+e)) = tau^2 * R_AI * R
//	a = 1-(1-p)^(tau*R)         alpha = 1-(1-p)^(tau'*R)
//	b = p/((1-p)^-B - 1)        c = (1-p)^(F*B) * b
//	d = p/((1-p)^-(T*R) - 1)    e = (1-p)^(F*T*R) * d
//	q = Kmin + p*(Kmax-Kmin)/Pmax
//
// The left side rises with p, so that its one root is found by halving. The fixed point says nothing about stability.
func (d DCQCN) FixedPoint(flows int) (probability float64, queue qos.Bytes, ok bool) {
	if flows <= 0 || d.Rate <= 0 || d.MTU <= 0 || d.CNPInterval <= 0 || d.AlphaTimer <= 0 || d.RateTimer <= 0 ||
		d.ByteCounter <= 0 || d.AdditiveIncrease <= 0 {
		return 0, 0, false
	}
	probability = d.root(d.packets(d.Rate) / float64(flows))
	if probability*100 > float64(d.Curve.Probability) {
		return probability, 0, false
	}
	return probability, qos.Bytes(math.Round(d.depth(probability))), true
}

// packets is a rate in packets per second.
func (d DCQCN) packets(rate qos.Rate) float64 { return float64(rate) / 8 / float64(d.MTU) }

// depth is the queue in bytes at which the curve marks with a probability.
func (d DCQCN) depth(p float64) float64 {
	return float64(d.Curve.Min) + p*100/float64(d.Curve.Probability)*float64(d.Curve.Max-d.Curve.Min)
}

// root is the marking probability at which flows of so many packets per second neither gain nor lose. It is halved by its
// order of magnitude, since it lies anywhere from a millionth to one half.
func (d DCQCN) root(rate float64) float64 {
	const least, halvings = 1e-18, 120
	tau := d.CNPInterval.Seconds()
	target := tau * tau * d.packets(d.AdditiveIncrease) * rate
	low, high := least, 1.0
	for range halvings {
		middle := math.Sqrt(low * high)
		if d.balance(middle, rate) < target {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Sqrt(low * high)
}

// balance is the left side of the equation. It is infinite where no rise ever comes through.
func (d DCQCN) balance(p, rate float64) float64 {
	byBytes := float64(d.ByteCounter) / float64(d.MTU)
	byTime := d.RateTimer.Seconds() * rate
	fast := float64(d.FastRecovery)
	a := marked(p, d.CNPInterval.Seconds()*rate)
	b, t := rises(p, byBytes), rises(p, byTime)
	c, e := unmarked(p, fast*byBytes)*b, unmarked(p, fast*byTime)*t
	return a * a * d.alpha(p, rate) / ((b + t) * (c + e))
}

// alpha is the sender's estimate of congestion at the fixed point.
func (d DCQCN) alpha(p, rate float64) float64 { return marked(p, d.AlphaTimer.Seconds()*rate) }

// unmarked is (1-p)^n, marked is 1-(1-p)^n and rises is p/((1-p)^-n - 1), each without loss of digits for a small p.
func unmarked(p, n float64) float64 { return math.Exp(n * math.Log1p(-p)) }
func marked(p, n float64) float64   { return -math.Expm1(n * math.Log1p(-p)) }
func rises(p, n float64) float64    { return p / math.Expm1(-n*math.Log1p(-p)) }
