package apply

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/drivers/apply/journal"
)

// TestARunSurvivesAFaultAtAnyEffectOnTheDisk lets a run go once to count what it does to the disk. Then, for each of these effects,
// the process or the machine ends before, within or after it, or the disk is full from there on. Another process recovers: every wave
// is whole or as before, the manifest says which, and the next apply works. Where the disk is full for a moment only, the run ends by
// itself, and no wave is half there.
func TestARunSurvivesAFaultAtAnyEffectOnTheDisk(t *testing.T) {
	total := 0
	synctest.Test(t, func(t *testing.T) {
		f, m := mortal(t)
		l := &life{memory: m, fleet: f}
		if got, err := l.do(func(c Config) (Result, error) { return c.Apply(t.Context(), f.plan, f.want) }); err != nil || got.Outcome != journal.Applied {
			t.Fatalf("got %+v, %v", got, err)
		}
		total = l.effects
	})
	for _, fault := range []fault{killedBefore, killedWithin, powerLost, fullFromThen, fullOnce} {
		for at := 1; at <= total; at++ {
			t.Run(fmt.Sprintf("%s, effect %d of %d", fault, at, total), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f, m := mortal(t)
					l := &life{memory: m, fleet: f, at: at, fault: fault}
					got, err := l.do(func(c Config) (Result, error) { return c.Apply(t.Context(), f.plan, f.want) })
					if l.effects < at {
						t.Fatalf("the fault did not come: %d effects", l.effects)
					}
					if died := fault == killedBefore || fault == killedWithin || fault == powerLost; died != l.dead() {
						t.Fatalf("the process is dead: %t: %+v, %v", l.dead(), got, err)
					}
					if fault != fullOnce {
						f.recoversAndApplies(t, m)
					}
					f.wholeWaves(t)
				})
			})
		}
	}
}

// wholeWaves checks that every device is as before or as wanted, and those of a wave alike.
func (f *fleet) wholeWaves(t *testing.T) {
	t.Helper()
	for _, w := range f.wrongs {
		t.Error(w)
	}
	now := f.state()
	if now["a"] != now["b"] || now["b"] == before && now["c"] == after {
		t.Errorf("a wave is half there: %v", now)
	}
	for name, state := range now {
		if state != before && state != after {
			t.Errorf("%s is neither as before nor as wanted: %s", name, state)
		}
	}
}

// recoversAndApplies ends what a life left, and applies what is wanted then.
func (f *fleet) recoversAndApplies(t *testing.T, m *memory) {
	t.Helper()
	time.Sleep(time.Second)
	store := f.store(m)
	open, err := store.Unfinished()
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range open {
		got, err := (&life{memory: m, fleet: f}).do(func(c Config) (Result, error) { return c.Recover(t.Context(), run) })
		if err != nil {
			t.Fatalf("recover: %+v, %v", got, err)
		}
	}
	f.wholeWaves(t)
	for name, d := range f.devices {
		if len(open) > 0 && d.marker != "" {
			t.Errorf("every run has its end, and %s is marked: %s", name, d.marker)
		}
	}
	owned, err := store.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	for name, state := range f.state() {
		if owned.Has(name, "object of "+name) != (state == after) {
			t.Errorf("the manifest has %v of %s, which is %s", owned[name], name, state)
		}
	}
	time.Sleep(time.Second)
	f.replan(t, "plan-2")
	got, err := (&life{memory: m, fleet: f}).do(func(c Config) (Result, error) { return c.Apply(t.Context(), f.plan, f.want) })
	if err != nil || got.Outcome != journal.Applied {
		t.Errorf("the next apply: %+v, %v", got, err)
	}
	if diff := cmp.Diff(all(after), f.state()); diff != "" {
		t.Error(diff)
	}
}
