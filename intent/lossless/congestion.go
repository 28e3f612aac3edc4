package lossless

import (
	"math"
	"time"

	"github.com/weirfabric/weir/intent/qos"
)

// Oversubscription is the convergence ratio of a switch or tier: what may come in from below per what can leave upwards.
// 48 x 10G over 6 x 40G is 2. Without any way up it is infinite.
func Oversubscription(down, up qos.Rate) float64 {
	if up <= 0 {
		return math.Inf(1)
	}
	return float64(down) / float64(up)
}

// Polarised is how many of the n2 links of a second tier are used when it hashes just as the first did over n1 links: the
// first leaves only every n1-th hash value, whose residues modulo n2 are n2/gcd(n1, n2).
func Polarised(n1, n2 int) int {
	if n1 <= 0 || n2 <= 0 {
		return 0
	}
	a, b := n1, n2
	for b != 0 {
		a, b = b, a%b
	}
	return n2 / a
}

// NoCollision is the probability that so many flows, hashed evenly over links, all have a link of their own:
// n! / ((n-F)! * n^F).
func NoCollision(flows, links int) float64 {
	if flows > links {
		return 0
	}
	p := 1.0
	for i := range flows {
		p *= float64(links-i) / float64(links)
	}
	return p
}

// WorstLink is the expected number of flows on the fullest link when flows are hashed evenly over links. It is counted, not
// sampled:
//
//	E(max) = sum over m >= 0 of 1 - P(no link has more than m)
//
// and the probability is that of independent Poisson counts, one per link, given that their sum is the number of flows.
// The work is about links x flows x the square of the result: milliseconds for hundreds of flows.
func WorstLink(flows, links int) float64 {
	if flows <= 0 || links <= 0 {
		return 0
	}
	mean := float64(flows) / float64(links)
	counts := make([]float64, flows+1) // of one link
	for j := range counts {
		counts[j] = poisson(mean, j)
	}
	sum := poisson(float64(flows), flows)
	least := (flows + links - 1) / links
	expected := float64(least)
	for m := least; m < flows; m++ {
		more := 1 - noneAbove(counts[:m+1], links, flows)/sum
		if more < negligible {
			break
		}
		expected += more
	}
	return expected
}

// negligible is a probability that is left out of the sum, well above the rounding of the terms.
const negligible = 1e-9

// noneAbove is the probability that so many links, each with counts of the given probabilities, have the flows together.
func noneAbove(counts []float64, links, flows int) float64 {
	total := make([]float64, flows+1)
	total[0] = 1
	next := make([]float64, flows+1)
	for range links {
		for t := range next {
			next[t] = 0
			for j := 0; j < len(counts) && j <= t; j++ {
				next[t] += counts[j] * total[t-j]
			}
		}
		total, next = next, total
	}
	return total[flows]
}

// poisson is the probability of n where so many are the mean.
func poisson(mean float64, n int) float64 {
	logFactorial, _ := math.Lgamma(float64(n) + 1)
	return math.Exp(float64(n)*math.Log(mean) - mean - logFactorial)
}

// pauseBits is the longest time that one PAUSE frame asks for, in bit times: 65535 quanta of 512 (IEEE 802.3 annex 31B).
const pauseBits = 65535 * 512

// PauseSource is where the longest PAUSE comes from.
const PauseSource = "IEEE 802.3 annex 31B"

// PauseRate is how many PAUSE frames a second hold a link of the rate stopped: each asks for at most 65535 quanta.
func PauseRate(rate qos.Rate) float64 { return float64(rate) / pauseBits }

// PauseTime is how long one PAUSE frame of 65535 quanta stops a link of the rate; 0 without a rate.
func PauseTime(rate qos.Rate) time.Duration {
	if rate <= 0 {
		return 0
	}
	return time.Duration(math.Round(pauseBits * float64(time.Second) / float64(rate)))
}
