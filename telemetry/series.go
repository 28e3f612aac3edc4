package telemetry

import (
	"time"

	"github.com/weirfabric/weir/intent/addr"
)

// Point is a value at a time.
type Point struct {
	At    time.Time // when it was received
	Taken time.Time // by the device's clock; zero: not said
	Value float64
}

// Series is the last readings of one metric of one thing, the oldest first.
type Series struct {
	Metric *Metric
	Addr   addr.Addr
	Status Status
	Every  time.Duration // how often its source brings it; 0: not known
	Points []Point       // empty for a reading that has no value
}

// Last is the newest point, or the zero Point.
func (s Series) Last() Point {
	if len(s.Points) == 0 {
		return Point{}
	}
	return s.Points[len(s.Points)-1]
}

// Growth is by how much a counter grew over its points. A counter that went down began anew at zero, as after a restart of
// the device.
func (s Series) Growth() float64 {
	var growth float64
	for i := 1; i < len(s.Points); i++ {
		was, is := s.Points[i-1].Value, s.Points[i].Value
		if is < was {
			was = 0
		}
		growth += is - was
	}
	return growth
}

// clockTrust is by how much of the time the device's clock may differ from ours before it is not believed: some devices give
// the time of the last change instead of that of the reading.
const clockTrust = 0.25

// Over is the time from the first point to the last, as the device lives it: ours multiplied by scale, which is 1 but in a
// laboratory, and made exact by the device's clock.
func (s Series) Over(scale float64) time.Duration {
	if len(s.Points) < 2 {
		return 0
	}
	first, last := s.Points[0], s.Last()
	over := time.Duration(float64(last.At.Sub(first.At)) * scale)
	if first.Taken.IsZero() || last.Taken.IsZero() {
		return over
	}
	taken := last.Taken.Sub(first.Taken)
	if (taken - over).Abs() > time.Duration(clockTrust*float64(over)) {
		return over
	}
	return taken
}

// Stale says whether the series has missed more readings than are forgiven. A series whose source has no known interval is
// never stale.
func (s Series) Stale(now time.Time, forgiven int) bool {
	return s.Every > 0 && now.Sub(s.Last().At) > time.Duration(forgiven+1)*s.Every
}
