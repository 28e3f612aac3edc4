package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/intent/plan"
)

func locksCommand(c *console) *cobra.Command {
	var journal, reason string
	var release, force bool
	cmd := &cobra.Command{
		Use:   "locks [DIR]",
		Short: "Show who is changing the fabric",
		Long: `locks shows who holds the lock. On one machine a lock ends with its process; that of another machine is shown with its last
heartbeat, which is written every 30 seconds. After two minutes of silence --release --force --reason TEXT takes it from there;
see first that the process does not run any more. The reason is kept in broken.jsonl beside the journal. A lock in etcd goes by itself
after three minutes of silence.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			store, err := c.store(dirArg(args), journal)
			if err != nil {
				return err
			}
			held, err := store.Locked()
			if err != nil {
				return err
			}
			if c.json && !release {
				return c.printJSON(struct {
					Format int           `json:"format"`
					Lock   *control.Lock `json:"lock"`
				}{plan.Format, held})
			}
			v := c.stdout()
			switch {
			case held == nil:
				v.Printf("Not locked.\n")
				return nil
			case !release:
				v.Printf("%s %s by %s, process %d, for %v, last heard of %v ago\n", held.Verb, held.Run, held.Who, held.PID,
					time.Since(held.Since).Round(time.Second), time.Since(held.Beat).Round(time.Second))
				return nil
			case force && reason == "":
				return errors.New("a lock is taken from its owner for a reason: --reason")
			}
			if !force {
				reason = ""
			}
			if err := store.Break(reason); err != nil {
				return err
			}
			v.Printf("The lock of %s is given back.\n", held.Run)
			if open, err := store.Unfinished(); err != nil || len(open) > 0 {
				return errors.Join(err, fmt.Errorf("run %s has no end: %s", open[0], c.hint("recover")))
			}
			return nil
		},
	}
	journalFlag(cmd, &journal)
	cmd.Flags().BoolVar(&release, "release", false, "give the lock back of a process that does not run any more")
	cmd.Flags().BoolVar(&force, "force", false, "with --release: also that of another machine, after two minutes without a heartbeat")
	cmd.Flags().StringVar(&reason, "reason", "", "with --force: why, for the record")
	return cmd
}
