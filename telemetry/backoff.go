package telemetry

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	growthOfRetry = 1.6
	longestRetry  = 60 // times the first one
)

// Backoff is a pause that grows, with jitter, so that devices which went down together are not asked together again.
type Backoff struct{ first, next time.Duration }

// NewBackoff begins with a pause and grows to sixty times that.
func NewBackoff(first time.Duration) *Backoff { return &Backoff{first, first} }

// Wait pauses. It is false when ctx ended first.
func (b *Backoff) Wait(ctx context.Context) bool {
	pause := time.Duration(float64(b.next) * (0.5 + rand.Float64()))
	b.next = min(longestRetry*b.first, time.Duration(float64(b.next)*growthOfRetry))
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// Worked begins anew with the first pause, when what was tried had worked for longer than the longest pause.
func (b *Backoff) Worked(began time.Time) {
	if time.Since(began) > longestRetry*b.first {
		b.next = b.first
	}
}
