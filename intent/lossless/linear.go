package lossless

import (
	"math"

	"github.com/weirfabric/weir/intent/qos"
)

// Linear is what the long-haul model reads: a cable so long that what is on its way counts for nearly everything.
type Linear struct {
	Speed qos.Rate
	Cable qos.Metres
	MTU   qos.Bytes
}

// The published rows for 80 and 120 km lie on one line within 0.1 %. Its slope is that of the two rows of 100 Gb/s,
// (20,013,056 - 13,357,056) B / (40,000 m x 100 Gb/s) = 1.664 B, of which 1.25 to 1.39 B are the signal's way there and
// back. Its intercept is what they leave at length 0: 13,357,056 - 1.664 x 80,000 x 100 = 45,056 B.
//
// The rows of 0.3, 1 and 2 km in the same tables lie up to 5 % above that line, the more the faster the port. A second line
// covers them: 184 B per Gb/s, 1.5 us, more at length 0, and a slope that ends below the first line from 76.7 km on.
const (
	longHaulBase  = 45056
	longHaulSlope = 1664 // bytes per km and Gb/s
	nearBase      = 184  // bytes per Gb/s
	nearSlope     = 1661.6
)

// LinearSource is where the lines of the long-haul model come from: sonic-net/sonic-buildimage, device/arista.
const LinearSource = "lines through the published rows of pg_profile_lookup.ini for x86_64-arista_7280dr3a_36 and x86_64-arista_7280r4_32qf_32df"

// Headroom is the line through the published long-haul rows, raised on shorter cables:
//
//	H = 45056 B + Gb/s x max(1.664 B x metres, 184 B + 1.6616 B x metres)
//
// It is never less than the sum of the standard's annex, which is more on the shortest cables. XON is two packets, the
// hysteresis of the DCQCN paper. The headroom is not known without a speed.
func (l Linear) Headroom() Result {
	if l.Speed <= 0 {
		return Result{}
	}
	gbps, km := float64(l.Speed.Mbps())/1000, float64(l.Cable)/1000
	var s sum
	s.add("base", longHaulBase, "45056 B, what the published rows of 80 and 120 km leave at length 0")
	s.add("cable", gbps*km*longHaulSlope, "1.664 B x length in m x speed in Gb/s")
	s.raise("below 76.7 km", longHaulBase+gbps*(nearBase+km*nearSlope), "raised to the published rows of 2 km and less: 184 B + 1.6616 B x length in m, each x Gb/s")
	annex := Annex{Speed: l.Speed, Cable: l.Cable, MTU: l.MTU, NoDropMTU: l.MTU}.Headroom()
	s.raise("short cable", float64(annex.Headroom), "raised to the sum of IEEE 802.1Qbb's annex")
	s.raise("whole bytes", math.Ceil(s.exact), "rounded up")
	headroom := qos.Bytes(math.Round(s.exact))
	xon := 2 * (l.MTU + frameOverhead)
	return Result{
		Headroom: headroom, XON: xon, Reserved: xon + headroom, Terms: s.terms, Source: LinearSource, Generic: true,
		Formula: "45056 B + Gb/s x max(1.664 B x metres, 184 B + 1.6616 B x metres), at least the sum of the annex",
	}
}
