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
	// Step leads from have to want; a step without changes says that there is nothing to do.
	Step(have plan.State, want plan.Document) (plan.Step, diag.List)
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
	Who      string // user@host, for the lock
	PID      int
}

// Result is how a run ended.
type Result struct {
	Run     string          `json:"run"`
	Outcome journal.Outcome `json:"outcome"`
	Why     string          `json:"why"`     // what stopped the run; empty when it went through
	Devices []DeviceResult  `json:"devices"` // of the waves that were begun, in their order
}

// DeviceResult is how one device ended.
type DeviceResult struct {
	Device  string          `json:"device"`
	Wave    int             `json:"wave"` // from 0
	Outcome journal.Outcome `json:"outcome"`
	Why     string          `json:"why"`
	Leaves  []string        `json:"leaves"` // what differs from before, where the outcome is partial
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
	if err := c.fresh(p.ID); err != nil {
		return Result{}, err
	}
	return c.execute(ctx, journal.Record{Kind: journal.Started, Verb: "apply", Plan: p.ID}, p.Waves, want, nil)
}

// fresh refuses a plan that was applied, and any while a run stands open.
func (c Config) fresh(id string) error {
	if err := c.Store.Free(c.Who); err != nil {
		return err
	}
	begun, err := c.Store.Begun()
	if err != nil {
		return err
	}
	for _, past := range begun {
		if past.Plan == id && id != "" {
			return &journal.ConsumedError{Run: past.Name}
		}
	}
	return nil
}

// execute runs waves under a new journal. owners, where it is not nil, is what the manifest of each device becomes when it
// is confirmed.
func (c Config) execute(ctx context.Context, start journal.Record, waves [][]plan.Step, want map[string]plan.Document, owners plan.Manifest) (Result, error) {
	pace := plan.Pace{Parallel: c.Parallel, Operation: max(c.Timeout, time.Minute), Window: c.Window}
	waves, short := pace.Cover(waves)
	if len(short) > 0 {
		return Result{}, fmt.Errorf("nothing was sent: %w; make waves smaller (--wave-size) or watch for a shorter time (--settle)", short[0])
	}
	r, err := c.begin(start, waves, want)
	if err != nil {
		return Result{}, err
	}
	defer r.journal.Close()
	r.owners = owners
	if err := r.stale(ctx, waves); err != nil {
		return Result{}, errors.Join(err, r.abandon(err))
	}
	for n, steps := range waves {
		if ended := r.wave(ctx, n, steps); !ended {
			break
		}
	}
	return r.result, r.end()
}

// run is one run while it goes on.
type run struct {
	Config
	journal *journal.Journal
	want    map[string]plan.Document
	owners  plan.Manifest // a rollback: what is weir's afterwards
	result  Result

	owning sync.Mutex
}

func (c Config) begin(start journal.Record, waves [][]plan.Step, want map[string]plan.Document) (*run, error) {
	c = c.withDefaults()
	name := c.Store.Time().Format("20060102-150405.000")
	if err := c.Store.Lock(journal.Lock{Run: name, Verb: start.Verb, Who: c.Who, PID: c.PID, Since: c.Store.Time()}); err != nil {
		return nil, err
	}
	j, err := c.Store.Create(name, c.Observe)
	if err != nil {
		return nil, errors.Join(err, c.Store.Unlock())
	}
	for _, steps := range waves {
		var devices []string
		for _, s := range steps {
			devices = append(devices, s.Device)
		}
		start.Devices = append(start.Devices, devices)
	}
	r := &run{Config: c, journal: j, want: want, result: Result{Run: name, Outcome: journal.Applied, Devices: []DeviceResult{}}}
	return r, j.Append(start)
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

// abandon ends a run before anything was sent.
func (r *run) abandon(why error) error {
	r.result.Outcome, r.result.Why = journal.AsBefore, why.Error()
	return r.end()
}

// end writes the last record and gives the lock back, unless a device is stuck: then both stay for Recover.
func (r *run) end() error {
	for _, d := range r.result.Devices {
		if d.Outcome == journal.Unknown || d.Outcome == journal.Partial {
			r.result.Outcome = journal.Worse(r.result.Outcome, d.Outcome)
		}
	}
	if r.result.Outcome == journal.Unknown || r.result.Outcome == journal.Partial {
		return nil
	}
	if err := r.journal.Append(journal.Record{Kind: journal.Ended, Outcome: r.result.Outcome, Text: r.result.Why}); err != nil {
		return err
	}
	return r.Store.Unlock()
}

// own changes the manifest on disk.
func (r *run) own(change func(plan.Manifest)) error {
	r.owning.Lock()
	defer r.owning.Unlock()
	m, err := r.Store.Manifest()
	if err != nil {
		return err
	}
	change(m)
	return r.Store.SaveManifest(m)
}

// stale reads every device of the plan once, before anything is sent to any.
func (r *run) stale(ctx context.Context, waves [][]plan.Step) error {
	var mu sync.Mutex
	moved := map[string][]string{}
	var failed []error
	r.each(slices.Concat(waves...), func(s plan.Step) {
		m := &member{run: r, step: s}
		defer m.close()
		state, err := m.read(ctx)
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
