package ssh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/templates/pack"
)

// shell is a target whose commands are exec channels.
type shell struct{ *link }

func (s *shell) open(ctx context.Context) error { return s.connect(ctx) }

// Close leaves the device.
func (s *shell) Close() error {
	s.drop()
	return nil
}

// Confirm and Cancel have nothing to do: a shell has no commit timer.
func (s *shell) Confirm(context.Context, plan.Pending) error { return nil }
func (s *shell) Cancel(context.Context, plan.Pending) error  { return nil }

func (s *shell) Get(ctx context.Context, qs []plan.Query) ([]plan.Answer, error) {
	answers := make([]plan.Answer, 0, len(qs))
	for _, q := range qs {
		command, err := s.commandOf(q)
		if err != nil {
			return nil, err
		}
		out, err := s.ask(ctx, command)
		if err != nil {
			return nil, fmt.Errorf("%s: ask %s: %w", s.endpoint.Device, q.Name, err)
		}
		switch {
		case out.status == 0 && out.whole:
			if err := drivers.Bounded(out.stdout); err != nil {
				return nil, fmt.Errorf("%s: the answer to %s: %w", s.endpoint.Device, q.Name, err)
			}
			answers = append(answers, plan.Answer{Name: q.Name, Body: out.stdout})
		case s.missing(out):
			answers = append(answers, plan.Answer{Name: q.Name, Missing: true})
		default:
			return nil, &drivers.RejectedError{Device: s.endpoint.Device, Input: command, Reason: out.reason(s.endpoint)}
		}
	}
	return answers, nil
}

// missing says whether a command that failed said that there is no such thing. One that printed an answer before it failed
// did not: half an answer would be taken for the whole.
func (s *shell) missing(out output) bool {
	switch {
	case len(out.stdout) > 0 || !out.whole:
		return false
	case slices.Contains(s.pack.MissingExits, out.status):
		return true
	case len(out.stderr) == 0:
		return slices.Contains(s.pack.QuietExits, out.status)
	}
	return pack.FindAny(s.pack.Missing, string(out.stderr)) != ""
}

// Set sends the messages one after another and stops at the first that fails.
func (s *shell) Set(ctx context.Context, c plan.Chunk, p plan.Pending) error {
	if p.Confirm > 0 {
		return drivers.NotSent(s.endpoint.Device, errors.New("this platform has no commit timer over SSH"))
	}
	messages := c.Send
	if usesScratch(messages) {
		if err := ctx.Err(); err != nil {
			return drivers.NotSent(s.endpoint.Device, err)
		}
		dir, err := s.makeScratch(ctx)
		if err != nil {
			return err
		}
		defer s.dropScratch(ctx, dir)
		messages = inScratch(messages, dir)
	}
	scripts := make([]script, len(messages))
	for i, m := range messages {
		var err error
		if scripts[i], err = scriptOf(m); err != nil {
			return drivers.NotSent(s.endpoint.Device, err)
		}
	}
	if err := ctx.Err(); err != nil {
		return drivers.NotSent(s.endpoint.Device, err)
	}
	for i, sc := range scripts {
		if err := s.send(ctx, sc); err != nil {
			return after(s.endpoint.Device, i, err)
		}
	}
	return nil
}

// after is what is known of a chunk of which the first done messages took effect and the next one did not. The rejection is
// kept as words only: whoever looks for one in the error would take it for that of the whole chunk.
func after(device string, done int, err error) error {
	var rejected *drivers.RejectedError
	if done == 0 || !errors.As(err, &rejected) {
		return err
	}
	cause := rejected.Err
	if cause == nil {
		cause = errors.New(strings.TrimPrefix(rejected.Error(), device+": "))
	}
	return &drivers.PartialError{Device: device, Done: done, Err: cause}
}

// script is what a message is to a shell: commands of which the last takes effect.
type script struct {
	name  string // what to call it in an error
	steps []step
}

type step struct {
	command, stdin string
	prints         string // what it must print; empty: anything
}

func scriptOf(m plan.Message) (script, error) {
	switch m.Op {
	case plan.Run:
		return script{m.Body, []step{{command: m.Body}}}, nil
	case plan.Write:
		return script{"write " + m.Path, writer(m.Path, m.Body)}, nil
	case plan.Remove:
		return script{"remove " + m.Path, []step{{command: plan.Command("rm -f", m.Path, m.Path+plan.Unfinished)}}}, nil
	default:
		return script{}, fmt.Errorf("a message of kind %q cannot be sent to a shell", m.Op)
	}
}

// writer puts a file in place whole or not at all. A connection that ends in the middle is the end of its input to cat, so
// what arrived is read back before the file is moved to where others read it. In /tmp nobody does before the next message,
// and the kernel's files are no files: they take a write in place.
func writer(path, body string) []step {
	to := plan.Word(path)
	switch {
	case strings.HasPrefix(path, "/sys/"), strings.HasPrefix(path, "/proc/"):
		return []step{{command: "cat > " + to, stdin: body}}
	case strings.HasPrefix(path, "/tmp/"):
		return []step{{command: "cat > " + to, stdin: body}, {command: "cat " + to, prints: body}}
	}
	temp := plan.Word(path + plan.Unfinished)
	return []step{
		{command: "cat > " + temp, stdin: body},
		{command: "cat " + temp, prints: body},
		{command: "mv -f " + temp + " " + to},
	}
}

// send does a script's steps. What ends before the last one has not taken effect.
func (s *shell) send(ctx context.Context, sc script) error {
	device := s.endpoint.Device
	for i, st := range sc.steps {
		out, err := s.change(ctx, st)
		last := i == len(sc.steps)-1
		switch {
		case err != nil && (!last || errors.Is(err, errNotStarted)):
			return drivers.NotSent(device, fmt.Errorf("%s: %w", sc.name, err))
		case err != nil:
			return &drivers.UnknownError{Device: device, Err: fmt.Errorf("%s: %w", sc.name, err)}
		case out.unsure:
			return &drivers.UnknownError{Device: device, Err: fmt.Errorf("%s: sent %d times: %s", sc.name, attempts, out.reason(s.endpoint))}
		case s.refused(out):
			return &drivers.RejectedError{Device: device, Input: sc.name, Reason: out.reason(s.endpoint)}
		case st.prints != "" && string(out.stdout) != st.prints:
			return drivers.NotSent(device, fmt.Errorf("%s: %d bytes arrived of %d, or not the same ones", sc.name, len(out.stdout), len(st.prints)))
		}
	}
	return nil
}

// output is how a command ended.
type output struct {
	stdout, stderr []byte
	status         int
	whole          bool // the command was run, and this is all that it said
	unsure         bool // of a change: it may have taken effect
}

// reason is the device's own words.
func (o output) reason(e drivers.Endpoint) string {
	for _, said := range [][]byte{o.stderr, o.stdout} {
		if text := e.Quote(string(said)); text != "" {
			return fmt.Sprintf("%s (exit status %d)", text, o.status)
		}
	}
	return fmt.Sprintf("exit status %d", o.status)
}

// run runs a command, and once more with the password when sudo asked for one.
func (s *shell) run(ctx context.Context, limit time.Duration, st step, root bool) (output, error) {
	command := s.framed(st.command)
	if root {
		command = "sudo -n " + s.inShell(st.command)
	}
	out, err := s.unframed(s.exec(ctx, limit, command, st.stdin))
	if err != nil || out.status == 0 || s.endpoint.Password == "" || pack.FindAny(s.pack.SudoAsks, string(out.stderr)) == "" {
		return out, err
	}
	command = "sudo -S -p '' -v && { " + s.framed(st.command) + "; }"
	if root {
		command = "sudo -S -p '' " + s.inShell(st.command)
	}
	// sudo -S reads one line of its standard input, byte by byte, and leaves the rest to the command.
	return s.unframed(s.exec(ctx, limit, command, string(s.endpoint.Password)+"\n"+st.stdin))
}

// heard keeps what a command prints, up to a bound. It is used by one goroutine.
type heard struct {
	body []byte
	most int
	full func() // is called once, when more comes than the bound; nil: the end of what comes is kept
	over bool
}

func (h *heard) Write(piece []byte) (int, error) {
	switch {
	case h.over:
	case len(h.body)+len(piece) <= h.most:
		h.body = append(h.body, piece...)
	case h.full != nil:
		h.over = true
		h.full()
	default:
		h.body = append(h.body, piece...)
		h.body = append(h.body[:0], h.body[len(h.body)-h.most:]...)
	}
	return len(piece), nil
}

var errNotStarted = errors.New("the command was not started")

// exec runs a command on a channel of its own. Where it does not end with a status, the connection is thrown away.
func (s *shell) exec(ctx context.Context, limit time.Duration, command, stdin string) (output, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if strings.ContainsRune(command, 0) {
		return output{}, fmt.Errorf("%w: a NUL is in it, which no shell takes", errNotStarted)
	}
	session, err := s.channel(ctx)
	if err != nil {
		s.drop()
		return output{}, fmt.Errorf("%w: %w", errNotStarted, lost(ctx, err))
	}
	defer session.Close()
	client := s.client
	stop := context.AfterFunc(ctx, func() { client.Close() })
	defer stop()
	stdout, stderr := &heard{most: drivers.MaxAnswer, full: func() { client.Close() }}, &heard{most: drivers.MaxErrors}
	session.Stdin, session.Stdout, session.Stderr = strings.NewReader(stdin), stdout, stderr
	err = session.Run(command)
	out := output{stdout: stdout.body, stderr: stderr.body}
	var exit *ssh.ExitError
	switch {
	case stdout.over:
		s.drop()
		return output{}, drivers.TooMuch(drivers.MaxAnswer)
	case err == nil:
		return out, nil
	case errors.As(err, &exit) && exit.Signal() == "":
		out.status = exit.ExitStatus()
		return out, nil
	}
	s.drop()
	return out, lost(ctx, err)
}

// channel opens a channel, on a new connection where the one at hand has ended while it was idle.
func (s *shell) channel(ctx context.Context) (*ssh.Session, error) {
	if client := s.client; client != nil {
		stop := context.AfterFunc(ctx, func() { client.Close() })
		session, err := client.NewSession()
		stop()
		if err == nil || ctx.Err() != nil {
			return session, err
		}
		s.drop()
	}
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	client := s.client
	stop := context.AfterFunc(ctx, func() { client.Close() })
	defer stop()
	return client.NewSession()
}

// lost is why a connection ended: the context, where it did it.
func lost(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var exit *ssh.ExitMissingError
	if errors.Is(err, io.EOF) || errors.As(err, &exit) {
		return errors.New("the connection ended before the answer")
	}
	return err
}
