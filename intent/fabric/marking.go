package fabric

import (
	"time"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/lossless"
	"github.com/weirfabric/weir/intent/qos"
)

// Marking is how the marking curve of a queue came about.
type Marking struct {
	Min, Max intent.Depth  // as written; the zero Depth: worked out
	RTT      time.Duration // that thresholds which are not written are worked out from
	Depth    qos.Bytes     // of the queue, at which PFC fires; 0: not known, or no PFC
	Flows    int           // that marking must hold below Max; 0: not written
}

// Unresolved says whether a threshold is written as a percentage of a depth that is not known.
func (m *Marking) Unresolved() bool { return m.Depth == 0 && (m.Min.Percent > 0 || m.Max.Percent > 0) }

// curve is the marking curve: what is written, and for a lossless class or with auto what lossless.Curve gives. A lossy class
// of which nothing is written has none. A percentage of a depth that is not known counts as not written; the check ecn-curve
// says so.
func (c *ecnSettings) curve(isLossless bool, speed qos.Rate, depth qos.Bytes) (*qos.WRED, *Marking) {
	if c.off || (!isLossless && !c.auto && c.min == intent.Depth{} && c.max == intent.Depth{}) {
		return nil, nil
	}
	if !isLossless {
		depth = 0 // nothing pauses the class
	}
	w := &qos.WRED{Min: bytesOf(c.min, depth), Max: bytesOf(c.max, depth), Probability: c.probability, ECN: true}
	if w.Max == 0 {
		_, all := lossless.Curve(speed, c.rtt, depth)
		w.Max = max(all, w.Min)
	}
	if w.Min == 0 {
		w.Min = lossless.CurveFrom(speed, c.rtt, w.Max)
	}
	return w, &Marking{Min: c.min, Max: c.max, RTT: c.rtt, Depth: depth, Flows: c.flows}
}

// bytesOf is a written depth in bytes; 0 where it is not written, or a percentage of what is not known.
func bytesOf(d intent.Depth, depth qos.Bytes) qos.Bytes {
	if d.Percent > 0 {
		return lossless.OfPercent(d.Percent, depth)
	}
	return d.Bytes
}

// Rounded is a marking curve as the switch keeps it, whose chip may count thresholds in units.
func (s *Switch) Rounded(w qos.WRED) qos.WRED {
	unit := s.thresholdUnit()
	w.Min, w.Max = lossless.RoundTo(w.Min, unit), lossless.RoundTo(w.Max, unit)
	return w
}

// thresholdUnit is the unit that the chip counts thresholds in; 0 is exact, or not known.
func (s *Switch) thresholdUnit() qos.Bytes {
	if s.ASIC == nil {
		return 0
	}
	return s.ASIC.ThresholdUnit
}

// roceMTUs are the payloads of a RoCE packet that InfiniBand's path MTU knows, the largest first, and roceHeaders what comes
// with them in IP: IP 20, UDP 8, base and extended transport headers 12 and 16, invariant CRC 4.
var roceMTUs = []qos.Bytes{4096, 2048, 1024, 512, 256}

const roceHeaders qos.Bytes = 60

// RoCEMTU is the largest payload of a RoCE packet that fits an IP MTU; models that count packets take it for their size.
func RoCEMTU(ip qos.Bytes) qos.Bytes {
	for _, payload := range roceMTUs {
		if payload+roceHeaders <= ip {
			return payload
		}
	}
	return roceMTUs[len(roceMTUs)-1]
}
