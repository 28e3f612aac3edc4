package linux

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"

	"github.com/weirfabric/weir/drivers/sim"
)

// lateness is the device time after which what hung takes effect.
const lateness = 5 * time.Second

// longestUnattended is how long commands may run that no connection waits for: systemd's DefaultTimeoutStartSec.
const longestUnattended = 90 * time.Second

// login starts a shell for the user that logs in.
func (d *Device) login() (*shell, error) {
	d.mu.Lock()
	p := process{d: d, user: d.user, root: d.user == "root"}
	p.dir = d.loginEnvironment(p.user)["HOME"]
	if d.files[p.dir] == nil {
		p.dir = "/"
	}
	d.mu.Unlock()
	return newShell(p, nil, nil)
}

// exec runs a command line in a shell that begins and ends with it. Bash reads .bashrc before a command that sshd gives it.
func (d *Device) exec(ctx context.Context, c sim.Command) (int, error) {
	s, err := d.login()
	if err != nil {
		return 0, err
	}
	profile := path.Join(s.environment()["HOME"], ".bashrc")
	d.mu.Lock()
	text, err := d.readFile(profile)
	d.mu.Unlock()
	if err == nil {
		script, err := d.parsed(text)
		if err != nil {
			return 0, fmt.Errorf("%s: .bashrc: %w", d.hw.Spec().Name, err)
		}
		if _, err := d.run(ctx, s, script.File, sim.Command{Stdin: strings.NewReader(""), Stdout: c.Stdout, Stderr: c.Stderr}); err != nil {
			return 0, err
		}
	}
	return d.execIn(ctx, s, c)
}

// execIn runs a command line in a shell. What goes wrong on request goes wrong here.
func (d *Device) execIn(ctx context.Context, s *shell, c sim.Command) (int, error) {
	script, err := d.parsed(c.Line)
	if err != nil {
		_, _ = io.WriteString(c.Stderr, complaint(err))
		return 2, nil
	}
	f := d.hw.Fault(sim.Session)
	if f.Kind == sim.NoFault && !script.changes {
		f = d.hw.Fault(sim.Get)
	}
	switch f.Kind {
	case sim.Hang:
		return 0, sim.ErrHang
	case sim.Drop, sim.DropBefore, sim.Partial, sim.Reboot:
		return 0, sim.ErrDrop
	case sim.Reject:
		fmt.Fprintln(c.Stderr, "sh: 0: Cannot fork")
		return 2, nil
	}
	if !script.changes {
		return d.repeat(c, func(c sim.Command) (int, error) { return d.run(ctx, s, script.File, c) })
	}
	if marking(c.Line) {
		return d.run(ctx, s, script.File, c)
	}
	quiet := sim.Command{Stdin: c.Stdin, Stdout: io.Discard, Stderr: io.Discard}
	switch f := d.fault(); f.Kind {
	case sim.Reject:
		fmt.Fprintf(c.Stderr, "sh: %v\n", errForbidden)
		return 1, nil
	case sim.Hang:
		stdin, err := io.ReadAll(c.Stdin) // the connection may be gone when the command runs
		if err != nil || ctx.Err() != nil {
			return 0, sim.ErrDrop
		}
		quiet.Stdin = bytes.NewReader(stdin)
		d.later(lateness, func() {
			ctx, cancel := context.WithTimeout(context.Background(), longestUnattended)
			defer cancel()
			_, _ = d.run(ctx, s, script.File, quiet) // nobody waits for what it says
		})
		return 0, sim.ErrHang
	case sim.Drop:
		_, _ = d.run(ctx, s, script.File, quiet) // the connection ends before it could say anything
		return 0, sim.ErrDrop
	case sim.DropBefore, sim.Reboot:
		return 0, sim.ErrDrop
	case sim.Ignore:
		s.pretends = true
		defer func() { s.pretends = false }()
	case sim.Lie:
		d.lie(f.For)
	case sim.Unsure:
		d.mu.Lock()
		d.unsure++
		d.mu.Unlock()
	}
	return d.run(ctx, s, script.File, c)
}

// run runs a script in a shell, and returns its status when nothing of it is left.
func (d *Device) run(ctx context.Context, s *shell, script *syntax.File, c sim.Command) (int, error) {
	j, err := newJob(c.Stdin)
	if err != nil {
		return 0, err
	}
	defer j.close()
	if err := s.attach(j, c.Stdout, c.Stderr); err != nil {
		return 0, err
	}
	err = s.run(ctx, script)
	d.mu.Lock()
	d.apply()
	d.mu.Unlock()
	var status interp.ExitStatus
	switch {
	case err == nil:
		return 0, nil
	case errors.As(err, &status):
		return int(status), nil
	case ctx.Err() != nil:
		return 0, sim.ErrDrop
	}
	fmt.Fprintf(c.Stderr, "sh: 1: %v\n", err)
	return 2, nil
}

// later does something that nobody waits for after a while, unless the device loses its power before.
func (d *Device) later(after time.Duration, do func()) {
	d.work.Go(func() {
		if d.hw.Sleep(context.Background(), after) == nil {
			do()
		}
	})
}

// terminal is a login at the prompt: one shell for all its lines. It is nil before the first one.
type terminal struct {
	d     *Device
	shell *shell
}

func (d *Device) shell(t *sim.Terminal) sim.Shell {
	t.Greeting = "Linux " + d.hw.Spec().Name + " 6.1.0-56-amd64 x86_64\n"
	return &terminal{d: d}
}

// Prompt is bash's, with the title it sets.
func (t *terminal) Prompt() (string, bool) {
	name, mark := t.d.hw.Spec().Name, "$"
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	if t.d.user == "root" {
		mark = "#"
	}
	return fmt.Sprintf("\x1b]0;%[1]s@%[2]s: ~\x07%[1]s@%[2]s:~%[3]s ", t.d.user, name, mark), true
}

// Line runs what was typed.
func (t *terminal) Line(ctx context.Context, line string, out io.Writer) error {
	if word := strings.TrimSpace(line); word == "exit" || word == "logout" {
		return io.EOF
	}
	if t.shell == nil {
		var err error
		if t.shell, err = t.d.login(); err != nil {
			return err
		}
	}
	_, err := t.d.execIn(ctx, t.shell, sim.Command{Line: line, Stdin: strings.NewReader(""), Stdout: out, Stderr: out})
	if err == nil && t.shell.runner.Exited() {
		return io.EOF
	}
	return err
}

func (t *terminal) Close() {}
