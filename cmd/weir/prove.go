package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
)

func proveCommand(c *console) *cobra.Command {
	var class string
	var every bool
	var f liveFlags
	dscp := -1
	cmd := &cobra.Command{
		Use:   "prove A B [DIR] | prove --all [DIR]",
		Short: "Prove hop by hop that a class is lossless from NIC to NIC",
		Long: `prove follows the packets of a class from one NIC to another and back, over every route that the routing policy of the
intent allows, and checks each port on the way: that it takes the packets for the class, that it can pause whoever sends
them, and that it stops when it is paused itself; MTU, marking and the way back of CNPs as well. A and B are NICs
(gpu1/eth0), hosts (all of their RDMA NICs) or ports of switches. With --all it proves every pair of the fabric.
With --live it proves what runs, whoever configured it: a class is a DSCP that hosts mark, dscp-26, or where no host can be
read a priority with PFC on. What the devices do not say, or say in a way that weir does not understand, is not proven.`,
		Example: "  weir prove gpu1/eth0 gpu2/eth0\n  weir prove --all\n  weir prove --all --live",
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case every && len(args) > 1:
				return fmt.Errorf("prove --all takes only the folder of the repo, and %d arguments were given", len(args))
			case !every && (len(args) < 2 || len(args) > 3):
				return fmt.Errorf("prove wants two NICs, like: weir prove gpu1/eth0 gpu2/eth0 [DIR]; or: weir prove --all [DIR]")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var ends []string
			if !every {
				ends, args = args[:2], args[2:]
			}
			r, err := c.open(dirArg(args), "")
			if err != nil {
				return err
			}
			if !r.Provable() {
				return c.refused(r.Findings)
			}
			about, findings := r.Fabric, diag.List(nil)
			if f.asked() {
				live, err := c.running(cmd.Context(), r, f)
				if err != nil {
					return err
				}
				about, findings = live.Provable(), live.Findings
			} else {
				c.alsoWrong(r)
			}
			if dscp >= 0 {
				if class, err = control.ClassOfDSCP(about, dscp); err != nil {
					return err
				}
			}
			if err := control.HasClass(about, class); err != nil {
				return err
			}
			if every {
				return c.proveAll(about, class, findings)
			}
			return c.provePair(about, ends[0], ends[1], class, findings)
		},
	}
	cmd.Flags().StringVar(&class, "class", "", "the class; without it the one that the NIC sends RoCE in")
	cmd.Flags().IntVar(&dscp, "dscp", -1, "the class by a DSCP that it has")
	f.register(cmd)
	cmd.Flags().BoolVar(&every, "all", false, "prove every pair of NICs of the fabric")
	return cmd
}

// provePair proves the paths between the NICs that two names stand for, there and back.
func (c *console) provePair(f *fabric.Fabric, a, b, class string, findings diag.List) error {
	proof, err := control.ProvePaths(f, a, b, class)
	if err != nil {
		return err
	}
	proof.Findings = findings
	if c.json {
		err = c.printJSON(proof)
	} else {
		c.stdout().Paths(proof.Paths, proof.Unjoined)
	}
	if err == nil && !proof.Lossless() {
		err = exit(exitFindings)
	}
	return err
}

// proveAll proves every pair of each class that is sent, or of the one that is asked for.
func (c *console) proveAll(f *fabric.Fabric, class string, findings diag.List) error {
	proof, nothing := control.ProveAllPaths(f, class)
	proof.Findings = findings
	var err error
	if c.json {
		err = c.printJSON(proof)
	} else {
		c.stdout().AllPaths(f.Name, proof.All)
	}
	switch {
	case err != nil:
		return err
	case nothing != nil:
		return nothing
	case !proof.Lossless():
		return exit(exitFindings)
	}
	return nil
}
