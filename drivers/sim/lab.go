package sim

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// Options of a lab. The zero value of each but Personalities is a sound default.
type Options struct {
	Scale         float64                               // device seconds in a wall second; 0 means 1, real time
	Personalities map[string]func(Hardware) Personality // by platform
	Logger        *slog.Logger                          // nil: nothing is logged
	Dir           string                                // where ca.pem, client.pem, client-key.pem and known_hosts go; empty: a temporary folder
	BasePort      int                                   // device n listens on BasePort+2n (gNMI) and BasePort+2n+1 (SSH); 0: any free ports
	User          string                                // that every device knows; empty: admin
	Password      string                                // empty: weir-lab
	Keys          []ssh.PublicKey                       // that User may log in with over SSH, besides the password
	Seed          uint64                                // of the hash that spreads flows over equal paths
	Network       *Network                              // that devices listen on, each on the host of its name; nil: loopback
	Authority     *Authority                            // whose certificates and host key the devices have; nil: one of the lab's own
}

// Lab is a set of simulated devices that are cabled to each other. Its methods may be called from many goroutines.
type Lab struct {
	options   Options
	temporary bool
	plane     *plane
	authority *Authority
	nodes     []*node
	faults    *faults
	started   time.Time
	closed    chan struct{}
	stop      sync.Once
	wg        sync.WaitGroup
}

// New builds the devices. Every platform of the specs must have a personality, and every cable two ends that agree.
func New(specs []Spec, o Options) (*Lab, error) {
	o.Scale = cmp.Or(o.Scale, 1)
	o.User, o.Password = cmp.Or(o.User, "admin"), cmp.Or(o.Password, "weir-lab")
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	plane, err := newPlane(specs, o.Seed)
	if err != nil {
		return nil, err
	}
	l := &Lab{options: o, plane: plane, started: time.Now(), faults: newFaults(), closed: make(chan struct{})}
	if l.options.Dir == "" {
		l.temporary = true
		if l.options.Dir, err = os.MkdirTemp("", "weir-lab-"); err != nil {
			return nil, fmt.Errorf("make the lab's folder: %w", err)
		}
	} else if err := os.MkdirAll(l.options.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the lab's folder: %w", err)
	}
	if err := l.build(specs); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func (l *Lab) build(specs []Spec) (err error) {
	if l.authority = l.options.Authority; l.authority == nil {
		if l.authority, err = NewAuthority(); err != nil {
			return err
		}
	}
	if err := l.authority.write(l.options.Dir, l.options.User); err != nil {
		return err
	}
	for i, spec := range specs {
		personality := l.options.Personalities[spec.Platform]
		if personality == nil {
			return fmt.Errorf("%s: the lab knows no platform %q", spec.Name, spec.Platform)
		}
		config, err := l.authority.server(spec.Name)
		if err != nil {
			return err
		}
		n := &node{lab: l, spec: spec, index: i, tls: config, halted: make(chan struct{}), impaired: map[FaultKind]int{}}
		switch {
		case l.options.Network != nil:
			n.gnmiAddr, n.sshAddr = net.JoinHostPort(spec.Name, gnmiPort), net.JoinHostPort(spec.Name, sshPort)
		case l.options.BasePort != 0:
			n.gnmiAddr = fmt.Sprintf("127.0.0.1:%d", l.options.BasePort+2*i)
			n.sshAddr = fmt.Sprintf("127.0.0.1:%d", l.options.BasePort+2*i+1)
		}
		n.personality = personality(n)
		l.nodes = append(l.nodes, n)
	}
	return nil
}

// The ports of devices in memory: those that IANA has registered.
const (
	gnmiPort = "9339"
	sshPort  = "22"
)

// Start makes every device reachable. When ctx ends the lab closes.
func (l *Lab) Start(ctx context.Context) error {
	for _, n := range l.nodes {
		if err := n.connect(); err != nil {
			return err
		}
	}
	if err := l.writeKnownHosts(); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { l.halt() })
	l.wg.Go(func() { <-l.closed; stop() })
	return nil
}

func (l *Lab) writeKnownHosts() error {
	var lines strings.Builder
	for _, n := range l.nodes {
		if _, ssh := n.addresses(); ssh != "" {
			lines.WriteString(knownhosts.Line([]string{ssh}, l.authority.hostKey.PublicKey()) + "\n")
		}
	}
	if err := os.WriteFile(l.KnownHosts(), []byte(lines.String()), 0o600); err != nil {
		return fmt.Errorf("write the lab's host keys: %w", err)
	}
	return nil
}

// Close ends every device and waits until all that belongs to the lab has ended.
func (l *Lab) Close() error {
	l.halt()
	l.wg.Wait()
	for _, n := range l.nodes {
		n.wait()
	}
	if l.temporary {
		return os.RemoveAll(l.options.Dir)
	}
	return nil
}

// halt takes the power from everything, once.
func (l *Lab) halt() {
	l.stop.Do(func() {
		close(l.closed)
		for _, n := range l.nodes {
			n.powerOff()
		}
	})
}

// device finds a device by name.
func (l *Lab) device(name string) (*node, error) {
	for _, n := range l.nodes {
		if n.spec.Name == name {
			return n, nil
		}
	}
	return nil, fmt.Errorf("%s: no such device in the lab", name)
}

// Endpoint is where a device listens; empty where it has not the protocol or does not exist.
func (l *Lab) Endpoint(device string) (gnmi, ssh string) {
	n, err := l.device(device)
	if err != nil {
		return "", ""
	}
	return n.addresses()
}

// CAFile is the certificate authority of every gNMI server of the lab.
func (l *Lab) CAFile() string { return filepath.Join(l.options.Dir, "ca.pem") }

// ClientCertificate is a certificate that the devices accept, and its key.
func (l *Lab) ClientCertificate() (cert, key string) {
	return filepath.Join(l.options.Dir, "client.pem"), filepath.Join(l.options.Dir, "client-key.pem")
}

// KnownHosts is a known_hosts file with every SSH server of the lab.
func (l *Lab) KnownHosts() string { return filepath.Join(l.options.Dir, "known_hosts") }

// Credentials are what every device accepts.
func (l *Lab) Credentials() (user, password string) { return l.options.User, l.options.Password }

// Scale is how many device seconds pass in a wall second.
func (l *Lab) Scale() float64 { return l.options.Scale }

// Now is device time.
func (l *Lab) Now() time.Time {
	return l.started.Add(time.Duration(float64(time.Since(l.started)) * l.options.Scale))
}

// pass waits for a device time, or until the lab closes. It returns whether the time has passed.
func (l *Lab) pass(d time.Duration) bool {
	timer := time.NewTimer(time.Duration(float64(d) / l.options.Scale))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-l.closed:
		return false
	}
}

// age is how long the lab has run in device time: the time of the data plane.
func (l *Lab) age() time.Duration { return l.Now().Sub(l.started) }

// SetTraffic changes what the hosts send from now on. Some scenarios are about one host: the victim of an incast, the host
// whose NIC storms; it is at[0], or else the first host. With DroppedClass at[1] names the switch that classifies wrongly,
// or else it is the switch in front of the victim.
func (l *Lab) SetTraffic(t Traffic, at ...string) error {
	return l.plane.setTraffic(l.age(), t, at...)
}

// Kill cuts a device off from its management network: its listeners and connections end. It forwards on, and what it was
// doing it goes on doing.
func (l *Lab) Kill(device string) error {
	n, err := l.device(device)
	if err != nil {
		return err
	}
	n.sever(true)
	n.disconnect()
	return nil
}

// Revive makes a killed device reachable again where it was; one that is off, once it has come back.
func (l *Lab) Revive(device string) error {
	n, err := l.device(device)
	if err != nil {
		return err
	}
	n.sever(false)
	return n.connect()
}

// Reboot restarts a device: its ports go down, its connections end, what it did not make persistent is lost. It returns
// when the device is down; the device comes back by itself after bootTime. One that restarts already goes on with that.
func (l *Lab) Reboot(device string) error {
	n, err := l.device(device)
	if err != nil {
		return err
	}
	if n.beginReboot() {
		n.powerOff()
		l.wg.Go(func() { n.boot(bootTime) })
	}
	return nil
}

// Counters are those of a port of a device now.
func (l *Lab) Counters(device, port string) (Counters, error) {
	n, err := l.device(device)
	if err != nil {
		return Counters{}, err
	}
	return n.Counters(port), nil
}

// Config is the running configuration of a device in its own language, as its software would print it.
func (l *Lab) Config(device string) ([]byte, error) {
	n, err := l.device(device)
	if err != nil {
		return nil, err
	}
	c, ok := n.personality.(interface{ Config() []byte })
	if !ok {
		return nil, fmt.Errorf("%s: this device cannot print its configuration", device)
	}
	return c.Config(), nil
}

// services are what a device is reached by on two listeners, either of which may be nil.
func (l *Lab) services(gnmi, ssh *listener, config *tls.Config) Services {
	s := Services{TLS: config, HostKey: l.authority.hostKey, User: l.options.User, Password: l.options.Password, Keys: l.options.Keys}
	var all []*listener
	if gnmi != nil {
		s.GNMI, all = gnmi, append(all, gnmi)
	}
	if ssh != nil {
		s.SSH, all = ssh, append(all, ssh)
	}
	s.Drop = dropper(all)
	return s
}
