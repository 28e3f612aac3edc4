package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
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

// Running says whether the process that holds the lock still runs, as who (user@host) sees it. On another machine that cannot be
// seen: there it counts as gone, which is what the operator says by running recover or giving the lock back.
func (s Store) Running(l Lock, who string) bool {
	alive := s.Alive
	if alive == nil {
		alive = func(pid int) bool { return syscall.Kill(pid, 0) == nil }
	}
	return l.Who == who && l.PID > 0 && alive(l.PID)
}

// Lock takes the lock or returns a *LockedError.
func (s Store) Lock(l Lock) error {
	if err := s.disk().MkdirAll(s.Dir); err != nil {
		return fmt.Errorf("make the journal folder: %w", err)
	}
	body, err := json.Marshal(l)
	if err != nil {
		return err
	}
	f, err := s.disk().Create(s.lockFile())
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
	body, err := s.disk().ReadFile(s.lockFile())
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
	if err := s.disk().Remove(s.lockFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("give the lock back: %w", err)
	}
	return nil
}

func (s Store) lockFile() string { return filepath.Join(s.Dir, "lock") }
