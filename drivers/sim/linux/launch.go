package linux

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"mvdan.cc/sh/v3/interp"
)

// launchers are the commands that run others. They let go of the device meanwhile.
func launchers() map[string]func(ctx context.Context, p *process, args []string) error {
	return map[string]func(ctx context.Context, p *process, args []string) error{
		"sudo":      sudo,
		"sh":        sh,
		"bash":      sh,
		"systemctl": systemctl,
		"sleep":     sleep,
		"test":      func(ctx context.Context, p *process, args []string) error { return test(ctx, p, "test", args) },
		"[":         func(ctx context.Context, p *process, args []string) error { return test(ctx, p, "[", args) },
	}
}

// sleep waits for so many seconds of device time.
func sleep(ctx context.Context, p *process, args []string) error {
	if len(args) != 1 {
		return status(p.fail(1, "sleep: missing operand"))
	}
	seconds, err := strconv.Atoi(args[0])
	if err != nil || seconds < 0 {
		return status(p.fail(1, "sleep: invalid time interval '%s'", args[0]))
	}
	if err := p.d.hw.Sleep(ctx, time.Duration(seconds)*time.Second); err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return nil
}

// sudoers is the file that says what the user who logs in may do. Without it he may do everything and is asked for no password.
const sudoers = "/etc/sudoers.d/lab"

// refuses is why sudo does not raise a user; given says that he gave his password. sudo asks before it says who is in the file.
func (p *process) refuses(given bool) string {
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	text, err := p.d.readFile(sudoers)
	switch {
	case err != nil || p.root || strings.Contains(text, "NOPASSWD:"):
		return ""
	case !given:
		return "sudo: a password is required"
	case !strings.Contains(text, p.user+" "):
		return p.user + " is not in the sudoers file."
	}
	return ""
}

// sudo raises privileges as far as the file of sudoers has it. Any password is right.
func sudo(ctx context.Context, p *process, args []string) error {
	given := false
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		switch args[0] {
		case "-S": // reads the password, one line
			given = true
			if _, err := readLine(p.job.reader(p.stdin)); err != nil && ctx.Err() != nil {
				return ctx.Err()
			}
		case "-p":
			args = args[1:]
		case "-v":
			if why := p.refuses(given); why != "" {
				return status(p.fail(1, "%s", why))
			}
			return nil
		}
		args = args[min(1, len(args)):]
	}
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return status(p.fail(1, "usage: sudo -h | -K | -k | -V"))
	}
	if why := p.refuses(given); why != "" {
		return status(p.fail(1, "%s", why))
	}
	raised := *p
	raised.user, raised.root, raised.variables = "root", true, nil
	return raised.command(ctx, args)
}

// sh runs a script: the text after -c, a file, or what it reads.
func sh(ctx context.Context, p *process, args []string) error {
	var options []string
	asText := false
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && args[0] != "--" {
		letters := strings.ReplaceAll(args[0][1:], "s", "")
		asText = asText || strings.Contains(letters, "c")
		if letters = strings.ReplaceAll(letters, "c", ""); letters != "" {
			options = append(options, "-"+letters)
		}
		args = args[1:]
	}
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	switch {
	case asText && len(args) == 0:
		return status(p.fail(2, "sh: 0: -c requires an argument"))
	case asText:
		return p.script(ctx, args[0], options, args[1:])
	}
	p.d.mu.Lock()
	var text string
	var err error
	if len(args) == 0 {
		text = p.input()
	} else {
		text, err = p.readFile(args[0])
	}
	p.d.mu.Unlock()
	if err != nil {
		return status(p.fail(2, "sh: 0: cannot open %s: %v", args[0], err))
	}
	return p.script(ctx, text, options, args)
}

// script runs a text in a shell of its own. The first argument is its $0.
func (p *process) script(ctx context.Context, text string, options, args []string) error {
	read, err := p.d.parsed(text)
	if err != nil {
		_, _ = p.stderr.Write([]byte(complaint(err)))
		return interp.ExitStatus(2)
	}
	script := *read.File
	if len(args) > 0 {
		script.Name, args = args[0], args[1:]
	}
	s, err := newShell(*p, options, args)
	if err != nil {
		return status(p.fail(2, "sh: 0: Illegal option %s", strings.Join(options, " ")))
	}
	return s.run(ctx, &script)
}

// test asks the interpreter, but for what is not in dash, or what it would ask the real system: who it runs as, and the times
// of files.
func test(ctx context.Context, p *process, name string, args []string) error {
	for i, a := range args {
		operand := i > 0 && slices.Contains([]string{"=", "==", "!="}, args[i-1])
		last := i+1 == len(args) || args[i+1] == "]"
		if slices.Contains([]string{"-O", "-G", "-N", "-t", "-v", "-R"}, a) && !operand && !last {
			return status(p.fail(2, "sh: %d: %s: %s: unexpected operator", p.line, name, a))
		}
	}
	return interp.HandlerCtx(ctx).Builtin(ctx, append([]string{name}, args...))
}
