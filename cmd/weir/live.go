package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/intent/diag"
)

// liveFlags say that a command is about what runs, and not about what the intent wants.
type liveFlags struct {
	live     bool
	observed string // a folder with what was observed; empty: the devices are read
}

func (f *liveFlags) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.live, "live", false, "take what runs on the devices, whoever configured it, in place of the intent: of the repo only the inventory counts, and routing")
	cmd.Flags().StringVar(&f.observed, "observed", "", "the same from the files of this folder (weir observe writes them)")
}

// asked says whether what runs is meant.
func (f *liveFlags) asked() bool { return f.live || f.observed != "" }

// running reads the devices of the repo, and says what is not understood or could not be read.
func (c *console) running(ctx context.Context, r *control.Repo, f liveFlags) (control.Live, error) {
	if f.live && f.observed != "" {
		return control.Live{}, fmt.Errorf("--live reads the devices and --observed a folder: give one of them")
	}
	if f.observed == "" {
		c.warnUnverified(r, r.Names)
	}
	progress := c.progress("reading", len(r.Fabric.Switches)+len(r.Fabric.Hosts))
	defer progress.end()
	live := r.Live(ctx, f.observed, progress.step)
	if !c.json {
		c.stderr().Findings(live.Findings)
	} else if n := len(live.Unread); n > 0 {
		c.stderr().Printf("%s could not be read\n", diag.Count(n, "device"))
	}
	return live, nil
}
