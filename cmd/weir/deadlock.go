package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/cmd/weir/view"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
)

// deadlockOptions are the flags of deadlock.
type deadlockOptions struct {
	control.DeadlockOptions
	failuresSaid       bool
	svg, rules, remedy string
	files              control.SubnetFiles // of an InfiniBand subnet
	running            liveFlags
}

func deadlockCommand(c *console) *cobra.Command {
	var o deadlockOptions
	cmd := &cobra.Command{
		Use:   "deadlock [DIR]",
		Short: "Prove that no cycle of buffers that wait for each other can form, also under failures",
		Long: `deadlock proves that no cycle of buffers that wait for each other can form, with the routing policy of the intent: in the
healthy fabric, with links and switches down, and while routes change, when each switch forwards by its old table or by its
new one. It prints what the proof rests on, or the shortest cycle with the reason for each of its steps, and remedies.
With --live the priorities are those that run, and PFC counts as on where it is not known.
With --fib it takes the routes that were read from the switches, and with --lst and --fdbs an InfiniBand subnet as OpenSM dumped it.`,
		Example: `  weir deadlock pod1 --failures 2
  weir deadlock pod1 --fib fib.csv --svg cycle.svg
  weir deadlock pod1 --rules out
  weir deadlock --lst opensm-subnet.lst --fdbs opensm.fdbs`,
		Args: folderOnly,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.failuresSaid = cmd.Flags().Changed("failures")
			if o.files.Links != "" || o.files.Routes != "" {
				return c.subnet(args, o)
			}
			if o.files.Lanes != "" || o.files.Levels != "" || cmd.Flags().Changed("lmc") {
				return errors.New("--sl2vl, --levels and --lmc are of an InfiniBand subnet: they go with --lst and --fdbs")
			}
			if o.Failures < 0 || o.Failures > 2 {
				return fmt.Errorf("--failures %d: want 0, 1 or 2", o.Failures)
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
			about := r.Fabric
			if o.running.asked() {
				live, err := c.running(cmd.Context(), r, o.running)
				if err != nil {
					return err
				}
				about = live.Cautious()
			}
			told, end := c.proving()
			defer end()
			o.Progress = told
			p, found, err := control.ProveFabric(about, o.DeadlockOptions)
			if err != nil {
				return err
			}
			if found.HasErrors() {
				return c.refused(found)
			}
			end()
			c.alsoWrong(r)
			return c.deadlock(about, p, o)
		},
	}
	o.running.register(cmd)
	cmd.Flags().IntVar(&o.Failures, "failures", 1, "how many links and switches may be down at once: 0, 1 or 2")
	cmd.Flags().StringVar(&o.svg, "svg", "", "draw the fabric and the cycle into this file")
	cmd.Flags().StringVar(&o.FIB, "fib", "", "prove the routes in this file, CSV (switch,destination,next_hop) or JSON, in place of the intent's policy")
	cmd.Flags().StringVar(&o.files.Links, "lst", "", "prove an InfiniBand subnet in place of a repo: its links, opensm-subnet.lst of OpenSM")
	cmd.Flags().StringVar(&o.files.Routes, "fdbs", "", "its routes: opensm.fdbs or opensm-lfts.dump of OpenSM, or what dump_fts prints")
	cmd.Flags().StringVar(&o.files.Lanes, "sl2vl", "", "its virtual lanes: opensm-sl2vl.dump of OpenSM")
	cmd.Flags().StringVar(&o.files.Levels, "levels", "", "the service levels of its paths: lines of SOURCE-NODE-GUID DLID SL, as for ibdmchk -c")
	cmd.Flags().IntVar(&o.files.LMC, "lmc", 0, "the LMC that its subnet manager runs with")
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
		c.stderr().Printf("weir check finds %s in %s, and what they concern cannot be planned: this is about the fabric as it is written\n", diag.Count(count, "error"), r.Dir)
	}
}

// deadlock prints a proof, draws it, and writes the rules of a remedy. The fabric is nil for a subnet.
func (c *console) deadlock(f *fabric.Fabric, p control.DeadlockProof, o deadlockOptions) error {
	var err error
	if c.json {
		err = c.printJSON(p.Answer())
	} else {
		c.stdout().Deadlock(p.Name, p.Dependencies, p.Verdict, p.Remedies)
		c.stdout().Interchange(p.Subnets)
	}
	if err != nil {
		return err
	}
	if o.svg != "" {
		var b bytes.Buffer
		view.DeadlockSVG(&b, p.Dependencies, p.Verdict)
		if err := os.WriteFile(o.svg, b.Bytes(), 0o644); err != nil {
			return fmt.Errorf("write the drawing: %w", err)
		}
	}
	if o.rules != "" {
		r, err := control.RemedyWithRules(p.Remedies, o.remedy)
		if err != nil {
			return err
		}
		if err := c.writeRules(f, r, o.rules); err != nil {
			return err
		}
	}
	switch {
	case !p.Free():
		return exit(exitFindings)
	case !p.Verdict.Complete:
		return control.ErrCutShort
	}
	return nil
}

// proving shows how far a proof is. Whoever calls it calls end.
func (c *console) proving() (told func(total int) func(step string), end func()) {
	var p *progress
	return func(total int) func(string) {
			p = c.progress("states of the fabric", total)
			return func(step string) { p.step(step, nil) }
		}, func() {
			if p != nil {
				p.end()
			}
		}
}

// subnet proves an InfiniBand subnet.
func (c *console) subnet(args []string, o deadlockOptions) error {
	switch {
	case o.files.Links == "" || o.files.Routes == "":
		return errors.New("an InfiniBand subnet needs both --lst and --fdbs")
	case o.failuresSaid:
		return errors.New("--failures is for fabric repos: the tables of a subnet say nothing of those after a failure")
	case len(args) > 0 || o.FIB != "" || o.rules != "":
		return errors.New("--lst and --fdbs are in place of a fabric repo: they go with --sl2vl, --levels, --lmc, --svg and --json only")
	}
	told, end := c.proving()
	defer end()
	o.Progress = told
	p, err := control.ProveSubnet(o.files, o.DeadlockOptions)
	if err != nil {
		return err
	}
	end()
	return c.deadlock(nil, p, o)
}
