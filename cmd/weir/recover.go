package main

import (
	"github.com/spf13/cobra"

	"github.com/weirfabric/weir/cmd/control"
)

func recoverCommand(c *console) *cobra.Command {
	var journal, takeOver string
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
			return c.recover(cmd, r, settle, takeOver)
		},
	}
	journalFlag(cmd, &journal)
	waitFlags(cmd, &settle)
	takeOverFlag(cmd, &takeOver)
	for _, flag := range []string{"settle", "idle"} { // of a time when recovering judged
		cmd.Flags().String(flag, "", "has no effect: recovering judges nothing")
		_ = cmd.Flags().MarkHidden(flag)
	}
	cmd.Flags().Bool("no-counters", false, "has no effect: recovering judges nothing")
	_ = cmd.Flags().MarkHidden("no-counters")
	return cmd
}

// recover ends every run that can be ended. One whose journal is damaged does not keep the others from it.
func (c *console) recover(cmd *cobra.Command, r *control.Repo, settle control.Settle, takeOver string) error {
	begun, err := r.Store.Begun()
	if err != nil {
		return err
	}
	open, damaged := 0, false
	for _, past := range begun {
		if past.Ended {
			continue
		}
		open++
		if past.Damage != "" {
			err := &control.DamagedError{Run: past.Name, Damage: past.Damage, Tail: past.Mendable}
			c.stderr().Printf("%s: %v\n  %s\n", c.stderr().Bad("error"), err, c.advice(err))
			damaged = true
			continue
		}
		recovered := func(o control.RunOptions) (control.Result, error) {
			o.TakeOver = takeOver
			return r.Recover(cmd.Context(), past.Name, o)
		}
		if err := c.run("recover", settle, auditFlags{}, recovered); err != nil {
			return err
		}
	}
	switch {
	case damaged:
		return exit(exitError)
	case open > 0:
		return nil
	}
	if err := r.Store.Break(""); err != nil {
		return err
	}
	if !c.json {
		c.stdout().Printf("Nothing to recover: every run has its end.\n")
	}
	return c.nothing("recover", "every run has its end")
}
