// Package apply carries a plan out: wave by wave, each confirmed only when what was read back and what was counted say so,
// and led back to what was there before when they do not. Everything it is about to do is in a journal first, so that a run
// that is cut off at any moment can be ended by Recover. Package journal says what a journal means.
package apply

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/plan"
)

// Device is what apply needs of a device's language. It is stateless and may be used from many goroutines at once.
type Device interface {
	Device() string
	Queries() []plan.Query
	Read([]plan.Answer) (plan.State, error)
	// Write is the whole document that the intent wants.
	Write() (plan.Document, diag.List)
	// Step leads from have to want; a step without changes says that there is nothing to do.
	Step(have plan.State, want plan.Document) (plan.Step, diag.List)
	// Undo leads from have back to before, in the order opposite to that of the step from before to have.
	Undo(have plan.State, before plan.Document) (plan.Step, diag.List)
}

// Verdict is what the counters say of a wave.
type Verdict struct {
	Pass bool
	Text string // what was seen, for the operator
}

// Watch is called before a wave is sent, takes the counters as they are, and returns the function that is called after it: that
// one is told when the last message to each device that got one was answered, watches for the settle window, and judges.
type Watch func(ctx context.Context, wave []plan.Step) func(ctx context.Context, sent map[string]time.Time) Verdict

// Config is what a run needs. Zero durations and numbers take the default that is named.
type Config struct {
	Store    journal.Store // its clock names runs
	Devices  map[string]Device
	Dial     func(ctx context.Context, device string) (drivers.Target, error)
	Watch    Watch         // nil: a wave passes when every device holds what was wanted
	Window   time.Duration // the longest that Watch watches, as the devices live it: their commit timers cover it
	Parallel int           // devices at once; 10
	Timeout  time.Duration // of one operation, beside three times a step's Cost; 1 minute
	Patience time.Duration // how long a device that is unreachable or whose outcome is unknown is waited for; 2 minutes
	Poll     time.Duration // between two looks at such a device; 1 second
	Scale    float64       // seconds of the devices, in which a step's Cost is, in one of ours; 1, and more in a lab
	Observe  func(journal.Record)
	Audit    journal.Audit // on whose behalf; it stands in the journal
	TakeOver string        // a run of another journal whose markers on devices are taken over; empty: none
}

// Result is how a run ended.
type Result struct {
	Run     string          `json:"run"`
	Outcome journal.Outcome `json:"outcome"`
	Why     string          `json:"why"`            // what stopped the run; empty when it went through
	Devices []DeviceResult  `json:"devices"`        // of the waves that were begun, in their order
	Left    []Left          `json:"left,omitempty"` // a rollback: devices that it does not touch, and why
	// Unmarked are devices on which no marker stood, and why: there nothing kept a run with another journal off.
	Unmarked []Left `json:"unmarked,omitempty"`
	// Marked are devices that the run is done with and whose marker it could not remove. The next run of this journal does.
	Marked []Left `json:"marked,omitempty"`
}

// DeviceResult is how one device ended.
type DeviceResult struct {
	Device  string          `json:"device"`
	Wave    int             `json:"wave"` // from 0
	Outcome journal.Outcome `json:"outcome"`
	Why     string          `json:"why"`
	Leaves  []string        `json:"leaves"` // what differs from before, where the outcome is partial
	// Lost are lines of others that the device's own commit timer took back with the change. weir does not write them.
	Lost []string `json:"lost,omitempty"`
}

// StaleError says that devices changed since the plan was made.
type StaleError struct {
	Moved map[string][]string // device -> what is different now
}

func (e *StaleError) Error() string {
	var b strings.Builder
	b.WriteString("the plan is stale: devices changed since it was made; make a new plan")
	for _, device := range slices.Sorted(maps.Keys(e.Moved)) {
		fmt.Fprintf(&b, "\n  %s: %s", device, strings.Join(e.Moved[device], "; "))
	}
	return b.String()
}

// Apply carries out p. want is the wanted document of each of its devices. The error tells why nothing was sent; from the
// first message on, what happens is in the result.
func (c Config) Apply(ctx context.Context, p plan.Plan, want map[string]plan.Document) (Result, error) {
	start := journal.Record{Kind: journal.Started, Verb: "apply", Plan: p.ID, Content: p.Content()}
	return c.execute(ctx, start, p.Saved, p.Waves, want, nil, nil)
}

// consumed refuses a plan that was applied: one of which something was sent and, where it comes from a file, whose name somebody may
// have changed, one that does what a run did that still stands. A plan that was made just now does it again where a device has lost it.
func (c Config) consumed(start journal.Record, saved bool) error {
	if start.Plan == "" {
		return nil
	}
	begun, err := c.Store.Begun()
	if err != nil {
		return err
	}
	undone := map[string]bool{}
	for _, past := range slices.Backward(begun) {
		if past.Of != "" && past.Stays && !undone[past.Name] {
			undone[past.Of] = true
		}
		if past.Sent && past.Plan == start.Plan || saved && past.Content == start.Content && past.Sent && past.Stays && !undone[past.Name] {
			return &journal.ConsumedError{Run: past.Name}
		}
	}
	return nil
}

// execute runs waves under a new journal. owners, where it is not nil, is what the manifest of each device becomes when it
// is confirmed.
func (c Config) execute(ctx context.Context, start journal.Record, saved bool, waves [][]plan.Step, want map[string]plan.Document, owners plan.Manifest, left []Left) (Result, error) {
	pace := plan.Pace{Parallel: c.Parallel, Operation: max(c.Timeout, time.Minute), Window: c.Window}
	waves, short := pace.Cover(waves)
	if len(short) > 0 {
		return Result{}, fmt.Errorf("nothing was sent: %w; make waves smaller (--wave-size) or watch for a shorter time (--settle)", short[0])
	}
	r, err := c.begin(start, saved, waves)
	if err != nil {
		return Result{}, err
	}
	r.want, r.owners, r.result.Left = want, owners, left
	if err := r.stale(ctx, waves); err != nil {
		r.result.Why = err.Error()
		r.end()
		return Result{}, err
	}
	for n, steps := range waves {
		if ended := r.wave(ctx, n, steps); !ended {
			break
		}
	}
	r.unmark(context.WithoutCancel(ctx), nil, false)
	r.end()
	return r.result, nil
}

// run is one run while it goes on.
type run struct {
	Config
	lease   *journal.Lease
	journal *journal.Journal
	back    bool // a rollback
	want    map[string]plan.Document
	owners  plan.Manifest // a rollback: what is weir's afterwards
	marker  drivers.Marker
	result  Result

	owning, reporting sync.Mutex
}

// begin takes the lock, sees under it that no run stands open and the plan was not applied, and writes the first record.
func (c Config) begin(start journal.Record, saved bool, waves [][]plan.Step) (*run, error) {
	c = c.withDefaults()
	lease, err := c.Store.Lock(journal.Lock{Verb: start.Verb})
	if err != nil {
		return nil, err
	}
	if err = c.Store.Ended(); err == nil {
		err = c.consumed(start, saved)
	}
	if err == nil {
		err = c.Store.Strike() // before the record of this run makes them count
	}
	if err == nil {
		err = c.Store.Ready(start.Of)
	}
	if err != nil {
		return nil, errors.Join(err, lease.Release())
	}
	marker, err := c.markerOf(lease.Run(), start.Verb)
	if err != nil {
		return nil, errors.Join(err, lease.Release())
	}
	j, err := c.Store.Create(lease.Run(), c.Observe)
	if err != nil {
		return nil, errors.Join(err, lease.Release())
	}
	for _, steps := range waves {
		var devices []string
		for _, s := range steps {
			devices = append(devices, s.Device)
		}
		start.Devices = append(start.Devices, devices)
	}
	start.Audit = &c.Audit
	if err := j.Append(start); err != nil {
		return nil, errors.Join(err, c.Store.Discard(j), lease.Release())
	}
	return &run{Config: c, lease: lease, journal: j, marker: marker, back: start.Verb == rollback, result: Result{Run: lease.Run(), Devices: []DeviceResult{}}}, nil
}

// markerOf is the marker of a run of this journal.
func (c Config) markerOf(name, verb string) (drivers.Marker, error) {
	id, err := c.Store.ID()
	return drivers.Marker{Run: name, Verb: verb, Who: c.Store.Who(), Journal: c.Store.Place(), ID: id, Since: c.Store.Time()}, err
}

func (c Config) withDefaults() Config {
	if c.Parallel <= 0 {
		c.Parallel = plan.DefaultParallel
	}
	for _, d := range []struct {
		value    *time.Duration
		standard time.Duration
	}{{&c.Timeout, time.Minute}, {&c.Patience, 2 * time.Minute}, {&c.Poll, time.Second}} {
		if *d.value <= 0 {
			*d.value = d.standard
		}
	}
	if c.Scale <= 0 {
		c.Scale = 1
	}
	return c
}

// end says what the run has come to as its journal has it, writes that down, and gives the lock back. A run of which a device is
// stuck, or whose end cannot be written, stays open for Recover.
func (r *run) end() {
	r.result.Outcome = journal.Replay(r.journal.Records()).Result()
	if r.result.Outcome == journal.Applied && len(r.result.Left) > 0 {
		r.result.Outcome = journal.Incomplete
	}
	var failed error
	if !r.result.Outcome.Open() {
		if failed = r.append(journal.Record{Kind: journal.Ended, Outcome: r.result.Outcome, Text: r.result.Why}); failed != nil {
			r.result.Outcome = journal.Unknown
			failed = fmt.Errorf("the devices are as listed, but the end of the run is not on record: %w", failed)
		}
	}
	if failed = errors.Join(failed, r.journal.Close(), r.lease.Release()); failed != nil {
		r.because(failed)
	}
}

// because adds to what stopped the run.
func (r *run) because(err error) {
	if r.result.Why != "" {
		r.result.Why += "\n"
	}
	r.result.Why += err.Error()
}

// append writes a record of the run, as long as this process has the lock: who has lost it writes nothing, since another may have ended
// the run.
func (r *run) append(rec journal.Record) error {
	if err := r.lease.Held(); err != nil {
		return err
	}
	return r.journal.Append(rec)
}

// own changes the manifest on disk.
func (r *run) own(change func(plan.Manifest) error) error {
	r.owning.Lock()
	defer r.owning.Unlock()
	m, err := r.Store.Manifest()
	if err == nil {
		err = change(m)
	}
	if err == nil {
		err = r.lease.Held()
	}
	if err != nil {
		return err
	}
	return r.Store.SaveManifest(m)
}

// stale reads every device of the plan once, and whether it is another run's, before anything is sent to any.
func (r *run) stale(ctx context.Context, waves [][]plan.Step) error {
	var mu sync.Mutex
	moved := map[string][]string{}
	var failed []error
	r.each(slices.Concat(waves...), func(s plan.Step) {
		m := &member{run: r, step: s}
		defer m.close()
		state, err := m.read(ctx)
		if err == nil && len(s.Chunks) > 0 {
			err = m.unclaimed(ctx)
		}
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err != nil:
			failed = append(failed, err)
		case state.Owned.Digest() != s.Base && len(r.remaining(s.Device, state)) > 0:
			moved[s.Device] = changedParts(s, state)
		}
	})
	if len(failed) > 0 {
		return fmt.Errorf("nothing was sent: %w", errors.Join(failed...))
	}
	if len(moved) > 0 {
		return &StaleError{moved}
	}
	return nil
}

// remaining are the changes that still lead from state to what is wanted.
func (r *run) remaining(device string, state plan.State) []plan.Change {
	step, _ := r.Devices[device].Step(state, r.want[device])
	return step.Changes
}

// changedParts names what moved: the values that the plan speaks of, and the ports and shared objects it does not.
func changedParts(s plan.Step, state plan.State) []string {
	var moved []string
	parts := state.Owned.Parts()
	for _, part := range slices.Sorted(maps.Keys(s.Parts)) {
		if parts[part] != s.Parts[part] {
			moved = append(moved, nameOf(part))
		}
	}
	for _, part := range slices.Sorted(maps.Keys(parts)) {
		if _, known := s.Parts[part]; !known {
			moved = append(moved, nameOf(part)+" is new")
		}
	}
	return moved
}

func nameOf(part string) string {
	if part == "" {
		return "the device's own settings"
	}
	return part
}

// each runs do for every step, Parallel at once, and returns when all are done.
func (r *run) each(steps []plan.Step, do func(plan.Step)) {
	var running errgroup.Group
	running.SetLimit(r.Parallel)
	for _, s := range steps {
		running.Go(func() error {
			do(s)
			return nil
		})
	}
	_ = running.Wait()
}
