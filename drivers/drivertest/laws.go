package drivertest

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/intent/plan"
)

func setAndGet(t *testing.T, h Harness) {
	target := h.dial(t)
	if got := h.get(t, target); !strings.Contains(got, before) {
		t.Errorf("read %q, want %q", got, before)
	}
	if err := target.Set(t.Context(), h.Good, h.pending(0)); err != nil {
		t.Fatal(err)
	}
	if got := h.get(t, target); !strings.Contains(got, after) {
		t.Errorf("read %q, want %q", got, after)
	}
	h.wantHolds(t, after)
}

func missing(t *testing.T, h Harness) {
	answers, err := h.dial(t).Get(t.Context(), []plan.Query{h.Query, h.Absent, h.Query})
	if err != nil {
		t.Fatal(err)
	}
	var got []bool
	for _, a := range answers {
		got = append(got, a.Missing)
	}
	if len(got) != 3 || got[0] || !got[1] || got[2] {
		t.Errorf("missing = %v, want false true false", got)
	}
}

func rejected(t *testing.T, h Harness) {
	target := h.dial(t)
	e := wantError[*drivers.RejectedError](t, h, target.Set(t.Context(), h.Bad, h.pending(0)))
	if e.Reason == "" || e.Err != nil {
		t.Errorf("want the device's own words, got %+v", e)
	}
	h.wantHolds(t, before)
	if err := target.Set(t.Context(), h.Good, h.pending(0)); err != nil {
		t.Errorf("the chunk after the refused one: %v", err)
	}
	h.wantHolds(t, after)
}

func disconnected(t *testing.T, h Harness) {
	target := h.dial(t)
	h.Fault(Disconnect)
	_ = wantError[*drivers.UnknownError](t, h, target.Set(t.Context(), h.Good, h.pending(0)))
	if got := h.get(t, target); !strings.Contains(got, h.Holds()) {
		t.Errorf("read %q after the connection came back, the device holds %q", got, h.Holds())
	}
}

func hung(t *testing.T, h Harness) {
	h.Endpoint.Timeout = soon
	target := h.dial(t)
	h.Fault(Hang)
	start := time.Now()
	_ = wantError[*drivers.UnknownError](t, h, target.Set(t.Context(), h.Good, h.pending(0)))
	if took := time.Since(start); took > long {
		t.Errorf("gave up after %v, want about %v", took, soon)
	}
	if got := h.get(t, target); !strings.Contains(got, h.Holds()) {
		t.Errorf("read %q after the timeout, the device holds %q", got, h.Holds())
	}
}

func ended(t *testing.T, h Harness) {
	target := h.dial(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := target.Set(ctx, h.Good, h.pending(0))
	_ = wantError[*drivers.RejectedError](t, h, err)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled in it", err)
	}
	h.wantHolds(t, before)
	if _, err := target.Get(ctx, []plan.Query{h.Query}); !errors.Is(err, context.Canceled) {
		t.Errorf("get: got %v, want context.Canceled in it", err)
	}
}

func cancelled(t *testing.T, h Harness) {
	target := h.dial(t)
	h.Fault(Hang)
	ctx, cancel := context.WithCancel(t.Context())
	timer := time.AfterFunc(soon, cancel)
	defer timer.Stop()
	err := target.Set(ctx, h.Good, h.pending(0))
	_ = wantError[*drivers.UnknownError](t, h, err)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled in it", err)
	}
}

func wrongPassword(t *testing.T, h Harness) {
	h.Endpoint.Password = "not-the-password-7c1f"
	_, err := drivers.Retry{Dialer: h.Dialer}.Dial(t.Context(), h.Endpoint)
	if e := wantError[*drivers.AuthError](t, h, err); e.Hint == "" {
		t.Errorf("want a hint, got %+v", e)
	}
	h.wantLogins(t, 1)
}

func stranger(t *testing.T, h Harness) {
	h.Endpoint = h.Stranger
	_, err := drivers.Retry{Dialer: h.Dialer}.Dial(t.Context(), h.Endpoint)
	if e := wantError[*drivers.AuthError](t, h, err); e.Hint == "" {
		t.Errorf("want a hint, got %+v", e)
	}
	h.wantLogins(t, 0)
}

func unreachable(t *testing.T, h Harness) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if h.Endpoint.GNMI != "" {
		h.Endpoint.GNMI = l.Addr().String()
	}
	if h.Endpoint.SSH != "" {
		h.Endpoint.SSH = l.Addr().String()
	}
	_, err = h.Dialer.Dial(t.Context(), h.Endpoint)
	_ = wantError[*drivers.UnreachableError](t, h, err)
}

func noTimer(t *testing.T, h Harness) {
	target := h.dial(t)
	if err := target.Confirm(t.Context(), h.pending(0)); err != nil {
		t.Errorf("confirm: %v", err)
	}
	if err := target.Cancel(t.Context(), h.pending(0)); err != nil {
		t.Errorf("cancel: %v", err)
	}
	h.wantHolds(t, before)
}

func noTimerForDeadline(t *testing.T, h Harness) {
	_ = wantError[*drivers.RejectedError](t, h, h.dial(t).Set(t.Context(), h.Good, h.pending(long)))
	h.wantHolds(t, before)
}

// setWithTimer sends the good chunk over a connection of its own, as a process that is gone afterwards.
func setWithTimer(t *testing.T, h Harness) plan.Pending {
	t.Helper()
	p := h.pending(long)
	target := h.dial(t)
	if err := target.Set(t.Context(), h.Good, p); err != nil {
		t.Fatal(err)
	}
	if err := target.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	h.wantHolds(t, after)
	return p
}

func confirmed(t *testing.T, h Harness) {
	p := setWithTimer(t, h)
	if err := h.dial(t).Confirm(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	h.Expire()
	h.wantHolds(t, after)
}

func expired(t *testing.T, h Harness) {
	p := setWithTimer(t, h)
	h.Expire()
	h.wantHolds(t, before)
	_ = wantError[*drivers.RejectedError](t, h, h.dial(t).Confirm(t.Context(), p))
	h.wantHolds(t, before)
}

func cancelledByName(t *testing.T, h Harness) {
	p := setWithTimer(t, h)
	if err := h.dial(t).Cancel(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	h.wantHolds(t, before)
}
