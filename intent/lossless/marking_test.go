package lossless

import (
	"math"
	"os"
	"testing"
	"time"

	"github.com/weirfabric/weir/intent/qos"
)

func TestTheCurveIsTwelveAndSixtyFourMicrosecondsUnlessPFCComesFirst(t *testing.T) {
	for _, c := range []struct {
		speed    qos.Rate
		rtt      time.Duration
		depth    qos.Bytes
		min, max qos.Bytes
	}{
		{100e9, 0, 0, 150_000, 800_000},
		{100e9, UsualRTT, 0, 150_000, 800_000},
		{400e9, 0, 0, 600_000, 3_200_000},
		{10e9, 0, 0, 15_000, 80_000},
		{1e9, 0, 0, 1000, 8000},
		{100e6, 0, 0, 0, 800},
		{100e9, 0, 1_707_733, 150_000, 800_000},
		{400e9, 0, 1_707_733, 288_000, 1_536_000}, // 90 % are 1,536,959 B; 12/64 of 1,536,000 are 288,000
		{100e9, 0, 236_000, 39_000, 212_000},      // 90 % are 212,400 B; 12/64 of 212,000 are 39,750
		{100e9, 24 * time.Microsecond, 0, 300_000, 1_600_000},
		{100e9, 8320 * time.Nanosecond, 0, 103_000, 554_000}, // 104,000 and 554,666 B
		{100e9, 0, 900, 0, 0},
		{0, 0, 1e6, 0, 0},
		{100e9, 800 * time.Microsecond, 0, 9_999_000, 53_333_000}, // 80 km there and back
	} {
		lowest, highest := Curve(c.speed, c.rtt, c.depth)
		if lowest != c.min || highest != c.max {
			t.Errorf("%s %s %d: got %d to %d, want %d to %d", c.speed, c.rtt, c.depth, lowest, highest, c.min, c.max)
		}
	}
}

func TestAKminFollowsAWrittenKmax(t *testing.T) {
	for _, c := range []struct{ max, want qos.Bytes }{{1500e3, 150e3}, {400e3, 75e3}, {100e3, 18e3}} {
		if got := CurveFrom(100e9, 0, c.max); got != c.want {
			t.Errorf("Kmax %s: got %s, want %s", c.max, got, c.want)
		}
	}
}

func TestDelaysAreExact(t *testing.T) {
	for _, c := range []struct {
		n     qos.Bytes
		speed qos.Rate
		want  time.Duration
	}{
		{150e3, 100e9, 12 * time.Microsecond}, {5e3, 40e9, time.Microsecond}, {400e3, 100e9, 32 * time.Microsecond},
		{3200e3, 400e9, 64 * time.Microsecond}, {1, 1e9, 8}, {1, 400e9, 0}, {13, 25e9, 4}, {1, 3e9, 3}, {0, 100e9, 0}, {100, 0, 0},
		{1 << 60, 1, 1<<63 - 1},
	} {
		if got := Delay(c.n, c.speed); got != c.want {
			t.Errorf("%d B at %s: got %s, want %s", c.n, c.speed, got, c.want)
		}
	}
}

func TestTheDelaysOfPublishedThresholdsAreTheOnesPublishedWithThem(t *testing.T) {
	const name = "../../../shared/data/ecn_recommendations.csv"
	if _, err := os.Stat(name); err != nil {
		t.Skip("the published settings are not here")
	}
	compared := 0
	for _, row := range read(t, name) {
		for threshold, delay := range map[int]int{2: 5, 3: 6} {
			if row[1] == "" || row[threshold] == "" || row[delay] == "" {
				continue
			}
			n := qos.Bytes(math.Round(number(t, row[threshold]) * 1000))
			got := float64(Delay(n, qos.Rate(number(t, row[1]))*1e9)) / float64(time.Microsecond)
			if want := number(t, row[delay]); math.Abs(got-want) > 0.051 {
				t.Errorf("%s: %s at %sG: got %v us, want %v", row[0], n, row[1], got, want)
			}
			compared++
		}
	}
	if compared < 40 {
		t.Errorf("only %d thresholds have a delay", compared)
	}
}
