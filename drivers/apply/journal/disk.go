package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/weirfabric/weir/drivers"
)

// Disk is every effect that the store has on a disk, one a method, so that a test can stand between any two of them. Errors
// are those of package os: fs.ErrNotExist where there is no such file, fs.ErrExist where one stands already. It may be used
// from many goroutines at once.
type Disk interface {
	ReadFile(name string) ([]byte, error)
	ReadDir(name string) ([]string, error)          // the names in a folder, sorted; none where there is no folder
	MkdirAll(name string) error                     // for the owner alone
	Create(name string) (File, error)               // for the owner alone; refuses where the file exists
	CreateTemp(folder string) (string, File, error) // a new file beside others, and its name
	Append(name string) (File, error)               // of a file that exists; what is written goes to its end
	Rename(from, to string) error                   // replaces to at once: a reader sees the old or the new
	Remove(name string) error
	SyncDir(name string) error // makes the names in a folder outlive the machine
	// Lock takes the lock that a file stands for, which is made where there is none, until it is closed or the process ends:
	// the machine sees to that. ErrHeld where another opened one holds it.
	Lock(name string) (io.Closer, error)
}

// File is an open file. Whoever opened it closes it. What is written and not synced may be lost with the machine.
type File interface {
	Write(body []byte) (int, error)
	Truncate(size int64) error
	Sync() error
	Close() error
}

// OS is the disk of the machine. Of its files it takes regular ones only: a pipe or a device in the place of one would wait, or
// give bytes for ever, and a link leads to what is not the store's.
type OS struct{}

// The bounds of files of the store. docs/security.md lists them.
const (
	maxJournal = 1 << 30   // bytes: a run over 1,024 switches of 64 ports has 178 MB
	maxBeside  = 128 << 20 // bytes of an index, a summary, the manifest or the lock: such a run's index has some 10 MB
)

// ReadFile reads a whole file, and no more of it than a store's may have.
func (OS) ReadFile(name string) ([]byte, error) {
	f, err := regular(name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	most := int64(maxBeside)
	if strings.Contains(filepath.Base(name), extension) {
		most = maxJournal
	}
	return drivers.ReadAll(f, most)
}

// ReadDir lists a folder.
func (OS) ReadDir(name string) ([]string, error) {
	entries, err := os.ReadDir(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

// MkdirAll makes a folder and those above it.
func (OS) MkdirAll(name string) error { return os.MkdirAll(name, 0o700) }

// Create opens a new file.
func (OS) Create(name string) (File, error) {
	return open(name, os.O_CREATE|os.O_EXCL|os.O_APPEND|os.O_WRONLY)
}

// CreateTemp opens a new file under a name that nothing else has.
func (OS) CreateTemp(folder string) (string, File, error) {
	f, err := os.CreateTemp(folder, temporary+"*")
	if err != nil {
		return "", nil, err
	}
	return f.Name(), f, nil
}

// Append opens a file at its end.
func (OS) Append(name string) (File, error) { return open(name, os.O_APPEND|os.O_WRONLY) }

// Rename puts a file in the place of another.
func (OS) Rename(from, to string) error { return os.Rename(from, to) }

// Remove removes a file.
func (OS) Remove(name string) error { return os.Remove(name) }

// SyncDir forces a folder to disk.
func (OS) SyncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Lock takes the kernel's lock on a file (flock), which ends with the process however that ends.
func (OS) Lock(name string) (io.Closer, error) {
	f, err := regular(name, os.O_CREATE|os.O_RDWR)
	if err != nil {
		return nil, err
	}
	switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case err == nil:
		return f, nil
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil, errors.Join(ErrHeld, f.Close())
	default:
		f.Close()
		return nil, fmt.Errorf("its file system has no locks: keep the journal on another (--journal): %w", err)
	}
}

// open gives no File with an error: a nil *os.File in an interface is not nil.
func open(name string, flags int) (File, error) {
	f, err := regular(name, flags)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// regular opens a file that is neither a link nor anything but a file, and does not wait for it.
func regular(name string, flags int) (*os.File, error) {
	f, err := os.OpenFile(name, flags|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	switch {
	case errors.Is(err, syscall.ELOOP):
		return nil, fmt.Errorf("%s is a link, and must be a file of the store itself", name)
	case errors.Is(err, syscall.ENXIO):
		return nil, fmt.Errorf("%s is a pipe, and must be a file", name)
	case err != nil:
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", name)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
