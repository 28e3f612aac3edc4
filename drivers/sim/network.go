package sim

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// Network is an in-memory network of hosts by name. Its connections keep the contract of net.Conn, are buffered as TCP's are,
// and block durably in the sense of testing/synctest, so that a whole fabric runs on virtual time; a Network is then made in
// the bubble that uses it. Every host can be cut off in the manners of a real management network, at any time. Its methods
// may be called from many goroutines at once.
type Network struct {
	mu        sync.Mutex
	listeners map[string]*memoryListener // by address
	hosts     map[string]*hostLink
	dialled   int
}

// NewNetwork is a network without hosts.
func NewNetwork() *Network {
	return &Network{listeners: map[string]*memoryListener{}, hosts: map[string]*hostLink{}}
}

// hostLink is how a host hangs on the network. It may be there before the host listens.
type hostLink struct {
	refuses bool
	hole    bool
	latency time.Duration
	healed  chan struct{}        // closed when hole ends
	conns   map[*memoryConn]bool // by their clients' ends
}

// memoryAddr is an address of the network: host:port.
type memoryAddr string

func (memoryAddr) Network() string  { return "memory" }
func (a memoryAddr) String() string { return string(a) }

// Listen takes an address, host:port.
func (n *Network) Listen(address string) (net.Listener, error) {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return nil, fmt.Errorf("listen in memory: %w", err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.listeners[address] != nil {
		return nil, &net.OpError{Op: "listen", Net: "memory", Addr: memoryAddr(address), Err: syscall.EADDRINUSE}
	}
	l := &memoryListener{network: n, address: memoryAddr(address), incoming: make(chan *memoryConn, backlog), closed: make(chan struct{})}
	n.listeners[address] = l
	return l, nil
}

// backlog is how many connections wait to be accepted.
const backlog = 128

// DialContext connects to a listener, after a round trip. Nobody listens on an address that does not exist: that is refused.
func (n *Network) DialContext(ctx context.Context, _, address string) (net.Conn, error) {
	fail := func(err error) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "memory", Addr: memoryAddr(address), Err: err}
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fail(err)
	}
	if err := n.reach(ctx, host); err != nil {
		return fail(err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	l, link := n.listeners[address], n.link(host)
	if l == nil || link.refuses || len(l.incoming) == backlog {
		return fail(syscall.ECONNREFUSED)
	}
	n.dialled++
	client, server := n.connect(link, memoryAddr("client:"+strconv.Itoa(n.dialled)), l.address)
	l.incoming <- server // there is room: nobody else adds one while the lock is held
	return client, nil
}

// reach waits as long as the way to a host and back takes; through a black hole it takes until that ends.
func (n *Network) reach(ctx context.Context, host string) error {
	for {
		n.mu.Lock()
		link := n.link(host)
		hole, healed, latency := link.hole, link.healed, link.latency
		n.mu.Unlock()
		if hole {
			select {
			case <-healed:
				continue
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		timer := time.NewTimer(2 * latency)
		select {
		case <-timer.C:
			return nil
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// connect makes both ends of a connection. The caller holds the lock.
func (n *Network) connect(link *hostLink, from, to memoryAddr) (client, server *memoryConn) {
	up, down := newStream(link.latency, link.hole), newStream(link.latency, link.hole)
	client = &memoryConn{local: from, remote: to, in: down, out: up}
	server = &memoryConn{local: to, remote: from, in: up, out: down}
	client.over = func() { n.forget(link, client) }
	server.over = client.over
	link.conns[client] = true
	return client, server
}

// link is that of a host. The caller holds the lock.
func (n *Network) link(host string) *hostLink {
	if n.hosts[host] == nil {
		n.hosts[host] = &hostLink{conns: map[*memoryConn]bool{}}
	}
	return n.hosts[host]
}

// forget drops a connection that is over.
func (n *Network) forget(link *hostLink, c *memoryConn) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(link.conns, c)
}

// Cut resets every connection of a host. What was under way is lost.
func (n *Network) Cut(host string) {
	n.mu.Lock()
	link := n.link(host)
	conns := link.conns
	link.conns = map[*memoryConn]bool{}
	n.mu.Unlock()
	for c := range conns {
		c.reset()
	}
}

// Refuse makes a host take no new connections, or take them again. Those that it has live on.
func (n *Network) Refuse(host string, on bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.link(host).refuses = on
}

// BlackHole makes everything to and from a host get nowhere, without a sign of it, or ends that. What connections carried
// meanwhile then arrives, as TCP sends it again, where both ends still wait.
func (n *Network) BlackHole(host string, on bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	link := n.link(host)
	if link.hole == on {
		return
	}
	if link.hole = on; on {
		link.healed = make(chan struct{})
	} else {
		close(link.healed)
	}
	for c := range link.conns {
		c.in.hold(on)
		c.out.hold(on)
	}
}

// Latency makes what is sent to and from a host from now on arrive so much later, one way.
func (n *Network) Latency(host string, d time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	link := n.link(host)
	link.latency = d
	for c := range link.conns {
		c.in.delay(d)
		c.out.delay(d)
	}
}

// memoryListener is one address that is listened on.
type memoryListener struct {
	network  *Network
	address  memoryAddr
	incoming chan *memoryConn
	closed   chan struct{}
	once     sync.Once
}

func (l *memoryListener) Accept() (net.Conn, error) {
	select {
	case <-l.closed: // also where a connection waits
		return nil, l.ended()
	default:
	}
	select {
	case c := <-l.incoming:
		return c, nil
	case <-l.closed:
		return nil, l.ended()
	}
}

func (l *memoryListener) ended() error {
	return &net.OpError{Op: "accept", Net: "memory", Addr: l.address, Err: net.ErrClosed}
}

func (l *memoryListener) Addr() net.Addr { return l.address }

// Close gives the address free and resets the connections that nobody has accepted.
func (l *memoryListener) Close() error {
	l.once.Do(func() {
		l.network.mu.Lock()
		delete(l.network.listeners, string(l.address))
		l.network.mu.Unlock()
		close(l.closed)
		for {
			select {
			case c := <-l.incoming:
				c.reset()
			default:
				return
			}
		}
	})
	return nil
}
