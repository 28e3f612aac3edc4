package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/inventory"
)

func initCommand(c *console) *cobra.Command {
	var spec inventory.ClosSpec
	cmd := &cobra.Command{
		Use:   "init DIR",
		Short: "Scaffold a fabric repo for a Clos",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := args[0]
			if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
				return fmt.Errorf("%s is not empty: weir init writes into a new folder only", dir)
			}
			if spec.Name == "" {
				spec.Name = filepath.Base(filepath.Clean(dir))
			}
			n, err := scaffold(dir, spec)
			if err != nil {
				return err
			}
			c.stdout().Printf("wrote %s to %s. Next: weir check %s\n", diag.Count(n, "file"), dir, dir)
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&spec.Name, "name", "", "of the fabric (default the folder's)")
	f.IntVar(&spec.Pods, "pods", 1, "pods of leaves and spines; more than one gets cores above them")
	f.IntVar(&spec.Leaves, "leaves", 4, "leaves of each pod")
	f.IntVar(&spec.Spines, "spines", 2, "spines of each pod")
	f.IntVar(&spec.Cores, "cores", 1, "cores above each spine, where there are several pods")
	f.IntVar(&spec.Hosts, "hosts", 4, "hosts of each pod")
	f.IntVar(&spec.NICs, "nics", 0, "ports of each host, every one on another leaf (default 2, or 1 where there is one leaf)")
	f.StringSliceVar(&spec.Leaf, "leaf-platform", nil, "platform or platform/SKU of the leaves; several are taken in turn")
	f.StringSliceVar(&spec.Spine, "spine-platform", nil, "platform or platform/SKU of the spines; several are taken in turn")
	f.StringSliceVar(&spec.Core, "core-platform", nil, "platform or platform/SKU of the cores; several are taken in turn")
	return cmd
}

// scaffold writes the files of a fabric repo and says how many.
func scaffold(dir string, spec inventory.ClosSpec) (int, error) {
	files, err := inventory.Scaffold(spec, intent.Schema())
	if err != nil {
		return 0, err
	}
	for _, f := range files {
		if err := writeFile(filepath.Join(dir, filepath.FromSlash(f.Name)), f.Body); err != nil {
			return 0, fmt.Errorf("scaffold: %w", err)
		}
	}
	return len(files), nil
}
