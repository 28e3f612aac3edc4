package ssh

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/templates/pack"
)

// mark stands before and after what a command says. What the login's own files print comes before or after it, and a command
// that was never run has none.
const mark = "==weir=="

// inShell is a command in a sh of its own, with the platform's environment and marks around what it says. The login's shell may
// be any, and sees one word.
func (s *shell) inShell(command string) string {
	if s.pack.Environment == "" {
		return "sh -c " + plan.Word(command)
	}
	return "sh -c " + plan.Word("export "+s.pack.Environment+"; echo "+mark+"; echo "+mark+" >&2; ( "+command+"\n); s=$?; printf "+mark+"; exit $s")
}

// framed is a command as the login's user runs it.
func (s *shell) framed(command string) string {
	if s.pack.Environment == "" {
		return command
	}
	return s.inShell(command)
}

// unframed is what a command said between the marks. Without them the words are those of the login's shell or of sudo.
func (s *shell) unframed(out output, err error) (output, error) {
	if out.whole = err == nil; s.pack.Environment == "" || err != nil {
		return out, err
	}
	_, said, begun := bytes.Cut(out.stdout, []byte(mark+"\n"))
	end := bytes.LastIndex(said, []byte(mark))
	switch {
	case !begun:
		out.whole = false
		return out, nil
	case end < 0:
		return output{}, errors.New("the answer is not whole")
	}
	out.stdout = said[:end]
	if _, errs, marked := bytes.Cut(out.stderr, []byte(mark+"\n")); marked {
		out.stderr = errs
	}
	return out, nil
}

// attempts is how often a command is sent of which the device does not say whether it took effect.
const attempts = 4

// ask runs a command that changes nothing. Where root alone is answered it is run as root.
func (s *shell) ask(ctx context.Context, command string) (output, error) {
	out, err := s.run(ctx, s.timeout(), step{command: command}, false)
	for n := 1; n < attempts && err == nil && out.status != 0 && s.says(s.pack.Unsure, out); n++ {
		out, err = s.run(ctx, s.timeout(), step{command: command}, false)
	}
	if err != nil || out.status == 0 || !s.asRoot() || !s.says(s.pack.Denied, out) {
		return out, err
	}
	raised, err := s.run(ctx, s.timeout(), step{command: command}, true)
	if err == nil && !raised.whole {
		raised.stdout, raised.stderr = nil, fmt.Appendf(nil, "%s, and as root: %s", bytes.TrimSpace(out.stderr), bytes.TrimSpace(raised.stderr))
	}
	return raised, err
}

// change runs a command that changes something. One that says neither that it took effect nor that it did not is run again.
func (s *shell) change(ctx context.Context, st step) (output, error) {
	out, err := s.run(ctx, s.setTimeout(), st, s.asRoot())
	n := 1
	for ; n < attempts && err == nil && s.refused(out) && s.says(s.pack.Unsure, out); n++ {
		out, err = s.run(ctx, s.setTimeout(), st, s.asRoot())
	}
	switch {
	case err != nil:
	case s.refused(out) && s.says(s.pack.Unsure, out):
		out.unsure = true
	case n > 1 && s.says(s.pack.Settled, out):
		out.status, out.stderr = 0, nil
	}
	return out, err
}

// refused says whether a change was not made.
func (s *shell) refused(out output) bool {
	return out.status != 0 || !out.whole || s.says(s.pack.Complaints, out)
}

// says looks for patterns in what a command complained of.
func (s *shell) says(patterns []pack.Pattern, out output) bool {
	return pack.FindAny(patterns, string(out.stderr)) != ""
}
