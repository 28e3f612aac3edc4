package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/cmd/weir/view"
	"github.com/weirfabric/weir/intent/depend"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/proof/deadlock"
)

// deadlockOptions are the flags of deadlock.
type deadlockOptions struct {
	failures                int
	failuresSaid            bool
	svg, rules, remedy, fib string

	lst, fdbs, lanes, levels string // of an InfiniBand subnet
	lmc                      int
}

// proofLimit bounds the work of the proof, as depend.Question counts it: some minutes.
const proofLimit = 200_000_000_000

func deadlockCommand(c *console) *cobra.Command {
	var o deadlockOptions
	cmd := &cobra.Command{
		Use:   "deadlock [DIR]",
		Short: "Prove that no cycle of buffers that wait for each other can form, also under failures",
		Long: `deadlock proves that no cycle of buffers that wait for each other can form, with the routing policy of the intent: in the
healthy fabric, with links and switches down, and while routes change, when each switch forwards by its old table or by its
new one. It prints what the proof rests on, or the shortest cycle with the reason for each of its steps, and remedies.
With --fib it takes the routes that were read from the switches, and with --lst and --fdbs an InfiniBand subnet as OpenSM dumped it.`,
		Example: `  weir deadlock pod1 --failures 2
  weir deadlock pod1 --fib fib.csv --svg cycle.svg
  weir deadlock pod1 --rules out
  weir deadlock --lst opensm-subnet.lst --fdbs opensm.fdbs`,
		Args: folderOnly,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.failuresSaid = cmd.Flags().Changed("failures")
			if o.lst != "" || o.fdbs != "" {
				return c.subnet(args, o)
			}
			if o.lanes != "" || o.levels != "" || cmd.Flags().Changed("lmc") {
				return errors.New("--sl2vl, --levels and --lmc are of an InfiniBand subnet: they go with --lst and --fdbs")
			}
			if o.failures < 0 || o.failures > 2 {
				return fmt.Errorf("--failures %d: want 0, 1 or 2", o.failures)
			}
			if o.remedy != "" && o.rules == "" {
				return errors.New("--remedy goes with --rules: it picks the remedy whose rules are written")
			}
			r, err := c.open(dirArg(args), "")
			if err != nil {
				return err
			}
			if r.Fabric == nil {
				return c.refused(r.Findings)
			}
			d := deadlock.DependenciesOf(r.Fabric)
			if d.Findings.HasErrors() {
				return c.refused(d.Findings)
			}
			if o.fib != "" {
				if d, err = withFIB(r.Fabric, d, o.fib); err != nil {
					return err
				}
			}
			c.alsoWrong(r)
			return c.deadlock(r.Fabric.Name, r.Fabric, d, o)
		},
	}
	cmd.Flags().IntVar(&o.failures, "failures", 1, "how many links and switches may be down at once: 0, 1 or 2")
	cmd.Flags().StringVar(&o.svg, "svg", "", "draw the fabric and the cycle into this file")
	cmd.Flags().StringVar(&o.fib, "fib", "", "prove the routes in this file, CSV (switch,destination,next_hop) or JSON, in place of the intent's policy")
	cmd.Flags().StringVar(&o.lst, "lst", "", "prove an InfiniBand subnet in place of a repo: its links, opensm-subnet.lst of OpenSM")
	cmd.Flags().StringVar(&o.fdbs, "fdbs", "", "its routes: opensm.fdbs or opensm-lfts.dump of OpenSM, or what dump_fts prints")
	cmd.Flags().StringVar(&o.lanes, "sl2vl", "", "its virtual lanes: opensm-sl2vl.dump of OpenSM")
	cmd.Flags().StringVar(&o.levels, "levels", "", "the service levels of its paths: lines of SOURCE-NODE-GUID DLID SL, as for ibdmchk -c")
	cmd.Flags().IntVar(&o.lmc, "lmc", 0, "the LMC that its subnet manager runs with")
	cmd.Flags().StringVar(&o.rules, "rules", "", "write the rules of a remedy into this folder, as OUT/DEVICE/bump.json or bump.cfg")
	cmd.Flags().StringVar(&o.remedy, "remedy", "", "the remedy whose rules are written (default the one that loses nothing)")
	return cmd
}

// alsoWrong warns of errors that the answer of a command does not take into account.
func (c *console) alsoWrong(r *control.Repo) {
	count := 0
	for _, d := range r.Findings {
		if d.Severity == diag.Error {
			count++
		}
	}
	if count > 0 {
		c.stderr().Printf("weir check finds %s in %s, and nothing of it can be planned: this is about the fabric as it is written\n", diag.Count(count, "error"), r.Dir)
	}
}

// deadlock proves and prints. The fabric is nil for a subnet.
func (c *console) deadlock(name string, f *fabric.Fabric, d deadlock.Dependencies, o deadlockOptions) error {
	verdict, remedies, err := c.prove(d, o.failures)
	if err != nil {
		return err
	}
	subnets, err := between(f)
	if err != nil {
		return err
	}
	if c.json {
		err = c.printJSON(deadlock.AnswerOf(d, verdict, remedies, subnets))
	} else {
		c.stdout().Deadlock(name, d, verdict, remedies)
		c.stdout().Interchange(subnets)
	}
	if err != nil {
		return err
	}
	if o.svg != "" {
		var b bytes.Buffer
		view.DeadlockSVG(&b, d, verdict)
		if err := os.WriteFile(o.svg, b.Bytes(), 0o644); err != nil {
			return fmt.Errorf("write the drawing: %w", err)
		}
	}
	if o.rules != "" {
		r, err := control.RemedyWithRules(remedies, o.remedy)
		if err != nil {
			return err
		}
		if err := c.writeRules(f, r, o.rules); err != nil {
			return err
		}
	}
	switch {
	case verdict.Cycle != nil || verdict.UnroutedPairs > 0 || subnets != nil && !subnets.Free:
		return exit(exitFindings)
	case !verdict.Complete:
		return errors.New("the proof was cut short: this fabric has too many states for it")
	}
	return nil
}

// prove runs the proof, and shows how far it is.
func (c *console) prove(d deadlock.Dependencies, failures int) (depend.Verdict, []depend.Remedy, error) {
	p := c.progress("states of the fabric", d.FailureStates(failures))
	defer p.end()
	q := d.Question(failures)
	q.Limit = proofLimit
	q.Progress = func(m depend.Model, _, _ int) { p.step(string(m), nil) }
	return d.Prove(q)
}
