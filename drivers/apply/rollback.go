package apply

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/plan"
)

// rollback is the verb of a run that undoes another.
const rollback = "rollback"

// Left is a device that a rollback does not touch, and why.
type Left struct {
	Device string `json:"device"`
	Why    string `json:"why"`
}

func byDevice(a, b Left) int { return strings.Compare(a.Device, b.Device) }

// Return is a rollback before it is carried out.
type Return struct {
	Of       string        // the run that is undone
	Waves    [][]plan.Step // those of the run in reverse
	Left     []Left        // devices that are not as the run left them: what was done to them since would be lost
	Back     []string      // devices that are as before the run already
	Findings diag.List

	before map[string]plan.Document
	owned  plan.Manifest
}

// ReturnOptions say how much of a run is undone.
type ReturnOptions struct {
	Only         func(device string) bool // nil: every device that the run changed
	AllOrNothing bool                     // a device that is not as the run left it is a *StaleError
	Moved        bool                     // such a device is led back as well: what was done to weir's part of it since is lost
}

// PlanRollback reads the devices that a run changed and makes the steps that lead them back. A device that is not any more as the
// run left it is left as it is and named. A device that cannot be read is an error.
func (c Config) PlanRollback(ctx context.Context, name string, o ReturnOptions) (Return, error) {
	c = c.withDefaults()
	done, err := c.Store.Replay(name)
	if err != nil {
		return Return{}, err
	}
	past, err := done.Past()
	if err != nil {
		return Return{}, err
	}
	ret := Return{Of: name, before: past.Before, owned: past.Owned}
	moved := map[string][]string{}
	var failed []error
	for _, devices := range past.Waves {
		var steps []plan.Step
		for i, b := range c.backward(ctx, devices, past, o) {
			ret.Findings = append(ret.Findings, b.findings...)
			switch {
			case b.err != nil:
				failed = append(failed, b.err)
			case len(b.moved) > 0:
				moved[devices[i]] = b.moved
				ret.Left = append(ret.Left, Left{devices[i], "it changed since: " + strings.Join(b.moved, "; ")})
			case b.back:
				ret.Back = append(ret.Back, devices[i])
			case len(b.step.Changes) > 0:
				steps = append(steps, b.step)
			}
		}
		if len(steps) > 0 {
			ret.Waves = append(ret.Waves, steps)
		}
	}
	if len(failed) > 0 {
		return ret, errors.Join(failed...)
	}
	if o.AllOrNothing && len(moved) > 0 {
		return ret, &StaleError{moved}
	}
	return ret, nil
}

// backward is one device on its way back.
type backward struct {
	step     plan.Step
	findings diag.List
	moved    []string // what is not as the run left it
	back     bool     // it is as before already
	err      error
}

// backward reads devices side by side. What is asked for by none of them is empty.
func (c Config) backward(ctx context.Context, devices []string, past journal.Past, o ReturnOptions) []backward {
	r := &run{Config: c, back: true}
	out := make([]backward, len(devices))
	var all sync.WaitGroup
	slots := make(chan struct{}, c.Parallel)
	for i, name := range devices {
		if o.Only != nil && !o.Only(name) {
			continue
		}
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			out[i] = r.backwardOne(ctx, name, past, o.Moved)
		})
	}
	all.Wait()
	return out
}

func (r *run) backwardOne(ctx context.Context, name string, past journal.Past, moved bool) backward {
	if r.Devices[name] == nil {
		return backward{err: fmt.Errorf("%s: the run changed it, and it is not in the inventory any more", name)}
	}
	m := &member{run: r, step: plan.Step{Device: name}}
	defer m.close()
	state, err := m.read(ctx)
	switch now := state.Owned.Digest(); {
	case err != nil:
		return backward{err: err}
	case now == past.Before[name].Digest():
		return backward{back: true}
	case now != past.After[name].Digest && !moved:
		return backward{moved: changedParts(plan.Step{Parts: past.After[name].Parts}, state)}
	}
	step, findings := r.toward(name, state, past.Before[name], false)
	return backward{step: step, findings: findings}
}

// Rollback carries a rollback out: a run of its own. It refuses when a device changed since PlanRollback.
func (c Config) Rollback(ctx context.Context, ret Return) (Result, error) {
	start := journal.Record{Kind: journal.Started, Verb: rollback, Of: ret.Of}
	return c.execute(ctx, start, false, ret.Waves, ret.before, ret.owned, ret.Left)
}

// ownersBefore is what was weir's on the devices of a run before it.
func (c Config) ownersBefore(name string) (plan.Manifest, error) {
	done, err := c.Store.Replay(name)
	if err != nil {
		return nil, err
	}
	past, err := done.Past()
	return past.Owned, err
}
