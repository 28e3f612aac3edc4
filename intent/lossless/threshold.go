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
