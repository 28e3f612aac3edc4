package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/intent/diag"
)

// drift is the JSON form of the drift command.
type drift struct {
	Format  int                   `json:"format"`
	Devices []control.DeviceDrift `json:"devices"`
}

func driftCommand(c *console) *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:   "drift [DIR]",
		Short: "Say where reality left the intent; writes nothing and takes no lock",
		Long: `drift reads every device and compares it with the intent. It exits with 2 when anything differs, and with 1 when a device
could not be read: an unreachable device is never "no drift". Differences that were weighed are accepted in the repo
(accept: {check: drift, address, reason, expires}) and are only counted; an acceptance that has expired no longer counts, and is told.
Of a device that drifted it says whether a class is lossless no more (an error) or is lossless all the same (a note), by the proof of
what runs: see weir prove --live.`,
		Args: folderOnly,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := c.resolved(dirArg(args), "")
			if err != nil {
				return err
			}
			names, err := c.reached(r, f.Device)
			if err != nil {
				return err
			}
			seen := c.observe(cmd.Context(), r, names, f.observed)
			c.warnUnfinished(r)
			c.warnExpired(r)
			c.stderr().Findings(r.Orphaned())
			resting, err := r.Resting(f.Device)
			if err != nil {
				return err
			}
			found := append(r.Drift(names, seen), resting...)
			r.Weigh(found, seen)
			if c.json {
				err = c.printJSON(drift{1, found})
			} else {
				c.stdout().Drift(found)
			}
			if err != nil {
				return err
			}
			return driftExit(found)
		},
	}
	deviceFlag(cmd, &f.Device, "")
	cmd.Flags().StringVar(&f.observed, "observed", "", "compare with the files of this folder (weir observe writes them) and not with the devices")
	return cmd
}

func driftExit(found []control.DeviceDrift) error {
	code := exitDone
	for _, d := range found {
		if d.Error != "" {
			return exit(exitError)
		}
		if len(d.Changes) > 0 {
			code = exitChanges
		}
	}
	if code == exitDone {
		return nil
	}
	return exit(code)
}

func observeCommand(c *console) *cobra.Command {
	var f planFlags
	var out string
	cmd := &cobra.Command{
		Use:   "observe [DIR]",
		Short: "Write what runs on each device as files, for plan and drift --observed",
		Args:  folderOnly,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := c.resolved(dirArg(args), "")
			if err != nil {
				return err
			}
			names, err := c.reached(r, f.Device)
			if err != nil {
				return err
			}
			seen := c.observe(cmd.Context(), r, names, "")
			unread := 0
			for _, name := range names {
				if err := seen[name].Err; err != nil {
					unread++
					c.stderr().Printf("%s: %v\n", c.stderr().Bad("error"), err)
					continue
				}
				if err := control.SaveAnswers(filepath.Join(out, name), seen[name].Answers); err != nil {
					return err
				}
			}
			c.stderr().Printf("wrote %s to %s\n", diag.Count(len(names)-unread, "device"), out)
			if unread > 0 {
				return fmt.Errorf("%s could not be read", diag.Count(unread, "device"))
			}
			return nil
		},
	}
	deviceFlag(cmd, &f.Device, "")
	cmd.Flags().StringVarP(&out, "out", "o", "observed", "the folder to write to")
	return cmd
}
