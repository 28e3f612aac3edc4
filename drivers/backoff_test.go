package drivers_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirfabric/weir/drivers"
)

func TestPausesGrowToTheLongestAndAreSpread(t *testing.T) {
	for name, test := range map[string]struct {
		pauses drivers.Backoff
		most   []time.Duration
	}{
		"the defaults": {drivers.Backoff{}, []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second,
			8 * time.Second, 10 * time.Second, 10 * time.Second}},
		"of a source of counters":      {drivers.Backoff{First: time.Second, Longest: 3 * time.Second}, []time.Duration{time.Second, 2 * time.Second, 3 * time.Second, 3 * time.Second}},
		"a first one that is too long": {drivers.Backoff{First: time.Minute}, []time.Duration{10 * time.Second, 10 * time.Second}},
	} {
		synctest.Test(t, func(t *testing.T) {
			for i, most := range test.most {
				start := time.Now()
				if !test.pauses.Wait(t.Context()) {
					t.Fatalf("%s: pause %d was cut short", name, i)
				}
				if took := time.Since(start); took < most/2 || took > most {
					t.Errorf("%s: pause %d took %v, want %v to %v", name, i, took, most/2, most)
				}
			}
		})
	}
}

func TestAPauseEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		start := time.Now()
		if new(drivers.Backoff).Wait(ctx) || time.Since(start) != time.Millisecond {
			t.Errorf("the pause took %v", time.Since(start))
		}
	})
}

func TestWhatWorkedForLongBeginsWithTheFirstPause(t *testing.T) {
	for name, test := range map[string]struct {
		worked, most time.Duration
	}{
		"for the longest pause": {10 * time.Second, 4 * time.Second},
		"for longer":            {10*time.Second + 1, 500 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			var pauses drivers.Backoff
			for range 3 {
				pauses.Wait(t.Context())
			}
			began := time.Now()
			time.Sleep(test.worked) // of the bubble's clock
			pauses.Worked(began)
			start := time.Now()
			pauses.Wait(t.Context())
			if took := time.Since(start); took < test.most/2 || took > test.most {
				t.Errorf("%s: the next pause took %v, want %v to %v", name, took, test.most/2, test.most)
			}
		})
	}
}

func TestWhatWentWrongIsKnownByItsKind(t *testing.T) {
	cause := errors.New("cause")
	is := func(err error) []bool {
		_, rejected := errors.AsType[*drivers.RejectedError](err)
		_, partial := errors.AsType[*drivers.PartialError](err)
		_, unknown := errors.AsType[*drivers.UnknownError](err)
		_, auth := errors.AsType[*drivers.AuthError](err)
		_, unreachable := errors.AsType[*drivers.UnreachableError](err)
		return []bool{rejected, partial, unknown, auth, unreachable}
	}
	for kind, err := range []error{
		&drivers.RejectedError{Device: "leaf1", Err: cause}, &drivers.PartialError{Device: "leaf1", Err: cause}, &drivers.UnknownError{Device: "leaf1", Err: cause},
		&drivers.AuthError{Device: "leaf1", Err: cause}, &drivers.UnreachableError{Device: "leaf1", Err: cause},
	} {
		wrapped := fmt.Errorf("leaf1: apply: %w", err)
		for other, matches := range is(wrapped) {
			if matches != (other == kind) {
				t.Errorf("%T is taken for kind %d: %v", err, other, matches)
			}
		}
		if !errors.Is(wrapped, cause) {
			t.Errorf("%T hides its cause", err)
		}
	}
}
