package apply

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/plan"
)

// judged is a Watch whose verdict is made by do, wave by wave.
func judged(do func(wave string) bool) Watch {
	return func(_ context.Context, wave []plan.Step) func(context.Context, map[string]time.Time) Verdict {
		return func(context.Context, map[string]time.Time) Verdict { return Verdict{Pass: do(wave[0].Device)} }
	}
}

// set changes a value of a device by hand.
func (f *fleet) set(device, key, value string) {
	d := f.devices[device]
	d.mu.Lock()
	defer d.mu.Unlock()
	d.running[key] = value
}

// after kind of a wave are so many records of a run that goes through.
func upTo(t *testing.T, kind journal.Kind, wave int) int {
	t.Helper()
	at := 0
	synctest.Test(t, func(t *testing.T) {
		f, m, run := history{}.cutOffAt(t, 0)
		for _, r := range f.records(t, m, run) {
			if r.Kind == kind && r.Wave == wave {
				at = r.Seq
			}
		}
	})
	return at
}

func (l *life) recover(t *testing.T, run string) (Result, error) {
	return l.do(func(c Config) (Result, error) { return c.Recover(t.Context(), run) })
}

// TestAGoodVerdictCountsNoMoreOnceUndoingBegan cuts a run off after its good verdict. Somebody has changed one device meanwhile, so
// that the wave is led back; the other cannot be reached. When it is back it is led back as well, and not confirmed.
func TestAGoodVerdictCountsNoMoreOnceUndoingBegan(t *testing.T) {
	n := upTo(t, journal.Passed, 0)
	synctest.Test(t, func(t *testing.T) {
		f, m, run := history{}.cutOffAt(t, n)
		f.set("b", "ecn", "1MB")
		f.devices["a"].dead = true
		got, err := (&life{memory: m, fleet: f}).recover(t, run)
		if err != nil || got.Outcome != journal.Unknown {
			t.Fatalf("got %+v, %v", got, err)
		}
		f.devices["a"].dead = false
		got, err = (&life{memory: m, fleet: f}).recover(t, run)
		if err != nil || got.Outcome != journal.AsBefore {
			t.Errorf("got %+v, %v", got, err)
		}
		if diff := cmp.Diff(all(before), f.state()); diff != "" {
			t.Error(diff)
		}
	})
}

// TestAWaveWhoseVerdictWasGoodIsFinishedWhenADeviceIsBack: what can be reached is confirmed, and the rest when it is back.
func TestAWaveWhoseVerdictWasGoodIsFinishedWhenADeviceIsBack(t *testing.T) {
	n := upTo(t, journal.Passed, 0)
	synctest.Test(t, func(t *testing.T) {
		f, m, run := history{}.cutOffAt(t, n)
		f.devices["a"].dead = true
		if got, err := (&life{memory: m, fleet: f}).recover(t, run); err != nil || got.Outcome != journal.Unknown {
			t.Fatalf("got %+v, %v", got, err)
		}
		f.devices["a"].dead = false
		if got, err := (&life{memory: m, fleet: f}).recover(t, run); err != nil || got.Outcome != journal.Incomplete {
			t.Errorf("got %+v, %v", got, err)
		}
		if diff := cmp.Diff(map[string]string{"a": after, "b": after, "c": before}, f.state()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestWhatSomebodyChangesAfterTheReadBackIsSeen(t *testing.T) {
	const others = `{"#acl":"1","#banner":"hands off"`
	for name, c := range map[string]struct {
		judge func(f *fleet) bool
		mute  string
		want  journal.Outcome
		b     string
		lost  []string
	}{
		"a value of weir's, before the verdict":            {func(f *fleet) bool { f.set("b", "pfc", "5"); return true }, "", journal.AsBefore, before, nil},
		"a value of weir's, after the confirmation":        {func(*fleet) bool { return true }, "changed", journal.AsBefore, before, nil},
		"the device is started anew before the verdict":    {func(f *fleet) bool { f.set("b", "pfc", "off"); return true }, "", journal.AsBefore, before, nil},
		"the device's timer has ended before it was asked": {func(*fleet) bool { return true }, "expired", journal.AsBefore, before, nil},
		"a line of others":                                 {func(f *fleet) bool { f.set("b", "#acl", "1"); return true }, "", journal.Applied, others + `,"ecn":"150kB","pfc":"3"}`, nil},
		"a line of others, and the wave is led back":       {func(f *fleet) bool { f.set("b", "#acl", "1"); return false }, "", journal.AsBefore, others + `,"old":"1","pfc":"off"}`, nil},
		"a line of others, and the device's timer ends":    {func(f *fleet) bool { f.set("b", "#acl", "1"); return true }, "expired", journal.AsBefore, before, []string{"#acl 1"}},
	} {
		f := newFleet(t)
		f.devices["b"].mute = c.mute
		f.config.Watch = judged(func(wave string) bool { return wave != "a" || c.judge(f) })
		got, err := f.config.Apply(t.Context(), f.plan, f.want)
		if err != nil || got.Outcome != c.want {
			t.Errorf("%s: got %+v, %v", name, got, err)
			continue
		}
		if diff := cmp.Diff(c.b, string(f.running("b"))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if diff := cmp.Diff(c.lost, got.Devices[1].Lost); diff != "" {
			t.Errorf("%s: lost: %s", name, diff)
		}
		if state := f.state(); c.want == journal.AsBefore && state["a"] != before {
			t.Errorf("%s: half a wave stays: %v", name, state)
		}
	}
}

func TestARunThatIsInterruptedBetweenWavesIsIncomplete(t *testing.T) {
	for wave, want := range []journal.Outcome{journal.Incomplete, journal.Applied} {
		f := newFleet(t)
		ctx, interrupt := context.WithCancel(t.Context())
		f.config.Observe = func(r journal.Record) {
			if r.Kind == journal.WaveEnded && r.Wave == wave {
				interrupt()
			}
		}
		got, err := f.config.Apply(ctx, f.plan, f.want)
		if err != nil || got.Outcome != want {
			t.Errorf("after wave %d: got %+v, %v", wave, got, err)
		}
		if run, err := f.config.Store.Replay(got.Run); err != nil || run.Outcome != want {
			t.Errorf("after wave %d: on record is %s, %v", wave, run.Outcome, err)
		}
	}
}

func TestAPlanIsAppliedOnceWhateverItsName(t *testing.T) {
	f := newFleet(t)
	f.devices["c"].running["old"] = "2"
	var stale *StaleError
	if _, err := f.config.Apply(t.Context(), f.plan, f.want); !errors.As(err, &stale) {
		t.Fatal(err)
	}
	f.devices["c"].running["old"] = "1"
	first, err := f.config.Apply(t.Context(), f.plan, f.want)
	if err != nil || first.Outcome != journal.Applied {
		t.Fatalf("nothing of it was sent before: %+v, %v", first, err)
	}
	renamed := f.plan
	renamed.ID, renamed.Saved = "another", true
	var consumed *journal.ConsumedError
	if _, err := f.config.Apply(t.Context(), renamed, f.want); !errors.As(err, &consumed) || consumed.Run != first.Run {
		t.Errorf("under another name: %v", err)
	}
	if _, err := f.config.rollBack(t.Context(), first.Run); err != nil {
		t.Fatal(err)
	}
	f.replan(t, "plan-2")
	if got, err := f.config.Apply(t.Context(), f.plan, f.want); err != nil || got.Outcome != journal.Applied {
		t.Errorf("made anew after a rollback: %+v, %v", got, err)
	}
}

func TestWhatADeviceHasLostIsAppliedAgain(t *testing.T) {
	f := newFleet(t)
	first := f.plan
	if _, err := f.config.Apply(t.Context(), first, f.want); err != nil {
		t.Fatal(err)
	}
	for _, d := range f.devices { // another device stands in its place
		d.running = map[string]string{"pfc": "off", "old": "1"}
	}
	f.replan(t, first.ID+" made anew")
	if got, err := f.config.Apply(t.Context(), f.plan, f.want); err != nil || got.Outcome != journal.Applied {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestARollbackLeavesWhatChangedSince(t *testing.T) {
	f := newFleet(t)
	first, err := f.config.Apply(t.Context(), f.plan, f.want)
	if err != nil {
		t.Fatal(err)
	}
	f.set("c", "ecn", "1MB")
	var stale *StaleError
	if _, err := f.config.PlanRollback(t.Context(), first.Run, ReturnOptions{AllOrNothing: true}); !errors.As(err, &stale) || len(stale.Moved["c"]) != 1 {
		t.Errorf("all or nothing: got %v", err)
	}
	got, err := f.config.rollBack(t.Context(), first.Run)
	if err != nil || got.Outcome != journal.Incomplete || len(got.Left) != 1 || got.Left[0].Device != "c" {
		t.Fatalf("got %+v, %v", got, err)
	}
	f.set("c", "ecn", "150kB")
	if got, err = f.config.rollBack(t.Context(), first.Run); err != nil || got.Outcome != journal.Applied || len(got.Devices) != 1 {
		t.Fatalf("the rest: got %+v, %v", got, err)
	}
	if diff := cmp.Diff(all(before), f.state()); diff != "" {
		t.Error(diff)
	}
}

func TestARollbackOfHalfARollbackLeadsForwardAgain(t *testing.T) {
	f := newFleet(t)
	first, err := f.config.Apply(t.Context(), f.plan, f.want)
	if err != nil {
		t.Fatal(err)
	}
	ret, err := f.config.PlanRollback(t.Context(), first.Run, ReturnOptions{Only: func(device string) bool { return device == "c" }})
	if err != nil {
		t.Fatal(err)
	}
	half, err := f.config.Rollback(t.Context(), ret)
	if err != nil || half.Outcome != journal.Applied {
		t.Fatalf("got %+v, %v", half, err)
	}
	if diff := cmp.Diff(map[string]string{"a": after, "b": after, "c": before}, f.state()); diff != "" {
		t.Error(diff)
	}
	if got, err := f.config.rollBack(t.Context(), half.Run); err != nil || got.Outcome != journal.Applied {
		t.Errorf("got %+v, %v", got, err)
	}
	if diff := cmp.Diff(all(after), f.state()); diff != "" {
		t.Error(diff)
	}
}

// backwards notes which of its two directions a language was asked for.
type backwards struct {
	words
	asked *[]string
}

func (b backwards) Step(have plan.State, want plan.Document) (plan.Step, diag.List) {
	s, l := b.words.Step(have, want)
	if len(s.Chunks) > 0 && len(have.Owned) > 0 {
		*b.asked = append(*b.asked, "step")
	}
	return s, l
}

func (b backwards) Undo(have plan.State, to plan.Document) (plan.Step, diag.List) {
	*b.asked = append(*b.asked, "undo")
	return b.words.Undo(have, to)
}

func TestWhatIsUndoneIsUndoneInTheOppositeOrder(t *testing.T) {
	f := newFleet(t)
	var asked []string
	f.config.Devices["c"] = backwards{words{name: "c"}, &asked}
	first, err := f.config.Apply(t.Context(), f.plan, f.want)
	if err != nil {
		t.Fatal(err)
	}
	f.config.Watch = judged(func(string) bool { return false })
	asked = nil
	if _, err := f.config.rollBack(t.Context(), first.Run); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"undo", "step"}, asked); diff != "" {
		t.Errorf("a rollback that is itself led back: %s", diff)
	}
}

// TestOfTwoRecoversOneHasTheRun holds a recover up at its first record, and begins another.
func TestOfTwoRecoversOneHasTheRun(t *testing.T) {
	n := upTo(t, journal.Sent, 0)
	synctest.Test(t, func(t *testing.T) {
		f, m, run := history{}.cutOffAt(t, n)
		first, second := &life{memory: m, fleet: f}, &life{memory: m, fleet: f}
		held, proceed := make(chan struct{}), make(chan struct{})
		config := first.config()
		observe := config.Observe
		config.Observe = func(r journal.Record) {
			if held != nil {
				close(held)
				held = nil
				<-proceed
			}
			observe(r)
		}
		var got Result
		done := make(chan error)
		waiting := held
		go func() {
			var err error
			got, err = config.Recover(t.Context(), run)
			done <- err
		}()
		<-waiting
		var locked *journal.LockedError
		if _, err := second.recover(t, run); !errors.As(err, &locked) || locked.Lock.Run != run || locked.Lock.Verb != "recover" {
			t.Errorf("the second has it too: %v", err)
		}
		close(proceed)
		if err := <-done; err != nil || got.Outcome != journal.AsBefore {
			t.Errorf("got %+v, %v", got, err)
		}
		if again, err := second.recover(t, run); err != nil || again.Outcome != journal.AsBefore {
			t.Errorf("once it has ended: %+v, %v", again, err)
		}
		if diff := cmp.Diff(all(before), f.state()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestARunWhoseLockIsTakenSendsNothingMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, m := mortal(t)
		f.config.Watch = judged(func(string) bool {
			delete(m.files, "/journal/lock") // by somebody who took it for gone
			time.Sleep(5 * time.Minute)
			return true
		})
		got, err := (&life{memory: m, fleet: f}).do(func(c Config) (Result, error) { return c.Apply(t.Context(), f.plan, f.want) })
		if err != nil || got.Outcome != journal.Unknown || !strings.Contains(got.Why, "does not hold its lock any more") {
			t.Errorf("got %+v, %v", got, err)
		}
		if f.devices["b"].open == "" {
			t.Error("the change is confirmed all the same")
		}
	})
}

func TestARunThatCannotEndIsAbandoned(t *testing.T) {
	f := newFleet(t)
	f.devices["a"].fault = "lost"
	got, err := f.config.Apply(t.Context(), f.plan, f.want)
	if err != nil || got.Outcome != journal.Unknown {
		t.Fatalf("got %+v, %v", got, err)
	}
	f.devices["a"].dead = false
	delete(f.config.Devices, "c")
	closed, err := f.config.Abandon(t.Context(), got.Run, "the switch goes to the bin")
	if err != nil || closed.Outcome != journal.Abandoned {
		t.Fatalf("got %+v, %v", closed, err)
	}
	run, err := f.config.Store.Replay(got.Run)
	if err != nil || run.Outcome != journal.Abandoned || run.Why != "the switch goes to the bin" || len(run.Waves[0].Devices[0].Leaves) != 3 {
		t.Errorf("on record is %+v, %v", run, err)
	}
	if err := f.config.Store.Free(); err != nil {
		t.Errorf("it is still in the way: %v", err)
	}
	if diff := cmp.Diff(after, string(f.running("a"))); diff != "" {
		t.Errorf("a device was changed: %s", diff)
	}
}

// TestARecoveryAfterARepairLooksAtWhatTheLostRecordsWereAbout cuts the end off the journal of a run that was killed in the middle
// of a wave, behind its back.
func TestARecoveryAfterARepairLooksAtWhatTheLostRecordsWereAbout(t *testing.T) {
	f := newFleet(t)
	f.config.Parallel, f.config.Poll = 1, time.Millisecond
	f.devices["b"].fault = "lost"
	got, err := f.config.Apply(t.Context(), f.plan, f.want)
	if err != nil || got.Outcome != journal.Unknown {
		t.Fatalf("got %+v, %v", got, err)
	}
	f.devices["b"].dead = false
	f.devices["b"].open = ""
	records, err := f.config.Store.Read(got.Run)
	if err != nil {
		t.Fatal(err)
	}
	n := slices.IndexFunc(records, func(r journal.Record) bool { return r.Kind == journal.Pending })
	name := filepath.Join(f.config.Store.Dir, "runs", got.Run+".jsonl")
	body, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(strings.Join(strings.SplitAfter(string(body), "\n")[:n], "")), 0o600); err != nil {
		t.Fatal(err)
	}
	var damaged *journal.DamagedError
	if _, err := f.config.Recover(t.Context(), got.Run); !errors.As(err, &damaged) || !damaged.Tail {
		t.Fatalf("it is believed: %v", err)
	}
	if _, err := f.config.Store.Repair(got.Run); err != nil {
		t.Fatal(err)
	}
	again, err := f.config.Recover(t.Context(), got.Run)
	if err != nil || again.Outcome != journal.AsBefore {
		t.Errorf("got %+v, %v", again, err)
	}
	if diff := cmp.Diff(all(before), f.state()); diff != "" {
		t.Error(diff)
	}
}

func TestEveryDeviceOfAWaveHasItsEndOnRecord(t *testing.T) {
	wanted := map[string]string{"pfc": "3", "ecn": "150kB", "#banner": "hands off"}
	for name, c := range map[string]struct {
		pass bool
		want journal.Kind
	}{"the wave stays": {true, journal.Confirmed}, "the wave is led back": {false, journal.Undone}} {
		f := newFleet(t)
		f.devices["a"].running = wanted // nothing is sent to it
		f.config.Watch = judged(func(string) bool { return c.pass })
		got, err := f.config.Apply(t.Context(), f.plan, f.want)
		if err != nil {
			t.Fatal(err)
		}
		run, err := f.config.Store.Replay(got.Run)
		if err != nil || run.Waves[0].Devices[0].Phase != c.want || run.Waves[0].Devices[0].Pending != nil {
			t.Errorf("%s: got %s, %v", name, run.Waves[0].Devices[0].Phase, err)
		}
	}
}

func TestARunSaysOnWhoseBehalfItWasMade(t *testing.T) {
	f := newFleet(t)
	f.config.Audit = journal.Audit{Who: "ada@host", From: "192.0.2.1", Commit: "abc", Reason: "DSCP 24", Ticket: "NET-7"}
	got, err := f.config.Apply(t.Context(), f.plan, f.want)
	if err != nil {
		t.Fatal(err)
	}
	begun, err := f.config.Store.Begun()
	if err != nil || len(begun) != 1 || begun[0].Name != got.Run {
		t.Fatalf("got %+v, %v", begun, err)
	}
	if diff := cmp.Diff(f.config.Audit, begun[0].Audit); diff != "" {
		t.Error(diff)
	}
}

func TestAJournalHoldsNoMessages(t *testing.T) {
	f := newFleet(t)
	got, err := f.config.Apply(t.Context(), f.plan, f.want)
	if err != nil {
		t.Fatal(err)
	}
	body, err := os.ReadFile(filepath.Join(f.config.Store.Dir, "runs", got.Run+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{`"op"`, `"save"`, `"quiet"`} {
		if strings.Contains(string(body), word) {
			t.Errorf("it holds %s", word)
		}
	}
}
