package sim

import (
	"net"
	"sync"
)

// listener is one address of a device. It knows the connections it accepted, so that they can be cut.
type listener struct {
	net.Listener
	mu    sync.Mutex
	conns map[string]net.Conn // by remote address
}

// listen opens a listener on an address of loopback, or of a network in memory.
func listen(network *Network, addr string) (*listener, error) {
	open := func() (net.Listener, error) { return net.Listen("tcp", addr) }
	if network != nil {
		open = func() (net.Listener, error) { return network.Listen(addr) }
	}
	l, err := open()
	if err != nil {
		return nil, err
	}
	return &listener{Listener: l, conns: map[string]net.Conn{}}, nil
}

// Accept waits for the next connection and remembers it until it is closed.
func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns[c.RemoteAddr().String()] = c
	return tracked{c, l}, nil
}

// drop ends the connection from remote, if there is one.
func (l *listener) drop(remote net.Addr) {
	l.mu.Lock()
	c := l.conns[remote.String()]
	l.mu.Unlock()
	if c != nil {
		abort(c)
	}
}

// cut closes the listener and ends every connection.
func (l *listener) cut() {
	l.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.conns {
		abort(c)
	}
}

// abort resets a connection: what was written and not sent is lost, as with a device that dies.
func abort(c net.Conn) {
	switch c := c.(type) {
	case *memoryConn:
		c.reset()
	case *net.TCPConn:
		_ = c.SetLinger(0) // a connection that is gone already has nothing to lose
	}
	c.Close()
}

// tracked is a connection that its listener forgets when it is closed.
type tracked struct {
	net.Conn
	l *listener
}

func (t tracked) Close() error {
	t.l.mu.Lock()
	delete(t.l.conns, t.RemoteAddr().String())
	t.l.mu.Unlock()
	return t.Conn.Close()
}
