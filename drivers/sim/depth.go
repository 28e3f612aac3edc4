package sim

import (
	"math"

	"github.com/weirfabric/weir/intent/qos"
)

// marks says whether DCQCN holds what a lane sends. Where PFC protects the lane the top of the marking curve must lie below
// the depth at which one ingress alone would reach XOFF (theory: Kmax < alpha x Bs / (1 + alpha)); where nothing does,
// marking must only begin before the queue drops.
func (s *solver) marks(at int) bool {
	port, q := at/8, at%8
	wred := s.ports[port].set.Queues[q].WRED
	if wred == nil || !wred.ECN {
		return false
	}
	depth, lossless := s.depthLimit(port, q, 1)
	if lossless {
		return float64(wred.Max) <= depth
	}
	return float64(wred.Min) < depth
}

// lossyAlpha is the dynamic threshold of a queue that nothing protects, as ns-3 models of datacentre switches have it.
const lossyAlpha = 1.0 / 16

// defaultBuffer is the packet buffer of a Tomahawk, in bytes.
const defaultBuffer = 16e6

// depthLimit is how deep a queue gets, in bytes, before n ingress ports that feed it reach XOFF, or before it drops where
// the priority is not lossless: n alpha Bs / (1 + n alpha), Bs being the buffer without headroom (Choudhury and Hahne).
func (s *solver) depthLimit(port, q, n int) (bytes float64, lossless bool) {
	device := s.topology.ends[port].device
	shared := float64(s.specs[device].Buffer)
	if shared == 0 {
		shared = defaultBuffer
	}
	whole, alpha := shared, math.Inf(1)
	for _, in := range s.topology.ports[device] {
		set := s.ports[in].set
		for _, h := range set.Headroom {
			shared -= float64(h)
		}
		if set.PFC.Has(qos.Priority(q)) {
			alpha = min(alpha, set.Alpha[q].Alpha())
		}
	}
	lossless = !math.IsInf(alpha, 1)
	if !lossless {
		alpha, n = lossyAlpha, 1
	}
	a := alpha * float64(n)
	return max(shared, whole/8) * a / (1 + a), lossless
}
