package sim

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// memoryConn is one end of a connection of a Network.
type memoryConn struct {
	local, remote memoryAddr
	in, out       *stream
	over          func() // both ends are closed
}

func (c *memoryConn) Read(b []byte) (int, error) {
	n, err := c.in.read(b)
	if err != nil && err != io.EOF { //nolint:errorlint // the stream's own
		err = &net.OpError{Op: "read", Net: "memory", Source: c.local, Addr: c.remote, Err: err}
	}
	return n, err
}

func (c *memoryConn) Write(b []byte) (int, error) {
	n, err := c.out.write(b)
	if err != nil {
		err = &net.OpError{Op: "write", Net: "memory", Source: c.local, Addr: c.remote, Err: err}
	}
	return n, err
}

// Close ends both ways. The other end reads what has been written, and then io.EOF.
func (c *memoryConn) Close() error {
	again := c.in.closeReader()
	c.out.closeWriter()
	if c.in.ended() {
		c.over()
	}
	if again {
		return &net.OpError{Op: "close", Net: "memory", Source: c.local, Addr: c.remote, Err: net.ErrClosed}
	}
	return nil
}

// reset ends both ways at once for both ends, and loses what is under way.
func (c *memoryConn) reset() {
	c.in.reset()
	c.out.reset()
	c.over()
}

func (c *memoryConn) LocalAddr() net.Addr  { return c.local }
func (c *memoryConn) RemoteAddr() net.Addr { return c.remote }

func (c *memoryConn) SetDeadline(t time.Time) error {
	c.in.setReadDeadline(t)
	c.out.setWriteDeadline(t)
	return nil
}

func (c *memoryConn) SetReadDeadline(t time.Time) error  { c.in.setReadDeadline(t); return nil }
func (c *memoryConn) SetWriteDeadline(t time.Time) error { c.out.setWriteDeadline(t); return nil }

// window is how many bytes may be under way, as with the send and receive buffers of TCP. More blocks the writer.
const window = 256 << 10

// stream is one way of a connection.
type stream struct {
	mu      sync.Mutex
	cond    sync.Cond
	parts   []part // written and not read, in order
	size    int    // of parts, in bytes
	latency time.Duration
	held    bool // nothing arrives

	reader, writer bool  // closed by that end
	broken         error // why both ends are at an end
	readBy         deadline
	writeBy        deadline
	arrival        *time.Timer // of the first part that is still under way
}

// part is what one write wrote.
type part struct {
	bytes   []byte
	arrives time.Time // zero: at once
}

// deadline is when waiting ends. The zero value is never.
type deadline struct {
	at    time.Time
	timer *time.Timer
}

func newStream(latency time.Duration, held bool) *stream {
	s := &stream{latency: latency, held: held}
	s.cond.L = &s.mu
	return s
}

func (s *stream) read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.reader:
			return 0, net.ErrClosed
		case s.broken != nil:
			return 0, s.broken
		case s.readBy.passed():
			return 0, os.ErrDeadlineExceeded
		case len(b) == 0:
			return 0, nil
		}
		if n := s.arrived(b); n > 0 {
			s.cond.Broadcast()
			return n, nil
		}
		if s.writer && len(s.parts) == 0 && !s.held {
			return 0, io.EOF
		}
		s.cond.Wait()
	}
}

// arrived copies what is there, and sees to it that somebody wakes when more is.
func (s *stream) arrived(b []byte) int {
	n := 0
	for !s.held && len(s.parts) > 0 && n < len(b) {
		first := &s.parts[0]
		if wait := first.wait(); wait > 0 {
			s.wake(wait)
			break
		}
		copied := copy(b[n:], first.bytes)
		n += copied
		if first.bytes = first.bytes[copied:]; len(first.bytes) == 0 {
			s.parts[0] = part{}
			s.parts = s.parts[1:]
		}
	}
	s.size -= n
	return n
}

func (p *part) wait() time.Duration {
	if p.arrives.IsZero() {
		return 0
	}
	return time.Until(p.arrives)
}

func (s *stream) wake(after time.Duration) {
	if s.arrival != nil {
		s.arrival.Stop()
	}
	s.arrival = time.AfterFunc(after, s.broadcast)
}

func (s *stream) broadcast() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cond.Broadcast()
}

func (s *stream) write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	written := 0
	for {
		switch {
		case s.writer:
			return written, net.ErrClosed
		case s.broken != nil:
			return written, s.broken
		case s.reader && !s.held:
			return written, syscall.EPIPE
		case s.writeBy.passed():
			return written, os.ErrDeadlineExceeded
		case written == len(b):
			return written, nil
		}
		if room := window - s.size; room > 0 {
			some := b[written:min(len(b), written+room)]
			p := part{bytes: append([]byte(nil), some...)}
			if s.latency > 0 {
				p.arrives = time.Now().Add(s.latency)
			}
			s.parts, s.size = append(s.parts, p), s.size+len(some)
			written += len(some)
			s.cond.Broadcast()
			if written == len(b) {
				return written, nil
			}
		}
		s.cond.Wait()
	}
}

// closeReader ends the side that reads, and returns whether it had ended before.
func (s *stream) closeReader() (before bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, s.reader = s.reader, true
	s.readBy.stop()
	s.cond.Broadcast()
	return before
}

// closeWriter ends the side that writes.
func (s *stream) closeWriter() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writer = true
	s.writeBy.stop()
	s.cond.Broadcast()
}

// ended says whether nothing more is written.
func (s *stream) ended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writer
}

func (s *stream) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken, s.parts, s.size = syscall.ECONNRESET, nil, 0
	if s.arrival != nil {
		s.arrival.Stop()
	}
	s.cond.Broadcast()
}

func (s *stream) hold(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = on
	s.cond.Broadcast()
}

func (s *stream) delay(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latency = d
}

func (s *stream) setReadDeadline(t time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readBy.set(t, s.broadcast)
	s.cond.Broadcast()
}

func (s *stream) setWriteDeadline(t time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writeBy.set(t, s.broadcast)
	s.cond.Broadcast()
}

func (d *deadline) passed() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

func (d *deadline) set(t time.Time, wake func()) {
	d.stop()
	if d.at = t; !t.IsZero() && !d.passed() {
		d.timer = time.AfterFunc(time.Until(t), wake)
	}
}

func (d *deadline) stop() {
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
}
