package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/plan"
)

// Recover ends a run that was killed or cut off, or that left devices behind that could not be reached: a wave whose verdict
// was good is finished, any other is led back. Waves before it stay as they are.
func (c Config) Recover(ctx context.Context, name string) (Result, error) {
	c = c.withDefaults()
	if err := c.takeOver(name); err != nil {
		return Result{}, err
	}
	j, err := c.Store.Open(name, c.Observe)
	if err != nil {
		return Result{}, err
	}
	defer j.Close()
	r := &run{Config: c, journal: j, result: Result{Run: name, Outcome: AsBefore, Devices: []DeviceResult{}}}
	records := j.Records()
	if len(records) > 0 && records[0].Verb == "rollback" {
		if r.owners, err = c.ownersBefore(records[0].Of); err != nil {
			return Result{}, err
		}
	}
	members, passed, err := r.left(records)
	if err != nil {
		return Result{}, err
	}
	defer func() {
		for _, m := range members {
			m.close()
		}
	}()
	if !passed || !r.finish(ctx, members) {
		r.undo(ctx, members)
		r.result.Why = "what the run left was led back to what was there before"
	} else {
		r.result.Outcome = Applied
	}
	for _, m := range members {
		if m.outcome == "" {
			m.outcome = AsBefore
		}
		r.result.Devices = append(r.result.Devices, m.ended())
	}
	return r.result, r.end()
}

// takeOver takes the lock of a run whose process is gone.
func (c Config) takeOver(name string) error {
	held, err := c.Store.Locked()
	if err != nil {
		return err
	}
	if held != nil && held.Alive(c.Who) && held.PID != c.PID {
		return &LockedError{*held}
	}
	if err := c.Store.Unlock(); err != nil {
		return err
	}
	return c.Store.Lock(Lock{Run: name, Verb: "recover", Who: c.Who, PID: c.PID, Since: c.Now().UTC()})
}

// left rebuilds the devices of the last wave from the journal, as far as something may have been sent to them, and says
// whether the wave's verdict was good.
func (r *run) left(records []Record) ([]*member, bool, error) {
	last := lastWave(records)
	members := map[string]*member{}
	var names []string
	passed := false
	for _, rec := range records {
		if rec.Wave != last {
			continue
		}
		m := members[rec.Device]
		switch rec.Kind {
		case WaveEnded:
			return nil, true, nil
		case Before:
			if r.Devices[rec.Device] == nil {
				return nil, false, fmt.Errorf("%s: the run touched it, and it is not in the inventory any more", rec.Device)
			}
			names = append(names, rec.Device)
			members[rec.Device] = &member{run: r, wave: last, step: plan.Step{Device: rec.Device}, noted: true, before: rec.Owned, objects: rec.Objects}
		case Pending:
			m.pending, m.step.Route, m.kept = rec.Pending, rec.Pending.Route, rec.Pending.Deadline.IsZero()
			m.step.Persist, m.step.Quiet = rec.Persist, rec.Quiet
		case Reached:
			m.reached = rec.Digest
		case Confirmed:
			m.kept, m.outcome = true, Applied
		case Undone:
			m.pending, m.outcome = nil, AsBefore
		case Passed:
			passed = true
		}
	}
	var left []*member
	for _, name := range names {
		left = append(left, members[name])
	}
	return left, passed, nil
}

func lastWave(records []Record) int {
	last := 0
	for _, rec := range records {
		last = max(last, rec.Wave)
	}
	return last
}

// finish confirms what a good wave left unconfirmed. It says no when a device does not hold any more what was judged: then
// the wave must be led back whole.
func (r *run) finish(ctx context.Context, members []*member) bool {
	err := r.all(members, func(m *member) error {
		if m.outcome == Applied || m.pending == nil {
			return nil
		}
		confirming := m.keep(ctx, m.step)
		state, err := m.settled(ctx)
		if err != nil {
			return err
		}
		if state.Owned.Digest() != m.reached {
			return fmt.Errorf("%s: it does not hold any more what was judged good", m.name())
		}
		if confirming != nil && !m.pending.Deadline.IsZero() && r.Now().Before(m.pending.Deadline) {
			return confirming
		}
		return m.confirmed()
	})
	if err != nil {
		for _, m := range members {
			m.outcome = ""
		}
	}
	return err == nil
}

// Rollback undoes an applied run: a run of its own, with the waves in reverse. It refuses when a device is not as the run
// left it.
func (c Config) Rollback(ctx context.Context, name string) (Result, error) {
	c = c.withDefaults()
	if err := c.fresh(""); err != nil {
		return Result{}, err
	}
	records, err := c.Store.Read(name)
	if err != nil {
		return Result{}, err
	}
	past, err := pastOf(name, records)
	if err != nil {
		return Result{}, err
	}
	waves, err := c.inverse(ctx, past)
	if err != nil {
		return Result{}, err
	}
	start := Record{Kind: Started, Verb: "rollback", Of: name}
	return c.execute(ctx, start, waves, past.before, past.owned)
}

// ownersBefore is what was weir's on the devices of a run before it.
func (c Config) ownersBefore(name string) (plan.Manifest, error) {
	records, err := c.Store.Read(name)
	if err != nil {
		return nil, err
	}
	past, err := pastOf(name, records)
	return past.owned, err
}

// past is what a run left and found.
type past struct {
	waves  [][]string
	before map[string]plan.Document
	after  map[string]Record // as they were read back
	owned  plan.Manifest
}

func pastOf(name string, records []Record) (past, error) {
	p := past{before: map[string]plan.Document{}, after: map[string]Record{}, owned: plan.Manifest{}}
	if len(records) == 0 || records[len(records)-1].Kind != Ended {
		return p, &UnfinishedError{name}
	}
	p.waves = slices.Clone(records[0].Devices)
	confirmed := map[string]bool{}
	for _, rec := range records {
		switch rec.Kind {
		case Before:
			p.before[rec.Device], p.owned[rec.Device] = rec.Owned, rec.Objects
		case Reached:
			p.after[rec.Device] = rec
		case Confirmed:
			confirmed[rec.Device] = true
		case Undone:
			delete(confirmed, rec.Device)
		}
	}
	for i, devices := range p.waves {
		p.waves[i] = slices.DeleteFunc(slices.Clone(devices), func(d string) bool { return !confirmed[d] })
	}
	p.waves = slices.DeleteFunc(p.waves, func(w []string) bool { return len(w) == 0 })
	slices.Reverse(p.waves)
	if len(p.waves) == 0 {
		return p, fmt.Errorf("run %s left nothing applied: there is nothing to roll back", name)
	}
	return p, nil
}

// inverse reads every device and makes the steps that lead it back.
func (c Config) inverse(ctx context.Context, p past) ([][]plan.Step, error) {
	r := &run{Config: c}
	moved := map[string][]string{}
	var failed []error
	var waves [][]plan.Step
	for _, devices := range p.waves {
		var steps []plan.Step
		for _, name := range devices {
			if c.Devices[name] == nil {
				failed = append(failed, fmt.Errorf("%s: the run changed it, and it is not in the inventory any more", name))
				continue
			}
			m := &member{run: r, step: plan.Step{Device: name}}
			state, err := m.read(ctx)
			m.close()
			switch {
			case err != nil:
				failed = append(failed, err)
			case state.Owned.Digest() != p.after[name].Digest:
				moved[name] = changedParts(plan.Step{Parts: p.after[name].Parts}, state)
			default:
				step, findings := c.Devices[name].Step(state, p.before[name])
				if findings.HasErrors() {
					failed = append(failed, fmt.Errorf("%s: %s", name, summaries(findings)))
				}
				steps = append(steps, step)
			}
		}
		waves = append(waves, steps)
	}
	if len(moved) > 0 {
		return nil, &StaleError{moved}
	}
	return waves, errors.Join(failed...)
}

func summaries(findings diag.List) string {
	var words []string
	for _, f := range findings {
		words = append(words, f.Summary)
	}
	return strings.Join(words, "; ")
}
