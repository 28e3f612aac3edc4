package apply

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/intent/plan"
)

// history is a way for a run to go.
type history struct {
	prepare func(*fleet)
	first   bool         // the plan is applied before, and the run rolls it back
	healed  func(*fleet) // before it is recovered
}

// revived makes every device answer again.
func revived(f *fleet) {
	for _, d := range f.devices {
		d.dead = false
	}
}

func histories() map[string]history {
	hurt := func(device, fault string) func(*fleet) {
		return func(f *fleet) { f.devices[device].fault = fault }
	}
	return map[string]history{
		"every wave stays":            {},
		"devices change side by side": {prepare: func(f *fleet) { f.config.Parallel = 10 }},
		"a device is as wanted already": {prepare: func(f *fleet) {
			f.devices["a"].running = map[string]string{"pfc": "3", "ecn": "150kB", "#banner": "hands off"}
		}},
		"a device refuses":           {prepare: hurt("b", "reject")},
		"a device takes half":        {prepare: hurt("a", "partial")},
		"the second wave is refused": {prepare: hurt("c", "reject")},
		"the counters refuse the second wave": {prepare: func(f *fleet) {
			f.config.Watch = func(_ context.Context, wave []plan.Step) func(context.Context, map[string]time.Time) Verdict {
				return func(context.Context, map[string]time.Time) Verdict { return Verdict{Pass: wave[0].Device != "c"} }
			}
		}},
		"a device dies while it is sent its change, and is back": {prepare: hurt("a", "lost"), healed: revived},
		"a device dies while it is sent its change, and stays":   {prepare: hurt("b", "lost")},
		"a device dies while it confirms, and is back":           {prepare: func(f *fleet) { f.devices["b"].mute = "dies" }, healed: revived},
		"a device dies while it confirms, and stays":             {prepare: func(f *fleet) { f.devices["a"].mute = "dies" }},
		"a device is changed by another after its good verdict": {prepare: func(f *fleet) { f.devices["b"].mute = "dies" },
			healed: func(f *fleet) { revived(f); f.devices["b"].running["ecn"] = "1MB" }},
		"the run is rolled back":                              {first: true},
		"the run is rolled back, and a device refuses":        {first: true, prepare: hurt("a", "reject")},
		"the run is rolled back, and a device dies meanwhile": {first: true, prepare: hurt("c", "lost"), healed: revived},
	}
}

// cutOffAt lets the history go until record n of its run is on disk (0: to its end), and gives the run's name.
func (h history) cutOffAt(t *testing.T, n int) (*fleet, *memory, string) {
	t.Helper()
	f, m := mortal(t)
	act := func(c Config) (Result, error) { return c.Apply(t.Context(), f.plan, f.want) }
	runs := 1
	if h.first {
		done, err := (&life{memory: m, fleet: f}).do(act)
		if err != nil || done.Outcome != journal.Applied {
			t.Fatalf("the run before: %+v, %v", done, err)
		}
		time.Sleep(time.Second) // its name is its time
		act = func(c Config) (Result, error) { return c.rollBack(t.Context(), done.Run) }
		runs++
	}
	if h.prepare != nil {
		h.prepare(f)
	}
	if _, err := (&life{memory: m, fleet: f, last: n}).do(act); err != nil {
		t.Fatal(err)
	}
	if h.healed != nil {
		h.healed(f)
	}
	names, err := f.store(m).Runs()
	if err != nil || len(names) != runs {
		t.Fatalf("runs %v, %v", names, err)
	}
	return f, m, names[runs-1]
}

// rollBack plans a rollback and carries it out.
func (c Config) rollBack(ctx context.Context, run string) (Result, error) {
	ret, err := c.PlanRollback(ctx, run, ReturnOptions{})
	if err != nil {
		return Result{}, err
	}
	return c.Rollback(ctx, ret)
}

// store is the fleet's, as one reads it who is no process of a test.
func (f *fleet) store(m *memory) journal.Store {
	return (&life{memory: m, fleet: f}).config().Store
}

func (f *fleet) records(t *testing.T, m *memory, run string) []journal.Record {
	t.Helper()
	records, err := f.store(m).Read(run)
	if err != nil {
		t.Fatal(err)
	}
	return records
}

// TestEveryPrefixOfARunAndOfItsRecoveryMeansWhatItIs lets a run go each way once to learn its records. Then, for every number of
// them, it is cut off there and recovered; and for every number of records of that recovery, that one is cut off too, and a second
// recovery ends the run. Whatever is on disk on the way is read as an oracle reads it, and recovery is about exactly the devices
// that the journal says are left.
func TestEveryPrefixOfARunAndOfItsRecoveryMeansWhatItIs(t *testing.T) {
	for name, h := range histories() {
		t.Run(name, func(t *testing.T) {
			var whole []journal.Record
			synctest.Test(t, func(t *testing.T) {
				f, m, run := h.cutOffAt(t, 0)
				whole = f.records(t, m, run)
			})
			for n := 1; n <= len(whole); n++ {
				var recovered []journal.Record
				synctest.Test(t, func(t *testing.T) {
					f, m, run := h.cutOffAt(t, n)
					if n < len(whole) || whole[n-1].Kind != journal.Ended {
						f.recovers(t, m, run, 0)
					}
					recovered = f.records(t, m, run)
				})
				classified(t, recovered)
				for cut := n + 1; cut < len(recovered); cut++ {
					synctest.Test(t, func(t *testing.T) {
						f, m, run := h.cutOffAt(t, n)
						f.recovers(t, m, run, cut)
						time.Sleep(time.Second)
						f.recovers(t, m, run, 0)
						classified(t, f.records(t, m, run))
					})
				}
			}
		})
	}
}

// marked are the devices that the run's marker may stand on.
func marked(r journal.Run) []string {
	var names []string
	for _, w := range r.Waves {
		for _, d := range w.Devices {
			if d.Marked {
				names = append(names, d.Name)
			}
		}
	}
	return names
}

// recovers lets a process recover the run until record last is on disk (0: to its end), and checks which devices it is about.
func (f *fleet) recovers(t *testing.T, m *memory, run string, last int) {
	t.Helper()
	left := journal.Replay(f.records(t, m, run))
	l := &life{memory: m, fleet: f, last: last}
	got, err := l.do(func(c Config) (Result, error) { return c.Recover(t.Context(), run) })
	if err != nil {
		t.Fatal(err)
	}
	if left.Ended { // devices that change side by side do not always need as many records
		if got.Outcome != left.Outcome || len(got.Devices) > 0 || len(l.dialled) > 0 {
			t.Errorf("a run that had ended is recovered: %+v, %v", got, l.dialled)
		}
		return
	}
	var names, pending []string
	for _, d := range left.Left() {
		names = append(names, d.Name)
		if d.Pending != nil && (left.Recovery == journal.Undo || d.Outcome != journal.Applied) {
			pending = append(pending, d.Name)
		}
	}
	for _, device := range l.dialled {
		if !slices.Contains(names, device) && !slices.Contains(marked(left), device) {
			t.Errorf("%s was called, and the journal says that %v are left", device, names)
		}
	}
	if l.dead() {
		return
	}
	var ended []string
	for _, d := range got.Devices {
		ended = append(ended, d.Device)
	}
	if !slices.Equal(names, ended) {
		t.Errorf("recovery was about %v, and the journal says that %v are left", ended, names)
	}
	for _, device := range pending {
		if !slices.Contains(l.dialled, device) {
			t.Errorf("%s was left pending, and was not called", device)
		}
	}
	if now := journal.Replay(f.records(t, m, run)); now.Ended {
		for name, d := range f.devices {
			if d.marker != "" && !d.dead {
				t.Errorf("the run has ended, and its marker stands on %s", name)
			}
		}
	}
	stuck := got.Outcome == journal.Unknown || got.Outcome == journal.Partial
	if now := journal.Replay(f.records(t, m, run)); now.Ended == stuck || !stuck && now.Outcome != got.Outcome {
		t.Errorf("the recovery ended %s, and the journal says ended %t, %s", got.Outcome, now.Ended, now.Outcome)
	}
}

// classified checks every prefix of the records of one run.
func classified(t *testing.T, records []journal.Record) {
	t.Helper()
	ended := false
	for n := range len(records) + 1 {
		prefix := records[:n]
		got := journal.Replay(prefix)
		where := fmt.Sprintf("after %d records", n)
		if n > 0 {
			where = fmt.Sprintf("after record %d (%s %s)", n, prefix[n-1].Kind, prefix[n-1].Device)
		}
		if got.Damage != "" {
			t.Errorf("%s: a run that was written is called damaged: %s", where, got.Damage)
		}
		if diff := cmp.Diff(oracle(prefix), meaning(got)); diff != "" {
			t.Errorf("%s:\n%s", where, diff)
		}
		if !reflect.DeepEqual(got, journal.Replay(prefix)) {
			t.Errorf("%s: read twice, it means two things", where)
		}
		if ended && !got.Ended {
			t.Errorf("%s: a run that had ended is open", where)
		}
		ended = got.Ended
	}
}

// answer is what is asked of a journal, in words that compare.
type answer struct {
	Verb, Of, Plan string
	Devices        int
	Ended          bool
	Outcome        journal.Outcome
	Recovery       journal.Recovery
	Left           []remainder
	Past           map[string]plan.Digest // what stays of an ended run, and what it was before
	Order          []string
}

type remainder struct {
	Name    string
	Phase   journal.Kind
	Before  plan.Digest
	Pending string
	Timer   bool
	Chunks  int
	Reached plan.Digest
	Outcome journal.Outcome
	Why     string
}

func meaning(r journal.Run) answer {
	a := answer{Verb: r.Verb, Of: r.Of, Plan: r.Plan, Devices: r.Devices(), Ended: r.Ended, Outcome: r.Outcome, Recovery: r.Recovery}
	for _, d := range r.Left() {
		w := remainder{d.Name, d.Phase, d.Before.Digest(), "", d.Timer, d.Chunks, d.Reached, d.Outcome, d.Why}
		if d.Pending != nil {
			w.Pending = d.Pending.Name
		}
		a.Left = append(a.Left, w)
	}
	past, err := r.Past()
	var unfinished *journal.UnfinishedError
	if errors.As(err, &unfinished) == r.Ended {
		a.Order = append(a.Order, "it is not refused as it must be: "+fmt.Sprint(err))
	}
	if err == nil {
		a.Past = map[string]plan.Digest{}
		for _, device := range slices.Concat(past.Waves...) {
			a.Past[device] = past.Before[device].Digest()
			a.Order = append(a.Order, device)
		}
	}
	return a
}

// oracle answers the same, each question by a look of its own through all the records.
func oracle(records []journal.Record) answer {
	last := func(match func(journal.Record) bool) (journal.Record, int) {
		for i, r := range slices.Backward(records) {
			if match(r) {
				return r, i
			}
		}
		return journal.Record{}, -1
	}
	of := func(device string, wave int, kinds ...journal.Kind) (journal.Record, int) {
		return last(func(r journal.Record) bool {
			return r.Device == device && r.Wave == wave && (len(kinds) == 0 || slices.Contains(kinds, r.Kind))
		})
	}
	records = slices.DeleteFunc(slices.Clone(records), func(r journal.Record) bool { return r.Kind == journal.Marking || r.Kind == journal.Unmarked })
	if len(records) == 0 {
		return answer{Recovery: journal.Undo}
	}
	first, end := records[0], records[len(records)-1]
	a := answer{Verb: first.Verb, Of: first.Of, Plan: first.Plan, Ended: end.Kind == journal.Ended, Recovery: journal.Undo}
	if a.Ended {
		a.Outcome = end.Outcome
	}
	wave := 0
	for _, r := range records {
		wave = max(wave, r.Wave)
	}
	_, back := last(func(r journal.Record) bool {
		return (r.Kind == journal.Undoing || r.Kind == journal.Undone) && r.Wave == wave
	})
	if _, passed := last(func(r journal.Record) bool { return r.Kind == journal.Passed && r.Wave == wave }); passed > back {
		a.Recovery = journal.Finish
	}
	if _, whole := last(func(r journal.Record) bool { return r.Kind == journal.WaveEnded && r.Wave == wave }); whole >= 0 {
		a.Recovery = journal.Nothing
	}
	for n, devices := range first.Devices {
		a.Devices += len(devices)
		for _, name := range devices {
			was, known := of(name, n, journal.Before)
			if known < 0 || n != wave || a.Recovery == journal.Nothing {
				continue
			}
			now, _ := of(name, n)
			d := remainder{Name: name, Phase: now.Kind, Before: was.Owned.Digest()}
			sent, announced := of(name, n, journal.Pending)
			_, undoing := of(name, n, journal.Undoing)
			if sending := []journal.Kind{journal.Pending, journal.Sending, journal.Sent}; undoing >= 0 && slices.Contains(sending, now.Kind) {
				d.Phase = journal.Undoing
			}
			decided, when := of(name, n, journal.Confirmed, journal.Undone, journal.Undoing, journal.Stuck)
			d.Outcome = map[journal.Kind]journal.Outcome{journal.Confirmed: journal.Applied, journal.Undone: journal.AsBefore}[decided.Kind]
			if announced >= 0 {
				_, confirmed := of(name, n, journal.Confirmed)
				d.Timer = !sent.Pending.Deadline.IsZero() && confirmed < announced
				d.Pending = sent.Pending.Name
				if chunk, at := of(name, n, journal.Sent); at > announced {
					d.Chunks = chunk.Chunk + 1
				}
			}
			if decided.Kind == journal.Undone && when > announced {
				d.Pending, d.Timer = "", false
			}
			held, _ := of(name, n, journal.Reached)
			stuck, _ := of(name, n, journal.Stuck)
			d.Reached, d.Why = held.Digest, stuck.Text
			a.Left = append(a.Left, d)
		}
		if !a.Ended {
			continue
		}
		var stay []string
		for _, name := range devices {
			if decided, _ := of(name, n, journal.Confirmed, journal.Undone, journal.Undoing, journal.Stuck); decided.Kind == journal.Confirmed {
				stay = append(stay, name)
				was, _ := of(name, n, journal.Before)
				if a.Past == nil {
					a.Past = map[string]plan.Digest{}
				}
				a.Past[name] = was.Owned.Digest()
			}
		}
		a.Order = append(stay, a.Order...)
	}
	return a
}
