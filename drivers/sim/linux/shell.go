package linux

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// mostCommands is how many commands one line may run, loops and functions included: what recurses without an end would take
// the whole laboratory down with it.
const mostCommands = 10_000

var errTooMany = errors.New("too many commands")

// shell is an interpreter over the simulated files and tools. It is used by one goroutine.
type shell struct {
	process   // that the shell is
	runner    *interp.Runner
	functions *sync.Map // names that the scripts define; subshells that run at once add to it
}

// newShell makes a shell for what p is: its privileges, directory, variables and streams. Options are those of set, args are
// $1 and those after it.
func newShell(p process, options, args []string) (*shell, error) {
	s := &shell{process: p, functions: &sync.Map{}}
	env := p.environment()
	// Named pipes of process substitutions, and whatever looks like one of them, are opened below this directory and past the
	// handlers. No name holds a NUL, so that the system refuses every path there.
	env["TMPDIR"] = "/\x00"
	var err error
	s.runner, err = interp.New(
		interp.Env(env),
		func(r *interp.Runner) error { r.Dir = p.dir; return nil }, // interp.Dir looks for it in the real tree
		interp.Params(append(append(options, "--"), args...)...),
		interp.StdIO(p.stdin, p.stdout, p.stderr),
		interp.CallHandler(s.call),
		interp.ExecHandlers(func(interp.ExecHandlerFunc) interp.ExecHandlerFunc { return s.exec }),
		interp.OpenHandler(s.open),
		interp.StatHandler(s.stat),
		interp.ReadDirHandler2(s.readDir),
		interp.AccessHandler(s.access),
	)
	if err != nil {
		return nil, fmt.Errorf("start a shell: %w", err)
	}
	s.runner.Reset()
	delete(env, "TMPDIR") // it is read once
	return s, nil
}

// attach gives a shell the streams of its next line.
func (s *shell) attach(j *job, stdout, stderr io.Writer) error {
	mu := &sync.Mutex{}
	s.job = j
	s.stdin, s.stdout, s.stderr = j.in, &output{mu, stdout}, &output{mu, stderr}
	if stdout == stderr {
		s.stderr = s.stdout
	}
	if err := interp.StdIO(s.stdin, s.stdout, s.stderr)(s.runner); err != nil {
		return fmt.Errorf("attach a shell: %w", err)
	}
	return nil
}

// run runs a script to its end. The error is an interp.ExitStatus where the script ended with another status than zero.
func (s *shell) run(ctx context.Context, script *syntax.File) error {
	s.learn(script)
	return s.runner.Run(ctx, script)
}

// learn notes the functions that a script defines: they go before the tools of the same name.
func (s *shell) learn(script *syntax.File) {
	syntax.Walk(script, func(n syntax.Node) bool {
		if f, is := n.(*syntax.FuncDecl); is {
			s.functions.Store(f.Name.Value, true)
		}
		return true
	})
}

// output is a stream of the client's that the commands of a pipeline may write to at once.
type output struct {
	mu *sync.Mutex
	w  io.Writer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.w.Write(b)
}
