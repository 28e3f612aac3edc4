// Package journaltest is what every journal.Backend must do: a journal.Store over it is the same.
package journaltest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/plan"
)

// Place is a state that several processes share.
type Place struct {
	// Process is the state as one process sees it, with nothing but where it is.
	Process func() journal.Store
	// Edit changes the lines of a run's journal behind weir's back. Each has its end.
	Edit func(run string, change func([]string) []string)
}

// Run holds a Backend to all of it. fresh gives a state that holds nothing.
func Run(t *testing.T, fresh func(t *testing.T) Place) {
	for name, test := range map[string]func(*testing.T, Place){
		"what is written is read":                                      written,
		"what was begun is continued":                                  continued,
		"a run that goes on is read":                                   goesOn,
		"one run holds the lock":                                       oneHolds,
		"a lock is taken from an owner who is gone":                    takenOver,
		"runs that begin in one millisecond have names of their own":   names,
		"a journal in which nothing was written never began":           nothing,
		"a list reads no journal that has its end":                     listed,
		"a damaged tail is cut off":                                    repaired,
		"a journal that is damaged in the middle is given up":          givenUp,
		"a run that has ended is not opened again by a repair":         notReopened,
		"a state has an ID that stays":                                 identified,
		"what another has is taken in, once":                           imported,
		"what is weir's is read by others":                             owned,
		"records of old runs go, and never those of one without end":   retained,
		"a journal that is not as it was written is named and no more": damaged,
	} {
		t.Run(name, func(t *testing.T) { test(t, fresh(t)) })
	}
}

// process is the store of a process, whose machine says that no other process of it lives.
func (p Place) process(machine string, pid int) journal.Store {
	s := p.Process()
	s.Owner = journal.Owner{Who: "ada@" + machine, PID: pid, Boot: machine}
	s.Alive = func(n int) bool { return n == pid }
	return s
}

// run holds the lock and writes a journal.
func run(t *testing.T, s journal.Store, name string, records ...journal.Record) {
	t.Helper()
	lease, err := s.Lock(journal.Lock{Run: name, Verb: "apply"})
	if err != nil {
		t.Fatal(err)
	}
	j, err := s.Create(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if err := j.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(j.Close(), lease.Release()); err != nil {
		t.Fatal(err)
	}
}

// under does something under the lock.
func under[T any](t *testing.T, s journal.Store, do func() (T, error)) (T, error) {
	t.Helper()
	lease, err := s.Lock(journal.Lock{Run: "repair", Verb: "repair"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := do()
	if err := lease.Release(); err != nil {
		t.Fatal(err)
	}
	return got, err
}

// kinds are those of a run on a and then b, of which a is applied.
func kinds() []journal.Record {
	return []journal.Record{{Kind: journal.Started, Verb: "apply", Plan: "plan-1", Devices: [][]string{{"a"}, {"b"}}},
		{Kind: journal.Before, Device: "a", Owned: plan.Document{{Path: []string{"mtu"}, Value: "9100"}}},
		{Kind: journal.Pending, Device: "a", Pending: &plan.Pending{Device: "a", Name: "weir-1", Route: plan.GNMISet}},
		{Kind: journal.Sending, Device: "a"}, {Kind: journal.Reached, Device: "a"}, {Kind: journal.Passed}}
}

// Document is one of about so many bytes, which no compression makes much smaller.
func Document(seed uint64, bytes int) plan.Document {
	r := rand.New(rand.NewPCG(seed, 0))
	var d plan.Document
	for n := 0; n < bytes; n += 100 {
		d = append(d, plan.Leaf{Path: []string{"QUEUE", fmt.Sprintf("Ethernet%d|3", n), "value"}, Value: fmt.Sprintf("%016x%016x", r.Uint64(), r.Uint64())})
	}
	return d
}

func written(t *testing.T, p Place) {
	records := []journal.Record{kinds()[0], {Kind: journal.Started, Devices: [][]string{{}}}}
	for n, size := range []int{50, 5 << 10, 173 << 10, 1 << 20} {
		records = append(records, journal.Record{Kind: journal.Before, Device: "a", Owned: Document(uint64(n), size), Objects: []string{"x"}})
	}
	records = append(records, journal.Record{Kind: journal.Pending, Device: "a", Changes: slices.Repeat([]plan.Change{{Because: []diag.Pos{}, Before: strings.Repeat("é\n\"", 1000)}}, 3)})
	run(t, p.process("one", 1), "run-1", records...)
	got, err := p.process("two", 2).Read("run-1")
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(records) {
		t.Fatalf("%d records of %d", len(got), len(records))
	}
	for i := range got {
		got[i].Seq, got[i].At = 0, time.Time{}
		if !reflect.DeepEqual(got[i], records[i]) {
			t.Errorf("record %d is another: %.300v", i+1, got[i])
		}
	}
}

func continued(t *testing.T, p Place) {
	run(t, p.process("one", 1), "run-1", kinds()[:4]...)
	s := p.process("two", 2)
	lease, err := s.Lock(journal.Lock{Run: "run-1", Verb: "recover"})
	if err != nil {
		t.Fatal(err)
	}
	j, err := s.Open("run-1", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range append(kinds()[4:], journal.Record{Kind: journal.Ended, Outcome: journal.AsBefore}) {
		if err := j.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(j.Close(), lease.Release()); err != nil {
		t.Fatal(err)
	}
	r, err := p.process("one", 3).Replay("run-1")
	if err != nil || r.Records != 7 || !r.Ended || r.Waves[0].Devices[0].Phase != journal.Reached {
		t.Errorf("got %+v, %v", r, err)
	}
}

// goesOn reads a run after each of its records, as another process does.
func goesOn(t *testing.T, p Place) {
	s, other := p.process("one", 1), p.process("two", 2)
	lease, err := s.Lock(journal.Lock{Run: "run-1", Verb: "apply"})
	if err != nil {
		t.Fatal(err)
	}
	var unfinished *journal.UnfinishedError
	var locked *journal.LockedError
	j, err := s.Create("run-1", func(r journal.Record) {
		got, err := other.Replay("run-1")
		want := journal.Replay(kinds()[:r.Seq])
		got.Name, got.Begun = "", time.Time{}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("after %d records: %v\n%s", r.Seq, err, diff)
		}
		if err := other.Ended(); !errors.As(err, &unfinished) {
			t.Errorf("after %d records: %v", r.Seq, err)
		}
		if err := other.Free(); !errors.As(err, &locked) {
			t.Errorf("after %d records it is free: %v", r.Seq, err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range kinds() {
		if err := j.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(j.Close(), lease.Release()); err != nil {
		t.Fatal(err)
	}
}

func oneHolds(t *testing.T, p Place) {
	s := p.process("one", 1)
	first, err := s.Lock(journal.Lock{Run: "1", Verb: "apply"})
	if err != nil {
		t.Fatal(err)
	}
	var locked *journal.LockedError
	for _, other := range []journal.Store{s, p.process("two", 2)} {
		if _, err := other.Lock(journal.Lock{Run: "2"}); !errors.As(err, &locked) || locked.Lock.Run != "1" || !strings.Contains(err.Error(), "ada@one") {
			t.Errorf("got %v", err)
		}
		if err := other.Free(); !errors.As(err, &locked) {
			t.Errorf("it is free: %v", err)
		}
		if err := other.Break("I want it"); !errors.As(err, &locked) {
			t.Errorf("it is taken from a process that lives: %v", err)
		}
	}
	if err := errors.Join(first.Held(), first.Release()); err != nil {
		t.Fatal(err)
	}
	second, err := p.process("two", 2).Lock(journal.Lock{Run: "2"})
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Release(); err != nil {
		t.Error(err)
	}
	if held, err := s.Locked(); held != nil || err != nil {
		t.Errorf("it is still there: %+v, %v", held, err)
	}
}

// takenOver leaves a lock behind as a process does that was killed.
func takenOver(t *testing.T, p Place) {
	gone := p.process("one", 1)
	guarded := gone.Backend == nil
	lease, err := gone.Lock(journal.Lock{Run: "1", Verb: "apply"})
	if err != nil {
		t.Fatal(err)
	}
	j, err := gone.Create("1", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Append(kinds()[0]); err != nil {
		t.Fatal(err)
	}
	var locked *journal.LockedError
	if _, err := p.process("two", 2).Lock(journal.Lock{Run: "2"}); !errors.As(err, &locked) || locked.Stale {
		t.Errorf("another machine takes it: %v", err)
	}
	if guarded {
		return // the kernel has the lock for as long as this process lives
	}
	next, err := p.process("one", 3).Lock(journal.Lock{Run: "1", Verb: "recover"})
	if err != nil {
		t.Fatalf("its own machine knows that it is gone: %v", err)
	}
	var lost *journal.LostError
	if err := j.Append(kinds()[1]); !errors.As(err, &lost) {
		t.Errorf("who was taken for gone still writes: %v", err)
	}
	if err := gone.SaveManifest(plan.Manifest{"a": {"x"}}); !errors.Is(err, journal.ErrLost) {
		t.Errorf("who was taken for gone still writes: %v", err)
	}
	if err := errors.Join(lease.Release(), next.Held()); err != nil {
		t.Errorf("who was taken for gone gave the lock of another back: %v", err)
	}
	if err := next.Release(); err != nil {
		t.Error(err)
	}
}

func names(t *testing.T, p Place) {
	s := p.process("one", 1)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s.Now = func() time.Time { return now }
	for _, want := range []string{"20260301-120000.000", "20260301-120000.001", "20260301-120000.002"} {
		l, err := s.Lock(journal.Lock{Verb: "apply"})
		if err != nil {
			t.Fatal(err)
		}
		j, err := s.Create(l.Run(), nil)
		if err != nil || l.Run() != want {
			t.Fatalf("%s: got %s, %v", want, l.Run(), err)
		}
		if err := errors.Join(j.Close(), l.Release()); err != nil {
			t.Fatal(err)
		}
		if want == "20260301-120000.001" {
			now = now.Add(-time.Hour)
		}
	}
}

func nothing(t *testing.T, p Place) {
	s := p.process("one", 1)
	if runs, err := s.Begun(); err != nil || len(runs) != 0 {
		t.Errorf("at first: got %+v, %v", runs, err)
	}
	if _, err := s.Read("run-1"); err == nil || !strings.Contains(err.Error(), "there is no run run-1") {
		t.Errorf("at first: got %v", err)
	}
	run(t, s, "run-1")
	runs, err := s.Begun()
	if err != nil || len(runs) != 0 || s.Free() != nil {
		t.Errorf("got %+v, %v, %v", runs, err, s.Free())
	}
	_, err = under(t, s, func() (struct{}, error) {
		j, err := s.Create("run-2", nil)
		if err != nil {
			return struct{}{}, err
		}
		return struct{}{}, s.Discard(j)
	})
	names, unread := s.Runs()
	if diff := cmp.Diff([]string{"run-1"}, names); err != nil || unread != nil || diff != "" {
		t.Errorf("after a discard: %v, %v\n%s", err, unread, diff)
	}
}

func listed(t *testing.T, p Place) {
	s := p.process("one", 1)
	run(t, s, "run-1", kinds()[0], journal.Record{Kind: journal.Ended, Outcome: journal.AsBefore})
	p.Edit("run-1", func([]string) []string { return []string{"not looked at\n"} })
	runs, err := s.Begun()
	if err != nil || len(runs) != 1 || runs[0].Outcome != journal.AsBefore || runs[0].Verb != "apply" || runs[0].Devices() != 2 {
		t.Errorf("got %+v, %v", runs, err)
	}
}

func owned(t *testing.T, p Place) {
	s, other := p.process("one", 1), p.process("two", 2)
	if m, err := other.Manifest(); err != nil || len(m) != 0 {
		t.Errorf("at first: %v, %v", m, err)
	}
	_, err := under(t, s, func() (struct{}, error) {
		return struct{}{}, s.SaveManifest(plan.Manifest{"a": {"y", "x", "y"}, "b": {"z"}, "c": {"z"}})
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = under(t, other, func() (struct{}, error) {
		m, err := other.Manifest()
		delete(m, "b")
		m["c"] = append(m["c"], "w")
		return struct{}{}, errors.Join(err, other.SaveManifest(m))
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Manifest()
	if diff := cmp.Diff(plan.Manifest{"a": {"x", "y"}, "c": {"w", "z"}}, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

func retained(t *testing.T, p Place) {
	s := p.process("one", 1)
	same := Document(1, 100<<10)
	before := func(d plan.Document) journal.Record {
		return journal.Record{Kind: journal.Before, Device: "a", Owned: d}
	}
	end := journal.Record{Kind: journal.Ended, Outcome: journal.AsBefore}
	run(t, s, "run-0", kinds()[0], before(same)) // has no end
	for n := 1; n <= 4; n++ {
		run(t, s, fmt.Sprintf("run-%d", n), kinds()[0], before(same), journal.Record{Kind: journal.Undone, Device: "a", Lines: []string{fmt.Sprint(Document(uint64(n), 50<<10))}}, end)
	}
	s.Keep = 2
	if _, err := under(t, s, func() (struct{}, error) { return struct{}{}, s.Ready("run-1") }); err != nil {
		t.Fatal(err)
	}
	for name, stays := range map[string]bool{"run-0": true, "run-1": true, "run-2": false, "run-3": true, "run-4": true} {
		records, err := s.Read(name)
		switch {
		case stays && (err != nil || !cmp.Equal(records[1].Owned, same)):
			t.Errorf("%s is not whole: %v", name, err)
		case !stays && (err == nil || !strings.Contains(err.Error(), "the records of run run-2 were removed")):
			t.Errorf("%s: got %v", name, err)
		}
	}
	for name, want := range map[string]bool{"run-0": false, "run-1": true, "run-2": true} {
		if over, err := s.Over(name); over != want || err != nil {
			t.Errorf("%s is over: %t, %v", name, over, err)
		}
	}
	runs, err := s.Begun()
	if err != nil || len(runs) != 5 || runs[2].Outcome != journal.AsBefore || runs[2].Devices() != 2 {
		t.Errorf("the list: %+v, %v", runs, err)
	}
}

// identified asks for the ID of a state, which is made once.
func identified(t *testing.T, p Place) {
	s, other := p.process("one", 1), p.process("two", 2)
	id, err := under(t, s, s.ID)
	if err != nil || len(id) != 12 {
		t.Fatalf("got %q, %v", id, err)
	}
	if again, err := other.ID(); err != nil || again != id {
		t.Errorf("to another process it is %q, %v", again, err)
	}
}

func imported(t *testing.T, p Place) {
	folder := journal.Store{Dir: t.TempDir()}
	run(t, folder, "run-1", append(kinds(), journal.Record{Kind: journal.Before, Device: "b", Owned: Document(1, 20<<10)}, journal.Record{Kind: journal.Ended, Outcome: journal.AsBefore})...)
	run(t, folder, "run-2", kinds()...)
	if err := folder.SaveManifest(plan.Manifest{"a": {"x"}}); err != nil {
		t.Fatal(err)
	}
	s := p.process("one", 1)
	take := func() (int, error) { return s.Import(folder) }
	var unfinished *journal.UnfinishedError
	if n, err := under(t, s, take); !errors.As(err, &unfinished) || n != 0 {
		t.Errorf("a run without an end is taken in: %d, %v", n, err)
	}
	if _, err := under(t, folder, func() (string, error) { return folder.GiveUp("run-2", "it is closed") }); err != nil {
		t.Fatal(err)
	}
	if n, err := under(t, s, take); err != nil || n != 2 {
		t.Fatalf("got %d, %v", n, err)
	}
	want, err := folder.Begun()
	got, unread := s.Begun()
	if diff := cmp.Diff(want, got); err != nil || unread != nil || diff != "" {
		t.Errorf("%v, %v\n%s", err, unread, diff)
	}
	records, err := folder.Read("run-1")
	copied, unread := s.Read("run-1")
	if !reflect.DeepEqual(records, copied) || err != nil || unread != nil {
		t.Errorf("run-1 is another: %v, %v", err, unread)
	}
	if m, err := s.Manifest(); err != nil || !m.Has("a", "x") {
		t.Errorf("the manifest: %v, %v", m, err)
	}
	was, err := folder.ID()
	id, unread := s.ID()
	if was == "" || id != was || err != nil || unread != nil {
		t.Errorf("its markers on devices are strange to it: %q, %q, %v, %v", was, id, err, unread)
	}
	if _, err := under(t, s, take); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("a second time: %v", err)
	}
}
