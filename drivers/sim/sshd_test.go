package sim

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/ssh"
)

// patience bounds what a test waits for something that must come.
const patience = 2 * time.Minute

func newKey(t *testing.T) ssh.Signer {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return signer
}

// serveSSH runs a server on loopback and returns its address. The test fails if the server does not end with its context.
func serveSSH(t *testing.T, d *SSHD) string {
	t.Helper()
	d.HostKey, d.User, d.Password = newKey(t), "admin", "secret"
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- d.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-served:
			if err != nil {
				t.Errorf("serve: %v", err)
			}
		case <-time.After(patience):
			t.Error("the server did not end with its context")
		}
	})
	return l.Addr().String()
}

func dialSSH(addr string, auth ...ssh.AuthMethod) (*ssh.Client, error) {
	return ssh.Dial("tcp", addr, &ssh.ClientConfig{
		User: "admin", Auth: auth, HostKeyCallback: ssh.InsecureIgnoreHostKey(), Timeout: patience,
	})
}

func mustDial(t *testing.T, addr string) *ssh.Client {
	t.Helper()
	c, err := dialSSH(addr, ssh.Password("secret"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestLoginsAreByPasswordQuestionOrKey(t *testing.T) {
	known := newKey(t)
	addr := serveSSH(t, &SSHD{Keys: []ssh.PublicKey{known.PublicKey()}})
	answer := func(s string) ssh.AuthMethod {
		return ssh.KeyboardInteractive(func(_, _ string, questions []string, _ []bool) ([]string, error) {
			return []string{s}[:len(questions)], nil
		})
	}
	for name, c := range map[string]struct {
		auth ssh.AuthMethod
		ok   bool
	}{
		"the password":       {ssh.Password("secret"), true},
		"a wrong password":   {ssh.Password("guess"), false},
		"the answer":         {answer("secret"), true},
		"a wrong answer":     {answer("guess"), false},
		"the key":            {ssh.PublicKeys(known), true},
		"a key not known":    {ssh.PublicKeys(newKey(t)), false},
		"an empty password":  {ssh.Password(""), false},
		"a longer password":  {ssh.Password("secret1"), false},
		"a shorter password": {ssh.Password("secre"), false},
	} {
		client, err := dialSSH(addr, c.auth)
		if (err == nil) != c.ok {
			t.Errorf("%s: got error %v, want login %v", name, err, c.ok)
		}
		if err == nil {
			client.Close()
		}
	}
}

func TestACommandHasInputOutputAndStatus(t *testing.T) {
	addr := serveSSH(t, &SSHD{Exec: func(_ context.Context, c Command) (int, error) {
		body, err := io.ReadAll(c.Stdin)
		fmt.Fprintf(c.Stdout, "%s got %q", c.Line, body)
		fmt.Fprint(c.Stderr, "and complains")
		return 3, err
	}})
	session, err := mustDial(t, addr).NewSession()
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	session.Stdin, session.Stdout, session.Stderr = strings.NewReader("words"), &out, &errs
	var exit *ssh.ExitError
	if err := session.Run("cat > x"); !errors.As(err, &exit) || exit.ExitStatus() != 3 {
		t.Errorf("got %v, want exit status 3", err)
	}
	if diff := cmp.Diff([]string{out.String(), errs.String()}, []string{`cat > x got "words"`, "and complains"}); diff != "" {
		t.Error(diff)
	}
}

func TestADroppedCommandEndsTheConnection(t *testing.T) {
	addr := serveSSH(t, &SSHD{Exec: func(context.Context, Command) (int, error) { return 0, ErrDrop }})
	client := mustDial(t, addr)
	session, err := client.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	var status *ssh.ExitError
	if err := session.Run("reload"); err == nil || errors.As(err, &status) {
		t.Errorf("got %v, want an end without a status", err)
	}
	if err := client.Wait(); err == nil {
		t.Error("the connection ended as if all were well")
	}
}

func TestAHangingCommandEndsWithItsChannel(t *testing.T) {
	began, ended := make(chan struct{}), make(chan struct{})
	addr := serveSSH(t, &SSHD{Exec: func(ctx context.Context, c Command) (int, error) {
		if c.Line == "hang" {
			return 0, ErrHang
		}
		close(began)
		<-ctx.Done()
		close(ended)
		return 0, nil
	}})
	client := mustDial(t, addr)
	for _, command := range []string{"hang", "block"} {
		session, err := client.NewSession()
		if err != nil {
			t.Fatal(err)
		}
		if err := session.Start(command); err != nil {
			t.Fatal(err)
		}
		if command == "block" {
			<-began
		}
		session.Close()
	}
	select {
	case <-ended:
	case <-time.After(patience):
		t.Error("the command did not learn that its channel is closed")
	}
}

// parrot is a shell that repeats, and that asks for a secret when it hears "enable".
type parrot struct {
	t      *Terminal
	secret bool
	closed chan struct{}
}

func (p *parrot) Prompt() (string, bool) {
	if p.secret {
		return "Password: ", false
	}
	return "\x1b]0;parrot\x07parrot> ", true
}

func (p *parrot) Line(_ context.Context, line string, out io.Writer) error {
	switch {
	case p.secret:
		p.secret = false
		fmt.Fprintf(out, "%d letters\n", len(line))
	case line == "enable":
		p.secret = true
	case line == "size":
		w, h := p.t.Size()
		fmt.Fprintf(out, "%dx%d\n", w, h)
	case line == "exit":
		return io.EOF
	case line == "drop":
		return ErrDrop
	default:
		fmt.Fprintf(out, "%s!\n", line)
	}
	return nil
}

func (p *parrot) Close() { close(p.closed) }

func TestATerminalEchoesEditsAndPrompts(t *testing.T) {
	for name, c := range map[string]struct{ typed, want string }{
		"a line":             {"hi\rexit\r", "P>hi\r\nhi!\r\nP>exit\r\n"},
		"a newline ends too": {"hi\nexit\n", "P>hi\r\nhi!\r\nP>exit\r\n"},
		"both are one end":   {"hi\r\nexit\r\n", "P>hi\r\nhi!\r\nP>exit\r\n"},
		"an empty line":      {"\rexit\r", "P>\r\n!\r\nP>exit\r\n"},
		"a correction":       {"hö\x7fi\rexit\r", "P>hö\b \bi\r\nhi!\r\nP>exit\r\n"},
		"a fresh start":      {"no\x15hi\rexit\r", "P>no\b \b\b \bhi\r\nhi!\r\nP>exit\r\n"},
		"a line given up":    {"no\x03exit\r", "P>no^C\r\nP>exit\r\n"},
		"the end of input":   {"\x04", "P>"},
		"a cursor key":       {"h\x1b[Di\rexit\r", "P>hi\r\nhi!\r\nP>exit\r\n"},
		"a secret":           {"enable\rsesame\rexit\r", "P>enable\r\nPassword: \r\n6 letters\r\nP>exit\r\n"},
		"the window":         {"size\rexit\r", "P>size\r\n211x51\r\nP>exit\r\n"},
	} {
		closed := make(chan struct{})
		addr := serveSSH(t, &SSHD{Shell: func(t *Terminal) Shell {
			t.Greeting = "welcome\n"
			return &parrot{t: t, closed: closed}
		}})
		session, err := mustDial(t, addr).NewSession()
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		session.Stdin, session.Stdout = strings.NewReader(c.typed), &out
		if err := session.RequestPty("xterm", 24, 80, ssh.TerminalModes{}); err != nil {
			t.Fatal(err)
		}
		if err := session.WindowChange(51, 211); err != nil {
			t.Fatal(err)
		}
		if err := session.Shell(); err != nil {
			t.Fatal(err)
		}
		if err := session.Wait(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		<-closed
		want := "welcome\r\n" + strings.ReplaceAll(c.want, "P>", "\x1b]0;parrot\x07parrot> ")
		if diff := cmp.Diff(out.String(), want); diff != "" {
			t.Errorf("%s: got -, want +:\n%s", name, diff)
		}
	}
}

func TestWithoutATerminalThereAreNoPromptsAndNoEcho(t *testing.T) {
	addr := serveSSH(t, &SSHD{Shell: func(t *Terminal) Shell { return &parrot{t: t, closed: make(chan struct{})} }})
	session, err := mustDial(t, addr).NewSession()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	session.Stdin, session.Stdout = strings.NewReader("one\ntwo"), &out
	if err := session.Shell(); err != nil {
		t.Fatal(err)
	}
	if err := session.Wait(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(out.String(), "one!\ntwo!\n"); diff != "" {
		t.Error(diff)
	}
}

func TestAShellIsClosedWhenItsConnectionDrops(t *testing.T) {
	closed := make(chan struct{})
	addr := serveSSH(t, &SSHD{Shell: func(t *Terminal) Shell { return &parrot{t: t, closed: closed} }})
	client := mustDial(t, addr)
	session, err := client.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	session.Stdin = strings.NewReader("drop\n")
	if err := session.Shell(); err != nil {
		t.Fatal(err)
	}
	if err := client.Wait(); err == nil {
		t.Error("the connection ended as if all were well")
	}
	<-closed
}
