package apply

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Lock says who is changing the fabric.
type Lock struct {
	Run   string    `json:"run"`
	Verb  string    `json:"verb"`
	Who   string    `json:"who"` // user@host
	PID   int       `json:"pid"`
	Since time.Time `json:"since"`
}

// Alive says whether the process that holds the lock still runs, as who (user@host) sees it. On another machine that cannot be
// seen: there it counts as gone, which is what the operator says by running recover or giving the lock back.
func (l Lock) Alive(who string) bool {
	return l.Who == who && l.PID > 0 && syscall.Kill(l.PID, 0) == nil
}

// LockedError says that another run holds the lock.
type LockedError struct{ Lock Lock }

func (e *LockedError) Error() string {
	return fmt.Sprintf("locked by run %s (%s by %s, process %d, since %s): wait for it, or, if it was cut off, run `weir recover`",
		e.Lock.Run, e.Lock.Verb, e.Lock.Who, e.Lock.PID, e.Lock.Since.Format(time.RFC3339))
}

// Lock takes the lock or returns a *LockedError.
func (s Store) Lock(l Lock) error {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return fmt.Errorf("make the journal folder: %w", err)
	}
	body, err := json.Marshal(l)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(s.lockFile(), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		held, err := s.Locked()
		if err != nil {
			return err
		}
		if held != nil {
			return &LockedError{*held}
		}
		return s.Lock(l)
	}
	if err != nil {
		return fmt.Errorf("take the lock: %w", err)
	}
	if _, err = f.Write(body); err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// Locked is the lock that is held, or nil.
func (s Store) Locked() (*Lock, error) {
	body, err := os.ReadFile(s.lockFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the lock: %w", err)
	}
	l := Lock{Run: "unknown", Verb: "unknown"} // as it stays when the one who took it was killed while writing it
	_ = json.Unmarshal(body, &l)
	return &l, nil
}

// Unlock gives the lock back.
func (s Store) Unlock() error {
	if err := os.Remove(s.lockFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("give the lock back: %w", err)
	}
	return nil
}

func (s Store) lockFile() string { return filepath.Join(s.Dir, "lock") }
