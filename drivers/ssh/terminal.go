package ssh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/scrapli/scrapligo/driver/generic"
	"github.com/scrapli/scrapligo/driver/opoptions"
	"github.com/scrapli/scrapligo/driver/options"
	"github.com/scrapli/scrapligo/transport"
	"golang.org/x/crypto/ssh"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/templates/pack"
)

const (
	// terminalWidth is wide enough that no device wraps what it echoes, which scrapligo would not recognise.
	terminalWidth  = 511
	terminalHeight = 255

	// readDelay is how often scrapligo looks whether something has come. Its own 250 µs wake a process four thousand times
	// a second for each device that is waited for.
	readDelay = time.Millisecond
)

// terminal is one terminal of a device, at a prompt. After any error but a refusal it is of no more use.
type terminal struct {
	driver *generic.Driver
	wire   *wire
	pack   pack.SSH
	prompt *regexp.Regexp
	at     string // the prompt that the terminal is at

	endpoint drivers.Endpoint // whose words are quoted without its secrets
}

// openTerminal starts a shell on the connection and brings it to the privileged level, with the pack's opening commands
// given.
func openTerminal(ctx context.Context, client *ssh.Client, p pack.SSH, e drivers.Endpoint) (*terminal, error) {
	prompt, err := promptOf(p, p.Host)
	if err != nil {
		return nil, err
	}
	w := &wire{client: client, ended: make(chan struct{})}
	d, err := generic.NewDriver("device", options.WithCustomTransport(w), options.WithPromptPattern(prompt), options.WithAuthBypass(), options.WithReadDelay(readDelay))
	if err != nil {
		return nil, err
	}
	t := &terminal{driver: d, wire: w, pack: p, prompt: prompt, endpoint: e}
	if err := t.settle(ctx); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

// promptOf is the pattern of the whole last line, which has nothing behind it. Being anchored at the end, it is not found
// in the middle of an output that quotes a prompt.
func promptOf(p pack.SSH, host string) (*regexp.Regexp, error) {
	return regexp.Compile(`(?:^|\n)(?:` + strings.ReplaceAll(p.Prompt, "{host}", "(?:"+host+")") + `)\z`)
}

// settle reads the first prompt, learns the device's host name from it, and prepares the terminal.
func (t *terminal) settle(ctx context.Context) error {
	err := t.do(ctx, func(context.Context, time.Duration) error { return t.driver.Open() })
	if err == nil {
		err = t.do(ctx, t.readPrompt)
	}
	if err != nil {
		return fmt.Errorf("wait for a prompt: %w", err)
	}
	if t.pack.Levels.User.Match(t.at) {
		if err := t.enable(ctx); err != nil {
			return err
		}
	}
	if host := hostIn(t.pack, t.at); host != "" {
		if t.prompt, err = promptOf(t.pack, regexp.QuoteMeta(host)); err != nil {
			return err
		}
		t.driver.Channel.PromptPattern = t.prompt
	}
	for _, command := range t.pack.Open {
		said, err := t.run(ctx, command)
		if err != nil {
			return err
		}
		if refused := pack.FindAny(t.pack.Failures, said); refused != "" {
			return fmt.Errorf("%s: %s", command, refused)
		}
	}
	return nil
}

// readPrompt reads up to the prompt that a device prints by itself after login. Nothing is typed for it: a second prompt
// would be in the way of the first command's answer.
func (t *terminal) readPrompt(ctx context.Context, _ time.Duration) error {
	b, err := t.driver.Channel.ReadUntilPrompt(ctx)
	_, t.at = t.split(string(b))
	return err
}

// split parts what was printed from the prompt after it.
func (t *terminal) split(text string) (said, prompt string) {
	at := t.prompt.FindStringIndex(text)
	if at == nil {
		return text, ""
	}
	return strings.Trim(text[:at[0]], "\n"), strings.TrimSpace(text[at[0]:])
}

// hostIn is the host name in a prompt.
func hostIn(p pack.SSH, prompt string) string {
	re, err := regexp.Compile(`^` + strings.ReplaceAll(p.Prompt, "{host}", "(?P<host>"+p.Host+")") + `$`)
	if err != nil {
		return ""
	}
	if m := re.FindStringSubmatch(prompt); m != nil {
		return m[re.SubexpIndex("host")]
	}
	return ""
}

// enable goes to the privileged level. The password is typed once, and only where the device asks for one.
func (t *terminal) enable(ctx context.Context) error {
	password := t.endpoint.Password
	raise := t.pack.Enable
	said, err := t.run(ctx, raise.Command, raise.Asks)
	if err == nil && t.at == "" {
		if password == "" {
			return fmt.Errorf("%w: %s asks for a password, and none is given", errLevel, raise.Command)
		}
		err = t.do(ctx, func(ctx context.Context, _ time.Duration) error {
			if err := t.driver.Channel.WriteAndReturn([]byte(password), true); err != nil {
				return err
			}
			b, err := t.driver.Channel.ReadUntilAnyPrompt(ctx, []*regexp.Regexp{t.prompt, raise.Asks.Regexp()})
			said, t.at = t.split(string(b))
			return err
		})
	}
	if err != nil {
		return err
	}
	if !t.pack.Levels.Privileged.Match(t.at) {
		return fmt.Errorf("%w: %s was refused: %s", errLevel, raise.Command, t.endpoint.Quote(said))
	}
	return nil
}

var errLevel = errors.New("the account cannot change the configuration")

// run types a line and is what the device printed before the next prompt, which becomes where the terminal is at, or
// before one of the questions, after which it is at no prompt.
func (t *terminal) run(ctx context.Context, line string, questions ...pack.Pattern) (string, error) {
	var asked []*regexp.Regexp
	for _, q := range questions {
		if re := q.Regexp(); re != nil {
			asked = append(asked, re)
		}
	}
	var said string
	err := t.do(ctx, func(_ context.Context, limit time.Duration) error {
		r, err := t.driver.SendCommand(line, opoptions.WithExactMatchInput(), opoptions.WithNoStripPrompt(),
			opoptions.WithTimeoutOps(limit), opoptions.WithInterimPromptPattern(asked))
		if err == nil {
			said, t.at = t.split(r.Result)
		}
		return err
	})
	return said, err
}

// do runs an operation of scrapligo, most of which know no context: when ctx ends, the connection is taken from under it.
func (t *terminal) do(ctx context.Context, operation func(ctx context.Context, limit time.Duration) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { t.wire.client.Close() })
	defer stop()
	t.wire.read.Store(0)
	limit := defaultSetTimeout
	if deadline, ok := ctx.Deadline(); ok {
		limit = time.Until(deadline) + time.Second // the context is to end first
	}
	err := operation(ctx, limit)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case t.wire.cause() != nil:
		return lost(ctx, t.wire.cause())
	}
	return err
}

// close ends the terminal and its connection. scrapligo's own Close can wait for a peer that is gone.
func (t *terminal) close() {
	t.wire.client.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		t.driver.Close()
	}()
	select {
	case <-done:
	case <-time.After(closeTimeout):
	}
}

// wire is weir's SSH connection as scrapligo's transport.
type wire struct {
	client  *ssh.Client
	session *ssh.Session
	in      io.WriteCloser
	out     io.Reader
	strip   escapes

	read  atomic.Int64  // bytes since the operation began
	ended chan struct{} // closed by the first read that fails
	err   error         // of that read
}

// Open starts the device's shell on a wide terminal.
func (w *wire) Open(*transport.Args) error {
	session, err := w.client.NewSession()
	if err != nil {
		return err
	}
	if w.in, err = session.StdinPipe(); err != nil {
		return err
	}
	if w.out, err = session.StdoutPipe(); err != nil {
		return err
	}
	if err = session.RequestPty("xterm", terminalHeight, terminalWidth, ssh.TerminalModes{ssh.ECHO: 1}); err != nil {
		return err
	}
	w.session = session
	return session.Shell()
}

// Close is scrapligo's; the connection belongs to the link.
func (w *wire) Close() error { return nil }

// IsAlive says whether Open succeeded.
func (w *wire) IsAlive() bool { return w.session != nil }

// Read gives what the device printed, without the escape sequences that set titles and colours. Every error is the end:
// scrapligo tries again on others.
func (w *wire) Read(n int) ([]byte, error) {
	b := make([]byte, n)
	n, err := w.out.Read(b)
	if w.read.Add(int64(n)) > drivers.MaxAnswer {
		n, err = 0, drivers.TooMuch(drivers.MaxAnswer)
		w.client.Close()
	}
	if n > 0 {
		return w.strip.from(b[:n]), nil
	}
	if err != nil {
		w.err = err
		close(w.ended)
		return nil, io.EOF // the last one: scrapligo reads no more
	}
	return nil, nil
}

// Write types.
func (w *wire) Write(b []byte) error {
	_, err := w.in.Write(b)
	return err
}

// cause is why reading ended, if it did.
func (w *wire) cause() error {
	select {
	case <-w.ended:
		return w.err
	default:
		return nil
	}
}
