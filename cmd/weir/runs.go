package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/intent/plan"
)

func rollbackCommand(c *console) *cobra.Command {
	var journal string
	var settle control.Settle
	var dir string
	cmd := &cobra.Command{
		Use:   "rollback RUN",
		Short: "Undo an applied run from its journal",
		Long: `rollback leads every device that a run changed back to what was read before it, by weir's own inverse, in waves that are
judged like those of an apply. It refuses where a device changed since.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := c.resolved(dir, journal)
			if err != nil {
				return err
			}
			return c.run("rollback", settle, func(o control.RunOptions) (control.Result, error) { return r.Rollback(cmd.Context(), args[0], o) })
		},
	}
	cmd.Flags().StringVar(&dir, "repo", ".", "the fabric repo")
	journalFlag(cmd, &journal)
	settleFlags(cmd, &settle)
	return cmd
}

func recoverCommand(c *console) *cobra.Command {
	var journal string
	var settle control.Settle
	cmd := &cobra.Command{
		Use:   "recover [DIR]",
		Short: "Finish or undo what a killed or cut-off run left",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := c.resolved(dirArg(args), journal)
			if err != nil {
				return err
			}
			open, err := r.Store.Unfinished()
			if err != nil {
				return err
			}
			if len(open) == 0 {
				if err := r.ReleaseLock(); err != nil {
					return err
				}
				if !c.json {
					c.stdout().Printf("Nothing to recover: every run has its end.\n")
				}
				return c.nothing("recover", "every run has its end")
			}
			for _, name := range open {
				recovered := func(o control.RunOptions) (control.Result, error) { return r.Recover(cmd.Context(), name, o) }
				if err := c.run("recover", settle, recovered); err != nil {
					return err
				}
			}
			return nil
		},
	}
	journalFlag(cmd, &journal)
	settleFlags(cmd, &settle)
	return cmd
}

func runsCommand(c *console) *cobra.Command {
	var journal string
	cmd := &cobra.Command{
		Use:   "runs [DIR]",
		Short: "List the runs and how they ended",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			rows, err := control.Runs(control.StoreOf(dirArg(args), control.Options{Journal: journal, Lab: c.lab}))
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
				if row.Outcome == "" {
					end = v.Bad("cut off") + ": weir recover ends it"
				}
				v.Printf("%s  %-8s  %d devices  %s\n", row.Run, row.Verb, row.Devices, end)
			}
			if len(rows) == 0 {
				v.Printf("No runs yet.\n")
			}
			return nil
		},
	}
	journalFlag(cmd, &journal)
	return cmd
}

func locksCommand(c *console) *cobra.Command {
	var journal string
	var release bool
	cmd := &cobra.Command{
		Use:   "locks [DIR]",
		Short: "Show who is changing the fabric",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			store := control.StoreOf(dirArg(args), control.Options{Journal: journal, Lab: c.lab})
			held, err := store.Locked()
			if err != nil {
				return err
			}
			if c.json {
				return c.printJSON(struct {
					Format int           `json:"format"`
					Lock   *control.Lock `json:"lock"`
				}{plan.Format, held})
			}
			v := c.stdout()
			if held == nil {
				v.Printf("Not locked.\n")
				return nil
			}
			v.Printf("%s %s by %s, process %d, for %v\n", held.Verb, held.Run, held.Who, held.PID, time.Since(held.Since).Round(time.Second))
			if !release {
				return nil
			}
			if open, err := store.Unfinished(); err != nil || len(open) > 0 {
				return errors.Join(err, fmt.Errorf("run %s has no end: weir recover ends it and gives the lock back", held.Run))
			}
			return control.ReleaseLock(store)
		},
	}
	journalFlag(cmd, &journal)
	cmd.Flags().BoolVar(&release, "release", false, "give the lock back; refused while a run has no end")
	return cmd
}
