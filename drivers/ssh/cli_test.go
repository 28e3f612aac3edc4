package ssh

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/templates/pack"
)

func dialSwitch(t *testing.T, s *server) drivers.Target {
	t.Helper()
	target, err := dialer().Dial(t.Context(), s.endpoint(t, "eos"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { target.Close() })
	return target
}

func session1() plan.Pending {
	return plan.Pending{Device: "leaf1", Name: "weir-1", Route: plan.SSHSession}
}

func TestAChunkIsOneShortSession(t *testing.T) {
	s, v := newSwitch(t)
	target := dialSwitch(t, s)
	p := session1()
	p.Confirm = 90*time.Second + 500*time.Millisecond
	if err := target.Set(t.Context(), lines("interface Ethernet1", "value after"), p); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"terminal length 0", "terminal width 32767",
		"show configuration sessions detail | json",
		"configure session weir-1", "show session-config diffs",
		"interface Ethernet1", "value after",
		"show session-config diffs", "commit timer 00:01:31",
	}
	if diff := cmp.Diff(want, v.lines()); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

func TestTheRunningConfigurationMayQuoteRefusalsAndPrompts(t *testing.T) {
	s, _ := newSwitch(t)
	target := dialSwitch(t, s)
	want := []plan.Answer{
		{Name: "q", Body: []byte("a\nb\nc\nd\n% Invalid input\nleaf1# is a prompt\nleaf1#\ne\n")},
		{Name: "q", Body: []byte("value before\n")},
	}
	got, err := target.Get(t.Context(), []plan.Query{query("show banner"), query("show value")})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

func TestOnlyWeirsOwnForgottenSessionsAreReclaimed(t *testing.T) {
	s, v := newSwitch(t, func(_ *server, v *vsw) {
		v.sessions = map[string]string{"weir-old": "pending", "anna": "pending", "weir-mark-1-cafe": "pending", "weir-done": "completed"}
	})
	if err := dialSwitch(t, s).Set(t.Context(), lines("value after"), session1()); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"weir-old": "aborted", "anna": "pending", "weir-mark-1-cafe": "pending", "weir-done": "completed", "weir-1": "completed"}
	if diff := cmp.Diff(want, v.states()); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

func TestNothingIsSentWhileTheCommitOfAnotherChangeWaits(t *testing.T) {
	s, v := newSwitch(t, func(_ *server, v *vsw) {
		v.sessions = map[string]string{"weir-old": "pending", "weir-waits": "pendingCommitTimer"}
	})
	err := dialSwitch(t, s).Set(t.Context(), lines("value after"), session1())
	var rejected *drivers.RejectedError
	if want := "leaf1: nothing took effect: session weir-waits was committed and waits for its confirmation"; !errors.As(err, &rejected) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if diff := cmp.Diff(map[string]string{"weir-old": "pending", "weir-waits": "pendingCommitTimer"}, v.states()); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

// TestASessionThatWaitsIsKnownInBothShapesOfTheList confirms and cancels on devices that list a running commit timer as the
// state of its session, as EOS up to 4.32 does, and on those that name the session at the top.
func TestASessionThatWaitsIsKnownInBothShapesOfTheList(t *testing.T) {
	for _, modern := range []bool{false, true} {
		for _, keep := range []bool{false, true} {
			s, v := newSwitch(t, func(_ *server, v *vsw) { v.modern = modern })
			target := dialSwitch(t, s)
			p := session1()
			p.Confirm = time.Minute
			if err := target.Set(t.Context(), lines("value after"), p); err != nil {
				t.Fatal(err)
			}
			decide, want := target.Cancel, "before"
			if keep {
				decide, want = target.Confirm, "after"
			}
			if err := decide(t.Context(), p); err != nil || v.holds() != want {
				t.Errorf("modern %v, keep %v: got %v and %q, want %q", modern, keep, err, v.holds(), want)
			}
			if err := decide(t.Context(), p); !errors.Is(err, drivers.ErrDecided) {
				t.Errorf("modern %v, keep %v: a second time got %v, want %v", modern, keep, err, drivers.ErrDecided)
			}
		}
	}
}

// TestWithoutAStateOfItsOwnNoSessionWaits is about a device that only names the session whose timer runs.
func TestWithoutAStateOfItsOwnNoSessionWaits(t *testing.T) {
	var all sessions
	if err := json.Unmarshal([]byte(`{"commitTimerSessionName": "weir-2", "sessions": {"weir-1": {"state": "completed"}}}`), &all); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"weir-1": false, "weir-2": true, "weir-3": false} {
		if got := all.waits(name, pack.Verbs{}); got != want {
			t.Errorf("%s waits: got %v, want %v", name, got, want)
		}
	}
}

func TestNothingOfASessionThatFailedStays(t *testing.T) {
	tests := []struct {
		name    string
		chunk   plan.Chunk
		foreign string
		input   string // of the rejection
	}{
		{"a line that is refused", lines("value bad"), "", "value bad"},
		{"a commit that is refused", lines("value unlucky"), "", "commit"},
		{"a session that already holds something", lines("value after"), "+value of someone else", ""},
	}
	for _, test := range tests {
		s, v := newSwitch(t, func(_ *server, v *vsw) { v.foreign = test.foreign })
		err := dialSwitch(t, s).Set(t.Context(), test.chunk, session1())
		var rejected *drivers.RejectedError
		if !errors.As(err, &rejected) || rejected.Input != test.input {
			t.Errorf("%s: got %#v, want a RejectedError of %q", test.name, err, test.input)
		}
		if v.holds() != "before" || v.states()["weir-1"] != "aborted" {
			t.Errorf("%s: the device holds %q and the session is %s", test.name, v.holds(), v.states()["weir-1"])
		}
	}
}

func TestWhatATerminalWouldActOnIsNotTyped(t *testing.T) {
	s, v := newSwitch(t)
	target := dialSwitch(t, s)
	before := len(v.lines())
	for _, c := range []plan.Chunk{
		lines("description what?"), lines("a\tb"), lines("a\nb"), lines("a\x03"),
		{Send: []plan.Message{{Op: plan.Line, Body: "a"}, {Op: plan.Run, Body: "b"}}},
		{Send: []plan.Message{{Op: plan.SetUpdate, Path: "/a", Body: "1"}}},
	} {
		var rejected *drivers.RejectedError
		if err := target.Set(t.Context(), c, session1()); !errors.As(err, &rejected) {
			t.Errorf("%+v: got %v, want a RejectedError", c.Send, err)
		}
	}
	if err := target.Set(t.Context(), lines("a"), plan.Pending{Name: "weir 1"}); err == nil {
		t.Error("a session whose name has a space was opened")
	}
	if typed := v.lines(); len(typed) != before {
		t.Errorf("typed %q", typed[before:])
	}
}

func TestCommandsAreGivenOneByOneAndTheFirstRefusalStops(t *testing.T) {
	s, _ := newSwitch(t)
	target := dialSwitch(t, s)
	run := func(commands ...string) plan.Chunk {
		var c plan.Chunk
		for _, body := range commands {
			c.Send = append(c.Send, plan.Message{Op: plan.Run, Body: body})
		}
		return c
	}
	if err := target.Set(t.Context(), run("write memory"), session1()); err != nil {
		t.Error(err)
	}
	err := target.Set(t.Context(), run("write memory", "reload in 5"), session1())
	var partial *drivers.PartialError
	if !errors.As(err, &partial) || partial.Done != 1 {
		t.Errorf("got %v, want a PartialError after 1 message", err)
	}
}

func TestTheUserLevelIsLeftWithThePasswordTypedOnce(t *testing.T) {
	s, v := newSwitch(t, func(s *server, v *vsw) { v.enable, s.config.NoClientAuth = true, true })
	target := dialSwitch(t, s)
	if _, err := target.Get(t.Context(), []plan.Query{query("show value")}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(strings.Join(v.lines(), "\n"), password); got != 1 {
		t.Errorf("the password was typed %d times, want 1", got)
	}
	e := s.endpoint(t, "eos")
	for _, wrong := range []drivers.Secret{"wrong-password", ""} {
		e.Password = wrong
		_, err := dialer().Dial(t.Context(), e)
		var auth *drivers.AuthError
		if !errors.As(err, &auth) || strings.Contains(err.Error(), "wrong-password") {
			t.Errorf("got %T: %v, want an AuthError without the password", err, err)
		}
	}
}

func TestATerminalThatTheDeviceClosedWhileIdleIsOpenedAgain(t *testing.T) {
	s, v := newSwitch(t)
	target := dialSwitch(t, s)
	term := target.(*cli).term
	s.cut()
	<-term.wire.ended
	if err := target.Set(t.Context(), lines("value after"), session1()); err != nil {
		t.Errorf("got %v, want the change on a new connection", err)
	}
	if v.holds() != "after" {
		t.Errorf("the device holds %q", v.holds())
	}
}

func TestClockRoundsUpToWholeSeconds(t *testing.T) {
	for d, want := range map[time.Duration]string{
		time.Millisecond: "00:00:01",
		time.Minute:      "00:01:00",
		2*time.Hour + 3*time.Minute + time.Second: "02:03:01",
	} {
		if got := clock(d); got != want {
			t.Errorf("clock(%v) = %s, want %s", d, got, want)
		}
	}
}

func TestEscapesAreTakenOutWhereverAPieceEnds(t *testing.T) {
	text := "\x1b]0;admin@vm: ~\x07\x1b[01;32madmin@vm\x1b[00m:\x1b(B~\x1b]2;title\x1b\\$ \x1b=ls\a"
	const want = "admin@vm:~$ ls"
	for size := 1; size <= len(text); size++ {
		var e escapes
		var got strings.Builder
		for rest := []byte(text); len(rest) > 0; {
			n := min(size, len(rest))
			got.Write(e.from(append([]byte{}, rest[:n]...)))
			rest = rest[n:]
		}
		if got.String() != want {
			t.Errorf("in pieces of %d: got %q, want %q", size, got.String(), want)
		}
	}
}
