package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/intent/plan"
)

// rollbackFlags are those of rollback.
type rollbackFlags struct {
	dir, journal    string
	device          control.Selection
	planOnly, whole bool
	agreed          consentFlags
	settle          control.Settle
	audit           auditFlags
}

func rollbackCommand(c *console) *cobra.Command {
	var f rollbackFlags
	cmd := &cobra.Command{
		Use:   "rollback RUN",
		Short: "Undo an applied run from its journal",
		Long: `rollback leads every device that a run changed back to what was read before it, by weir's own inverse, in waves that are
judged like those of an apply. It shows what it would do, and asks. A device that changed since the run is named and left as it is:
what was done to it would be lost; the run then ends incomplete. With --all-or-nothing such a device refuses the whole rollback.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := c.resolved(f.dir, f.journal)
			if err != nil {
				return err
			}
			return c.rollback(cmd, r, args[0], f)
		},
	}
	cmd.Flags().StringVar(&f.dir, "repo", ".", "the fabric repo")
	deviceFlag(cmd, &f.device, "")
	cmd.Flags().BoolVar(&f.planOnly, "plan", false, "show what would be done, and do nothing")
	cmd.Flags().BoolVar(&f.whole, "all-or-nothing", false, "do nothing where a device changed since the run")
	journalFlag(cmd, &f.journal)
	f.agreed.register(cmd)
	settleFlags(cmd, &f.settle)
	f.audit.register(cmd)
	return cmd
}

// rollbackPlan is the JSON form of rollback --plan.
type rollbackPlan struct {
	Format int            `json:"format"`
	Of     string         `json:"of"`
	Plan   plan.Plan      `json:"plan"`
	Left   []control.Left `json:"left"` // devices that stay as they are, and why
	Back   []string       `json:"back"` // devices that are as before the run already
}

func (c *console) rollback(cmd *cobra.Command, r *control.Repo, run string, f rollbackFlags) error {
	if err := r.Free(); err != nil && !f.planOnly {
		return err
	}
	o := control.RollbackOptions{AllOrNothing: f.whole}
	if len(f.device) > 0 {
		only, err := r.Selected(f.device)
		if err != nil {
			return err
		}
		o.Devices = func(name string) bool { return slices.Contains(only, name) }
	}
	ret, err := r.PlanRollback(cmd.Context(), run, o)
	if err != nil {
		return err
	}
	p := r.PlanOf(ret)
	if c.json && f.planOnly {
		return c.printJSON(rollbackPlan{1, ret.Of, p, append([]control.Left{}, ret.Left...), append([]string{}, ret.Back...)})
	}
	if !c.json {
		c.stdout().Return(ret, p)
	}
	switch {
	case p.Findings.HasErrors():
		return c.refused(p.Findings)
	case f.planOnly:
		return nil
	case len(p.Waves) == 0 && len(ret.Left) > 0:
		return fmt.Errorf("every device that run %s changed has changed since: nothing was done", run)
	case len(p.Waves) == 0:
		return c.nothing("rollback", "every device is as before the run")
	}
	if err := f.agreed.Covers(p); err != nil {
		return fmt.Errorf("%w (here: %s)", err, c.hintRepo("rollback", run))
	}
	if !f.agreed.yes && !c.asked("Lead these devices back? Only yes is taken: ") {
		return errors.New("nothing was done")
	}
	return c.run("rollback", f.settle, f.audit, func(o control.RunOptions) (control.Result, error) {
		o.TakeOver = f.agreed.takeOver
		return r.Rollback(cmd.Context(), ret, o)
	})
}
