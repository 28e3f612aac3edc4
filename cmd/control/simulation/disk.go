package simulation

import (
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"

	"github.com/weirfabric/weir/drivers/apply/journal"
)

// disk outlives the processes that write to it. What was written and not synced is lost with the power.
type disk struct {
	mu    sync.Mutex
	files map[string]*content
	held  map[string]*gate // the kernel's locks, by machine and file
	temps int
}

type content struct {
	body   []byte
	synced int // how much of body outlives a loss of power
}

func newDisk() *disk { return &disk{files: map[string]*content{}, held: map[string]*gate{}} }

// blackout loses what was written and not synced.
func (d *disk) blackout() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.files {
		c.body = c.body[:c.synced]
	}
}

// names are the files of a folder, sorted.
func (d *disk) names(folder string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var names []string
	for file := range d.files {
		if filepath.Dir(file) == folder {
			names = append(names, filepath.Base(file))
		}
	}
	slices.Sort(names)
	return names
}

// mounted is the disk as one life sees it: every effect passes its gate.
type mounted struct {
	*disk
	gate *gate
}

var _ journal.Disk = mounted{}

func (m mounted) ReadFile(name string) ([]byte, error) {
	m.gate.breathe()
	if err := m.gate.failing(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if c := m.files[name]; c != nil {
		return slices.Clone(c.body), nil
	}
	return nil, fs.ErrNotExist
}

func (m mounted) ReadDir(name string) ([]string, error) {
	m.gate.breathe()
	if err := m.gate.failing(); err != nil {
		return nil, err
	}
	return m.names(name), nil
}

func (m mounted) MkdirAll(string) error { return nil }

func (m mounted) Create(name string) (journal.File, error) {
	var f journal.File
	err := m.gate.write(func(bool) error {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.files[name] != nil {
			return fs.ErrExist
		}
		m.files[name] = &content{}
		f = &opened{m, m.files[name]}
		return nil
	})
	return f, err
}

func (m mounted) CreateTemp(folder string) (string, journal.File, error) {
	m.mu.Lock()
	m.temps++
	name := filepath.Join(folder, ".new-"+string(rune('a'+m.temps%26)))
	delete(m.files, name)
	m.mu.Unlock()
	f, err := m.Create(name)
	return name, f, err
}

func (m mounted) Append(name string) (journal.File, error) {
	m.gate.breathe()
	m.mu.Lock()
	defer m.mu.Unlock()
	if c := m.files[name]; c != nil {
		return &opened{m, c}, nil
	}
	return nil, fs.ErrNotExist
}

func (m mounted) SyncDir(string) error { return m.gate.write(func(bool) error { return nil }) }

// Lock is the kernel's of one machine: another machine does not see it, though the disk is the same.
func (m mounted) Lock(name string) (io.Closer, error) {
	m.gate.breathe()
	m.mu.Lock()
	defer m.mu.Unlock()
	name = m.gate.host + " " + name
	if by := m.held[name]; by != nil && !by.closed() {
		return nil, journal.ErrHeld
	}
	m.held[name] = m.gate
	return kernelLock{m.disk, name}, nil
}

// kernelLock is held until it is closed, or its life is over.
type kernelLock struct {
	*disk
	name string
}

func (k kernelLock) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.held, k.name)
	return nil
}

func (m mounted) Rename(from, to string) error {
	return m.gate.write(func(bool) error {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.files[from] == nil {
			return fs.ErrNotExist
		}
		m.files[to] = m.files[from]
		delete(m.files, from)
		return nil
	})
}

// Remove is also what a dead life's deferred functions call: it has no effect then.
func (m mounted) Remove(name string) error {
	if m.gate.closed() {
		return errDead
	}
	return m.gate.write(func(bool) error {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.files[name] == nil {
			return fs.ErrNotExist
		}
		delete(m.files, name)
		return nil
	})
}

// opened is an open file of a life.
type opened struct {
	mounted
	*content
}

func (o *opened) Write(body []byte) (int, error) {
	written := len(body)
	err := o.gate.write(func(half bool) error {
		if half {
			written /= 2
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		o.body = append(o.body, body[:written]...)
		return nil
	})
	return written, err
}

func (o *opened) Truncate(size int64) error {
	return o.gate.write(func(bool) error {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.body = o.body[:size]
		o.synced = min(o.synced, int(size))
		return nil
	})
}

func (o *opened) Sync() error {
	return o.gate.sync(func(half bool) error {
		o.mu.Lock()
		defer o.mu.Unlock()
		if !half {
			o.synced = len(o.body)
		}
		return nil
	})
}

func (o *opened) Close() error { return nil }
