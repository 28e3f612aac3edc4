package lossless

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/weirfabric/weir/intent/qos"
)

func TestOversubscriptionIsWhatComesInPerWhatLeaves(t *testing.T) {
	// The two switches of the founding document on lossless networks.
	if got := Oversubscription(48*10e9, 6*40e9); got != 2 {
		t.Errorf("48 x 10G over 6 x 40G: got %v, want 2", got)
	}
	if got := Oversubscription(48*25e9, 8*100e9); got != 1.5 {
		t.Errorf("48 x 25G over 8 x 100G: got %v, want 1.5", got)
	}
	if got := Oversubscription(1, 0); !math.IsInf(got, 1) {
		t.Errorf("no way up: got %v", got)
	}
}

func TestOneHashAtTwoTiersLeavesLinksUnused(t *testing.T) {
	for _, c := range []struct{ n1, n2, want int }{{8, 8, 1}, {8, 4, 1}, {6, 4, 2}, {4, 8, 2}, {3, 8, 8}, {0, 8, 0}, {8, 0, 0}, {1, 8, 8}} {
		if got := Polarised(c.n1, c.n2); got != c.want {
			t.Errorf("%d then %d: got %d, want %d", c.n1, c.n2, got, c.want)
		}
	}
	// By counting: a hash value h takes link h mod n1 and then h mod n2. All that left by link 0 is a multiple of n1.
	for n1 := 1; n1 <= 12; n1++ {
		for n2 := 1; n2 <= 12; n2++ {
			used := map[int]bool{}
			for h := 0; h < n1*n2; h += n1 {
				used[h%n2] = true
			}
			if got := Polarised(n1, n2); got != len(used) {
				t.Errorf("%d then %d: got %d, counted %d", n1, n2, got, len(used))
			}
		}
	}
}

func TestCollisionsAreAsLikelyAsPublished(t *testing.T) {
	for _, c := range []struct {
		n                    int
		none, worst, ofWorst float64
	}{{8, 0.00240325927734375, 1e-12, 2.59}, {16, 1.1342267125513672e-06, 1e-12, 3.07}, {32, 1.8e-13, 0.02, 3.54}} {
		within(t, fmt.Sprint(c.n, " flows alone"), NoCollision(c.n, c.n), c.none, c.worst)
		if got := WorstLink(c.n, c.n); math.Abs(got-c.ofWorst) > 0.02 {
			t.Errorf("%d flows on %d links: got %v, want %v within 0.02", c.n, c.n, got, c.ofWorst)
		}
	}
	if NoCollision(9, 8) != 0 || NoCollision(1, 8) != 1 {
		t.Error("nine flows cannot be alone on eight links, and one is")
	}
}

// TestTheWorstLinkIsCountedExactly compares with every way of laying flows on links.
func TestTheWorstLinkIsCountedExactly(t *testing.T) {
	for links := 1; links <= 4; links++ {
		for flows := 1; flows <= 6; flows++ {
			ways := int(math.Pow(float64(links), float64(flows)))
			total := 0
			for way := range ways {
				counts := make([]int, links)
				worst := 0
				for range flows {
					counts[way%links]++
					worst = max(worst, counts[way%links])
					way /= links
				}
				total += worst
			}
			within(t, fmt.Sprintf("%d flows on %d links", flows, links), WorstLink(flows, links), float64(total)/float64(ways), 1e-8)
		}
	}
	if WorstLink(0, 8) != 0 || WorstLink(8, 0) != 0 {
		t.Error("no flows or no links have no worst link")
	}
	if got := WorstLink(1000, 64); got < 1000.0/64 || got > 40 {
		t.Errorf("1000 flows on 64 links: got %v", got)
	}
}

func TestPAUSEFramesHoldALink(t *testing.T) {
	for gbps, want := range map[qos.Rate]struct{ perSecond, us float64 }{
		10: {298.0, 3355.39}, 25: {745.1, 1342.16}, 40: {1192.1, 838.85}, 100: {2980.3, 335.54}, 200: {5960.6, 167.77}, 400: {11921.1, 83.88},
		800: {23842.2, 41.94},
	} {
		rate, hold := PauseRate(gbps*1e9), float64(PauseTime(gbps*1e9))/float64(time.Microsecond)
		if math.Abs(rate-want.perSecond) > 0.06 || math.Abs(hold-want.us) > 0.006 {
			t.Errorf("%dG: got %v frames/s of %v us, want %v of %v", gbps, rate, hold, want.perSecond, want.us)
		}
	}
	if PauseTime(0) != 0 {
		t.Error("a link without a rate is never stopped")
	}
}

// example is the published example: 40 Gb/s, 4 us, Kmax 200 kB, a CNP every 50 us.
func example(alpha qos.AlphaShift, shared qos.Bytes) Incast {
	return Incast{Speed: 40e9, RTT: 4 * time.Microsecond, CNPInterval: 50 * time.Microsecond, Max: 200e3, Alpha: alpha, Shared: shared}
}

func TestThePeakOfAnIncastIsThePublishedOne(t *testing.T) {
	// The published values are rounded to 10 kB.
	for n, want := range map[int]float64{2: 420e3, 4: 1110e3, 8: 2740e3, 16: 6250e3, 32: 13520e3, 64: 28310e3} {
		if got := float64(example(0, 0).Peak(n)); math.Abs(got-want) > 10e3 {
			t.Errorf("%d senders: got %v, want %v within 10 kB", n, got, want)
		}
	}
	// A packet simulation came to these peaks, within 8 % from 8 senders on.
	for n, simulated := range map[int]float64{8: 2641e3, 16: 6266e3, 32: 14127e3, 64: 30815e3} {
		within(t, fmt.Sprint(n, " senders simulated"), float64(example(0, 0).Peak(n)), simulated, 0.085)
	}
	if example(0, 0).Peak(1) != 0 || example(0, 0).Peak(0) != 0 {
		t.Error("one sender at the port's speed builds no queue")
	}
}

func TestTheLargestFanInIsTheFirstThatFailsLessOne(t *testing.T) {
	for _, c := range []struct {
		alpha  qos.AlphaShift
		shared qos.Bytes
	}{{-3, 12e6}, {0, 12e6}, {3, 12e6}, {-3, 15.37e6}, {-6, 15.37e6}, {0, 60e6}, {3, 1e9}, {-3, 0}} {
		in := example(c.alpha, c.shared)
		want := 1
		for n := 2; n <= MostSenders && in.Peak(n) < XOFFDepth(c.alpha, c.shared, n); n++ {
			want = n
		}
		if c.shared == 0 {
			want = 0
		}
		if got := in.Largest(); got != want {
			t.Errorf("alpha %s, %d B: got %d, want %d", c.alpha, c.shared, got, want)
		}
	}
	if got := example(3, 1<<50).Largest(); got != MostSenders {
		t.Errorf("a buffer without end: got %d, want the end of the search", got)
	}
	// theory: a shallow buffer does not take more than about 16.
	if got := example(0, 12e6).Largest(); got < 8 || got > 32 {
		t.Errorf("12 MB, alpha 1: got %d", got)
	}
}
