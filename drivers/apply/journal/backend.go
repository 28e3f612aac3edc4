package journal

import (
	"errors"
	"io"
	"time"

	"github.com/weirfabric/weir/intent/plan"
)

// Backend is where a Store has what it holds: a folder, or a server that a team shares. It keeps bytes and knows nothing of what
// they mean: records, checksums, sequence, what a lock is worth and what a run means are the Store's. What a call has written
// outlives the process and the machine when it returns, except where it says otherwise. What cannot be reached is an
// *UnreachableError, what has no room left a *FullError. It may be used from many goroutines at once.
type Backend interface {
	// Place names it in messages.
	Place() string
	// ReadID is what tells this state apart from all others, nil where nothing was written; WriteID writes it.
	ReadID() ([]byte, error)
	WriteID(id []byte) error
	// Room says why a run must not begin that may not be written down to its end. The caller has the lock.
	Room() error
	Locks
	Runs
	Owned
}

// Locks has the one lock of a Store.
type Locks interface {
	// Guard takes that by which the machine itself keeps its processes apart, until it is closed or the process ends; ErrHeld
	// where another process has it. It is nil where the machine has no part in it: then the lock that is written is all that there
	// is, only who took it can write anything else, and it goes by itself when its owner was silent for long.
	Guard() (io.Closer, error)
	// ReadLock is the lock as it is written, nil where none is, and for how long nothing was heard of its owner. That is
	// negative where only the lock itself tells.
	ReadLock() (body []byte, silent time.Duration, err error)
	// TakeLock writes the lock of this process in the place of the one that was read, nil where none was; ErrHeld where by now
	// another one stands there.
	TakeLock(was, body []byte) error
	// RenewLock writes the lock of this process anew; ErrLost where it has it no more.
	RenewLock(body []byte) error
	// DropLock removes the lock that was read; ErrHeld where by now another one stands there. note, where it is not nil, is a
	// line that is kept of it.
	DropLock(was, note []byte) error
}

// Runs has the journals. What changes one is refused with ErrLost where the lock that is written is not this process's, if Guard
// has no part in it.
type Runs interface {
	// List is every run by its name.
	List() (map[string]Listed, error)
	// Journal is the whole of a run's journal, nil where there is none. A line that is not all there is one that says so: line.Lost.
	Journal(run string) ([]byte, error)
	// Index is the whole of a run's index, nil where there is none.
	Index(run string) ([]byte, error)
	// Create begins the journal of a run that is not there.
	Create(run string) (Log, error)
	// Continue makes k what stands of a run, whose journal may have more than that, and goes on behind it.
	Continue(run string, k Kept) (Log, error)
	// Replace makes k what stands of a run, without a summary, and keeps a copy of what stood there, whose name it gives.
	Replace(run string, k Kept) (kept string, err error)
	// Summarise writes the summary of a run that has ended.
	Summarise(run string, body []byte) error
	// Sync forces what others have written of a run, so that it outlives the machine.
	Sync(run string) error
	// Remove removes journals and indexes, and what no other one needs of theirs. Summaries stay.
	Remove(runs ...string) error
}

// Owned has the manifest of what is weir's.
type Owned interface {
	Manifest() (plan.Manifest, error)
	// SaveManifest writes what is another than when Manifest was called last.
	SaveManifest(plan.Manifest) error
}

// Listed is what a list of runs is made of.
type Listed struct {
	Summary []byte // nil: none was written
	Records bool   // its journal or index is there
}

// Kept is what stands of a run: lines, each with its end.
type Kept struct{ Journal, Index []byte }

// Log is a journal that is added to.
type Log interface {
	// Add writes a record, and then its entry of the index, which need not outlive the machine. After an error nothing of the
	// record is there, or what is there is overwritten by the next, or every Add fails.
	Add(record, entry []byte) error
	Close() error
}

// ErrHeld says that the lock is held.
var ErrHeld = errors.New("another process of this machine holds it")

// ErrLost says that the lock is not this process's any more.
var ErrLost = errors.New("the lock was taken from this process, or ran out while it could not be renewed")
