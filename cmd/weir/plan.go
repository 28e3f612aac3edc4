package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/cmd/weir/view"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/plan"
)

// planFlags are what plan and apply have in common.
type planFlags struct {
	journal  string
	observed string // a folder with what was observed; empty: the devices are read
	control.PlanOptions
}

func (f *planFlags) register(cmd *cobra.Command) {
	journalFlag(cmd, &f.journal)
	deviceFlag(cmd, &f.Device, "; the plan is then incomplete")
	cmd.Flags().BoolVar(&f.SkipUnreachable, "skip-unreachable", false, "leave devices out that cannot be reached; the plan says which, and what that means for their neighbours")
	cmd.Flags().IntVar(&f.WaveSize, "wave-size", 0, "at most this many devices in a wave (default no limit)")
}

// journalFlag is the flag of all commands that read or write runs.
func journalFlag(cmd *cobra.Command, journal *string) {
	cmd.Flags().StringVar(journal, "journal", "", "the folder where runs are recorded (default: as your configuration says, else DIR/.weir)")
}

func planCommand(c *console) *cobra.Command {
	var f planFlags
	var out string
	var detailed, lines bool
	cmd := &cobra.Command{
		Use:   "plan [DIR]",
		Short: "Show the difference between the intent and what runs",
		Args:  folderOnly,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := c.open(dirArg(args), f.journal)
			if err != nil {
				return err
			}
			c.warnUnfinished(r)
			p, err := c.plan(cmd.Context(), r, f)
			if err != nil {
				return err
			}
			if out != "" {
				if err := control.SavePlan(out, p); err != nil {
					return err
				}
			}
			if c.json {
				if err := c.printJSON(p); err != nil {
					return err
				}
			} else {
				o := view.PlanOptions{Lines: lines}
				if out != "" {
					o.Apply = c.hintRepo("apply", quoteShell(out))
				}
				c.stdout().Plan(p, o)
			}
			switch {
			case p.Findings.HasErrors():
				return exit(exitFindings)
			case detailed && len(p.Waves) > 0:
				return exit(exitChanges)
			}
			return nil
		},
	}
	f.register(cmd)
	cmd.Flags().StringVarP(&out, "out", "o", "", "save the plan to this file, for weir apply FILE")
	cmd.Flags().StringVar(&f.observed, "observed", "", "plan against the files of this folder (weir observe writes them) and not the devices")
	cmd.Flags().BoolVar(&detailed, "detailed-exitcode", false, "exit with 2 when there are changes")
	cmd.Flags().BoolVar(&lines, "lines", false, "also show what is sent, in the device's own words, and what would undo it")
	return cmd
}

// plan reads the devices and works out the plan. It refuses on errors that concern them, or the fabric as a whole.
func (c *console) plan(ctx context.Context, r *control.Repo, f planFlags) (plan.Plan, error) {
	if r.Fabric == nil {
		return plan.Plan{}, c.refused(r.Findings)
	}
	names, err := c.reached(r, f.Device)
	if err != nil {
		return plan.Plan{}, err
	}
	if err := c.sound(r, names); err != nil {
		return plan.Plan{}, err
	}
	return r.Plan(names, c.observe(ctx, r, names, f.observed), f.PlanOptions)
}

// sound refuses on errors that concern some devices, or the fabric as a whole, and says how many others there are.
func (c *console) sound(r *control.Repo, names []string) error {
	found := r.Concerning(names)
	if found.HasErrors() {
		return c.refused(found)
	}
	if n := r.Findings.Count(diag.Error); n > 0 {
		c.stderr().Printf("weir check finds %s in %s about devices that are not planned here\n", diag.Count(n, "error"), r.Dir)
	}
	return nil
}

// observe reads the devices, or the folder with what was observed, and shows how far it is.
func (c *console) observe(ctx context.Context, r *control.Repo, names []string, observed string) map[string]control.Observation {
	if observed == "" {
		c.warnUnverified(r, names)
	}
	progress := c.progress("reading", len(names))
	defer progress.end()
	return r.Observe(ctx, names, observed, progress.step)
}

// showCommand prints a saved plan, or a run. It needs neither a repo that holds nor the devices.
func showCommand(c *console) *cobra.Command {
	var lines bool
	var dir, journal string
	cmd := &cobra.Command{
		Use:   "show FILE|RUN",
		Short: "Print a saved plan, or a run: what it changed, who made it, and how it ended",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if !isFile(args[0]) {
				store, err := c.store(dir, journal)
				if err != nil {
					return err
				}
				return c.showRun(store, args[0])
			}
			p, err := control.LoadPlan(args[0])
			if err != nil {
				return err
			}
			if c.json {
				return c.printJSON(p)
			}
			c.place = place{dir, journal}
			c.stdout().Plan(p, view.PlanOptions{Lines: lines, Apply: c.hintRepo("apply", quoteShell(args[0]))})
			return nil
		},
	}
	cmd.Flags().BoolVar(&lines, "lines", false, "of a plan: also what is sent, in the device's own words")
	cmd.Flags().StringVar(&dir, "repo", ".", "of a run: the fabric repo")
	journalFlag(cmd, &journal)
	return cmd
}
