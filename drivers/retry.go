package drivers

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"
)

// Retry dials again, with growing pauses, while a device cannot be reached. Nothing but connecting is ever repeated: a
// refused login stays refused and locks accounts, and whether a change can be sent twice is not for a transport to decide.
type Retry struct {
	Dialer   Dialer
	Attempts int           // in all; 0 means 4
	First    time.Duration // longest pause before the second attempt, doubled before each further one; 0 means 500 ms
	Longest  time.Duration // no pause is longer; 0 means 10 s
	Log      *slog.Logger  // nil: silent
}

// Dial connects, or returns the error of the last attempt.
func (r Retry) Dial(ctx context.Context, e Endpoint) (Target, error) {
	attempts, pause, longest := r.Attempts, r.First, r.Longest
	if attempts == 0 {
		attempts = 4
	}
	if pause == 0 {
		pause = 500 * time.Millisecond
	}
	if longest == 0 {
		longest = 10 * time.Second
	}
	for attempt := 1; ; attempt++ {
		t, err := r.Dialer.Dial(ctx, e)
		var unreachable *UnreachableError
		if err == nil || attempt == attempts || ctx.Err() != nil || !errors.As(err, &unreachable) {
			return t, err
		}
		if r.Log != nil {
			r.Log.Warn("cannot reach device, trying again", "device", e.Device, "attempt", attempt, "err", err)
		}
		if !wait(ctx, jitter(min(pause, longest))) {
			return nil, err
		}
		pause *= 2
	}
}

// jitter is between half and the whole of a pause, so that devices that went away together are not dialled together.
func jitter(pause time.Duration) time.Duration {
	return pause/2 + rand.N(pause/2+1)
}

// wait says whether the pause passed before ctx ended.
func wait(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
