package linux

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
)

// process runs one command for somebody.
type process struct {
	d              *Device
	job            *job
	user           string
	root           bool
	pretends       bool // what changes something does nothing, and says that it is done
	dir            string
	line           uint           // of the script
	variables      expand.Environ // nil: those of a login
	stdin          io.Reader      // nil: nothing
	stdout, stderr io.Writer
}

// command runs a command by its words. The error is an interp.ExitStatus where its status is not zero, or says why the
// whole shell must end.
func (p *process) command(ctx context.Context, words []string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	name := path.Base(words[0])
	if !p.finds(words[0]) {
		return status(p.fail(127, "sh: %d: %s: not found", p.line, words[0]))
	}
	if _, runs := launchers()[name]; p.pretends && (!runs || name == "systemctl") && changing(words) {
		return nil
	}
	if run, ok := launchers()[name]; ok {
		return run(ctx, p, words[1:])
	}
	if run, ok := tools()[name]; ok {
		return status(p.locked(name, func(p *process) int { return run(p, words[1:]) }))
	}
	return status(p.fail(127, "sh: %d: %s: not found", p.line, words[0]))
}

// locked runs a tool while nothing else uses the device, and prints what it says when that is over: who reads it may need the
// device.
func (p *process) locked(name string, tool func(p *process) int) int {
	inner := *p
	out, errs := &bytes.Buffer{}, &bytes.Buffer{}
	if p.stdout == p.stderr {
		errs = out
	}
	inner.stdout, inner.stderr = out, errs
	p.d.mu.Lock()
	status := tool(&inner)
	p.d.mu.Unlock()
	if out != errs && errs.Len() > 0 {
		_, _ = io.WriteString(p.stderr, p.environment().translated(errs.String())) // who no longer listens misses nothing
	}
	if out.Len() == 0 {
		return status
	}
	var why words
	if _, err := p.stdout.Write(out.Bytes()); errors.As(err, &why) {
		return p.fail(1, "%s: write error: %v", name, why)
	} else if err != nil {
		return brokenPipe
	}
	return status
}

// brokenPipe is the status of a command that nobody listens to any more.
const brokenPipe = 128 + 13

// input is all that is left to read. The device is let go of while the tool waits.
func (p *process) input() string {
	p.d.mu.Unlock()
	defer p.d.mu.Lock()
	body, err := io.ReadAll(p.job.reader(p.stdin))
	if err != nil {
		return "" // the reader's connection is gone, and with it the command
	}
	return string(body)
}

// path is where a name leads from the directory the process is in.
func (p *process) path(name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(p.dir, name)
}

func (p *process) readFile(name string) (string, error) { return p.d.readFile(p.path(name)) }

// mayWrite says whether a file may be made or changed. Everybody may write to /tmp and to their home.
func (p *process) mayWrite(name string) error {
	name = p.path(name)
	if p.root || name == "/dev/null" || strings.HasPrefix(name, "/tmp/") || strings.HasPrefix(name, "/home/") {
		return nil
	}
	return errDenied
}

// writeFile replaces what a file says, or adds to it, where that is allowed.
func (p *process) writeFile(name string, body []byte, add bool) error {
	if err := p.mayWrite(name); err != nil {
		return err
	}
	return p.d.writeFile(p.path(name), body, add)
}

// environment is the exported variables.
func (p *process) environment() environment {
	if p.variables == nil {
		p.d.mu.Lock()
		defer p.d.mu.Unlock()
		return p.d.loginEnvironment(p.user)
	}
	return exported(p.variables)
}

// fail says why and returns a status.
func (p *process) fail(status int, format string, args ...any) int {
	_, _ = fmt.Fprintf(p.stderr, format+"\n", args...) // who no longer listens misses nothing
	return status
}

// printLine prints a line and returns the status of what went well.
func (p *process) printLine(format string, args ...any) int {
	_, _ = fmt.Fprintf(p.stdout, format+"\n", args...)
	return 0
}

// status is an exit status as the interpreter takes it.
func status(code int) error {
	if code == 0 {
		return nil
	}
	return interp.ExitStatus(code)
}

// tools are the commands that the host has.
func tools() map[string]func(p *process, args []string) int {
	return map[string]func(p *process, args []string) int{
		":": ok, "true": ok, "sync": ok, "udevadm": ok,
		"false":    func(*process, []string) int { return 1 },
		"command":  findCommand,
		"pwd":      func(p *process, _ []string) int { return p.printLine("%s", p.dir) },
		"echo":     echo,
		"printf":   printf,
		"cat":      cat,
		"head":     head,
		"tee":      tee,
		"wc":       wc,
		"grep":     grep,
		"ls":       ls,
		"ln":       ln,
		"mkdir":    mkdir,
		"rm":       rm,
		"rmdir":    rmdir,
		"mv":       mv,
		"cp":       cp,
		"chmod":    onFiles,
		"chown":    onFiles,
		"modprobe": modprobe,
		"lsmod":    func(p *process, _ []string) int { fmt.Fprint(p.stdout, p.d.lsmod()); return 0 },
		"uname":    uname,
		"hostname": func(p *process, _ []string) int { return p.printLine("%s", p.d.hw.Spec().Name) },
		"id":       id,
		"date":     func(p *process, _ []string) int { return p.printLine("%d", p.d.hw.Now().Unix()) },
		"dcb":      dcb,
		"ip":       ip,
		"ethtool":  ethtool,
		"nmcli":    nmcli,
		"rdma":     rdma,
	}
}

func ok(*process, []string) int { return 0 }
