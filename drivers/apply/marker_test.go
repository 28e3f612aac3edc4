package apply

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/drivers/apply/journal"
)

// newMarkedFleet is newFleet with devices that hold markers.
func newMarkedFleet(t *testing.T) *fleet {
	t.Helper()
	f := newFleet(t)
	for _, d := range f.devices {
		d.markable = true
	}
	return f
}

// sent is how much was sent to all devices.
func (f *fleet) sent() int {
	n := 0
	for _, d := range f.devices {
		n += len(d.sets)
	}
	return n
}

// stranger is the marker of a run of another journal.
func stranger() drivers.Marker {
	return drivers.Marker{Run: "20260301-120000.000", Verb: "apply", Who: "eve@elsewhere", Journal: "/other/.weir", ID: "ffffffffffff", Since: time.Unix(0, 0).UTC()}
}

func (f *fleet) unmarked(t *testing.T) {
	t.Helper()
	for name, d := range f.devices {
		if d.marker != "" {
			t.Errorf("%s is marked: %s", name, d.marker)
		}
	}
}

func TestADeviceThatAnotherJournalsRunHasIsLeftAlone(t *testing.T) {
	for name, c := range map[string]struct {
		device string
		marker string
		over   string
		want   string // the error; empty: the run goes through
	}{
		"in the first wave": {"a", stranger().Line(), "",
			"a: run 20260301-120000.000 (apply by eve@elsewhere, since 1970-01-01T00:00:00Z; its journal is /other/.weir there) is changing it, or was cut off: " +
				"wait for it, or end it there with weir recover; where whoever made it and its journal are gone: --take-over 20260301-120000.000"},
		"in the last wave":                           {"c", stranger().Line(), "", "c: run 20260301-120000.000 (apply by eve@elsewhere"},
		"the operator names another run":             {"c", stranger().Line(), "20260301-120000.001", "c: run 20260301-120000.000 (apply by eve@elsewhere"},
		"the operator names that run":                {"c", stranger().Line(), "20260301-120000.000", ""},
		"as a device spells it":                      {"c", stranger().Name(), "20260301-120000.000", ""},
		"what weir did not write":                    {"b", "\x1b[2Jmine", "", `b: its marker is "\x1b[2Jmine", which weir did not write: look what it is, and remove it`},
		"what weir did not write, and the operator?": {"b", "mine", "mine", `b: its marker is "mine", which weir did not write`},
	} {
		t.Run(name, func(t *testing.T) {
			f := newMarkedFleet(t)
			f.devices[c.device].marker = c.marker
			f.config.TakeOver = c.over
			got, err := f.config.Apply(t.Context(), f.plan, f.want)
			if c.want == "" {
				if err != nil || got.Outcome != journal.Applied {
					t.Errorf("got %+v, %v", got, err)
				}
				f.unmarked(t)
				story, err := f.config.Store.Read(got.Run)
				if err != nil || !strings.Contains(texts(story), "taken over from run 20260301-120000") {
					t.Errorf("it is not on record: %s, %v", texts(story), err)
				}
				return
			}
			var marked *MarkedError
			if !errors.As(err, &marked) || !strings.Contains(plainText(err), plainText(errors.New(c.want))) || f.sent() > 0 {
				t.Errorf("%d sets: got %+v, %v", f.sent(), got, err)
			}
			if f.devices[c.device].marker != c.marker {
				t.Errorf("its marker is now %q", f.devices[c.device].marker)
			}
			f.devices[c.device].marker = ""
			f.unmarked(t)
		})
	}
}

// plainText is an error with backslashes once: quoting doubles those of an escape.
func plainText(err error) string { return strings.ReplaceAll(err.Error(), `\\`, `\`) }

func texts(records []journal.Record) string {
	var all []string
	for _, r := range records {
		all = append(all, r.Text)
	}
	return strings.Join(all, "\n")
}

// TestAMarkerOfThisJournalIsTakenOverWhereItsRunHasItsEnd leaves the marker of an earlier run behind.
func TestAMarkerOfThisJournalIsTakenOverWhereItsRunHasItsEnd(t *testing.T) {
	for name, known := range map[string]bool{"the run has its end": true, "the run is not in this journal, of which there is a copy": false} {
		t.Run(name, func(t *testing.T) {
			f := newMarkedFleet(t)
			first, err := f.config.Apply(t.Context(), f.plan, f.want)
			if err != nil {
				t.Fatal(err)
			}
			id, err := f.config.Store.ID()
			if err != nil {
				t.Fatal(err)
			}
			left := stranger()
			left.ID, left.Run = id, "20200101-000000.000"
			if known {
				left.Run = first.Run
			}
			f.devices["a"].marker = left.Line()
			got, err := f.config.rollBack(t.Context(), first.Run)
			if taken := err == nil && got.Outcome == journal.Applied; taken != known {
				t.Errorf("got %+v, %v", got, err)
			}
			if known {
				f.unmarked(t)
			}
		})
	}
}

// TestNothingIsSentOnceTheMarkerIsNotTheRunsAnyMore changes the marker of a device while the run waits for the verdict.
func TestNothingIsSentOnceTheMarkerIsNotTheRunsAnyMore(t *testing.T) {
	for name, c := range map[string]struct {
		marker string
		pass   bool // the verdict
		want   string
	}{
		"another run's, before the confirmation": {stranger().Line(), true, "by eve@elsewhere"},
		"another run's, before the undo":         {stranger().Line(), false, "by eve@elsewhere"},
		"none, before the confirmation":          {"", true, "does not stand on it any more"},
		"none, before the undo":                  {"", false, "does not stand on it any more"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newMarkedFleet(t)
			were := 0
			f.config.Watch = judged(func(string) bool {
				f.devices["a"].marker, were = c.marker, len(f.devices["a"].sets)
				return c.pass
			})
			got, err := f.config.Apply(t.Context(), f.plan, f.want)
			if err != nil || got.Outcome != journal.Unknown && got.Outcome != journal.Partial {
				t.Fatalf("got %+v, %v", got, err)
			}
			if a := got.Devices[0]; a.Device != "a" || !strings.Contains(a.Why, c.want) || len(f.devices["a"].sets) != were {
				t.Errorf("%d sets more: got %+v", len(f.devices["a"].sets)-were, a)
			}
			if string(f.running("a")) != after || f.devices["a"].marker != c.marker {
				t.Errorf("a has %s, marked %q", f.running("a"), f.devices["a"].marker)
			}
			if c.marker != "" { // the other is still at work
				again, err := f.config.Recover(t.Context(), got.Run)
				if err != nil || !again.Outcome.Open() || len(f.devices["a"].sets) != were {
					t.Errorf("recover, while the other is at work: got %+v, %v", again, err)
				}
				f.devices["a"].marker = ""
			}
			again, err := f.config.Recover(t.Context(), got.Run)
			if err != nil || again.Outcome.Open() {
				t.Errorf("recover: got %+v, %v", again, err)
			}
			f.unmarked(t)
		})
	}
}

func TestADeviceThatCannotBeMarkedIsNamedBeforeAnythingIsSent(t *testing.T) {
	full := &drivers.RejectedError{Device: "b", Input: "the marker of this run", Reason: "No space left on device"}
	f := newMarkedFleet(t)
	f.config.Dial = func(_ context.Context, name string) (drivers.Target, error) {
		f.devices["b"].unmarked = full // every time
		return f.devices[name].dial()
	}
	got, err := f.config.Apply(t.Context(), f.plan, f.want)
	want := `nothing of this wave was sent: b: mark it as this run's: b: refused "the marker of this run": No space left on device`
	if err != nil || got.Outcome != journal.AsBefore || got.Why != want || f.sent() > 0 {
		t.Errorf("%d sets: got %+v, %v", f.sent(), got, err)
	}
	f.unmarked(t)
}

func TestAFailureOnTheWayToTheMarkerIsTriedAgain(t *testing.T) {
	f := newMarkedFleet(t)
	f.devices["b"].unmarked = errors.New("b: look at the marker: the connection ended before the answer")
	if got, err := f.config.Apply(t.Context(), f.plan, f.want); err != nil || got.Outcome != journal.Applied {
		t.Errorf("got %+v, %v", got, err)
	}
	f.unmarked(t)
}

func TestADeviceThatHoldsNoMarkerIsToldOfOnce(t *testing.T) {
	f := newMarkedFleet(t)
	f.devices["a"].markable = false
	f.devices["c"].unmarked = &drivers.NoMarkerError{Device: "c", Why: "it is reached over gNMI alone"}
	got, err := f.config.Apply(t.Context(), f.plan, f.want)
	if err != nil || got.Outcome != journal.Applied {
		t.Fatalf("got %+v, %v", got, err)
	}
	want := []Left{{"a", "its transport has none"}, {"c", "it is reached over gNMI alone"}}
	if diff := cmp.Diff(want, got.Unmarked); diff != "" {
		t.Error(diff)
	}
	f.unmarked(t)
}

// TestAMarkerThatCannotBeRemovedIsToldOf has a device go away for a while right after it is confirmed.
func TestAMarkerThatCannotBeRemovedIsToldOf(t *testing.T) {
	f := newMarkedFleet(t)
	f.config.Observe = func(r journal.Record) {
		if r.Kind == journal.Confirmed && r.Device == "c" {
			f.devices["c"].dead = true
		}
	}
	got, err := f.config.Apply(t.Context(), f.plan, f.want)
	if err != nil || got.Outcome != journal.Applied || len(got.Marked) != 1 || got.Marked[0].Device != "c" {
		t.Fatalf("got %+v, %v", got, err)
	}
	f.devices["c"].dead, f.config.Observe = false, nil
	if got, err := f.config.rollBack(t.Context(), got.Run); err != nil || got.Outcome != journal.Applied || len(got.Marked) > 0 {
		t.Errorf("the next run: got %+v, %v", got, err)
	}
	f.unmarked(t)
}

func TestARunThatIsAbandonedTakesItsMarkersOff(t *testing.T) {
	f := newMarkedFleet(t)
	f.devices["a"].fault, f.devices["a"].away = "partial", 1000
	got, err := f.config.Apply(t.Context(), f.plan, f.want)
	if err != nil || got.Outcome != journal.Partial || f.devices["a"].marker == "" || f.devices["b"].marker != "" {
		t.Fatalf("got %+v, %v, marked %q, %q", got, err, f.devices["a"].marker, f.devices["b"].marker)
	}
	if _, err := f.config.Abandon(t.Context(), got.Run, "its undo is refused"); err != nil {
		t.Fatal(err)
	}
	f.unmarked(t)
}

// TestAProcessThatWasStoppedLooksAtItsLockBeforeItSends stops the process for ten minutes while it looks at the marker, or while it
// writes what it is about to send. Meanwhile somebody takes it for gone, and its lock from it; the marker they leave.
func TestAProcessThatWasStoppedLooksAtItsLockBeforeItSends(t *testing.T) {
	for name, stopAt := range map[string]journal.Kind{
		"at the marker, before the first chunk":  journal.Sending,
		"at the marker, before the confirmation": journal.Passed,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				f := newMarkedFleet(t)
				f.config.Store.Dir, f.config.Parallel = dir, 1
				var ahead time.Duration
				f.config.Store.Now = func() time.Time { return time.Now().Add(ahead) }
				stop := func() {
					f.devices["a"].mu.Lock()
					defer f.devices["a"].mu.Unlock()
					f.devices["a"].looked = nil
					ahead += 10 * time.Minute // and no timer has fired
					if err := os.Remove(filepath.Join(dir, "lock")); err != nil {
						t.Error(err)
					}
				}
				were := -1
				f.config.Observe = func(r journal.Record) {
					if r.Kind == stopAt && were < 0 {
						were = len(f.devices["a"].sets)
						f.devices["a"].looked = stop
					}
				}
				got, err := f.config.Apply(t.Context(), f.plan, f.want)
				if err != nil || !got.Outcome.Open() || !strings.Contains(got.Why, "does not hold its lock any more") {
					t.Errorf("got %+v, %v", got, err)
				}
				if were < 0 || len(f.devices["a"].sets) != were {
					t.Errorf("sent %d times before it was stopped, and %d then", were, len(f.devices["a"].sets))
				}
			})
		})
	}
}
