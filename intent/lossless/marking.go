package lossless

import (
	"math/bits"
	"time"

	"github.com/weirfabric/weir/intent/qos"
)

// UsualRTT is the round trip that marking is laid out for unless the operator says otherwise: 12 us of queue is where
// published settings for 100 Gb/s begin to mark (150 kB: NVIDIA Onyx 3.10 "show roce"; Cisco's AI/ML guide for RoCEv2).
const UsualRTT = 12 * time.Microsecond

// Marking reaches every packet at 64/12 of the queue where it begins: 64 us, which lies between the published 32 us
// (ConWeave) and 128 us (HPCC) for 100 Gb/s, and at most at 90 % of the depth at which PFC fires.
const (
	markFrom, markAll = 12, 64
	belowPFC          = 90 // percent
	wholeKB           = 1000
)

// Curve is the method of `ecn: auto`. Marking begins at one round trip of queue and reaches every packet at 64/12 of it,
//
//	Kmin = C x RTT,  Kmax = C x RTT x 64/12
//
// lowered where PFC would come first: Kmax to 90 % of depth, the depth at which PFC fires for one ingress, in whole kB, and
// Kmin in proportion. An rtt of 0 is UsualRTT; a depth of 0 is not known, and nothing is lowered.
func Curve(speed qos.Rate, rtt time.Duration, depth qos.Bytes) (from, all qos.Bytes) {
	if rtt <= 0 {
		rtt = UsualRTT
	}
	all = roundKB(bytesIn(speed, rtt*markAll/markFrom))
	if limit := RoundTo(depth*belowPFC/100, wholeKB); depth > 0 && all > limit {
		all = limit
	}
	return CurveFrom(speed, rtt, all), all
}

// CurveFrom is the Kmin that goes with a Kmax: one round trip of queue, and at most 12/64 of Kmax, in whole kB.
func CurveFrom(speed qos.Rate, rtt time.Duration, all qos.Bytes) qos.Bytes {
	if rtt <= 0 {
		rtt = UsualRTT
	}
	return min(bytesIn(speed, rtt), RoundTo(all*markFrom/markAll, wholeKB))
}

// Delay is how long a queue of n bytes takes to leave at the speed, to the nearest nanosecond; 0 without a speed.
func Delay(n qos.Bytes, speed qos.Rate) time.Duration {
	if n <= 0 || speed <= 0 {
		return 0
	}
	return time.Duration(mulDiv(8*uint64(n), uint64(time.Second), uint64(speed), uint64(speed)/2))
}

// bytesIn is how much leaves at the speed in a time, in whole bytes rounded down.
func bytesIn(speed qos.Rate, d time.Duration) qos.Bytes {
	if speed <= 0 || d <= 0 {
		return 0
	}
	return qos.Bytes(mulDiv(uint64(speed), uint64(d), 8*uint64(time.Second), 0))
}

// roundKB rounds down to whole kB; less than one kB stays as it is.
func roundKB(n qos.Bytes) qos.Bytes {
	if n < wholeKB {
		return n
	}
	return RoundTo(n, wholeKB)
}

// mulDiv is (a*b + c) / d without overflow between.
func mulDiv(a, b, d, c uint64) uint64 {
	high, low := bits.Mul64(a, b)
	low, carry := bits.Add64(low, c, 0)
	if high+carry >= d {
		return 1<<63 - 1
	}
	quotient, _ := bits.Div64(high+carry, low, d)
	return quotient
}
