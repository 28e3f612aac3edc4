package sim

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/nettest"

	"github.com/weirfabric/weir/drivers/drivertest"
)

// pipe is both ends of a connection to host a.
func pipe(t *testing.T, n *Network) (client, server net.Conn) {
	t.Helper()
	l, err := n.Listen("a:1")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if client, err = n.DialContext(t.Context(), "tcp", "a:1"); err != nil {
		t.Fatal(err)
	}
	if server, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	return client, server
}

func TestAConnectionInMemoryKeepsTheContract(t *testing.T) {
	nettest.TestConn(t, func() (c1, c2 net.Conn, stop func(), err error) {
		c1, c2 = pipe(t, NewNetwork())
		return c1, c2, func() { c1.Close(); c2.Close() }, nil
	})
}

// send writes text and returns how long it took to arrive in virtual time.
func send(t *testing.T, from, to net.Conn, text string) time.Duration {
	t.Helper()
	began := time.Now()
	if _, err := io.WriteString(from, text); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(text))
	if _, err := io.ReadFull(to, got); err != nil || string(got) != text {
		t.Fatalf("got %q, %v", got, err)
	}
	return time.Since(began)
}

func TestAFaultOfTheNetwork(t *testing.T) {
	dial := func(t *testing.T, n *Network, patience time.Duration) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		return n.DialContext(ctx, "tcp", "a:1")
	}
	for name, test := range map[string]func(t *testing.T, n *Network, l net.Listener, client, server net.Conn){
		"a cut resets both ends and leaves the host to be dialled": func(t *testing.T, n *Network, l net.Listener, client, server net.Conn) {
			if _, err := io.WriteString(server, "lost"); err != nil {
				t.Fatal(err)
			}
			n.Cut("a")
			for _, c := range []net.Conn{client, server} {
				_, read := c.Read(make([]byte, 1))
				_, written := c.Write([]byte("x"))
				if !errors.Is(read, syscall.ECONNRESET) || !errors.Is(written, syscall.ECONNRESET) {
					t.Errorf("got %v and %v", read, written)
				}
			}
			c, err := dial(t, n, time.Second)
			if err != nil {
				t.Fatal(err)
			}
			c.Close()
		},
		"a cut of another host is nothing": func(t *testing.T, n *Network, l net.Listener, client, server net.Conn) {
			n.Cut("b")
			send(t, client, server, "hello")
		},
		"a host that refuses keeps the connections that it has": func(t *testing.T, n *Network, l net.Listener, client, server net.Conn) {
			n.Refuse("a", true)
			if _, err := dial(t, n, time.Second); !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("got %v", err)
			}
			send(t, client, server, "hello")
			n.Refuse("a", false)
			c, err := dial(t, n, time.Second)
			if err != nil {
				t.Fatal(err)
			}
			c.Close()
		},
		"a black hole hangs dials and reads, and what was written arrives when it ends": func(t *testing.T, n *Network, l net.Listener, client, server net.Conn) {
			n.BlackHole("a", true)
			if _, err := dial(t, n, time.Minute); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a dial: got %v", err)
			}
			if _, err := io.WriteString(client, "hello"); err != nil {
				t.Errorf("a write: got %v", err)
			}
			if err := server.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			if _, err := server.Read(make([]byte, 5)); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("a read: got %v", err)
			}
			if err := server.SetReadDeadline(time.Time{}); err != nil {
				t.Fatal(err)
			}
			time.AfterFunc(time.Hour, func() { n.BlackHole("a", false) })
			if took := send(t, client, server, "hello"); took != time.Hour {
				t.Errorf("it arrived after %v", took)
			}
		},
		"a black hole hides the end of a connection": func(t *testing.T, n *Network, l net.Listener, client, server net.Conn) {
			n.BlackHole("a", true)
			client.Close()
			time.AfterFunc(time.Hour, func() { n.BlackHole("a", false) })
			began := time.Now()
			if _, err := server.Read(make([]byte, 1)); err != io.EOF || time.Since(began) != time.Hour { //nolint:errorlint // the contract is io.EOF itself
				t.Errorf("got %v after %v", err, time.Since(began))
			}
		},
		"latency delays each way, and a dial by both": func(t *testing.T, n *Network, l net.Listener, client, server net.Conn) {
			n.Latency("a", 30*time.Millisecond)
			if took := send(t, client, server, "hello"); took != 30*time.Millisecond {
				t.Errorf("up: %v", took)
			}
			if took := send(t, server, client, "hello"); took != 30*time.Millisecond {
				t.Errorf("down: %v", took)
			}
			began := time.Now()
			c, err := dial(t, n, time.Second)
			if err != nil {
				t.Fatal(err)
			}
			c.Close()
			if took := time.Since(began); took != 60*time.Millisecond {
				t.Errorf("a dial: %v", took)
			}
		},
		"a host that is not there is refused": func(t *testing.T, n *Network, l net.Listener, client, server net.Conn) {
			l.Close()
			if _, err := dial(t, n, time.Second); !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("got %v", err)
			}
		},
		"what fills the window blocks until it is read": func(t *testing.T, n *Network, l net.Listener, client, server net.Conn) {
			time.AfterFunc(time.Minute, func() { _, _ = io.CopyN(io.Discard, server, 2*window) })
			began := time.Now()
			if _, err := client.Write(make([]byte, 2*window)); err != nil || time.Since(began) != time.Minute {
				t.Errorf("got %v after %v", err, time.Since(began))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			drivertest.Bubble(t, func(t *testing.T) {
				n := NewNetwork()
				client, server := pipe(t, n)
				l, err := n.Listen("a:1")
				if err != nil {
					t.Fatal(err)
				}
				test(t, n, l, client, server)
				l.Close()
				client.Close()
				server.Close()
			})
		})
	}
}
