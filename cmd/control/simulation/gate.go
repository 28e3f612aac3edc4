package simulation

import (
	"context"
	"errors"
	"net"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/weirfabric/weir/drivers/apply/journal"
)

// errDead is what a life gets that goes on after its end.
var errDead = errors.New("this life is over")

// where a life ends, beside an effect.
type where int

const (
	before where = iota + 1
	within       // half of what is written is written
	after
)

func (w where) String() string {
	return map[where]string{before: "before", within: "within", after: "after"}[w]
}

// gate is what every effect of one life passes: on its disk and on its connections. When it is closed, nothing that the life
// still does has an effect, and what it does on its disk ends the goroutine that does it.
type gate struct {
	world *world
	host  string // the machine that the life is on
	boot  string // which start of it
	stop  context.CancelFunc

	mu      sync.Mutex
	over    bool
	due     int // effects until the end, which then comes; 0: it does not come
	at      where
	power   bool
	full    int       // effects on the disk that find no space
	lost    int       // effects on the disk that get no answer but an error
	unsync  int       // times that what is written is not forced to the disk, and an error says so
	asleep  time.Time // until then nothing is done
	conns   map[*wire]bool
	records []journal.Record
}

// closed says whether the life is over.
func (g *gate) closed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.over
}

// breathe ends the goroutine of a life that is over, and waits while it sleeps.
func (g *gate) breathe() {
	g.mu.Lock()
	asleep := time.Until(g.asleep)
	g.mu.Unlock()
	time.Sleep(asleep)
	if g.closed() {
		runtime.Goexit()
	}
}

// condemn makes the life end beside the effect that comes so many effects from now.
func (g *gate) condemn(effects int, at where, power bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.due, g.at, g.power = effects+1, at, power
}

// fill makes the disk full for so many effects of this life.
func (g *gate) fill(effects int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.full = effects
}

// lose makes the disk fail for so many effects of this life, reading and writing.
func (g *gate) lose(effects int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lost = effects
}

// forget makes the disk write, and fail to force it, so many times.
func (g *gate) forget(times int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.unsync = times
}

// sync passes one forcing to the disk.
func (g *gate) sync(do func(half bool) error) error {
	g.mu.Lock()
	fails := g.unsync > 0
	if fails {
		g.unsync--
	}
	g.mu.Unlock()
	if fails {
		g.breathe()
		g.world.count("not forced to disk")
		return syscall.EIO
	}
	return g.write(do)
}

// failing says that the disk fails at this effect.
func (g *gate) failing() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.lost == 0 {
		return nil
	}
	g.lost--
	g.world.count("disk failed")
	return syscall.EIO
}

// sleep stops the life for a while: it does nothing, and its timers do nothing either.
func (g *gate) sleep(span time.Duration) {
	g.mu.Lock()
	g.asleep = time.Now().Add(span)
	g.mu.Unlock()
	g.breathe()
}

// next counts an effect, and gives where the life ends beside it; 0: it goes on.
func (g *gate) next() where {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.due == 0 {
		return 0
	}
	if g.due--; g.due > 0 {
		return 0
	}
	return g.at
}

// die ends the life: a process that is killed, or a machine whose power is gone.
func (g *gate) die() {
	g.mu.Lock()
	if g.over {
		g.mu.Unlock()
		return
	}
	g.over = true
	conns, power := g.conns, g.power
	g.conns = nil
	g.mu.Unlock()
	g.world.note("a life ends (power lost: %t)", power)
	kind := "killed"
	if power {
		kind = "power lost"
		g.world.restart(g.host)
		g.world.disk.blackout()
	}
	g.world.count(kind)
	for c := range conns {
		if power { // of a machine without power nothing is heard
			_ = c.Conn.SetDeadline(time.Unix(1, 0))
		} else { // the kernel closes what a process had open
			_ = c.Conn.Close()
		}
	}
	g.stop()
}

// write passes one effect on the disk.
func (g *gate) write(do func(half bool) error) error {
	g.breathe()
	at := g.next()
	if at == before {
		g.die()
	}
	g.breathe()
	g.mu.Lock()
	full := g.full > 0
	if full {
		g.full--
	}
	g.mu.Unlock()
	broken := g.failing()
	if broken != nil {
		return broken
	}
	err := do(full || at == within)
	if full {
		g.world.count("disk full")
		err = syscall.ENOSPC
	}
	if at == within || at == after {
		g.die()
	}
	g.breathe()
	return err
}

// dial opens a connection of the life.
func (g *gate) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if g.closed() {
		return nil, errDead
	}
	c, err := g.world.network.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	w := &wire{Conn: c, gate: g}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over {
		return nil, errors.Join(errDead, c.Close())
	}
	g.conns[w] = true
	return w, nil
}

// wire is a connection of a life.
type wire struct {
	net.Conn
	gate *gate
}

func (w *wire) Write(b []byte) (int, error) {
	if w.gate.closed() {
		return 0, errDead
	}
	switch at := w.gate.next(); at {
	case before:
		w.gate.die()
		return 0, errDead
	case within, after:
		if at == within {
			b = b[:len(b)/2]
		}
		n, err := w.Conn.Write(b)
		w.gate.die()
		return n, errors.Join(err, errDead)
	}
	return w.Conn.Write(b)
}

func (w *wire) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	if w.gate.closed() {
		return 0, errDead
	}
	return n, err
}

func (w *wire) Close() error {
	w.gate.mu.Lock()
	delete(w.gate.conns, w)
	w.gate.mu.Unlock()
	if w.gate.closed() {
		return errDead
	}
	return w.Conn.Close()
}
