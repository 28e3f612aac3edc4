package simulation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing/fstest"
	"time"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/intent/plan"
)

// Report is what a seed came to.
type Report struct {
	Seed       uint64
	Story      string
	Log        string
	Violations []string       // of invariants; none: weir did well
	Counts     map[string]int // of what happened, by kind
	Reached    bool           // something went wrong while a run was on its way
	Runs       int
	Undone     int    // waves that were led back
	Packets    uint64 // sent between switches, since these were last started
	Virtual    time.Duration
}

// storm is a story while it happens.
type storm struct {
	*story
	*world
	dir           string
	first, second fstest.MapFS // the repo before and after its change
	third         fstest.MapFS // and after a further one
	secondly      sync.WaitGroup
	endings       []ending
	violations    []string
	before        snapshot
	stormed       time.Time                      // when the storm began, in device time
	announced     bool                           // a plan said that it touches traffic
	meddled       map[string]time.Time           // when somebody last changed what is weir's on a device
	lied          map[string]bool                // devices that may have shown what was, and not what is
	settled       map[string]time.Time           // when a run last confirmed a device, or led it back
	running       map[string]changing            // what runs change, by the lives that carry them out
	kept          map[string]map[string][]string // the configuration of devices when a run kept its change on them
	exempt        map[string]bool                // devices that are neither as before nor as wanted for another reason than the story's change
	diverted      []diversion
	typedOn       []string // devices on which somebody typed lines of his own during a run
	used          []usage
	released      map[string]bool   // devices that somebody has released
	facing        map[string][]port // the ports of a switch that face switches
	flowed        map[string]bool   // device/port that the second class passed before the storm
}

// ending is how a life of an operator ended.
type ending struct {
	life   string
	verb   string
	died   bool
	plan   plan.Plan // of an apply
	result control.Result
	ran    bool // there is a result
	err    error
	ended  time.Time
}

// Run lets the story of a seed happen, in a synctest bubble. The lab keeps its keys in dir.
func Run(ctx context.Context, seed uint64, dir string) (report Report, err error) {
	s := &storm{story: storyOf(seed), dir: dir, meddled: map[string]time.Time{}, settled: map[string]time.Time{}, lied: map[string]bool{},
		running: map[string]changing{}, kept: map[string]map[string][]string{}, exempt: map[string]bool{}, released: map[string]bool{}}
	if s.first, err = scaffold(s.spec); err != nil {
		return Report{}, err
	}
	s.first = s.initial(s.first)
	s.second = s.change.of(s.first)
	s.third = s.later.of(s.second)
	if s.world, err = newWorld(ctx, s.first, dir); err != nil {
		return Report{}, fmt.Errorf("seed %d: %w", seed, err)
	}
	s.world.storm = s
	defer func() { err = errors.Join(err, s.lab.Close()) }()
	if err := s.begin(ctx); err != nil {
		return Report{}, fmt.Errorf("seed %d: %w", seed, err)
	}
	for _, a := range s.acts {
		if a.verb == "cut" {
			s.cut(a.back)
			continue
		}
		s.perform(ctx, a)
		time.Sleep(time.Duration(1+s.rng.IntN(pick(s.story, 10, 600))) * time.Second)
	}
	s.secondly.Wait()
	s.calm(ctx)
	return s.report(), nil
}

// begin brings the fabric to where the story begins.
func (s *storm) begin(ctx context.Context) error {
	for _, d := range s.edits {
		s.edit(d, "foreign-before")
	}
	if s.rolled {
		e := s.do(ctx, "maker@world", s.first, act{verb: "apply"}, control.Settle{Blind: true})
		if e.err != nil || e.result.Outcome != control.Applied {
			return fmt.Errorf("the first intent could not be rolled out: %s: %w", e.result.Why, e.err)
		}
	}
	if err := s.lab.SetTraffic(s.traffic); err != nil {
		return err
	}
	if err := s.links(ctx); err != nil {
		return err
	}
	var err error
	s.before, err = s.look(ctx)
	s.stormed = s.lab.Now()
	s.note("the storm begins")
	return err
}

// links finds what is cabled to what, and lets the traffic run for a while.
func (s *storm) links(ctx context.Context) error {
	l := s.live(ctx, "judge@world")
	defer l.end()
	r, err := s.open(l, s.third)
	if err == nil && r.Findings.HasErrors() {
		err = fmt.Errorf("the intent of the seed is wrong: %v", r.Findings)
	}
	if err == nil {
		s.ways(r.Fabric.Links)
	}
	return err
}

// perform lets the operator live one life.
func (s *storm) perform(ctx context.Context, a act) {
	s.ends(s.do(ctx, "op@a", s.second, a, s.settle))
}

// ends keeps how a life ended.
func (s *storm) ends(e ending) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endings = append(s.endings, e)
}

// second lets another operator do something meanwhile, with the same journal.
func (w *world) second(who, verb string) {
	w.count("second operator")
	s := w.storm
	s.secondly.Go(func() { s.ends(s.do(context.Background(), who, s.second, act{verb: verb}, s.settle)) })
}

// stranger is an operator who changes the same fabric with a journal of his own.
const stranger = "stranger@c"

// meanwhile lets the stranger apply.
func (w *world) meanwhile() {
	w.count("stranger")
	s := w.storm
	s.secondly.Go(func() { s.do(context.Background(), stranger, s.second, act{verb: "apply"}, s.settle) })
}

// longest is how long a life may take, in virtual time.
const longest = 12 * time.Hour

// do lets an operator live one life, as the commands of weir do.
func (s *storm) do(ctx context.Context, who string, repo fstest.MapFS, a act, settle control.Settle) ending {
	l := s.live(ctx, who)
	defer l.end()
	l.verb, l.settle, l.own = a.verb, settle, who == stranger
	e := ending{life: l.name, verb: a.verb, died: true}
	events := slices.Clone(a.events)
	var mu sync.Mutex
	l.told = func(r journal.Record) {
		s.follow(l, r)
		mu.Lock()
		var now []event
		for i := range events {
			if events[i].hit(l, r) {
				now = append(now, events[i])
			}
		}
		mu.Unlock()
		for _, x := range now {
			s.note("now: %s", x.what)
			s.count("event")
			x.do(s.world, l, r)
		}
	}
	s.note("%s: %s", l.name, a.verb)
	for _, f := range a.faults {
		s.inject(f)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		switch a.verb {
		case "apply":
			s.apply(l, repo, settle, &e)
		case "apply later":
			s.apply(l, s.third, settle, &e)
		case "break":
			s.breakLock(l, repo, &e)
		case "release":
			s.release(l, &e)
		case "repair":
			s.repair(l, &e)
		case "recover":
			s.recover(l, repo, settle, &e)
		case "rollback":
			s.rollback(l, repo, a.back, settle, &e)
		}
		e.died = l.gate.closed()
	}()
	select {
	case <-done:
	case <-time.After(longest):
		s.violate("%s: %s takes more than %v", l.name, a.verb, longest)
		l.gate.die()
		<-done
	}
	s.mu.Lock()
	delete(s.running, l.name)
	s.mu.Unlock()
	e.ended = time.Now()
	s.note("%s ended: died %t, ran %t, %s, %s, %v", l.name, e.died, e.ran, e.result.Outcome, e.result.Why, e.err)
	return e
}

func (s *storm) open(l *life, repo fstest.MapFS) (*control.Repo, error) {
	return control.Open(s.dir, control.Options{Lab: true, Effects: l.effects(repo)})
}

// apply is what weir apply does with every consent given.
func (s *storm) apply(l *life, repo fstest.MapFS, settle control.Settle, e *ending) {
	r, err := s.open(l, repo)
	if err != nil {
		e.err = err
		return
	}
	if e.err = r.Free(); e.err != nil {
		return
	}
	p, err := r.Plan(r.Names, r.Observe(l.ctx, r.Names, "", nil), control.PlanOptions{})
	if err != nil || p.Findings.HasErrors() {
		e.err = errors.Join(err, errors.New(p.Findings.String()))
		return
	}
	e.plan = p
	if len(p.Waves) == 0 {
		return
	}
	for _, step := range slices.Concat(p.Waves...) {
		s.touches(step)
	}
	e.result, e.err = r.Apply(l.ctx, p, control.RunOptions{Settle: settle, Observe: l.observe})
	e.ran = e.err == nil
}

// touches notes that a step announces that traffic is touched.
func (s *storm) touches(step plan.Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.announced = s.announced || step.Impact() > plan.None
}

// recover is what weir recover does.
func (s *storm) recover(l *life, repo fstest.MapFS, settle control.Settle, e *ending) {
	r, err := s.open(l, repo)
	if err != nil {
		e.err = err
		return
	}
	open, err := r.Store.Unfinished()
	if err != nil {
		e.err = err
		return
	}
	if len(open) == 0 {
		e.err = r.Store.Break("")
		return
	}
	for _, run := range open {
		l.run = run
		e.result, e.err = r.Recover(l.ctx, run, control.RunOptions{Settle: settle, Observe: l.observe})
		e.ran = e.err == nil
	}
}

// breakLock is what weir recover --break-lock does before it recovers: somebody has looked at the other machine.
func (s *storm) breakLock(l *life, repo fstest.MapFS, e *ending) {
	r, err := s.open(l, repo)
	if err == nil {
		err = r.Store.Break("it does not answer")
	}
	e.err = err
}

// release is what weir apply --release does with a device that left the inventory, by somebody who takes a moment to answer.
func (s *storm) release(l *life, e *ending) {
	gone := fmt.Sprint("spine", s.spec.Spines)
	switches := string(s.second["inventory/switches.yaml"].Data)
	repo := with(s.second, "inventory/switches.yaml", strings.Replace(switches, "{name: "+gone+"}", "{name: "+gone+", state: unmanaged}", 1))
	r, err := s.open(l, repo)
	if err == nil {
		time.Sleep(time.Duration(s.seed%150) * time.Second)
		err = r.Release([]string{gone})
	}
	e.err = err
	if err == nil {
		s.count("released")
		s.mu.Lock()
		s.released[gone] = true
		s.mu.Unlock()
	}
}

// repair is what weir runs --repair does with every run.
func (s *storm) repair(l *life, e *ending) {
	store, err := control.StoreOf(s.dir, control.Options{Lab: true, Effects: l.effects(s.second)})
	if err != nil {
		e.err = err
		return
	}
	runs, err := store.Runs()
	for _, run := range runs {
		if d, unread := store.Damage(run); unread != nil || d != nil {
			_, repaired := control.Repair(store, run, "")
			err = errors.Join(err, unread, repaired)
		}
	}
	e.err = err
}

// rollback is what weir rollback does with the last run that was applied, or with one so many before it.
func (s *storm) rollback(l *life, repo fstest.MapFS, back int, settle control.Settle, e *ending) {
	r, err := s.open(l, repo)
	if err != nil {
		e.err = err
		return
	}
	rows, err := control.Runs(r.Store)
	if err != nil {
		e.err = err
		return
	}
	rows = slices.DeleteFunc(rows, func(row control.RunRow) bool { return row.Verb != "apply" || row.Outcome != control.Applied })
	if s.rolled { // the first is the rollout before the story
		rows = rows[1:]
	}
	if len(rows) == 0 {
		e.err = errors.New("there is no run to roll back")
		return
	}
	l.of = rows[max(0, len(rows)-1-back)].Run
	ret, err := r.PlanRollback(l.ctx, l.of, control.RollbackOptions{})
	if err != nil {
		e.err = err
		return
	}
	for _, step := range slices.Concat(ret.Waves...) {
		s.touches(step)
	}
	e.result, e.err = r.Rollback(l.ctx, ret, control.RunOptions{Settle: settle, Observe: l.observe})
	e.ran = e.err == nil
}

// violate notes that an invariant does not hold.
func (s *storm) violate(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	s.note("VIOLATION: %s", text)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.violations = append(s.violations, text)
}
