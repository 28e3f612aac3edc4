package linux

import (
	"context"
	"io"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// external marks a command that the interpreter must not take for its own builtin or for a function.
const external = "\x00"

// own are the builtins that are left to the interpreter. The others are tools of the device, or not there.
var own = []string{
	":", "true", "false", "alias", "break", "cd", "continue", "eval", "exec", "exit", "getopts", "hash", "read", "return",
	"set", "shift", "times", "trap", "unalias", "unset", "wait",
}

// call sees each simple command before anything else does, and may put another in its place.
func (s *shell) call(ctx context.Context, args []string) ([]string, error) {
	if s.job.commands.Add(1) > mostCommands {
		return nil, errTooMany
	}
	if _, defined := s.functions.Load(args[0]); defined {
		return args, nil
	}
	plain := len(args)
	for args[0] == "command" && len(args) > 1 && !strings.HasPrefix(args[1], "-") {
		args = args[1:]
	}
	switch name := args[0]; {
	case name == "export" || name == "readonly" || name == "local":
		return s.declare(ctx, args), nil
	case name == "unset":
		return s.unset(ctx, args), nil
	case name == "." || name == "source":
		return s.include(ctx, args), nil
	case !slices.Contains(own, name) && (interp.IsBuiltin(name) || len(args) < plain): // functions are passed by
		return append([]string{external + name}, args[1:]...), nil
	case name == "eval":
		return s.check(ctx, strings.Join(args[1:], " "), func(text string) []string { return []string{"eval", text} }), nil
	case name == "trap":
		return s.trap(ctx, args), nil
	case name == "read" && interp.HandlerCtx(ctx).Stdin == s.job.in:
		s.job.feedLine(slices.Contains(args[1:], "-r"))
	}
	return args, nil
}

// trap makes the command that remembers another one.
func (s *shell) trap(ctx context.Context, args []string) []string {
	if len(args) > 1 && args[1] == "--" {
		args = args[1:]
	}
	if len(args) < 3 {
		return append([]string{"trap"}, args[1:]...)
	}
	return s.check(ctx, args[1], func(text string) []string { return append([]string{"trap", "--", text}, args[2:]...) })
}

// include runs a file's text in this shell.
func (s *shell) include(ctx context.Context, args []string) []string {
	if len(args) < 2 || args[0] == "source" {
		return append([]string{external + args[0]}, args[1:]...)
	}
	p := s.at(ctx)
	s.d.mu.Lock()
	text, err := p.readFile(args[1])
	s.d.mu.Unlock()
	if err != nil {
		p.fail(2, "sh: %d: .: cannot open %s: %v", p.line, args[1], err)
		return []string{"exit", "2"}
	}
	return s.check(ctx, text, func(text string) []string { return []string{"eval", text} })
}

// declare makes the command for words that the interpreter knows as a part of bash's language only, which eval reads.
func (s *shell) declare(ctx context.Context, args []string) []string {
	for i, a := range args[1:] {
		name, value, assigns := strings.Cut(a, "=")
		quoted, err := syntax.Quote(value, syntax.LangBash)
		if err != nil || !slices.Contains([]string{"-p", "-x", "-r"}, a) && !syntax.ValidName(name) {
			return s.badName(ctx, args[0], name)
		}
		if assigns {
			args[i+1] = name + "=" + quoted
		}
	}
	return []string{"eval", strings.Join(args, " ")}
}

// unset makes the command that forgets variables or functions: the interpreter breaks on an empty name.
func (s *shell) unset(ctx context.Context, args []string) []string {
	for _, name := range args[1:] {
		if name != "-v" && name != "-f" && !syntax.ValidName(name) {
			return s.badName(ctx, "unset", name)
		}
	}
	return args
}

// badName ends the shell, as POSIX has it for its special builtins.
func (s *shell) badName(ctx context.Context, builtin, name string) []string {
	p := s.at(ctx)
	p.fail(2, "sh: %d: %s: %s: bad variable name", p.line, builtin, name)
	return []string{"exit", "2"}
}

// check reads text as every script is read, and makes the command that runs it. What cannot be read ends the shell.
func (s *shell) check(ctx context.Context, text string, run func(text string) []string) []string {
	if text == "" || text == "-" {
		return run(text)
	}
	script, err := parse(text)
	if err != nil {
		_, _ = io.WriteString(interp.HandlerCtx(ctx).Stderr, complaint(err))
		return []string{"exit", "2"}
	}
	s.learn(script)
	var out strings.Builder
	if err := syntax.NewPrinter().Print(&out, script); err != nil {
		panic(err) // what was parsed prints
	}
	return run(strings.TrimSuffix(out.String(), "\n"))
}
