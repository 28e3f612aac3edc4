package telemetry

import (
	"cmp"
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"
)

// Access is what the sources of one device know together of how it lets them in: why each of them fails, and when a login that was
// refused is tried again. More attempts would not help, would fill the device's log, and may lock the account. The zero value is
// ready. It may be used from many goroutines at once.
type Access struct {
	First   time.Duration // longest first pause after a refused login; 0: 30 s
	Longest time.Duration // no pause is longer, of all sources together; 0: 10 minutes

	mu      sync.Mutex
	next    time.Duration // longest next pause; 0: First
	why     map[string]string
	refused map[string]bool
	waiting int
	wake    chan struct{} // closed when a source that was refused works
}

// Failed notes why a source brings nothing.
func (a *Access) Failed(source string, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.why == nil {
		a.why = map[string]string{}
	}
	a.why[source] = err.Error()
}

// Works notes that a source brings something. Where it had been refused the others are tried again at once.
func (a *Access) Works(source string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.why, source)
	if !a.refused[source] {
		return
	}
	delete(a.refused, source)
	a.next = 0
	if a.wake != nil {
		close(a.wake)
		a.wake = nil
	}
}

// Why is why the sources bring nothing, each reason once; empty where none has failed since it last worked.
func (a *Access) Why() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return strings.Join(slices.Compact(slices.Sorted(maps.Values(a.why))), "; ")
}

// Refused pauses a source whose login was refused: each time up to twice as long as the time before, and as many times longer as there
// are sources that wait, so that the device is asked as often as by one alone. It ends early when a source that had been refused
// works, and is false when ctx ended first.
func (a *Access) Refused(ctx context.Context, source string) bool {
	a.mu.Lock()
	if a.refused == nil {
		a.refused = map[string]bool{}
	}
	if a.wake == nil {
		a.wake = make(chan struct{})
	}
	a.refused[source] = true
	a.waiting++
	longest := cmp.Or(a.Longest, 10*time.Minute)
	pause := min(cmp.Or(a.next, a.First, 30*time.Second), longest)
	a.next = 2 * pause
	pause *= time.Duration(a.waiting)
	wake := a.wake
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		a.waiting--
		a.mu.Unlock()
	}()
	timer := time.NewTimer(pause/2 + rand.N(pause/2+1))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-wake:
		return true
	case <-ctx.Done():
		return false
	}
}
