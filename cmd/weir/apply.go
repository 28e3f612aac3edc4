package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirfabric/weir/cmd/weir/view"
	"github.com/weirfabric/weir/drivers/apply"
	"github.com/weirfabric/weir/intent/plan"
)

// consent is what the operator agrees to beforehand.
type consent struct {
	yes, adopt, flap, reboot bool
}

func (a *consent) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&a.adopt, "adopt", false, "take over shared objects that stand on a device and were not made by weir")
	cmd.Flags().BoolVar(&a.flap, "allow-flap", false, "allow changes that drain queues or flap ports")
	cmd.Flags().BoolVar(&a.reboot, "allow-reboot", false, "allow changes that restart a device")
}

func applyCommand(c *console) *cobra.Command {
	var o planOptions
	var agreed consent
	var dir string
	var quick settleOptions
	cmd := &cobra.Command{
		Use:   "apply [FILE|DIR]",
		Short: "Carry out a saved plan, or plan and ask",
		Long: `apply carries out a saved plan, or makes one and asks. It goes in waves: a canary first, then the switches from the hosts
upwards, hosts last. A wave stays only when every device reads back as wanted and the counters say that the class is
lossless; otherwise the whole wave is led back and the run stops. Everything is in a journal before it happens, so that
a run that is cut off can be ended by weir recover.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			saved := len(args) == 1 && isFile(args[0])
			if !saved {
				dir = dirArg(args)
			}
			r, err := c.mustHold(dir, o.journal)
			if err != nil {
				return err
			}
			if err := r.store.Free(whoami()); err != nil {
				return err
			}
			var p plan.Plan
			if saved {
				p, err = loadPlan(args[0])
			} else {
				p, err = c.plan(cmd.Context(), r, o)
			}
			if err != nil {
				return err
			}
			return c.apply(cmd.Context(), r, p, agreed, quick, saved)
		},
	}
	o.flags(cmd)
	agreed.flags(cmd)
	quick.flags(cmd)
	cmd.Flags().StringVar(&dir, "repo", ".", "the fabric repo that a saved plan was made from")
	return cmd
}

// apply shows the plan unless it was saved, asks unless that was agreed, and carries it out.
func (c *console) apply(ctx context.Context, r *repo, p plan.Plan, agreed consent, settle settleOptions, saved bool) error {
	if saved && p.Intent != r.digest {
		return errors.New("the plan is stale: the fabric repo says something else than when it was made; make a new plan")
	}
	if !saved && !c.json {
		c.view().Plan(p, view.PlanOptions{})
	}
	if p.Findings.HasErrors() {
		if c.json {
			if err := c.printJSON(findings{1, p.Findings}); err != nil {
				return err
			}
		} else if saved {
			c.say().Findings(p.Findings)
		}
		return exit(exitFindings)
	}
	if len(p.Waves) == 0 {
		return c.nothing("apply", "every device is as wanted")
	}
	if err := agreed.covers(p); err != nil {
		return err
	}
	if !saved && !agreed.yes && !c.asked("Apply these changes? Only yes is taken: ") {
		return errors.New("nothing was done")
	}
	want := map[string]plan.Document{}
	for _, wave := range p.Waves {
		for _, s := range wave {
			if r.bound[s.Device] == nil {
				return fmt.Errorf("%s: the plan changes it, and it is not in the inventory", s.Device)
			}
			want[s.Device], _ = r.bound[s.Device].Write()
		}
	}
	config, end, err := c.config(ctx, r, p.Waves, settle)
	if err != nil {
		return err
	}
	defer end()
	result, err := config.Apply(ctx, p, want)
	return c.result("apply", result, err)
}

// covers says what the plan needs that was not agreed to.
func (a consent) covers(p plan.Plan) error {
	for _, wave := range p.Waves {
		for _, s := range wave {
			for _, change := range s.Changes {
				if change.Adopt && !a.adopt {
					return fmt.Errorf("%s: %s stands there and was not made by weir: look at the changes marked \"adopt\", then apply with --adopt", s.Device, change.Addr)
				}
			}
			impact := s.Impact()
			if impact == plan.Reboots && !a.reboot {
				return fmt.Errorf("%s: the changes restart the device: apply with --allow-reboot", s.Device)
			}
			if impact > plan.None && impact < plan.Reboots && !a.flap {
				return fmt.Errorf("%s: the changes touch traffic (%s): apply with --allow-flap when that is all right", s.Device, impact)
			}
		}
	}
	return nil
}

// asked puts a question on the terminal and takes the full word yes.
func (c *console) asked(question string) bool {
	c.say().Printf("%s", question)
	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	return err == nil && strings.TrimSpace(line) == "yes"
}

// config is what a run on the repo needs.
func (c *console) config(ctx context.Context, r *repo, waves [][]plan.Step, settle settleOptions) (apply.Config, func(), error) {
	devices := map[string]apply.Device{}
	for name, b := range r.bound {
		devices[name] = b
	}
	watch, end, err := c.watchWaves(ctx, r, waves, settle)
	if err != nil {
		return apply.Config{}, nil, err
	}
	t := c.tell()
	return apply.Config{Store: r.store, Devices: devices, Dial: r.dial, Watch: watch, Who: whoami(), PID: os.Getpid(),
		Timeout: settle.timeout, Patience: settle.patience, Poll: r.inWall(time.Second), Scale: r.scale(), Observe: t.take}, func() { t.end(); end() }, nil
}

// runResult is the JSON form of a run's end.
type runResult struct {
	Format int          `json:"format"`
	Verb   string       `json:"verb"`
	Result apply.Result `json:"result"`
}

// nothing ends a command that had no run to make. A program gets the form of a run without a name.
func (c *console) nothing(verb, why string) error {
	if c.json {
		return c.printJSON(runResult{1, verb, apply.Result{Outcome: apply.Applied, Why: why, Devices: []apply.DeviceResult{}}})
	}
	return nil
}

// result prints how a run ended and turns it into an exit code.
func (c *console) result(verb string, result apply.Result, err error) error {
	if err != nil {
		return err
	}
	if c.json {
		if err := c.printJSON(runResult{1, verb, result}); err != nil {
			return err
		}
	} else {
		c.printResult(verb, result)
	}
	switch result.Outcome {
	case apply.Applied:
		return nil
	case apply.AsBefore:
		if verb == "recover" {
			return nil
		}
		return exit(exitRolledBack)
	}
	return exit(exitUnknown)
}

func (c *console) printResult(verb string, result apply.Result) {
	v := c.view()
	count := map[apply.Outcome]int{}
	for _, d := range result.Devices {
		count[d.Outcome]++
		if d.Outcome == apply.Unknown || d.Outcome == apply.Partial {
			v.Printf("%s: %s: %s\n", v.Bold(d.Device), v.Bad(string(d.Outcome)), d.Why)
			for _, leaf := range d.Leaves {
				v.Printf("    %s\n", leaf)
			}
		}
	}
	if result.Why != "" {
		v.Printf("%s\n", result.Why)
	}
	v.Printf("%s %s: %s. Devices: %d changed, %d as before, %d partial, %d unknown.\n", verb, result.Run, outcome(v, result.Outcome),
		count[apply.Applied], count[apply.AsBefore], count[apply.Partial], count[apply.Unknown])
	switch {
	case result.Outcome == apply.Unknown || result.Outcome == apply.Partial:
		v.Printf("The run stays open. When the devices can be reached again: weir recover\n")
	case verb == "apply" && count[apply.Applied] > 0:
		v.Printf("To undo it: weir rollback %s\n", result.Run)
	}
}

func outcome(v view.View, o apply.Outcome) string {
	if o == apply.Applied {
		return v.Good(string(o))
	}
	return v.Bad(string(o))
}

// whoami is user@host, for the lock.
func whoami() string {
	name := "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if host, err := os.Hostname(); err == nil {
		name += "@" + host
	}
	return name
}

func isFile(name string) bool {
	st, err := os.Stat(name)
	return err == nil && st.Mode().IsRegular()
}
