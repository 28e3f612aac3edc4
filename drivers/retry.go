package drivers

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
)

// Retry dials again, with growing pauses, while a device cannot be reached. Nothing but connecting is ever repeated: a
// refused login stays refused and locks accounts, and whether a change can be sent twice is not for a transport to decide.
type Retry struct {
	Dialer   Dialer
	Attempts int          // in all; 0 means 4
	Pauses   Backoff      // between them, from the first one for each Dial
	Log      *slog.Logger // nil: silent
}

// Dial connects, or returns the error of the last attempt.
func (r Retry) Dial(ctx context.Context, e Endpoint) (Target, error) {
	attempts := cmp.Or(r.Attempts, 4)
	for attempt := 1; ; attempt++ {
		t, err := r.Dialer.Dial(ctx, e)
		var unreachable *UnreachableError
		if err == nil || attempt == attempts || ctx.Err() != nil || !errors.As(err, &unreachable) {
			return t, err
		}
		if r.Log != nil {
			r.Log.Warn("cannot reach device, trying again", "device", e.Device, "attempt", attempt, "err", err)
		}
		if !r.Pauses.Wait(ctx) {
			return nil, err
		}
	}
}
