package sim

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// ErrHalted says that the device lost its power while it waited.
var ErrHalted = errors.New("the device is off")

// bootTime is the device time from a restart until a device answers again. It is the lab's choice.
const bootTime = 60 * time.Second

// rebindTime is how long, in wall time, a device that comes back tries to get its old address.
const rebindTime = 5 * time.Second

// node is one device: its software, and the hardware under it. It is the Hardware of that software.
type node struct {
	lab         *Lab
	spec        Spec
	index       int
	tls         *tls.Config
	personality Personality

	mu                sync.Mutex
	gnmiAddr, sshAddr string
	listeners         []*listener
	cancel            context.CancelFunc // ends Serve; nil while the device is not reachable
	served            chan struct{}      // closed when Serve has returned
	halted            chan struct{}      // closed while the device has no power
	connecting        bool
	off               bool
	severed           bool // from its management network
	rebooting         bool
	impaired          map[FaultKind]int // how often the network was changed in that manner
}

func (n *node) Spec() Spec        { return n.spec }
func (n *node) Apply(b Behaviour) { n.lab.plane.apply(n.lab.age(), n.index, b) }
func (n *node) Counters(port string) Counters {
	return n.lab.plane.counters(n.lab.age(), n.index, port)
}
func (n *node) Flap(port string) { n.lab.plane.flap(n.lab.age(), n.index, port) }
func (n *node) Now() time.Time   { return n.lab.Now() }

func (n *node) Sleep(ctx context.Context, d time.Duration) error {
	n.mu.Lock()
	halted := n.halted
	n.mu.Unlock()
	timer := time.NewTimer(time.Duration(float64(d) / n.lab.options.Scale))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-halted:
		return ErrHalted
	case <-n.lab.closed:
		return ErrHalted
	}
}

// pause is Sleep of what nobody can call back.
func (n *node) pause(d time.Duration) error { return n.Sleep(context.Background(), d) }

// reboot restarts the device by itself. One that restarts already goes on with that.
func (n *node) reboot(away time.Duration) {
	if n.beginReboot() {
		n.lab.wg.Go(func() {
			n.powerOff()
			n.boot(away)
		})
	}
}

// beginReboot says whether the caller is to restart the device: nobody else does.
func (n *node) beginReboot() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	begun := !n.rebooting
	n.rebooting = true
	return begun
}

// sever says whether the device is to be without a management network from now on.
func (n *node) sever(severed bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.severed = severed
}

// addresses are where the device listens, or did.
func (n *node) addresses() (gnmi, ssh string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	has := n.personality.Serves()
	if has.GNMI {
		gnmi = n.gnmiAddr
	}
	if has.SSH {
		ssh = n.sshAddr
	}
	return gnmi, ssh
}

// connect makes the device reachable, at its old addresses if it had some. A device that is reachable stays so; one that
// is off or severed as well.
func (n *node) connect() error {
	n.mu.Lock()
	served, stays := n.served, n.cancel != nil || n.connecting || n.off || n.severed
	n.connecting = n.connecting || !stays
	n.mu.Unlock()
	if stays {
		return nil
	}
	defer func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.connecting = false
	}()
	if served != nil {
		<-served
	}
	var gnmi, ssh *listener
	var err error
	has := n.personality.Serves()
	if has.GNMI {
		gnmi, err = n.listen(&n.gnmiAddr)
	}
	if has.SSH && err == nil {
		ssh, err = n.listen(&n.sshAddr)
	}
	if err != nil {
		n.disconnect()
		return err
	}
	return n.serve(gnmi, ssh)
}

// listen opens a listener and keeps its address.
func (n *node) listen(addr *string) (*listener, error) {
	want := *addr
	if want == "" {
		want = "127.0.0.1:0"
	}
	deadline := time.Now().Add(rebindTime)
	l, err := listen(n.lab.options.Network, want)
	for err != nil && time.Now().Before(deadline) {
		select {
		case <-n.lab.closed:
			return nil, fmt.Errorf("%s: %w", n.spec.Name, err)
		case <-time.After(20 * time.Millisecond):
		}
		l, err = listen(n.lab.options.Network, want)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n.spec.Name, err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	*addr = l.Addr().String()
	n.listeners = append(n.listeners, l)
	return l, nil
}

// serve runs the device's software on the listeners.
func (n *node) serve(gnmi, ssh *listener) error {
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan struct{})
	n.mu.Lock()
	n.cancel, n.served = cancel, served
	n.mu.Unlock()
	services := n.lab.services(gnmi, ssh, n.tls)
	n.lab.wg.Go(func() {
		defer close(served)
		if err := n.personality.Serve(ctx, services); err != nil && ctx.Err() == nil {
			n.lab.options.Logger.Error("device stopped serving", "device", n.spec.Name, "err", err)
		}
	})
	n.mu.Lock()
	gone := n.severed || n.off
	n.mu.Unlock()
	select {
	case <-n.lab.closed:
		gone = true
	default:
	}
	if gone { // while it came up
		n.disconnect()
	}
	return nil
}

// disconnect ends the device's listeners and connections.
func (n *node) disconnect() {
	n.mu.Lock()
	cancel, listeners := n.cancel, n.listeners
	n.cancel, n.listeners = nil, nil
	n.mu.Unlock()
	if cancel != nil {
		cancel()
	}
	for _, l := range listeners {
		l.cut()
	}
}

// powerOff ends the device and waits until nothing of it runs any more.
func (n *node) powerOff() {
	n.mu.Lock()
	select {
	case <-n.halted:
	default:
		close(n.halted)
	}
	served := n.served
	n.off = true
	n.mu.Unlock()
	n.lab.plane.power(n.lab.age(), n.index, false)
	n.disconnect()
	if served != nil {
		<-served
	}
	n.wait()
}

// wait returns when the work that outlives the connections that asked for it has ended too.
func (n *node) wait() {
	if w, ok := n.personality.(interface{ Wait() }); ok {
		w.Wait()
	}
}

// boot starts a device that is off after a while, and returns when it is reachable or the lab has closed.
func (n *node) boot(after time.Duration) {
	if !n.lab.pass(after) {
		return
	}
	n.mu.Lock()
	n.halted = make(chan struct{})
	n.mu.Unlock()
	n.lab.plane.power(n.lab.age(), n.index, true)
	n.personality.Restart()
	n.mu.Lock()
	n.off, n.rebooting = false, false
	n.mu.Unlock()
	if err := n.connect(); err != nil {
		n.lab.options.Logger.Error("device did not come back", "device", n.spec.Name, "err", err)
	}
}

// dropper ends the connection from an address on whichever listener has it.
func dropper(ls []*listener) func(net.Addr) {
	return func(remote net.Addr) {
		for _, l := range ls {
			l.drop(remote)
		}
	}
}
