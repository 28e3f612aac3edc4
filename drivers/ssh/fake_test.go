package ssh

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/weirfabric/weir/drivers"
)

const password = "correct-horse-8843"

// server is an SSH server on loopback. What it says is up to exec and shell.
type server struct {
	address string
	hostKey ssh.Signer
	config  *ssh.ServerConfig

	exec  func(command string, in io.Reader, out, err io.Writer) (status uint32, wrong error)
	shell func() session

	mu       sync.Mutex
	logins   int
	commands []string
	conns    []net.Conn
}

// session is the device's side of a terminal.
type session interface {
	prompt() string
	hidden() bool // what is typed is not echoed
	line(text string) (said string, wrong error)
}

// What exec and line may say went wrong.
var (
	errDrop = errors.New("drop the connection")
	errHang = errors.New("say no more")
)

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

// serve starts a server that edit has prepared.
func serve(t *testing.T, edit func(s *server)) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{address: l.Addr().String(), hostKey: newKey(t)}
	s.config = &ssh.ServerConfig{PasswordCallback: s.password}
	s.config.AddHostKey(s.hostKey)
	edit(s)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.conns = append(s.conns, conn)
			s.mu.Unlock()
			wg.Go(func() { s.connection(conn) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		s.cut()
		wg.Wait()
	})
	return s
}

// cut ends all connections.
func (s *server) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		c.Close()
	}
	s.conns = nil
}

func (s *server) password(_ ssh.ConnMetadata, given []byte) (*ssh.Permissions, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logins++
	if string(given) != password {
		return nil, errors.New("permission denied")
	}
	return nil, nil
}

// given is how often a password was.
func (s *server) given() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.logins
}

// said is every command that was asked for.
func (s *server) said() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.commands)
}

func (s *server) connection(conn net.Conn) {
	defer conn.Close()
	_, channels, requests, err := ssh.NewServerConn(conn, s.config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for c := range channels {
		channel, requests, err := c.Accept()
		if err != nil {
			return
		}
		go s.channel(conn, channel, requests)
	}
}

func (s *server) channel(conn net.Conn, channel ssh.Channel, requests <-chan *ssh.Request) {
	for r := range requests {
		var wrong error
		switch r.Type {
		case "pty-req":
			_ = r.Reply(true, nil)
			continue
		case "exec":
			_ = r.Reply(true, nil)
			command := string(r.Payload[4:])
			s.mu.Lock()
			s.commands = append(s.commands, command)
			s.mu.Unlock()
			var status uint32
			if status, wrong = s.exec(command, channel, channel, channel.Stderr()); wrong == nil {
				_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{status}))
			}
		case "shell":
			_ = r.Reply(true, nil)
			wrong = terminalOf(channel, s.shell())
		default:
			_ = r.Reply(false, nil)
			continue
		}
		if errors.Is(wrong, errHang) {
			continue
		}
		if errors.Is(wrong, errDrop) {
			conn.Close()
		}
		channel.Close()
	}
}

// terminalOf echoes each byte as a device does, and acts on lines.
func terminalOf(channel io.ReadWriter, s session) error {
	var typed bytes.Buffer
	_, _ = io.WriteString(channel, "\r\nAuthorised use only.\r\n\x1b]0;admin@leaf1: ~\x07"+s.prompt())
	one := make([]byte, 1)
	for {
		if _, err := channel.Read(one); err != nil {
			return err
		}
		if one[0] != '\n' {
			typed.Write(one)
			if !s.hidden() {
				_, _ = channel.Write(one)
			}
			continue
		}
		said, wrong := s.line(typed.String())
		typed.Reset()
		if wrong != nil {
			return wrong
		}
		if said != "" {
			said = strings.ReplaceAll(said, "\n", "\r\n") + "\r\n"
		}
		_, _ = io.WriteString(channel, "\r\n"+said+s.prompt())
	}
}

// known writes a known_hosts file that has the key for the server.
func (s *server) known(t *testing.T, key ssh.PublicKey) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "known_hosts")
	if err := os.WriteFile(name, []byte(knownhosts.Line([]string{s.address}, key)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func (s *server) endpoint(t *testing.T, platform string) drivers.Endpoint {
	return drivers.Endpoint{Device: "leaf1", Platform: platform, SSH: s.address, User: "admin", Password: password, HostKeys: s.known(t, s.hostKey.PublicKey())}
}
