// Command weir keeps a network lossless for RDMA: it works out the numbers of a declared intent, proves them, shows what
// would change, applies it in steps that can be undone, and watches the counters.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/cmd/control/lab"
	"github.com/weirfabric/weir/cmd/weir/view"
)

// The exit codes.
const (
	exitDone       = 0
	exitError      = 1
	exitChanges    = 2 // plan --detailed-exitcode, drift
	exitFindings   = 3 // findings of severity error
	exitRolledBack = 4
	exitUnknown    = 5 // partial or unknown
	exitIncomplete = 6 // what was done stays and is whole; the rest was not begun or is as before
)

// exit is an error that only carries an exit code: what there is to say was printed.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the whole program. It returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	return (&console{out: stdout, err: stderr}).main(args)
}

// main carries out one command line until it ends or a signal ends it, and returns the exit code.
func (c *console) main(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once: `weir recover` ends the run
	return c.mainUntil(ctx, args)
}

// mainUntil is main without signals.
func (c *console) mainUntil(ctx context.Context, args []string) int {
	out := &paper{Writer: c.out}
	c.out = out
	root := newRoot(c)
	root.SetArgs(args)
	root.SetOut(c.out)
	root.SetErr(c.err)
	err := root.ExecuteContext(ctx)
	var code exit
	if torn := out.torn(); torn != nil && (err == nil || errors.As(err, &code)) {
		err = fmt.Errorf("print the answer: %w", torn)
	}
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &code):
		return int(code)
	}
	v := c.stderr()
	v.Printf("%s: %v\n", v.Bad("error"), err)
	if next := c.advice(err); next != "" {
		v.Printf("  %s\n", next)
	}
	return exitError
}

// paper is where data is printed. It remembers the first error, so that an answer that was cut off does not count as given.
type paper struct {
	io.Writer
	first atomic.Pointer[error]
}

func (p *paper) Write(data []byte) (int, error) {
	n, err := p.Writer.Write(data)
	if err != nil {
		p.first.CompareAndSwap(nil, &err)
	}
	return n, err
}

// torn is the first error; nil where there was none.
func (p *paper) torn() error {
	if err := p.first.Load(); err != nil {
		return *err
	}
	return nil
}

// console is where a command prints: data to out, the rest to err.
type console struct {
	out, err io.Writer
	json     bool
	lab      bool                       // talk to the lab of the repo and not to the real devices
	place    place                      // where the repo of this command is
	record   string                     // a file for the dialogue with devices; empty: none
	network  *lab.Network               // that the demo's devices are on, in memory; nil: loopback
	effects  control.Effects            // on the world outside; the zero value is the real thing
	person   func(question string) bool // answers what the operator is asked; nil: whoever sits at the terminal
	observed func(control.Record)       // is told of each record of a run once it is on disk and printed; nil: nobody
}

// stdout prints people's text to out.
func (c *console) stdout() view.View { return view.View{Out: c.out, Colour: colours(c.out)} }

// stderr prints people's text to err.
func (c *console) stderr() view.View { return view.View{Out: c.err, Colour: colours(c.err)} }

// colours says whether w is a terminal whose owner has nothing against colours.
func colours(w io.Writer) bool {
	_, no := os.LookupEnv("NO_COLOR")
	return !no && terminal(w)
}

// terminal says whether w is one.
func terminal(w io.Writer) bool {
	if p, ok := w.(*paper); ok {
		w = p.Writer
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func newRoot(c *console) *cobra.Command {
	root := &cobra.Command{
		Use:   "weir",
		Short: "Keep a network lossless for RDMA",
		Long: `weir keeps a network lossless for RDMA. What must hold stands in a fabric repo (fabric.yaml, inventory/, intent/);
weir works out every number, proves it, shows the difference to what runs, applies it in small steps that can be undone,
and watches the counters that say whether it is true. Start with: weir demo`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.PersistentFlags().BoolVar(&c.json, "json", false, "print JSON for programs")
	root.PersistentFlags().StringVar(&c.record, "record", "", "add what is said to devices and what they answer to this file, without secrets: for bug reports")
	root.PersistentFlags().BoolVar(&c.lab, "lab", false, "talk to the simulated devices that weir lab serves for the repo")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return flagError(err) })
	root.AddGroup(&cobra.Group{ID: "repo", Title: "What must hold:"}, &cobra.Group{ID: "change", Title: "Changing devices:"},
		&cobra.Group{ID: "watch", Title: "Watching:"}, &cobra.Group{ID: "try", Title: "Trying it out:"})
	for group, commands := range map[string][]*cobra.Command{
		"repo":   {initCommand(c), checkCommand(c), explainCommand(c), renderCommand(c), proveCommand(c), deadlockCommand(c), congestionCommand(c)},
		"change": {planCommand(c), applyCommand(c), rollbackCommand(c), recoverCommand(c), runsCommand(c), locksCommand(c), showCommand(c)},
		"watch":  {driftCommand(c), observeCommand(c), watchCommand(c), dashboardsCommand(c), doctorCommand(c)},
		"try":    {labCommand(c), demoCommand(c)},
	} {
		for _, cmd := range commands {
			cmd.GroupID = group
			root.AddCommand(cmd)
		}
	}
	return root
}

// flagError says what is wrong with a flag without the names of Go's functions.
func flagError(err error) error {
	var number *strconv.NumError
	if errors.As(err, &number) {
		text, _, _ := strings.Cut(err.Error(), ": strconv.")
		return errors.New(text + ": want a number")
	}
	return err
}

// folderOnly takes the folder of the repo and nothing else.
func folderOnly(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("%s takes only the folder of the repo, and %d arguments were given: %s", cmd.Name(), len(args), strings.Join(args, " "))
	}
	return nil
}

// dirArg is the fabric repo that a command's first argument names; the current folder by default.
func dirArg(args []string) string {
	if len(args) == 0 {
		return "."
	}
	return args[0]
}
