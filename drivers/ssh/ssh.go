// Package ssh moves bytes to and from devices over SSH, in one of two manners that the platform's pack names.
//
// Shell: a command is an exec channel of its own, with an exit status, separate errors and a standard input that carries
// the content of files. No terminal is involved and no prompt is guessed.
//
// Terminal: scrapligo types commands into one terminal and reads up to the prompt. It stands on weir's own connection
// instead of one of scrapligo's transports, which cannot be given a context, do not bound the handshake, and give the
// password to any question a server asks; so host keys and passwords are handled in one place for both manners. A terminal
// in which anything went wrong but a refused command is thrown away and never read again: a late answer would be taken
// for that of the next command.
//
// Set returns a *drivers.RejectedError, which says that nothing took effect, also where the connection ended before the
// message that takes effect was sent.
package ssh

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/templates/pack"
)

const (
	dialTimeout       = 30 * time.Second // TCP and handshake together
	defaultTimeout    = time.Minute      // of one command, where the pack does not say
	defaultSetTimeout = 5 * time.Minute
	closeTimeout      = 5 * time.Second
)

// Dialer opens SSH connections.
type Dialer struct {
	Packs fs.FS        // holds PLATFORM/pack.yaml: templates.FS
	Log   *slog.Logger // nil: silent
	// DialContext opens the connection, as net.Dialer's method does. It may be called from many goroutines at once. Nil: the
	// network of the machine.
	DialContext func(ctx context.Context, network, address string) (net.Conn, error)
}

// Dial connects, verifies the host key and logs in. It makes one attempt.
func (d Dialer) Dial(ctx context.Context, e drivers.Endpoint) (drivers.Target, error) {
	session, err := pack.ReadSession(d.Packs, e.Platform)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.Device, err)
	}
	log := d.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	l := &link{endpoint: e, pack: session.SSH, log: log.With("device", e.Device), dial: d.DialContext}
	if l.dial == nil {
		l.dial = (&net.Dialer{}).DialContext
	}
	var t opener
	switch session.SSH.Manner {
	case pack.Shell:
		t = &shell{link: l}
	case pack.Terminal:
		t = &cli{link: l}
	default:
		return nil, fmt.Errorf("%s: the pack of platform %s names no manner for SSH: shell or terminal", e.Device, e.Platform)
	}
	if err := t.open(ctx); err != nil {
		return nil, err
	}
	return t, nil
}

// opener is a target that connects anew when what it had was thrown away.
type opener interface {
	drivers.Target
	open(ctx context.Context) error
}

// link is the connection under both manners.
type link struct {
	endpoint drivers.Endpoint
	pack     pack.SSH
	log      *slog.Logger
	dial     func(ctx context.Context, network, address string) (net.Conn, error)
	client   *ssh.Client // nil: none, or thrown away
}

// connect makes sure there is a connection.
func (l *link) connect(ctx context.Context) error {
	if l.client != nil {
		return nil
	}
	client, err := l.logIn(ctx)
	if err != nil {
		return err
	}
	l.client = client
	return nil
}

// drop throws the connection away. One that is broken cannot be closed well, so nothing is said about that.
func (l *link) drop() {
	if l.client != nil {
		_ = l.client.Close()
		l.client = nil
	}
}

func (l *link) timeout() time.Duration {
	return first(l.endpoint.Timeout, l.pack.Timeout, defaultTimeout)
}

func (l *link) setTimeout() time.Duration {
	return first(l.endpoint.Timeout, l.pack.SetTimeout, defaultSetTimeout)
}

func first(ds ...time.Duration) time.Duration {
	for _, d := range ds {
		if d != 0 {
			return d
		}
	}
	return 0
}

// commandOf is the command that asks a query.
func (l *link) commandOf(q plan.Query) (string, error) {
	for _, w := range q.Ways {
		if w.Via == plan.SSH {
			return w.Text, nil
		}
	}
	return "", fmt.Errorf("%s: %s cannot be asked over SSH", l.endpoint.Device, q.Name)
}
