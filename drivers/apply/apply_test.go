package apply

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/intent/plan"
)

const (
	before = `{"#banner":"hands off","old":"1","pfc":"off"}`
	after  = `{"#banner":"hands off","ecn":"150kB","pfc":"3"}`
)

func all(state string) map[string]string {
	return map[string]string{"a": state, "b": state, "c": state}
}

func TestAPlanIsAppliedConfirmedAndSaved(t *testing.T) {
	f := newFleet(t)
	got, err := f.config.Apply(t.Context(), f.plan, f.want)
	if err != nil || got.Outcome != journal.Applied {
		t.Fatalf("got %+v, %v", got, err)
	}
	if diff := cmp.Diff(all(after), f.state()); diff != "" {
		t.Error(diff)
	}
	if f.devices["b"].open != "" || f.devices["b"].saved["pfc"] != "3" {
		t.Error("the device with a timer is not confirmed and saved")
	}
	m, err := f.config.Store.Manifest()
	if err != nil || !m.Has("a", "object of a") {
		t.Errorf("the manifest does not say what is weir's: %v, %v", m, err)
	}
	var consumed *journal.ConsumedError
	if _, err := f.config.Apply(t.Context(), f.plan, f.want); !errors.As(err, &consumed) {
		t.Errorf("the same plan again: got %v", err)
	}
}

func TestAPlanOverADeviceThatMovedIsStale(t *testing.T) {
	f := newFleet(t)
	f.devices["c"].running["old"] = "2"
	_, err := f.config.Apply(t.Context(), f.plan, f.want)
	var stale *StaleError
	if !errors.As(err, &stale) {
		t.Fatalf("got %v", err)
	}
	if diff := cmp.Diff(map[string][]string{"c": {"object of c"}}, stale.Moved); diff != "" {
		t.Error(diff)
	}
	if f.devices["a"].running["pfc"] != "off" {
		t.Error("another device was changed all the same")
	}
}

func TestADeviceThatAlreadyIsAsWantedIsLeftInPeace(t *testing.T) {
	f := newFleet(t)
	f.devices["a"].running = map[string]string{"pfc": "3", "ecn": "150kB", "#banner": "hands off"}
	f.devices["a"].fault = "reject"
	if got, err := f.config.Apply(t.Context(), f.plan, f.want); err != nil || got.Outcome != journal.Applied {
		t.Fatalf("got %+v, %v", got, err)
	}
}

func TestABadWaveIsUndoneWholeAndTheRunStops(t *testing.T) {
	for _, fault := range []string{"reject", "partial", "hang"} {
		for _, victim := range []string{"a", "b"} {
			f := newFleet(t)
			f.devices[victim].fault = fault
			got, err := f.config.Apply(t.Context(), f.plan, f.want)
			if err != nil || got.Outcome != journal.AsBefore {
				t.Fatalf("%s on %s: got %+v, %v", fault, victim, got, err)
			}
			if diff := cmp.Diff(all(before), f.state()); diff != "" {
				t.Errorf("%s on %s: %s", fault, victim, diff)
			}
			if m, _ := f.config.Store.Manifest(); len(m) != 0 {
				t.Errorf("%s on %s: the manifest keeps %v", fault, victim, m)
			}
		}
	}
}

func TestAWaveThatTheCountersRefuseIsUndoneAndTheOneBeforeStays(t *testing.T) {
	f := newFleet(t)
	f.config.Watch = func(_ context.Context, wave []plan.Step) func(context.Context, map[string]time.Time) Verdict {
		return func(context.Context, map[string]time.Time) Verdict {
			return Verdict{Pass: wave[0].Device != "c", Text: "c/p1/queue/3 dropped 12 packets"}
		}
	}
	got, err := f.config.Apply(t.Context(), f.plan, f.want)
	if err != nil || got.Outcome != journal.Incomplete || !strings.Contains(got.Why, "dropped 12 packets") {
		t.Fatalf("got %+v, %v", got, err)
	}
	if diff := cmp.Diff(map[string]string{"a": after, "b": after, "c": before}, f.state()); diff != "" {
		t.Error(diff)
	}
}

func TestADeviceThatDiesIsUnknownTheOthersAreAsBeforeAndRecoverEndsIt(t *testing.T) {
	f := newFleet(t)
	f.devices["a"].fault = "lost"
	got, err := f.config.Apply(t.Context(), f.plan, f.want)
	if err != nil || got.Outcome != journal.Unknown {
		t.Fatalf("got %+v, %v", got, err)
	}
	if diff := cmp.Diff(before, string(f.running("b"))); diff != "" {
		t.Errorf("the reachable device: %s", diff)
	}
	var unfinished *journal.UnfinishedError
	if _, err := f.config.Apply(t.Context(), f.plan, f.want); !errors.As(err, &unfinished) {
		t.Errorf("a new apply meanwhile: got %v", err)
	}
	f.devices["a"].dead = false
	again, err := f.config.Recover(t.Context(), got.Run)
	if err != nil || again.Outcome != journal.AsBefore {
		t.Fatalf("recover: got %+v, %v", again, err)
	}
	if diff := cmp.Diff(all(before), f.state()); diff != "" {
		t.Error(diff)
	}
	f.replan(t, "plan-2")
	if got, err := f.config.Apply(t.Context(), f.plan, f.want); err != nil || got.Outcome != journal.Applied {
		t.Errorf("apply after recover: got %+v, %v", got, err)
	}
}

func TestRollbackLeadsEveryDeviceBack(t *testing.T) {
	f := newFleet(t)
	first, err := f.config.Apply(t.Context(), f.plan, f.want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.config.rollBack(t.Context(), first.Run)
	if err != nil || got.Outcome != journal.Applied {
		t.Fatalf("got %+v, %v", got, err)
	}
	if diff := cmp.Diff(all(before), f.state()); diff != "" {
		t.Error(diff)
	}
	if m, _ := f.config.Store.Manifest(); len(m) != 0 {
		t.Errorf("the manifest keeps %v", m)
	}
}

func TestAnInterruptUndoesTheWave(t *testing.T) {
	f := newFleet(t)
	ctx, interrupt := context.WithCancel(t.Context())
	f.config.Watch = func(context.Context, []plan.Step) func(context.Context, map[string]time.Time) Verdict {
		return func(context.Context, map[string]time.Time) Verdict { interrupt(); return Verdict{Pass: true} }
	}
	got, err := f.config.Apply(ctx, f.plan, f.want)
	if err != nil || got.Outcome != journal.AsBefore || !strings.Contains(got.Why, "interrupted") {
		t.Fatalf("got %+v, %v", got, err)
	}
	if diff := cmp.Diff(all(before), f.state()); diff != "" {
		t.Error(diff)
	}
}

// TestRecoverEndsARunThatWasCutOffAfterAnyRecord lets a run go to its end once, to learn its records, and then, for every
// number of them, runs it again on fresh devices, ends the process when that record is on disk, and recovers.
func TestRecoverEndsARunThatWasCutOffAfterAnyRecord(t *testing.T) {
	var records []journal.Record
	synctest.Test(t, func(t *testing.T) {
		f, m, run := history{}.cutOffAt(t, 0)
		records = f.records(t, m, run)
	})
	for n := 1; n < len(records); n++ {
		synctest.Test(t, func(t *testing.T) {
			f, m, run := history{}.cutOffAt(t, n)
			got, err := (&life{memory: m, fleet: f}).do(func(c Config) (Result, error) { return c.Recover(t.Context(), run) })
			if err != nil {
				t.Fatalf("after record %d (%s): %v", n, records[n-1].Kind, err)
			}
			passed := map[int]bool{}
			for _, r := range records[:n] {
				passed[r.Wave] = passed[r.Wave] || r.Kind == journal.Passed
			}
			want, outcome := all(before), journal.AsBefore
			if passed[0] {
				want["a"], want["b"], outcome = after, after, journal.Incomplete
			}
			if passed[1] {
				want["c"], outcome = after, journal.Applied
			}
			if diff := cmp.Diff(want, f.state()); diff != "" || got.Outcome != outcome {
				t.Errorf("after record %d (%s of %s): recovered as %s, want %s:\n%s", n, records[n-1].Kind, records[n-1].Device, got.Outcome, outcome, diff)
			}
			if open := f.devices["b"].open; open != "" {
				t.Errorf("after record %d (%s): the timer of %s still runs", n, records[n-1].Kind, open)
			}
			f.recoversAndApplies(t, m)
		})
	}
}

func TestAConfirmationWhoseAnswerIsLostIsNoReasonToUndo(t *testing.T) {
	f := newFleet(t)
	f.devices["b"].mute = "its answer is lost"
	got, err := f.config.Apply(t.Context(), f.plan, f.want)
	if err != nil || got.Outcome != journal.Applied {
		t.Fatalf("got %+v, %v", got, err)
	}
	if diff := cmp.Diff(all(after), f.state()); diff != "" {
		t.Error(diff)
	}
	if f.devices["b"].saved["pfc"] != "3" {
		t.Error("it is not made persistent")
	}
}

func TestRecoverFinishesADeviceThatConfirmedAndThenWasLost(t *testing.T) {
	f := newFleet(t)
	f.devices["b"].mute = "dies"
	got, err := f.config.Apply(t.Context(), f.plan, f.want)
	if err != nil || got.Outcome != journal.Unknown {
		t.Fatalf("got %+v, %v", got, err)
	}
	f.devices["b"].dead = false
	if got, err = f.config.Recover(t.Context(), got.Run); err != nil || got.Outcome != journal.Incomplete {
		t.Fatalf("recover: got %+v, %v", got, err)
	}
	if diff := cmp.Diff(map[string]string{"a": after, "b": after, "c": before}, f.state()); diff != "" {
		t.Error(diff)
	}
	if f.devices["b"].saved["pfc"] != "3" {
		t.Error("it is not made persistent")
	}
}

func TestADevicesOwnTimerCoversTheWindowOfItsWave(t *testing.T) {
	f := newFleet(t)
	var told map[string]time.Time
	f.config.Watch = func(context.Context, []plan.Step) func(context.Context, map[string]time.Time) Verdict {
		return func(_ context.Context, sent map[string]time.Time) Verdict {
			if told == nil {
				told = sent
			}
			return Verdict{Pass: true}
		}
	}
	f.config.Window = 30 * time.Minute
	got, err := f.config.Apply(t.Context(), f.plan, f.want)
	if err != nil || got.Outcome != journal.Applied {
		t.Fatalf("got %+v, %v", got, err)
	}
	records, err := f.config.Store.Read(got.Run)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if r.Kind != journal.Pending {
			continue
		}
		if timer := r.Pending.Deadline.Sub(r.At); r.Device == "b" && (timer < 31*time.Minute || timer > time.Hour) {
			t.Errorf("the timer of b runs %v, want it to cover 30 minutes and the sending", timer)
		}
	}
	if len(told) != 2 || told["a"].IsZero() || told["b"].IsZero() {
		t.Errorf("the judge was told that %v were sent", told)
	}
}

func TestAWaveThatTheTimerOfADeviceCannotCoverIsNotSent(t *testing.T) {
	f := newFleet(t)
	f.config.Window = time.Hour
	if got, err := f.config.Apply(t.Context(), f.plan, f.want); err == nil || !strings.Contains(err.Error(), "b: wave 1 of 2 devices may take") {
		t.Errorf("got %+v, %v", got, err)
	}
	if diff := cmp.Diff(all(before), f.state()); diff != "" {
		t.Error(diff)
	}
}
