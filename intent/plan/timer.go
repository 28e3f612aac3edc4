package plan

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Pace is how a run goes through a wave, in the time that devices live in. Zero values take the default that is named.
type Pace struct {
	Parallel  int           // devices at once; DefaultParallel
	Operation time.Duration // that one operation on a device is given beside three times what its step costs; 1 minute
	Window    time.Duration // for which the counters of a wave are watched at most; none are
}

// DefaultParallel is how many devices a run deals with at once.
const DefaultParallel = 10

// timerMargin is what a commit timer runs beyond the wave that it covers.
const timerMargin = 2 * time.Minute

// Lasts is how long a wave of n devices, the slowest of which costs so much, takes at most from the first message to the last
// confirmation: all that each operation is given to be sent, read back and confirmed in, and the window of the counters.
func (p Pace) Lasts(n int, cost time.Duration) time.Duration {
	parallel := cmp.Or(p.Parallel, DefaultParallel)
	rounds := time.Duration((n + parallel - 1) / parallel)
	return rounds*(3*cmp.Or(p.Operation, time.Minute)+3*cost) + p.Window + timerMargin
}

// Uncovered is a wave that takes longer than the commit timer of one of its devices may run.
type Uncovered struct {
	Wave         int // from 0
	Devices      int // of the wave
	Device       string
	Needs, Timer time.Duration
}

func (u Uncovered) Error() string {
	return fmt.Sprintf("%s: wave %d of %d devices may take %v, and the device's commit timer is set to %v at most: it would take the change back by itself before it is confirmed",
		u.Device, u.Wave+1, u.Devices, u.Needs, u.Timer)
}

// Cover sets the commit timer of each step that has one to what its wave may take, and never below what it is. What cannot be
// covered is told, one device of a wave, and has the longest timer that it may have. The waves that are given are not changed.
func (p Pace) Cover(waves [][]Step) ([][]Step, []Uncovered) {
	var short []Uncovered
	out := make([][]Step, len(waves))
	for n, steps := range waves {
		out[n] = slices.Clone(steps)
		var cost, timer time.Duration
		slowest := ""
		for _, s := range steps {
			cost = max(cost, s.Cost)
			if t := s.timer(); t > 0 && (timer == 0 || t < timer) {
				timer, slowest = t, s.Device
			}
		}
		needs := p.Lasts(len(steps), cost)
		if whole := needs.Truncate(time.Minute); whole < needs {
			needs = whole + time.Minute
		}
		if timer > 0 && needs > timer {
			short = append(short, Uncovered{Wave: n, Devices: len(steps), Device: slowest, Needs: needs, Timer: timer})
		}
		for i, s := range out[n] {
			if t := s.timer(); t > 0 {
				out[n][i].Confirm = min(t, max(s.Confirm, needs))
			}
		}
	}
	return out, short
}

// timer is the longest that the device's commit timer may run; 0 where it has none.
func (s Step) timer() time.Duration {
	if s.Confirm == 0 {
		return 0
	}
	return max(s.Confirm, s.ConfirmMost)
}
