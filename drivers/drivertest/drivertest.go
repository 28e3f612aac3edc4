// Package drivertest is what every transport must obey, as one suite of tests that each of them passes.
package drivertest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/intent/plan"
)

// Fault is what a device does to the next change, at the moment it would take effect.
type Fault string

// The faults.
const (
	Hang       Fault = "hang"       // no answer any more
	Disconnect Fault = "disconnect" // the connection ends
)

// Harness is a fresh device and the transport to reach it by.
type Harness struct {
	Dialer   drivers.Dialer
	Endpoint drivers.Endpoint
	Stranger drivers.Endpoint // the same device, of whom weir has recorded another identity
	Route    plan.Route

	Good   plan.Chunk // makes what Query asks for "after"; it is "before" on a fresh device
	Bad    plan.Chunk // is refused, and nothing of it takes effect
	Query  plan.Query
	Absent plan.Query // asks for what the device does not have

	Holds  func() string // what the device holds, not asked through the transport
	Fault  func(Fault)
	Logins func() int // how often someone gave a user and a password; nil where the device does not tell

	// Expire makes the commit timer end now and returns when the device has undone what waits for it. It is not called
	// where the device has no timers.
	Expire func()
}

// law is a sentence that must be true of every transport.
type law struct {
	name  string
	check func(t *testing.T, h Harness)
}

var laws = []law{
	{"what is set is read back", setAndGet},
	{"what a device does not have is missing and no error", missing},
	{"a refused chunk changes nothing and leaves the target usable", rejected},
	{"a connection that ends in the middle of a change leaves the outcome unknown", disconnected},
	{"a device that does not answer in time leaves the outcome unknown", hung},
	{"a context that has ended sends nothing", ended},
	{"a context that is cancelled in the middle of a change ends it", cancelled},
	{"a wrong password is an AuthError and is tried once", wrongPassword},
	{"a device that is not the recorded one is an AuthError and is told nothing", stranger},
	{"a device that is not there is unreachable", unreachable},
	{"without a deadline there is nothing to confirm or to cancel", noTimer},
}

// lawsOfTimers hold where the device has commit timers, lawsWithoutTimers where it has none.
var (
	lawsOfTimers = []law{
		{"another connection can confirm, and then the timer undoes nothing", confirmed},
		{"what is not confirmed is undone by the device, and cannot be confirmed after", expired},
		{"another connection can cancel", cancelledByName},
	}
	lawsWithoutTimers = []law{
		{"a deadline that the device cannot keep sends nothing", noTimerForDeadline},
	}
)

// Run checks the transport against one fresh device a law. Timers says whether the device has commit timers.
func Run(t *testing.T, timers bool, fresh func(t *testing.T) Harness) {
	for _, l := range lawsOf(timers) {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			l.check(t, fresh(t))
		})
	}
}

// RunVirtual is Run on virtual time: each law is checked in a Bubble, in which the device is made and ends.
func RunVirtual(t *testing.T, timers bool, fresh func(t *testing.T) Harness) {
	for _, l := range lawsOf(timers) {
		t.Run(l.name, func(t *testing.T) {
			Bubble(t, func(t *testing.T) { l.check(t, fresh(t)) })
		})
	}
}

func lawsOf(timers bool) []law {
	if timers {
		return append(slices.Clone(laws), lawsOfTimers...)
	}
	return append(slices.Clone(laws), lawsWithoutTimers...)
}

const (
	before = "before"
	after  = "after"
	soon   = time.Second      // a deadline that a device which hangs does not meet
	long   = 20 * time.Second // a deadline that nothing here comes near
)

func (h Harness) dial(t *testing.T) drivers.Target {
	t.Helper()
	target, err := h.Dialer.Dial(t.Context(), h.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { target.Close() })
	return target
}

func (h Harness) pending(d time.Duration) plan.Pending {
	p := plan.Pending{Device: h.Endpoint.Device, Name: "weir-20261121-1", Route: h.Route}
	if d != 0 {
		p.Confirm, p.Deadline = d, time.Now().Add(d)
	}
	return p
}

// get is what the transport reads.
func (h Harness) get(t *testing.T, target drivers.Target) string {
	t.Helper()
	answers, err := target.Get(t.Context(), []plan.Query{h.Query})
	if err != nil {
		t.Fatal(err)
	}
	return string(answers[0].Body)
}

func (h Harness) wantHolds(t *testing.T, want string) {
	t.Helper()
	if got := h.Holds(); !strings.Contains(got, want) {
		t.Errorf("the device holds %q, want %q", got, want)
	}
}

func (h Harness) wantLogins(t *testing.T, want int) {
	t.Helper()
	if h.Logins == nil {
		return
	}
	if got := h.Logins(); got != want {
		t.Errorf("the password was given %d times, want %d", got, want)
	}
}

// wantError checks that err is an E and gives nothing secret away.
func wantError[E error](t *testing.T, h Harness, err error) E {
	t.Helper()
	var want E
	if !errors.As(err, &want) {
		t.Fatalf("got %T: %v, want %T", err, err, want)
	}
	for _, text := range []string{err.Error(), fmt.Sprintf("%+v", err), fmt.Sprintf("%#v", err)} {
		for _, secret := range []drivers.Secret{h.Endpoint.Password, h.Endpoint.Key} {
			if secret != "" && strings.Contains(text, string(secret)) {
				t.Errorf("the error gives a secret away: %s", text)
			}
		}
	}
	return want
}
