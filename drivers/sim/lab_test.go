package sim

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// greeter is software that says hello over TLS and then its faults, one for each line that it is sent.
type greeter struct {
	hw       Hardware
	restarts atomic.Int32
}

func newGreeter(hw Hardware) Personality {
	p := &greeter{hw: hw}
	hw.Apply(Behaviour{Ports: map[string]PortBehaviour{"p1": {Up: true}, "p2": {Up: true}}})
	return p
}

func (p *greeter) Serves() Protocols { return Protocols{GNMI: true} }
func (p *greeter) Restart()          { p.restarts.Add(1) }
func (p *greeter) Faults(Operation) []FaultKind {
	return []FaultKind{Reject, Partial, Drop}
}

func (p *greeter) Serve(ctx context.Context, s Services) error {
	done := make(chan struct{})
	defer close(done)
	go func() {
		select {
		case <-ctx.Done():
			s.GNMI.Close()
		case <-done:
		}
	}()
	for {
		conn, err := s.GNMI.Accept()
		if err != nil {
			return err
		}
		c := tls.Server(conn, s.TLS)
		if _, err := io.WriteString(c, "hello\n"); err != nil {
			c.Close()
			continue
		}
		buf := make([]byte, 1)
		for {
			if _, err := c.Read(buf); err != nil {
				break
			}
			f := p.hw.Fault(Set).Kind
			if f == Drop {
				s.Drop(conn.RemoteAddr())
			}
			if _, err := io.WriteString(c, string(f)+"\n"); err != nil {
				break
			}
		}
		c.Close()
	}
}

func startLab(t *testing.T) *Lab {
	t.Helper()
	specs := []Spec{{Name: "a", Platform: "greeter", Ports: []PortSpec{{Name: "p1", Speed: 1e9, PeerDevice: "a", PeerPort: "p2"}, {Name: "p2", Speed: 1e9, PeerDevice: "a", PeerPort: "p1"}}}}
	l, err := New(specs, Options{Scale: 1000, Personalities: map[string]func(Hardware) Personality{"greeter": newGreeter}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := l.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return l
}

// greet connects to a device, verifies it and reads the hello.
func greet(l *Lab) (*tls.Conn, error) {
	ca, err := os.ReadFile(l.CAFile())
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	address, _ := l.Endpoint("a")
	c, err := tls.Dial("tcp", address, &tls.Config{RootCAs: pool})
	if err != nil {
		return nil, err
	}
	line := make([]byte, 6)
	if _, err := io.ReadFull(c, line); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func TestADeviceIsVerifiedByTheLabsAuthority(t *testing.T) {
	l := startLab(t)
	c, err := greet(l)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	address, _ := l.Endpoint("a")
	if _, err := tls.Dial("tcp", address, &tls.Config{RootCAs: x509.NewCertPool()}); err == nil {
		t.Error("a client that does not know the authority trusted the device")
	}
}

func TestAKilledDeviceIsDeadUntilItIsRevivedAtItsOldAddress(t *testing.T) {
	l := startLab(t)
	c, err := greet(l)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	before, _ := l.Endpoint("a")
	if err := l.Kill("a"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("a connection outlived its device")
	}
	if conn, err := net.Dial("tcp", before); err == nil {
		conn.Close()
		t.Error("a dead device takes connections")
	}
	if err := l.Revive("a"); err != nil {
		t.Fatal(err)
	}
	again, err := greet(l)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
	if after, _ := l.Endpoint("a"); after != before {
		t.Errorf("it came back at %s, was at %s", after, before)
	}
}

func TestARebootTakesThePortsDownAndComesBackRestarted(t *testing.T) {
	l := startLab(t)
	if err := l.Reboot("a"); err != nil {
		t.Fatal(err)
	}
	if c, _ := l.Counters("a", "p1"); c.Up {
		t.Error("a port is up without power")
	}
	deadline := time.Now().Add(2 * time.Minute)
	c, err := greet(l)
	for err != nil && time.Now().Before(deadline) {
		runtime.Gosched()
		c, err = greet(l)
	}
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if n := l.nodes[0].personality.(*greeter).restarts.Load(); n != 1 {
		t.Errorf("restarted %d times", n)
	}
	if c, _ := l.Counters("a", "p1"); !c.Up {
		t.Error("the port stayed down")
	}
}

func TestAFaultHappensOnceAndInOrder(t *testing.T) {
	l := startLab(t)
	for _, f := range []FaultKind{Reject, Partial} {
		if err := l.Inject(Fault{Kind: f, Device: "a", On: Set}); err != nil {
			t.Fatal(err)
		}
	}
	c, err := greet(l)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "..."); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len("reject\npartial\n\n"))
	if _, err := io.ReadFull(c, got); err != nil || string(got) != "reject\npartial\n\n" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestADroppedConnectionEndsWithoutAnAnswer(t *testing.T) {
	l := startLab(t)
	if err := l.Inject(Fault{Kind: Drop, Device: "a", On: Set}); err != nil {
		t.Fatal(err)
	}
	c, err := greet(l)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "."); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(c); err == nil || len(got) > 0 {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestNothingRunsAfterClose(t *testing.T) {
	before := runtime.NumGoroutine()
	l := startLab(t)
	c, err := greet(l)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := l.Reboot("a"); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(2 * time.Minute)
	for runtime.NumGoroutine() > before && time.Now().Before(deadline) {
		runtime.Gosched()
	}
	if n := runtime.NumGoroutine(); n > before {
		stacks := make([]byte, 1<<16)
		t.Errorf("%d goroutines before, %d after:\n%s", before, n, stacks[:runtime.Stack(stacks, true)])
	}
	if _, err := os.Stat(l.CAFile()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the lab left its folder behind: %v", err)
	}
}

func TestALabThatCannotBeBuiltSaysWhy(t *testing.T) {
	cable := func(device, port string) []PortSpec {
		return []PortSpec{{Name: "p1", PeerDevice: device, PeerPort: port}}
	}
	for _, c := range []struct {
		name, want string
		specs      []Spec
	}{
		{"an unknown platform", `a: the lab knows no platform "x"`, []Spec{{Name: "a", Platform: "x"}}},
		{"a cable to nowhere", "a/p1: cabled to b/p9, which does not exist", []Spec{{Name: "a", Ports: cable("b", "p9")}}},
		{"a cable with one end", "a/p1: cabled to b/p1, which is cabled to c/p1", []Spec{{Name: "a", Ports: cable("b", "p1")}, {Name: "b", Ports: cable("c", "p1")}, {Name: "c", Ports: cable("b", "p1")}}},
	} {
		if _, err := New(c.specs, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
}
