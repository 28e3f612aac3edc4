package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/proof/deadlock"
	"github.com/weirfabric/weir/intent/proof/path"
)

// proof is the JSON form of prove. Paths are those that were asked for, each direction by itself; with --all, one for every
// two kinds of ends, broken ones first.
type proof struct {
	Format   int         `json:"format"`
	Paths    []path.Path `json:"paths"`
	All      []path.All  `json:"all,omitempty"` // by class
	Unjoined int         `json:"unjoined_pairs"`
	NotSeen  []string    `json:"not_seen"`
}

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
			if r.Fabric == nil || deadlock.DependenciesOf(r.Fabric).Findings.HasErrors() {
				return c.refused(r.Findings) // without knowing the routes there is nothing to prove
			}
			if class != "" {
				if err := path.HasClass(r.Fabric, class); err != nil {
					return fmt.Errorf("--class %s: %w", class, err)
				}
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
	from, err := path.Ends(f, a)
	if err != nil {
		return err
	}
	to, err := path.Ends(f, b)
	if err != nil {
		return err
	}
	p := path.New(f)
	var pairs, unjoined [][2]path.End
	for _, x := range from {
		for _, y := range to {
			back := [2]path.End{y, x} // which is proven with it
			switch {
			case x == y || slices.Contains(pairs, back) || slices.Contains(unjoined, back):
			case p.Joined(x, y):
				pairs = append(pairs, [2]path.End{x, y})
			default:
				unjoined = append(unjoined, [2]path.End{x, y})
			}
		}
	}
	if len(pairs) == 0 {
		pairs, unjoined = unjoined, nil // the paths say why
	}
	if len(pairs) == 0 {
		return fmt.Errorf("%s and %s are the same: name two NICs", a, b)
	}
	out := proof{Format: 1, Paths: []path.Path{}, Unjoined: len(unjoined), NotSeen: path.NotSeen}
	for _, pair := range pairs {
		out.Paths = append(out.Paths, p.Prove(pair[0], pair[1], class), p.Prove(pair[1], pair[0], class))
	}
	if c.json {
		err = c.printJSON(out)
	} else {
		c.stdout().Paths(out.Paths, out.Unjoined)
	}
	if err != nil {
		return err
	}
	for _, path := range out.Paths {
		if !path.Lossless {
			return exit(exitFindings)
		}
	}
	return nil
}

// proveAll proves every pair of each class that is sent, or of the one that is asked for.
func (c *console) proveAll(f *fabric.Fabric, class string) error {
	p := path.New(f)
	classes := p.Classes()
	if class != "" {
		classes = []string{class}
	}
	out := proof{Format: 1, Paths: []path.Path{}, All: []path.All{}, NotSeen: path.NotSeen}
	proven := true
	for _, name := range classes {
		all := p.All(name)
		out.All = append(out.All, all)
		out.Paths = append(out.Paths, all.Paths...)
		out.Unjoined += all.Unjoined
		proven = proven && all.Proven()
	}
	var err error
	if c.json {
		err = c.printJSON(out)
	} else {
		c.stdout().AllPaths(f.Name, out.All)
	}
	switch {
	case err != nil:
		return err
	case len(classes) == 0:
		return fmt.Errorf("%s: no NIC sends RoCE in any class, so there is nothing to prove: select the hosts in a document of kind Hosts", f.Name)
	case class != "" && len(out.Paths) == 0 && out.Unjoined == 0:
		return fmt.Errorf("--class %s: no two NICs send RoCE in this class, so there is nothing to prove; they send in %s", class, orNone(p.Classes()))
	case !proven:
		return exit(exitFindings)
	}
	return nil
}

// orNone lists names, and none as a word.
func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return diag.First(names, 8)
}
