package telemetry

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestSourcesThatAreRefusedTryTogetherAsOftenAsOne(t *testing.T) {
	for _, sources := range []int{1, 2, 4} {
		synctest.Test(t, func(t *testing.T) {
			var a Access
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Hour)
			defer cancel()
			var mu sync.Mutex
			var logins []time.Duration
			began := time.Now()
			var all sync.WaitGroup
			for i := range sources {
				all.Go(func() {
					for {
						mu.Lock()
						logins = append(logins, time.Since(began))
						mu.Unlock()
						a.Failed(string(rune('a'+i)), errors.New("denied"))
						if !a.Refused(ctx, string(rune('a'+i))) {
							return
						}
					}
				})
			}
			all.Wait()
			first, last := 0, 0
			for _, at := range logins {
				if at < time.Hour {
					first++
				}
				if at >= 2*time.Hour {
					last++
				}
			}
			if first > 16 || last > 12 || last < 4 {
				t.Errorf("%d sources: %d logins in the first hour and %d in the third, want at most 16 and about 8", sources, first, last)
			}
			if got := a.Why(); got != "denied" {
				t.Errorf("why: got %q, want the reason once", got)
			}
		})
	}
}

func TestASourceThatIsLetInAgainWakesTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a Access
		var woken time.Duration
		began := time.Now()
		var all sync.WaitGroup
		all.Go(func() {
			for range 8 {
				a.Refused(t.Context(), "polling")
			}
			woken = time.Since(began)
		})
		synctest.Wait()
		a.Works("stream") // it was never refused: the others have nothing of it
		synctest.Wait()
		if woken != 0 {
			t.Fatal("a source that was not refused wakes the others")
		}
		all.Go(func() { a.Refused(t.Context(), "stream") })
		all.Wait()
		a.Failed("polling", errors.New("denied"))
		a.Works("polling")
		if got := a.Why(); got != "" {
			t.Errorf("why: got %q of what works", got)
		}
		var again time.Duration
		all.Go(func() {
			at := time.Now()
			a.Refused(t.Context(), "stream")
			again = time.Since(at)
		})
		synctest.Wait()
		a.Refused(t.Context(), "polling")
		a.Works("polling")
		all.Wait()
		if again > 2*time.Minute {
			t.Errorf("the other source was tried again after %v, want at once", again)
		}
	})
}
