package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirfabric/weir/drivers/apply"
	"github.com/weirfabric/weir/intent/plan"
)

func rollbackCommand(c *console) *cobra.Command {
	var o planOptions
	var settle settleOptions
	var dir string
	cmd := &cobra.Command{
		Use:   "rollback RUN",
		Short: "Undo an applied run from its journal",
		Long: `rollback leads every device that a run changed back to what was read before it, by weir's own inverse, in waves that are
judged like those of an apply. It refuses where a device changed since.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := c.mustHold(dir, o.journal)
			if err != nil {
				return err
			}
			config, end, err := c.config(cmd.Context(), r, nil, settle)
			if err != nil {
				return err
			}
			defer end()
			result, err := config.Rollback(cmd.Context(), args[0])
			return c.result("rollback", result, err)
		},
	}
	cmd.Flags().StringVar(&dir, "repo", ".", "the fabric repo")
	cmd.Flags().StringVar(&o.journal, "journal", "", "where runs are recorded (default DIR/.weir)")
	settle.flags(cmd)
	return cmd
}

func recoverCommand(c *console) *cobra.Command {
	var o planOptions
	var settle settleOptions
	cmd := &cobra.Command{
		Use:   "recover [DIR]",
		Short: "Finish or undo what a killed or cut-off run left",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := c.mustHold(dirArg(args), o.journal)
			if err != nil {
				return err
			}
			open, err := r.store.Unfinished()
			if err != nil {
				return err
			}
			if len(open) == 0 {
				if err := giveBack(r.store); err != nil {
					return err
				}
				if !c.json {
					c.view().Printf("Nothing to recover: every run has its end.\n")
				}
				return c.nothing("recover", "every run has its end")
			}
			for _, name := range open {
				config, end, err := c.config(cmd.Context(), r, nil, settle)
				if err != nil {
					return err
				}
				result, err := config.Recover(cmd.Context(), name)
				end()
				if err := c.result("recover", result, err); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&o.journal, "journal", "", "where runs are recorded (default DIR/.weir)")
	settle.flags(cmd)
	return cmd
}

// giveBack releases a lock without a run: of a process that was killed before it began one.
func giveBack(s apply.Store) error {
	held, err := s.Locked()
	switch {
	case err != nil || held == nil:
		return err
	case held.Alive(whoami()):
		return &apply.LockedError{Lock: *held}
	}
	return s.Unlock()
}

// warnUnfinished says beside a command that only reads where an earlier run stands.
func (c *console) warnUnfinished(r *repo) {
	if err := r.store.Free(whoami()); err != nil {
		c.say().Printf("%s: %v\n", c.say().Bad("note"), err)
	}
}

// runRow is one run in the list.
type runRow struct {
	Run     string        `json:"run"`
	Verb    string        `json:"verb"`
	Of      string        `json:"of,omitempty"`
	At      time.Time     `json:"at"`
	Devices int           `json:"devices"`
	Outcome apply.Outcome `json:"outcome"` // empty: it was cut off
}

func runsCommand(c *console) *cobra.Command {
	var journal string
	cmd := &cobra.Command{
		Use:   "runs [DIR]",
		Short: "List the runs and how they ended",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			store := c.store(dirArg(args), journal)
			names, err := store.Runs()
			if err != nil {
				return err
			}
			rows := []runRow{}
			for _, name := range names {
				records, err := store.Read(name)
				if err != nil {
					return err
				}
				if len(records) > 0 {
					rows = append(rows, rowOf(name, records))
				}
			}
			if c.json {
				return c.printJSON(struct {
					Format int      `json:"format"`
					Runs   []runRow `json:"runs"`
				}{plan.Format, rows})
			}
			v := c.view()
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
	cmd.Flags().StringVar(&journal, "journal", "", "where runs are recorded (default DIR/.weir)")
	return cmd
}

func rowOf(name string, records []apply.Record) runRow {
	first, last := records[0], records[len(records)-1]
	row := runRow{Run: name, Verb: first.Verb, Of: first.Of, At: first.At, Outcome: last.Outcome}
	if last.Kind != apply.Ended {
		row.Outcome = ""
	}
	for _, wave := range first.Devices {
		row.Devices += len(wave)
	}
	return row
}

func locksCommand(c *console) *cobra.Command {
	var journal string
	var release bool
	cmd := &cobra.Command{
		Use:   "locks [DIR]",
		Short: "Show who is changing the fabric",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			store := c.store(dirArg(args), journal)
			held, err := store.Locked()
			if err != nil {
				return err
			}
			if c.json {
				return c.printJSON(struct {
					Format int         `json:"format"`
					Lock   *apply.Lock `json:"lock"`
				}{plan.Format, held})
			}
			v := c.view()
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
			return giveBack(store)
		},
	}
	cmd.Flags().StringVar(&journal, "journal", "", "where runs are recorded (default DIR/.weir)")
	cmd.Flags().BoolVar(&release, "release", false, "give the lock back; refused while a run has no end")
	return cmd
}

// store is where the journal of a repo is kept: in the repo, that of its lab apart, or where the operator says.
func (c *console) store(dir, journal string) apply.Store {
	switch {
	case journal != "":
		return apply.Store{Dir: journal}
	case c.lab:
		return apply.Store{Dir: labDir(dir)}
	}
	return apply.Store{Dir: filepath.Join(dir, ".weir")}
}
