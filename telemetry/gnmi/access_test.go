package gnmi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/telemetry"
)

func TestARefusedLoginIsTriedAgainRarelyAndTheDeviceStaysDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{stream: func(int, string, gpb.GNMI_SubscribeServer) error {
			return status.Error(codes.Unauthenticated, "who are you")
		}}
		h, err := watch(t, "eos", s, port0, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.subscribed(""); got < 3 || got > 20 {
			t.Errorf("got %d logins in an hour", got)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		up := h.last["weir_target_up leaf1"]
		if age := time.Since(up.At); up.Value != 0 || age > time.Minute {
			t.Errorf("weir_target_up is %v, told %v ago, want 0 without end", up.Value, age)
		}
	})
}

func TestWhatAnOperatorMustChangeStopsTheSubscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{stream: func(int, string, gpb.GNMI_SubscribeServer) error {
			return status.Error(codes.InvalidArgument, "unsupported path")
		}}
		began := time.Now()
		h, err := watch(t, "eos", s, telemetry.Device{Name: "leaf1"}, time.Hour)
		want := "leaf1: subscribe to openconfig: rpc error: code = InvalidArgument desc = unsupported path"
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		if got := s.subscribed(""); got != 1 {
			t.Errorf("got %d subscriptions, want one: it is not tried again", got)
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("it was told after %s", took)
		}
		if got := h.value(t, "weir_target_up leaf1"); got != 0 {
			t.Errorf("weir_target_up is %v", got)
		}
	})
}

func TestADeviceThatCannotBeReachedIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tries int
		h := &heard{last: map[string]telemetry.Sample{}}
		s := &Subscriber{Device: telemetry.Device{Name: "leaf1"}, Bindings: bindings(t, "eos"), Sink: h, Dial: func(context.Context) (Conn, error) {
			tries++
			return nil, status.Error(codes.Unavailable, "connection refused")
		}}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		if err := s.Run(ctx); err != nil {
			t.Error(err)
		}
		if tries < 8 || tries > 60 {
			t.Errorf("got %d tries in ten minutes", tries)
		}
		if got := h.value(t, "weir_target_up leaf1"); got != 0 {
			t.Errorf("weir_target_up is %v", got)
		}
	})
}

func TestARefusedLoginIsKnownByItsKindHoweverItIsWrapped(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"the device away": {&drivers.UnreachableError{Device: "leaf1", Address: "a:1", Err: errors.New("no route")}, "no connection for telemetry"},
		"a wrong password": {fmt.Errorf("dial: %w", &drivers.AuthError{Device: "leaf1", Err: errors.New("denied"), Hint: "check the password"}),
			"the device refuses the login of the subscription"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var logged bytes.Buffer
			s := &Subscriber{Device: telemetry.Device{Name: "leaf1"}, Bindings: bindings(t, "eos"), Sink: &heard{last: map[string]telemetry.Sample{}},
				Log: slog.New(slog.NewTextHandler(&logged, nil)), Dial: func(context.Context) (Conn, error) { return nil, c.err }}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := s.Run(ctx); err != nil {
				t.Error(err)
			}
			if !strings.Contains(logged.String(), c.want) {
				t.Errorf("%s: got %s, want %q", name, logged.String(), c.want)
			}
		})
	}
}
