package apply

import (
	"context"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/intent/plan"
)

// memory is a disk that outlives the processes that write to it.
type memory struct {
	mu    sync.Mutex
	files map[string]*content
	named map[string]*content // the names that outlive a loss of power
	held  map[string]*life    // the kernel's locks
	temps int
}

type content struct {
	body   []byte
	synced int // how much of body outlives a loss of power
}

func newMemory() *memory {
	return &memory{files: map[string]*content{}, named: map[string]*content{}, held: map[string]*life{}}
}

// blackout loses what was written and not synced.
func (m *memory) blackout() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.files = maps.Clone(m.named)
	for _, c := range m.files {
		c.body = c.body[:c.synced]
	}
}

// fault is what happens at one effect on the disk.
type fault string

const (
	killedBefore fault = "killed before it"
	killedWithin fault = "killed within it" // half of what is written is, and any other effect is whole
	powerLost    fault = "power lost after it"
	fullOnce     fault = "disk full for a moment" // half of what is written is
	fullFromThen fault = "disk full from then on"
)

// life is one process: its disk and its connections. From its end on nothing that it does has an effect, and its goroutines end
// at the next thing they try.
type life struct {
	*memory
	fleet *fleet
	at    int // the effect on the disk that fault comes at, from 1; 0: none
	fault fault
	last  int // the sequence number of the record after which it ends; 0: none

	own     sync.Mutex
	effects int
	over    bool
	records []journal.Record
	dialled []string
}

// config is the fleet's, in this life.
func (l *life) config() Config {
	c := l.fleet.config
	c.Store.Disk, c.Observe = l, l.observe
	c.Dial = func(ctx context.Context, name string) (drivers.Target, error) {
		l.breathe()
		l.own.Lock()
		l.dialled = append(l.dialled, name)
		l.own.Unlock()
		t, err := l.fleet.devices[name].dial()
		if err != nil {
			return nil, err
		}
		if k, ok := t.(marking); ok {
			return markedWire{wire{l, t}, k}, nil
		}
		return wire{l, t}, nil
	}
	return c
}

// do lets the process do something, and returns when it did, or is dead.
func (l *life) do(act func(Config) (Result, error)) (got Result, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		got, err = act(l.config())
	}()
	<-done
	return got, err
}

func (l *life) observe(r journal.Record) {
	l.own.Lock()
	l.records = append(l.records, r)
	l.over = l.over || r.Seq == l.last
	l.own.Unlock()
	l.breathe()
}

func (l *life) dead() bool {
	l.own.Lock()
	defer l.own.Unlock()
	return l.over
}

// breathe ends the goroutine of a process that is dead.
func (l *life) breathe() {
	if l.dead() {
		runtime.Goexit()
	}
}

// effect counts, and gives the fault that comes at it.
func (l *life) effect() fault {
	l.breathe()
	l.own.Lock()
	l.effects++
	now := l.fault
	switch {
	case l.at == 0 || l.effects < l.at, l.effects > l.at && now != fullFromThen:
		now = ""
	case now == killedBefore:
		l.over = true
	}
	l.own.Unlock()
	l.breathe()
	return now
}

// after ends the life where the fault says so.
func (l *life) after(f fault) {
	l.own.Lock()
	l.over = l.over || f == killedWithin || f == powerLost
	l.own.Unlock()
	if f == powerLost {
		l.blackout()
	}
	l.breathe()
}

func (f fault) full() error {
	if f == fullOnce || f == fullFromThen {
		return syscall.ENOSPC
	}
	return nil
}

// change makes one effect on the names of the disk.
func (l *life) change(do func() error) error {
	f := l.effect()
	defer l.after(f)
	l.mu.Lock()
	defer l.mu.Unlock()
	return do()
}

func (l *life) ReadFile(name string) ([]byte, error) {
	l.breathe()
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.files[name]; c != nil {
		return slices.Clone(c.body), nil
	}
	return nil, fs.ErrNotExist
}

func (l *life) ReadDir(name string) ([]string, error) {
	l.breathe()
	l.mu.Lock()
	defer l.mu.Unlock()
	var names []string
	for file := range l.files {
		if filepath.Dir(file) == name {
			names = append(names, filepath.Base(file))
		}
	}
	slices.Sort(names)
	return names, nil
}

func (l *life) MkdirAll(string) error { return nil }

func (l *life) Create(name string) (journal.File, error) {
	f := l.effect()
	defer l.after(f)
	if f.full() != nil {
		return nil, f.full()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.files[name] != nil {
		return nil, fs.ErrExist
	}
	l.files[name] = &content{}
	return &opened{l, l.files[name]}, nil
}

func (l *life) CreateTemp(folder string) (string, journal.File, error) {
	l.mu.Lock()
	l.temps++
	name := filepath.Join(folder, ".new-"+string(rune('0'+l.temps%10)))
	delete(l.files, name)
	l.mu.Unlock()
	f, err := l.Create(name)
	return name, f, err
}

func (l *life) SyncDir(folder string) error {
	return l.change(func() error {
		in := func(name string, _ *content) bool { return filepath.Dir(name) == folder }
		maps.DeleteFunc(l.named, in)
		for name, c := range l.files {
			if in(name, c) {
				l.named[name] = c
			}
		}
		return nil
	})
}

func (l *life) Lock(name string) (io.Closer, error) {
	l.breathe()
	l.mu.Lock()
	defer l.mu.Unlock()
	if by := l.held[name]; by != nil && !by.dead() {
		return nil, journal.ErrHeld
	}
	l.held[name] = l
	return unlocked{l, name}, nil
}

// unlocked gives a kernel's lock back when it is closed.
type unlocked struct {
	life *life
	name string
}

func (u unlocked) Close() error {
	u.life.mu.Lock()
	defer u.life.mu.Unlock()
	delete(u.life.held, u.name)
	return nil
}

func (l *life) Append(name string) (journal.File, error) {
	l.breathe()
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.files[name]; c != nil {
		return &opened{l, c}, nil
	}
	return nil, fs.ErrNotExist
}

func (l *life) Rename(from, to string) error {
	return l.change(func() error {
		l.files[to] = l.files[from]
		delete(l.files, from)
		return nil
	})
}

// Remove is also what a dead process's deferred functions call: it has no effect then.
func (l *life) Remove(name string) error {
	if l.dead() {
		return fs.ErrClosed
	}
	return l.change(func() error {
		if l.files[name] == nil {
			return fs.ErrNotExist
		}
		delete(l.files, name)
		return nil
	})
}

// opened is an open file of a life.
type opened struct {
	*life
	*content
}

func (o *opened) Write(body []byte) (int, error) {
	f := o.effect()
	defer o.after(f)
	o.mu.Lock()
	defer o.mu.Unlock()
	if f == killedWithin || f.full() != nil {
		body = body[:len(body)/2]
	}
	o.body = append(o.body, body...)
	return len(body), f.full()
}

func (o *opened) Truncate(size int64) error {
	return o.change(func() error {
		o.body = o.body[:size]
		o.synced = min(o.synced, int(size))
		return nil
	})
}

func (o *opened) Sync() error {
	f := o.effect()
	defer o.after(f)
	if f.full() != nil {
		return f.full()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.synced = len(o.body)
	return nil
}

func (o *opened) Close() error { return nil }

// wire is a connection of a life.
type wire struct {
	life *life
	to   drivers.Target
}

func (w wire) Get(ctx context.Context, qs []plan.Query) ([]plan.Answer, error) {
	w.life.breathe()
	return w.to.Get(ctx, qs)
}

func (w wire) Set(ctx context.Context, c plan.Chunk, p plan.Pending) error {
	w.life.breathe()
	w.life.announced(p)
	return w.to.Set(ctx, c, p)
}

// announced checks that what is about to be sent is on a disk that has lost its power since: what the device was before, that it
// is sent something, and that what is sent will be weir's.
func (l *life) announced(p plan.Pending) {
	if p.Name == "weir-validate" { // which changes nothing
		return
	}
	on := newMemory()
	l.mu.Lock()
	for name, c := range l.named {
		on.files[name] = &content{body: slices.Clone(c.body[:c.synced])}
	}
	l.mu.Unlock()
	store := l.fleet.store(on)
	runs, err := store.Unfinished()
	if err != nil || len(runs) != 1 {
		l.fleet.wrong("%s is sent something, and the open runs are %v, %v", p.Device, runs, err)
		return
	}
	run, err := store.Replay(runs[0])
	if err != nil {
		l.fleet.wrong("%s is sent something, and the journal says %v", p.Device, err)
		return
	}
	owned, err := store.Manifest()
	for _, d := range run.Waves[run.Last].Devices {
		saved := strings.HasSuffix(p.Name, "-save")
		switch {
		case d.Name != p.Device:
		case !d.Known || d.Pending == nil || d.Pending.Name != strings.TrimSuffix(p.Name, "-save"):
			l.fleet.wrong("%s is sent %s, and on record is %+v", p.Device, p.Name, d.Pending)
		case run.Verb == "apply" && !saved && d.Phase == journal.Sending && !owned.Has(p.Device, "object of "+p.Device):
			l.fleet.wrong("%s is sent what is not weir's yet: %v, %v", p.Device, owned, err)
		}
	}
}

func (w wire) Confirm(ctx context.Context, p plan.Pending) error {
	w.life.breathe()
	return w.to.Confirm(ctx, p)
}

func (w wire) Cancel(ctx context.Context, p plan.Pending) error {
	w.life.breathe()
	return w.to.Cancel(ctx, p)
}

func (w wire) Close() error { return w.to.Close() }

// markedWire is one to a device that holds a marker.
type markedWire struct {
	wire
	to drivers.Marking
}

func (w markedWire) Claim(ctx context.Context, m drivers.Marker) ([]drivers.Marker, error) {
	w.life.breathe()
	return w.to.Claim(ctx, m)
}

func (w markedWire) Markers(ctx context.Context) ([]drivers.Marker, error) {
	w.life.breathe()
	return w.to.Markers(ctx)
}

func (w markedWire) Unclaim(ctx context.Context, m drivers.Marker) error {
	w.life.breathe()
	return w.to.Unclaim(ctx, m)
}

// mortal is a fleet with a disk in memory, two devices of which hold markers, one device after the other, whose processes are all gone when they are asked for.
func mortal(t *testing.T) (*fleet, *memory) {
	f, m := newFleet(t), newMemory()
	f.config.Store = journal.Store{Dir: "/journal", Owner: owner(1), Alive: func(int) bool { return false }}
	f.devices["a"].markable, f.devices["c"].markable = true, true
	f.config.Parallel, f.config.Patience, f.config.Poll = 1, time.Minute, time.Second
	return f, m
}

var _ journal.Disk = (*life)(nil)
