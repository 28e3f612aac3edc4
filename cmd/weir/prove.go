package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/intent/fabric"
)

func proveCommand(c *console) *cobra.Command {
	var class string
	var every bool
	cmd := &cobra.Command{
		Use:   "prove A B [DIR] | prove --all [DIR]",
		Short: "Prove hop by hop that a class is lossless from NIC to NIC",
		Long: `prove follows the packets of a class from one NIC to another and back, over every route that the routing policy of the
intent allows, and checks each port on the way: that it takes the packets for the class, that it can pause whoever sends
them, and that it stops when it is paused itself; MTU, marking and the way back of CNPs as well. A and B are NICs
(gpu1/eth0), hosts (all of their RDMA NICs) or ports of switches. With --all it proves every pair of the fabric.`,
		Example: "  weir prove gpu1/eth0 gpu2/eth0\n  weir prove --all",
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case every && len(args) > 1:
				return fmt.Errorf("prove --all takes only the folder of the repo, and %d arguments were given", len(args))
			case !every && (len(args) < 2 || len(args) > 3):
				return fmt.Errorf("prove wants two NICs, like: weir prove gpu1/eth0 gpu2/eth0 [DIR]; or: weir prove --all [DIR]")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
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
			if err := control.HasClass(r.Fabric, class); err != nil {
				return err
			}
			c.alsoWrong(r)
			if every {
				return c.proveAll(r.Fabric, class)
			}
			return c.provePair(r.Fabric, ends[0], ends[1], class)
		},
	}
	cmd.Flags().StringVar(&class, "class", "", "the class; without it the one that the NIC sends RoCE in")
	cmd.Flags().BoolVar(&every, "all", false, "prove every pair of NICs of the fabric")
	return cmd
}

// provePair proves the paths between the NICs that two names stand for, there and back.
func (c *console) provePair(f *fabric.Fabric, a, b, class string) error {
	proof, err := control.ProvePaths(f, a, b, class)
	if err != nil {
		return err
	}
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
func (c *console) proveAll(f *fabric.Fabric, class string) error {
	proof, nothing := control.ProveAllPaths(f, class)
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
