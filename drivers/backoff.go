package drivers

import (
	"cmp"
	"context"
	"math/rand/v2"
	"time"
)

// Backoff is the pauses between attempts at what keeps failing. Each may be twice as long as the one before, and lasts between
// half and the whole of that, so that devices that went away together are not asked together. The zero value is ready with the
// defaults. It is used by one goroutine at a time; a copy of one that has not waited yet begins with the first pause.
type Backoff struct {
	First   time.Duration // longest first pause; 0 means 500 ms
	Longest time.Duration // no pause is longer; 0 means 10 s

	next time.Duration // longest next pause; 0: First
}

// Wait pauses. It is false when ctx ended first.
func (b *Backoff) Wait(ctx context.Context) bool {
	pause := min(cmp.Or(b.next, b.first()), b.longest())
	b.next = 2 * pause
	timer := time.NewTimer(pause/2 + rand.N(pause/2+1))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Worked begins anew with the first pause where what was tried had worked, since the time given, for longer than the longest one.
func (b *Backoff) Worked(since time.Time) {
	if time.Since(since) > b.longest() {
		b.next = 0
	}
}

func (b *Backoff) first() time.Duration   { return cmp.Or(b.First, 500*time.Millisecond) }
func (b *Backoff) longest() time.Duration { return cmp.Or(b.Longest, 10*time.Second) }
