package main

import (
	"context"
	"errors"

	"github.com/weirfabric/weir/cmd/control"
)

// clean leads an orphan back to what it was before weir, after showing what that means and asking unless it was agreed.
func (c *console) clean(ctx context.Context, r *control.Repo, name string, agreed consentFlags, settle control.Settle, audit auditFlags) error {
	if r.Device(name) != nil {
		c.warnUnverified(r, []string{name})
	}
	cleaning, err := r.PlanClean(ctx, name)
	if err != nil {
		return err
	}
	p := r.PlanOf(cleaning.Return)
	if !c.json {
		c.stdout().Return(cleaning.Return, p)
	}
	switch {
	case p.Findings.HasErrors():
		return c.refused(p.Findings)
	case len(p.Waves) == 0:
		return errors.New("it is as before weir already, and stands on the list of what is weir's: --release " + name + " takes it off")
	}
	if err := agreed.Covers(p); err != nil {
		return err
	}
	if !agreed.yes && !c.asked("Lead this device back? Only yes is taken: ") {
		return errors.New("nothing was done")
	}
	return c.run("apply", settle, audit, func(o control.RunOptions) (control.Result, error) {
		o.TakeOver = agreed.takeOver
		return r.Clean(ctx, cleaning, o)
	})
}
