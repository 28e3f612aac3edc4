package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
)

// What a command may return instead of an exit status, and a line of a terminal instead of nothing.
var (
	ErrHang = errors.New("the device does not answer")        // the connection stays, and nothing is said on it any more
	ErrDrop = errors.New("the device dropped the connection") // the connection ends at once and without a farewell
)

// handshakeTime is how long a client may take to log in, in wall time.
const handshakeTime = 30 * time.Second

// SSHD is the SSH server of a device: logins by password, by answering a question, and by public key; commands; and
// terminals. What the device says is up to Exec and Shell, either of which may be nil: then such requests are refused.
type SSHD struct {
	HostKey        ssh.Signer
	User, Password string
	Keys           []ssh.PublicKey // that User may log in with; nil: none
	Version        string          // that the server calls itself; empty: "SSH-2.0-OpenSSH_9.2"
	Banner         string          // shown before the login; empty: none

	// Exec runs one command and returns its exit status, or ErrHang or ErrDrop. Its context ends with the connection.
	Exec func(ctx context.Context, c Command) (status int, err error)
	// Shell begins a terminal session.
	Shell func(t *Terminal) Shell
}

// Command is what a client asks to be executed.
type Command struct {
	Line           string
	Remote         net.Addr
	Stdin          io.Reader // ends when the client has no more to send
	Stdout, Stderr io.Writer
}

// NewSSHD is a server that knows the key and the logins of s. The device's own words are for the caller to add.
func NewSSHD(s Services) *SSHD {
	return &SSHD{HostKey: s.HostKey, User: s.User, Password: s.Password, Keys: s.Keys}
}

// Serve answers the connections of l until ctx ends, and returns when nothing of them is left. It closes l.
func (d *SSHD) Serve(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() {
		<-ctx.Done()
		l.Close()
	})
	config := d.config()
	for {
		conn, err := l.Accept()
		if ctx.Err() != nil {
			if err == nil {
				conn.Close()
			}
			return nil
		}
		if err != nil {
			return fmt.Errorf("accept: %w", err)
		}
		wg.Go(func() { d.serve(ctx, conn, config) })
	}
}

// config is how clients log in.
func (d *SSHD) config() *ssh.ServerConfig {
	denied := errors.New("permission denied")
	check := func(c ssh.ConnMetadata, password string) (*ssh.Permissions, error) {
		if !same(c.User(), d.User) || !same(password, d.Password) {
			return nil, denied
		}
		return nil, nil
	}
	config := &ssh.ServerConfig{
		ServerVersion: "SSH-2.0-OpenSSH_9.2",
		PasswordCallback: func(c ssh.ConnMetadata, password []byte) (*ssh.Permissions, error) {
			return check(c, string(password))
		},
		KeyboardInteractiveCallback: func(c ssh.ConnMetadata, ask ssh.KeyboardInteractiveChallenge) (*ssh.Permissions, error) {
			answers, err := ask("", "", []string{"Password: "}, []bool{false})
			if err != nil || len(answers) != 1 {
				return nil, denied
			}
			return check(c, answers[0])
		},
	}
	if d.Version != "" {
		config.ServerVersion = d.Version
	}
	if d.Banner != "" {
		config.BannerCallback = func(ssh.ConnMetadata) string { return d.Banner }
	}
	if len(d.Keys) > 0 {
		config.PublicKeyCallback = func(c ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			for _, k := range d.Keys {
				if c.User() == d.User && string(k.Marshal()) == string(key.Marshal()) {
					return nil, nil
				}
			}
			return nil, denied
		}
	}
	config.AddHostKey(d.HostKey)
	return config
}

// serve is one connection from its handshake to its end.
func (d *SSHD) serve(ctx context.Context, conn net.Conn, config *ssh.ServerConfig) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() {
		<-ctx.Done()
		conn.Close()
	})
	_ = conn.SetDeadline(time.Now().Add(handshakeTime)) // where this fails the handshake fails too
	_, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return
	}
	_ = conn.SetDeadline(time.Time{})
	wg.Go(func() { ssh.DiscardRequests(requests) })
	for incoming := range channels {
		if incoming.ChannelType() != "session" {
			_ = incoming.Reject(ssh.UnknownChannelType, "only sessions")
			continue
		}
		channel, requests, err := incoming.Accept()
		if err != nil {
			return
		}
		wg.Go(func() {
			if errors.Is(d.session(ctx, conn.RemoteAddr(), channel, requests), ErrDrop) {
				cancel()
			}
		})
	}
}

// session is one channel: its requests come until one of them starts a command or a terminal, and go on coming then. What
// was started is told to end when the client closes the channel, and session returns when it has.
func (d *SSHD) session(ctx context.Context, remote net.Addr, channel ssh.Channel, requests <-chan *ssh.Request) error {
	defer channel.Close()
	ctx, cancel := context.WithCancel(ctx)
	terminal := &Terminal{Remote: remote, width: 80, height: 24}
	ended := make(chan error, 1)
	running := false
	start := func(run func() (int, error)) {
		running = true
		go func() {
			status, err := run()
			if errors.Is(err, ErrHang) {
				<-ctx.Done()
			} else if err == nil {
				_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{uint32(status)}))
			}
			ended <- err
		}()
	}
	defer func() {
		cancel()
		if running {
			channel.Close() // what was started may be waiting for input
			<-ended
		}
	}()
	for {
		select {
		case r, ok := <-requests:
			if !ok {
				return nil
			}
			run := d.begin(ctx, r, terminal, channel)
			accepted := terminal.request(r) || run != nil && !running
			if r.WantReply {
				_ = r.Reply(accepted, nil)
			}
			if run != nil && !running {
				start(run)
			}
		case err := <-ended:
			running = false
			return err
		}
	}
}

// begin is what a request starts; nil where it starts nothing.
func (d *SSHD) begin(ctx context.Context, r *ssh.Request, t *Terminal, channel ssh.Channel) func() (int, error) {
	switch {
	case r.Type == "exec" && d.Exec != nil:
		var payload struct{ Command string }
		if ssh.Unmarshal(r.Payload, &payload) != nil {
			return nil
		}
		return func() (int, error) {
			return d.Exec(ctx, Command{
				Line: payload.Command, Remote: t.Remote, Stdin: channel, Stdout: channel, Stderr: channel.Stderr(),
			})
		}
	case r.Type == "shell" && d.Shell != nil:
		return func() (int, error) { return t.run(ctx, channel, d.Shell(t)) }
	}
	return nil
}
