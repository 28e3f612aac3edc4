package telemetry

import (
	"testing"
	"time"
)

func TestTheTimeBetweenReadingsIsTheDevicesOwn(t *testing.T) {
	noon := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	second := func(n float64) time.Time { return noon.Add(time.Duration(n * float64(time.Second))) }
	for name, c := range map[string]struct {
		points []Point
		scale  float64
		want   time.Duration
	}{
		"one point says nothing":                                 {points: []Point{{At: noon}}, scale: 1},
		"without the device's clock it is ours":                  {points: []Point{{At: noon}, {At: second(10)}}, scale: 1, want: 10 * time.Second},
		"in a laboratory ours is multiplied":                     {points: []Point{{At: noon}, {At: second(1)}}, scale: 20, want: 20 * time.Second},
		"the device's clock makes it exact":                      {points: []Point{{At: noon, Taken: second(3600)}, {At: second(1.1), Taken: second(3620)}}, scale: 20, want: 20 * time.Second},
		"the time of the last change is not that of the reading": {points: []Point{{At: noon, Taken: second(-600)}, {At: second(10), Taken: second(10)}}, scale: 1, want: 10 * time.Second},
		"a clock that was set back":                              {points: []Point{{At: noon, Taken: noon}, {At: second(10), Taken: second(-50)}}, scale: 1, want: 10 * time.Second},
	} {
		if got := (Series{Points: c.points}).Over(c.scale); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

func TestACounterThatBeganAnewGrewFromZero(t *testing.T) {
	s := Series{}
	for _, v := range []float64{5, 7, 7, 1, 4} {
		s.Points = append(s.Points, Point{Value: v})
	}
	if got, want := s.Growth(), 6.0; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestASeriesIsStaleWhenItMissedMoreThanIsForgiven(t *testing.T) {
	noon := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	s := Series{Every: 10 * time.Second, Points: []Point{{At: noon}}}
	for after, want := range map[time.Duration]bool{30 * time.Second: false, 31 * time.Second: true} {
		if got := s.Stale(noon.Add(after), 2); got != want {
			t.Errorf("after %s: got %v, want %v", after, got, want)
		}
	}
	s.Every = 0
	if s.Stale(noon.Add(time.Hour), 2) {
		t.Error("a series without an interval is stale")
	}
}
