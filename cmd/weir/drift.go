package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirfabric/weir/cmd/weir/view"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/plan"
)

// drift is the JSON form of the drift command.
type drift struct {
	Format  int                `json:"format"`
	Devices []view.DriftDevice `json:"devices"`
}

func driftCommand(c *console) *cobra.Command {
	var o planOptions
	cmd := &cobra.Command{
		Use:   "drift [DIR]",
		Short: "Say where reality left the intent; writes nothing and takes no lock",
		Long: `drift reads every device and compares it with the intent. It exits with 2 when anything differs, and with 1 when a device
could not be read: an unreachable device is never "no drift". Differences that were weighed are accepted in the repo
(accept: {check: drift, address, reason, expires}); an acceptance that has expired no longer counts.`,
		Args: folderOnly,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := c.mustHold(dirArg(args), "")
			if err != nil {
				return err
			}
			names, err := c.reached(r, o.device)
			if err != nil {
				return err
			}
			if o.observed == "" {
				c.warnInsecure(r, names)
			}
			progress := c.progress("reading", len(names))
			seen := r.observe(cmd.Context(), names, o.observed, progress.step)
			progress.end()
			c.warnUnfinished(r)
			found := r.drift(names, seen, time.Now())
			if c.json {
				err = c.printJSON(drift{1, found})
			} else {
				c.view().Drift(found)
			}
			if err != nil {
				return err
			}
			return driftExit(found)
		},
	}
	cmd.Flags().StringVar(&o.device, "device", "", "only devices whose names match this glob")
	cmd.Flags().StringVar(&o.observed, "observed", "", "compare with the files of this folder (weir observe writes them) and not with the devices")
	return cmd
}

// drift lists, for each device, what differs from the intent and is not accepted.
func (r *repo) drift(names []string, seen map[string]observation, now time.Time) []view.DriftDevice {
	out := []view.DriftDevice{}
	for _, name := range names {
		d := view.DriftDevice{Device: name, Changes: []plan.Change{}}
		if err := seen[name].err; err != nil {
			d.Error = err.Error()
		} else {
			want, _ := r.bound[name].Write()
			step, _ := r.bound[name].Step(seen[name].state, want)
			for _, change := range step.Changes {
				if !r.accepted(change, now) {
					d.Changes = append(d.Changes, change)
				}
			}
		}
		out = append(out, d)
	}
	return out
}

// accepted says whether a difference was weighed and accepted in the repo, and still is.
func (r *repo) accepted(change plan.Change, now time.Time) bool {
	for _, w := range r.fabric.Intent.Accept {
		at, err := addr.Parse(w.Address.V)
		if err == nil && w.Check.V == "drift" && now.Before(w.Expires.V.AddDate(0, 0, 1)) && at.Contains(change.Addr) {
			return true
		}
	}
	return false
}

func driftExit(found []view.DriftDevice) error {
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
	var o planOptions
	var out string
	cmd := &cobra.Command{
		Use:   "observe [DIR]",
		Short: "Write what runs on each device as files, for plan and drift --observed",
		Args:  folderOnly,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, names, err := c.devices(dirArg(args), o.device)
			if err != nil {
				return err
			}
			progress := c.progress("reading", len(names))
			seen := r.observe(cmd.Context(), names, "", progress.step)
			progress.end()
			unread := 0
			for _, name := range names {
				if err := seen[name].err; err != nil {
					unread++
					c.say().Printf("%s: %v\n", c.say().Bad("error"), err)
					continue
				}
				if err := writeAnswers(filepath.Join(out, name), seen[name].answers); err != nil {
					return err
				}
			}
			c.say().Printf("wrote %s to %s\n", view.Count(len(names)-unread, "device"), out)
			if unread > 0 {
				return fmt.Errorf("%s could not be read", view.Count(unread, "device"))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&o.device, "device", "", "only devices whose names match this glob")
	cmd.Flags().StringVarP(&out, "out", "o", "observed", "the folder to write to")
	return cmd
}

func writeAnswers(dir string, answers []plan.Answer) error {
	for _, a := range answers {
		if a.Missing {
			continue
		}
		name := filepath.Join(dir, filepath.FromSlash(a.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return fmt.Errorf("write what was observed: %w", err)
		}
		if err := os.WriteFile(name, a.Body, 0o600); err != nil {
			return fmt.Errorf("write what was observed: %w", err)
		}
	}
	return nil
}
