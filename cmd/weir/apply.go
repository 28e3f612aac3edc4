package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/cmd/weir/view"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/plan"
)

// consentFlags are what the operator agrees to beforehand.
type consentFlags struct {
	yes      bool
	takeOver string // a run
	control.Consent
}

func (f *consentFlags) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&f.Adopt, "adopt", false, "take over shared objects that stand on a device and were not made by weir")
	cmd.Flags().BoolVar(&f.Flap, "allow-flap", false, "allow changes that drain queues or flap ports")
	cmd.Flags().BoolVar(&f.Single, "allow-single", false, "allow changes of a switch that is the only one of its tier")
	cmd.Flags().BoolVar(&f.Reboot, "allow-reboot", false, "allow changes that restart a device")
	takeOverFlag(cmd, &f.takeOver)
}

// takeOverFlag is the flag of all commands that make runs.
func takeOverFlag(cmd *cobra.Command, run *string) {
	cmd.Flags().StringVar(run, "take-over", "", "take devices from this run, whose journal is elsewhere: see first that it does not go on, and that nobody can recover it there")
}

// auditFlags say why a run is made.
type auditFlags struct{ reason, ticket string }

func (f *auditFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.reason, "reason", "", "why this is done, for the record")
	cmd.Flags().StringVar(&f.ticket, "ticket", "", "where it was agreed, for the record")
}

// settleFlags say how waves are judged.
func settleFlags(cmd *cobra.Command, o *control.Settle) {
	cmd.Flags().DurationVar(&o.Window, "settle", 0, "watch the counters at least so long after a wave (default what the intent says; never less than two of their intervals)")
	cmd.Flags().StringVar(&o.Idle, "idle", "", "when the class carries no traffic in that window: hold or accept (default what the intent says)")
	cmd.Flags().BoolVar(&o.Blind, "no-counters", false, "do not watch counters: a wave stays when it reads back as wanted")
	waitFlags(cmd, o)
}

// waitFlags say how long weir waits for a device.
func waitFlags(cmd *cobra.Command, o *control.Settle) {
	cmd.Flags().DurationVar(&o.Timeout, "timeout", 0, "for one operation on a device, beside three times its expected cost (default 1m)")
	cmd.Flags().DurationVar(&o.Patience, "patience", 0, "for a device that does not answer, or whose state is in doubt (default 2m)")
}

func applyCommand(c *console) *cobra.Command {
	var f planFlags
	var agreed consentFlags
	var dir string
	var settle control.Settle
	var release []string
	var clean string
	var audit auditFlags
	cmd := &cobra.Command{
		Use:   "apply [FILE|DIR]",
		Short: "Carry out a saved plan, or plan and ask",
		Long: `apply carries out a saved plan, or makes one and asks. It goes in waves: a canary first, then the switches from the hosts
upwards, hosts last, and the other way round where a lossless class is only taken away. A wave stays only when every device
reads back as wanted and the counters say that the class is lossless; otherwise the whole wave is led back and the run stops. Everything is in a journal before it happens, so that
a run that is cut off can be ended by weir recover. With --release it plans nothing: weir forgets what it owns on a device that left
the inventory, and the device keeps it. With --clean it leads such a device back to what it was before weir came to it.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			saved := len(args) == 1 && isFile(args[0])
			switch {
			case !saved:
				dir = dirArg(args)
			case len(f.Device) > 0 || f.SkipUnreachable || f.WaveSize > 0:
				return fmt.Errorf("%s is a plan already: --device, --skip-unreachable and --wave-size are for making one", args[0])
			}
			r, err := c.open(dir, f.journal)
			if err != nil {
				return err
			}
			if r.Fabric == nil {
				return c.refused(r.Findings)
			}
			if err := r.Free(); err != nil {
				return err
			}
			switch {
			case (len(release) > 0 || clean != "") && saved:
				return errors.New("--release and --clean are of a repo and not of a saved plan")
			case len(release) > 0 && clean != "":
				return errors.New("--release leaves a device as it is and --clean leads it back: one of them")
			case len(release) > 0:
				return c.release(r, release, agreed.yes)
			case clean != "":
				return c.clean(cmd.Context(), r, clean, agreed, settle, audit)
			}
			var p plan.Plan
			if saved {
				if p, err = c.remade(cmd.Context(), r, args[0]); err == nil {
					err = c.sound(r, p.Devices())
				}
			} else {
				p, err = c.plan(cmd.Context(), r, f)
			}
			if err != nil {
				return err
			}
			return c.apply(cmd.Context(), r, p, agreed, settle, audit, saved)
		},
	}
	f.register(cmd)
	agreed.register(cmd)
	settleFlags(cmd, &settle)
	cmd.Flags().StringArrayVar(&release, "release", nil, "forget what weir owns on this device, which left the inventory: it stays there and is nobody's; nothing else is done")
	cmd.Flags().StringVar(&clean, "clean", "", "lead this device, which left the inventory and stands in it with state: unmanaged, back to what it was before weir; nothing else is done")
	audit.register(cmd)
	cmd.Flags().StringVar(&dir, "repo", ".", "the fabric repo that a saved plan was made from")
	return cmd
}

// release forgets orphans, after asking unless that was agreed.
func (c *console) release(r *control.Repo, names []string, agreed bool) error {
	for _, o := range r.Orphans() {
		if slices.Contains(names, o.Device) {
			c.stderr().Printf("%s: %s stay there and are nobody's: %s\n", o.Device, diag.Count(len(o.Objects), "object"), diag.First(o.Objects, 8))
		}
	}
	if !agreed && !c.asked("Forget them? Only yes is taken: ") {
		return errors.New("nothing was done")
	}
	if err := r.Release(names); err != nil {
		return err
	}
	done := "weir owns nothing any more on " + strings.Join(names, ", ")
	if !c.json {
		c.stdout().Printf("%s.\n", done)
	}
	return c.nothing("release", done)
}

// apply shows the plan unless it was saved, asks unless that was agreed, and carries it out.
func (c *console) apply(ctx context.Context, r *control.Repo, p plan.Plan, agreed consentFlags, settle control.Settle, audit auditFlags, saved bool) error {
	if p.Intent != r.Digest {
		return control.ErrMoved
	}
	if !saved && !c.json {
		c.stdout().Plan(p, view.PlanOptions{})
	}
	if p.Findings.HasErrors() {
		if !saved && !c.json {
			return exit(exitFindings) // they were printed with the plan
		}
		return c.refused(p.Findings)
	}
	if len(p.Waves) == 0 && !saved {
		return c.nothing("apply", "every device is as wanted")
	}
	if err := agreed.Covers(p); err != nil {
		return err
	}
	if !saved && !agreed.yes && !c.asked("Apply these changes? Only yes is taken: ") {
		return errors.New("nothing was done")
	}
	return c.run("apply", settle, audit, func(o control.RunOptions) (control.Result, error) {
		o.TakeOver = agreed.takeOver
		return r.Apply(ctx, p, o)
	})
}

// remade reads a saved plan and makes its steps again: what is agreed to and sent are those, and nothing of the file.
func (c *console) remade(ctx context.Context, r *control.Repo, file string) (plan.Plan, error) {
	p, err := control.LoadPlan(file)
	if err != nil || p.Intent != r.Digest || len(p.Waves) == 0 {
		return p, err
	}
	for _, name := range control.Named(p) {
		if !slices.Contains(r.Names, name) {
			return p, &control.AlteredError{What: diag.Excerpt(name) + " is not in the inventory"}
		}
	}
	for _, s := range p.Skipped {
		c.stderr().Printf("%s: %s is left out, as the plan says: %s\n", c.stderr().Bad("warning"), s.Device, s.Why)
	}
	return r.Remake(p, c.observe(ctx, r, control.Named(p), ""))
}

// asked puts a question on the terminal and takes the full word yes.
func (c *console) asked(question string) bool {
	c.stderr().Printf("%s", question)
	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	return err == nil && strings.TrimSpace(line) == "yes"
}

// run carries out a run and prints how it goes and how it ended.
func (c *console) run(verb string, settle control.Settle, audit auditFlags, do func(control.RunOptions) (control.Result, error)) error {
	if settle.Blind {
		c.stderr().Printf("%s: --no-counters: waves are not judged by what the network does\n", c.stderr().Bad("note"))
	}
	shown := view.ShowRun(c.stderr(), c.json)
	result, err := do(control.RunOptions{Settle: settle, Reason: audit.reason, Ticket: audit.ticket, Observe: func(r control.Record) {
		shown.Record(r)
		if c.observed != nil {
			c.observed(r)
		}
	}})
	shown.End()
	return c.result(verb, result, err)
}

// runResult is the JSON form of a run's end.
type runResult struct {
	Format int            `json:"format"`
	Verb   string         `json:"verb"`
	Result control.Result `json:"result"`
}

// nothing ends a command that had no run to make. A program gets the form of a run without a name.
func (c *console) nothing(verb, why string) error {
	if c.json {
		return c.printJSON(runResult{1, verb, control.Result{Outcome: control.Applied, Why: why, Devices: []control.DeviceResult{}}})
	}
	return nil
}

// result prints how a run ended and turns it into an exit code.
func (c *console) result(verb string, result control.Result, err error) error {
	if err != nil {
		return err
	}
	if c.json {
		if err := c.printJSON(runResult{1, verb, result}); err != nil {
			return err
		}
	} else {
		c.stdout().RunResult(verb, result, view.Next{Recover: c.hint("recover"), Rollback: c.hintRepo("rollback", result.Run),
			Abandon: c.hint("runs", "--abandon", result.Run, "--reason", "TEXT")})
	}
	ended := verb == "recover" || verb == "abandon" // whatever the run came to, it has its end
	switch result.Outcome {
	case control.Applied:
		return nil
	case control.Unknown, control.Partial:
		return exit(exitUnknown)
	}
	switch {
	case ended:
		return nil
	case result.Outcome == control.Incomplete:
		return exit(exitIncomplete)
	}
	return exit(exitRolledBack)
}

func isFile(name string) bool {
	st, err := os.Stat(name)
	return err == nil && st.Mode().IsRegular()
}
