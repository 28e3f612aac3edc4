package apply

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/plan"
)

// Rollback undoes an applied run: a run of its own, with the waves in reverse. It refuses when a device is not as the run
// left it.
func (c Config) Rollback(ctx context.Context, name string) (Result, error) {
	c = c.withDefaults()
	if err := c.fresh(""); err != nil {
		return Result{}, err
	}
	done, err := c.Store.Replay(name)
	if err != nil {
		return Result{}, err
	}
	past, err := done.Past()
	if err != nil {
		return Result{}, err
	}
	waves, err := c.inverse(ctx, past)
	if err != nil {
		return Result{}, err
	}
	start := journal.Record{Kind: journal.Started, Verb: "rollback", Of: name}
	return c.execute(ctx, start, waves, past.Before, past.Owned)
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

// inverse reads every device and makes the steps that lead it back.
func (c Config) inverse(ctx context.Context, p journal.Past) ([][]plan.Step, error) {
	r := &run{Config: c}
	moved := map[string][]string{}
	var failed []error
	var waves [][]plan.Step
	for _, devices := range p.Waves {
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
			case state.Owned.Digest() != p.After[name].Digest:
				moved[name] = changedParts(plan.Step{Parts: p.After[name].Parts}, state)
			default:
				step, findings := c.Devices[name].Step(state, p.Before[name])
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
