package lossless

import (
	"fmt"
	"math"

	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/inventory/catalog"
)

// Annex is what the standard's worst case reads: IEEE 802.1Qbb annex O, now 802.1Q annex N, as its component list is
// published.
type Annex struct {
	Speed     qos.Rate
	Cable     qos.Metres
	MTU       qos.Bytes // of any packet, in the way of the PAUSE frame
	NoDropMTU qos.Bytes // of the lossless class
	Velocity  float64   // of the signal, as a fraction of that of light; 0: 0.6
}

const (
	lightInVacuum = 299792458 // m/s
	// cautiousVelocity reproduces the 22.4 kB that the DCQCN paper publishes for 40 Gb/s, 100 m and an MTU of 1500 B.
	cautiousVelocity = 0.6
	frameOverhead    = 18 + 20 // bytes: header and checksum, preamble and gap
	pauseFrame       = 84      // bytes on the wire
)

// interfaceDelay is the delay of one station's PHY and MAC in bit times, by speed in Mb/s.
var interfaceDelay = map[int64]float64{10000: 8192, 25000: 6144, 40000: 24576, 100000: 122880}

// Headroom is the sum of the annex:
//
//	H = F(MTU) + F(noDropMTU) + 84 B + 2*interface delay + response + 2*cable,  F(n) = n + 38 B
//
// It is not known for a speed without pause quanta. XON is two packets of the class, the hysteresis of the DCQCN paper.
// The annex counts bytes: a chip that stores cells may need more.
func (a Annex) Headroom() Result {
	quanta, ok := pauseQuanta[a.Speed.Mbps()]
	if !ok || a.Speed == 0 {
		return Result{}
	}
	delay, published := a.delay()
	s := a.sum(quanta, delay)
	s.raise("whole bytes", math.Ceil(s.exact), "rounded up")
	headroom := qos.Bytes(math.Round(s.exact))
	xon := 2 * (a.NoDropMTU + frameOverhead)
	return Result{
		Headroom: headroom, XON: xon, Reserved: xon + headroom, Terms: s.terms, Source: catalog.AnnexSource, Estimated: !published, Generic: true,
		Formula: "frame(MTU) + frame(lossless MTU) + PAUSE frame + 2 x interface delay + response + 2 x cable",
	}
}

// sum adds the terms up, with their fractions.
func (a Annex) sum(quanta, delay float64) *sum {
	velocity := a.Velocity
	if velocity == 0 {
		velocity = cautiousVelocity
	}
	s := &sum{}
	s.add("packet in the way of PAUSE", float64(a.MTU)+frameOverhead, "MTU + 38 B")
	s.add("packet that had begun", float64(a.NoDropMTU)+frameOverhead, "lossless MTU + 38 B")
	s.add("PAUSE frame", pauseFrame, "84 B")
	s.add("interfaces", 2*delay/8, fmt.Sprintf("2 x %g bit times", delay))
	s.add("response", quanta*512/8, fmt.Sprintf("%g pause quanta x 64 B", quanta))
	s.add("cable", 2*float64(a.Cable)*float64(a.Speed)/(velocity*lightInVacuum)/8, fmt.Sprintf("2 x length x speed / %g c", velocity))
	return s
}

// delay is the interface delay in bit times, and whether it is published for this speed. Where it is not, 100 Gb/s and its
// 1.23 us stand in above 25 Gb/s, the longest of those that are published; below 10 Gb/s the bit times of 10 Gb/s do.
func (a Annex) delay() (bitTimes float64, published bool) {
	mbps := a.Speed.Mbps()
	if d, ok := interfaceDelay[mbps]; ok {
		return d, true
	}
	if mbps < 10000 {
		return interfaceDelay[10000], false
	}
	return interfaceDelay[100000] * float64(mbps) / 100000, false
}
