package lossless

import "github.com/weirfabric/weir/intent/qos"

// Shared is the part of a switch's buffer that dynamic thresholds share out: what headroom and guarantees leave.
func Shared(buffer, taken qos.Bytes) qos.Bytes { return max(0, buffer-taken) }

// XOFFDepth is how deep an egress queue is when PFC first fires, with ingresses priority groups feeding it equally:
//
//	q(N) = N*alpha*Bs / (1 + N*alpha)
//
// where Bs is the shared buffer: each group is let up to alpha x what is still free (Choudhury and Hahne, Dynamic Queue
// Length Thresholds for Shared-Memory Packet Switches, 1998). One ingress is the worst case: PFC fires at the least depth.
func XOFFDepth(alpha qos.AlphaShift, shared qos.Bytes, ingresses int) qos.Bytes {
	n := float64(ingresses) * alpha.Alpha()
	return qos.Bytes(n * float64(shared) / (1 + n))
}

// StaticDepth is how deep an egress queue is when PFC first fires, with ingresses priority groups feeding it equally and
// each let up to a fixed threshold. One ingress is the worst case again.
func StaticDepth(threshold qos.Bytes, ingresses int) qos.Bytes {
	return threshold * qos.Bytes(ingresses)
}

// StaticXOFF is the largest fixed threshold that is safe whatever the traffic: all groups of all ports may stand at it at
// once, so that each gets its part of what headroom and guarantees leave. In DCQCN (Zhu et al., SIGCOMM 2015, section
// Buffer settings):
//
//	t_PFC <= (B - 8*n*t_flight) / (8*n)
//
// for 8 classes on n ports, where 8*n*t_flight is what is taken. It is 0 without ports or classes.
func StaticXOFF(buffer, taken qos.Bytes, ports, classes int) qos.Bytes {
	if ports <= 0 || classes <= 0 {
		return 0
	}
	return Shared(buffer, taken) / (qos.Bytes(ports) * qos.Bytes(classes))
}

// ECNBound is the depth below which marking must begin if ECN is to act before PFC whatever the traffic. The queue of one
// ingress group may be spread over the egress queues of all ports, none of which marks yet: ports x Kmin must stay below
// the depth at which PFC fires for that one group. DCQCN (SIGCOMM 2015, section Buffer settings) states it as
//
//	t_ECN < beta*(B - 8*n*t_flight) / (8*n*(beta+1))
//
// whose beta*x/(1+beta) is XOFFDepth for one ingress; shared is there the part of one of its 8 classes. The bound is so low
// on shallow buffers that few fabrics keep it: it is advice, while Kmax below XOFFDepth for one ingress is a must.
//
// With a fixed threshold the depth is the threshold itself: t_ECN < t_PFC / n. The bound is 0 without ports.
func ECNBound(depth qos.Bytes, ports int) qos.Bytes {
	if ports <= 0 {
		return 0
	}
	return depth / qos.Bytes(ports)
}

// OfPercent is the threshold that a share of a queue stands for, in whole bytes rounded down.
func OfPercent(p qos.Percent, queue qos.Bytes) qos.Bytes {
	return qos.Bytes(float64(queue) * float64(p) / 100)
}

// RoundTo is the threshold that a device keeps which counts in units of so many bytes: rounded down, so that neither
// marking nor PAUSE comes later than asked. A unit of 0 or 1 is exact; a threshold below one unit is 0, which a caller must
// not take for "none".
func RoundTo(threshold, unit qos.Bytes) qos.Bytes {
	if unit <= 1 {
		return threshold
	}
	return threshold / unit * unit
}
