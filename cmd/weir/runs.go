package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/plan"
)

// runsFlags are those of runs.
type runsFlags struct {
	journal         string
	repair, abandon string
	from            string
	giveUp, yes     bool
	settle          control.Settle
	audit           auditFlags
}

func runsCommand(c *console) *cobra.Command {
	var f runsFlags
	cmd := &cobra.Command{
		Use:   "runs [DIR]",
		Short: "List the runs and how they ended; repair a journal, close a run by hand",
		Long: `runs lists the runs, oldest first. weir show RUN shows one of them.

--repair RUN cuts the damaged end off the journal of a run, after it has shown what would be lost and asked; it keeps a copy. A
journal that is damaged in the middle is not repaired; with --give-up --reason TEXT its run is closed, and you see to its devices.

--abandon RUN --reason TEXT closes a run that recover cannot bring to its end. It changes no device, keeps in the journal what
differs on those that are left, and gives the lock back.

--import FOLDER copies the runs and the manifest of a folder (.weir) into the etcd that your configuration names, before the first run there.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := dirArg(args)
			switch {
			case f.repair != "" && f.abandon != "", f.from != "" && (f.repair != "" || f.abandon != ""):
				return errors.New("--repair, --abandon and --import are three things: do one")
			case f.abandon != "":
				r, err := c.resolved(dir, f.journal)
				if err != nil {
					return err
				}
				return c.run("abandon", f.settle, f.audit, func(o control.RunOptions) (control.Result, error) { return r.Abandon(cmd.Context(), f.abandon, o) })
			}
			store, err := c.store(dir, f.journal)
			switch {
			case err != nil:
				return err
			case f.repair != "":
				return c.repair(store, f)
			case f.from != "":
				n, err := control.Import(store, f.from)
				if err != nil {
					return err
				}
				c.stderr().Printf("%s and the manifest of %s are in %s now.\n", diag.Count(n, "run"), f.from, store.Backend.Place())
				return nil
			}
			return c.runs(store)
		},
	}
	journalFlag(cmd, &f.journal)
	cmd.Flags().StringVar(&f.repair, "repair", "", "cut the damaged end off the journal of this run")
	cmd.Flags().StringVar(&f.abandon, "abandon", "", "close this run as it stands")
	cmd.Flags().StringVar(&f.from, "import", "", "take the runs and the manifest of this folder into the state that your configuration names")
	cmd.Flags().BoolVar(&f.giveUp, "give-up", false, "with --repair: close the run, wherever its journal is damaged")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "do not ask")
	waitFlags(cmd, &f.settle)
	f.audit.register(cmd)
	return cmd
}

// store is that of a command that needs no repo which holds.
func (c *console) store(dir, folder string) (control.Store, error) {
	c.place = place{dir, folder}
	return control.StoreOf(dir, control.Options{Journal: folder, Lab: c.lab, Effects: c.effects})
}

// runs prints the list.
func (c *console) runs(store control.Store) error {
	rows, err := control.Runs(store)
	if err != nil {
		return err
	}
	if c.json {
		return c.printJSON(struct {
			Format int              `json:"format"`
			Runs   []control.RunRow `json:"runs"`
		}{plan.Format, rows})
	}
	v := c.stdout()
	for _, row := range rows {
		end := string(row.Outcome)
		switch {
		case row.Damage != "":
			err := &control.DamagedError{Run: row.Run, Damage: row.Damage}
			end = v.Bad("damaged") + ": " + row.Damage + ": " + c.advice(err)
		case row.Outcome == "":
			end = v.Bad("cut off") + ": " + c.hint("recover")
		}
		v.Printf("%s  %-8s  %d devices  %s  %s\n", row.Run, row.Verb, row.Devices, end, v.Dim(row.Reason))
	}
	if len(rows) == 0 {
		v.Printf("No runs yet.\n")
	}
	return nil
}

// repair shows what is damaged in a journal and what would be lost, asks, and repairs it.
func (c *console) repair(store control.Store, f runsFlags) error {
	d, err := store.Damage(f.repair)
	if err != nil {
		return err
	}
	if d == nil {
		return fmt.Errorf("the journal of run %s is sound", f.repair)
	}
	switch {
	case f.giveUp && f.audit.reason == "":
		return errors.New("a run is given up for a reason: --reason")
	case !f.giveUp && !d.Tail:
		return d.DamagedError
	case !f.giveUp:
		f.audit.reason = ""
	}
	c.stderr().Damage(d)
	if !f.yes && !c.asked("Go on? Only yes is taken: ") {
		return errors.New("nothing was done")
	}
	kept, err := control.Repair(store, f.repair, f.audit.reason)
	if err != nil {
		return err
	}
	next := "Now: " + c.hint("recover")
	if f.giveUp {
		next = "The run is closed. See to its devices: " + c.hint("drift")
	}
	c.stderr().Printf("The journal as it was is in %s.\n%s\n", kept, next)
	return nil
}

// runStory is the JSON form of show RUN.
type runStory struct {
	Format int `json:"format"`
	control.RunStory
}

// showRun prints one run.
func (c *console) showRun(store control.Store, run string) error {
	story, err := control.StoryOf(store, run)
	if err != nil {
		return err
	}
	if c.json {
		return c.printJSON(runStory{1, story})
	}
	c.stdout().RunStory(story)
	return nil
}
