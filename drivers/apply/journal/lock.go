package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"
)

// The heartbeat of whoever holds the lock: it is written so often, and whoever was not heard of for so long is not alive.
const (
	heartbeat = 30 * time.Second
	silence   = 2 * time.Minute
)

// Lock says who is changing the fabric.
type Lock struct {
	Run  string `json:"run"`
	Verb string `json:"verb"`
	Owner
	Since time.Time `json:"since"`
	Beat  time.Time `json:"heartbeat"` // when its owner was last known to live
}

// machine says where a lock's owner is, as this process sees it.
type machine int

const (
	here    machine = iota // the same machine, running since: the kernel knows whether the owner lives
	earlier                // the same machine before it was started again: the owner is gone
	away                   // another machine: only the heartbeat tells
)

func (s Store) where(l Lock) machine {
	me := s.owner()
	switch {
	case l.Boot == me.Boot && (l.Boot != "" || l.host() == me.host()):
		return here
	case l.host() == me.host() && l.Who != "" && (me.Booted.IsZero() || l.Beat.Before(me.Booted)):
		return earlier
	}
	return away
}

// fresh says whether the owner of the lock was heard of lately.
func (s Store) fresh(l Lock) bool { return s.Time().Sub(l.Beat) < silence }

// stale says that the lock is of another machine and was not heard of lately.
func (s Store) stale(l Lock) bool { return s.where(l) == away && !s.fresh(l) }

// Running says whether the owner of the lock lives, as far as can be seen without taking the lock: on this machine by its
// process, on another by its heartbeat.
func (s Store) Running(l Lock) bool {
	switch s.where(l) {
	case here:
		if l.host() != s.owner().host() { // in another container: its process numbers mean nothing here
			return s.fresh(l)
		}
		return l.PID > 0 && s.alive(l.Owner)
	case earlier:
		return false
	}
	return s.fresh(l)
}

// Lock takes the lock for as long as the process lives, or returns a *LockedError. On one machine the kernel decides; a lock of
// another machine is never taken over, see Break. Without a run in l it is one that is to begin, under a name that no run has.
func (s Store) Lock(l Lock) (*Lease, error) {
	kernel, err := s.exclude()
	if err != nil {
		return nil, err
	}
	lease := &Lease{store: s, kernel: kernel}
	held, err := s.Locked()
	if err == nil && held != nil && s.where(*held) == away {
		err = &LockedError{*held, s.stale(*held)}
	}
	if err == nil {
		err = s.sweep()
	}
	if err == nil && l.Run == "" {
		l.Run, err = s.freeName()
	}
	if err != nil {
		return nil, errors.Join(err, kernel.Close())
	}
	l.Owner, l.Since = s.owner(), s.Time()
	lease.lock = l
	if err := lease.write(); err != nil {
		return nil, errors.Join(fmt.Errorf("take the lock: %w", err), kernel.Close())
	}
	lease.mu.Lock()
	defer lease.mu.Unlock()
	lease.timer = time.AfterFunc(heartbeat, lease.beat)
	return lease, nil
}

// exclude takes the kernel's lock.
func (s Store) exclude() (io.Closer, error) {
	if err := s.disk().MkdirAll(s.Dir); err != nil {
		return nil, fmt.Errorf("make the journal folder: %w", err)
	}
	kernel, err := s.disk().Lock(filepath.Join(s.Dir, "held"))
	if !errors.Is(err, ErrHeld) {
		if err != nil {
			return nil, fmt.Errorf("take the lock of %s: %w", s.Dir, err)
		}
		return kernel, nil
	}
	held, unread := s.Locked()
	if held == nil {
		held = &Lock{Run: "unknown", Verb: "unknown"} // its owner is about to write it, or has just removed it
	}
	return nil, errors.Join(unread, &LockedError{Lock: *held})
}

// freeName is the name of a run that begins now. It comes after all others, also where the clock was set back: the order of the names is
// that of the runs.
func (s Store) freeName() (string, error) {
	const layout = "20060102-150405.000"
	runs, err := s.Runs()
	if err != nil {
		return "", err
	}
	name := s.Time().Format(layout)
	if len(runs) == 0 || runs[len(runs)-1] < name {
		return name, nil
	}
	last := runs[len(runs)-1]
	at, err := time.Parse(layout, last[:min(len(layout), len(last))])
	if err != nil {
		return last + "-2", nil
	}
	return at.Add(time.Millisecond).Format(layout), nil
}

// sweep removes what processes left that were killed while they wrote a file anew. Nobody else writes files under the lock.
func (s Store) sweep() error {
	for _, folder := range []string{s.Dir, s.runs()} {
		names, err := s.disk().ReadDir(folder)
		if err != nil {
			return fmt.Errorf("list the journal folder: %w", err)
		}
		for _, n := range names {
			if strings.HasPrefix(n, temporary) {
				if err := s.disk().Remove(filepath.Join(folder, n)); err != nil {
					return fmt.Errorf("tidy the journal folder: %w", err)
				}
			}
		}
	}
	return nil
}

// Locked is the lock that is written down, or nil.
func (s Store) Locked() (*Lock, error) {
	body, err := s.disk().ReadFile(s.lockFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the lock: %w", err)
	}
	l := Lock{Run: "unknown", Verb: "unknown"} // as it stays where somebody else than weir wrote it
	_ = json.Unmarshal(body, &l)
	return &l, nil
}

// Broken is a lock that somebody took from its owner, and why.
type Broken struct {
	Lock   Lock      `json:"lock"`
	By     string    `json:"by"`
	At     time.Time `json:"at"`
	Reason string    `json:"reason"`
}

// Break gives the lock back in the place of an owner who is gone. An owner who lives keeps it: a *LockedError. The lock of another
// machine needs a reason, which is kept.
func (s Store) Break(reason string) error {
	kernel, err := s.exclude()
	if err != nil {
		return err
	}
	defer kernel.Close()
	held, err := s.Locked()
	if err != nil || held == nil {
		return err
	}
	if s.where(*held) == away {
		if s.fresh(*held) || reason == "" {
			return &LockedError{*held, s.stale(*held)}
		}
		if err := s.recordBroken(Broken{*held, s.owner().Who, s.Time(), reason}); err != nil {
			return err
		}
	}
	return s.unlock()
}

func (s Store) recordBroken(b Broken) error {
	line, err := json.Marshal(b)
	if err != nil {
		return err
	}
	name := filepath.Join(s.Dir, "broken.jsonl")
	body, err := s.disk().ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read which locks were broken: %w", err)
	}
	return s.replace(name, append(append(body, line...), '\n'))
}

func (s Store) unlock() error {
	if err := s.disk().Remove(s.lockFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("give the lock back: %w", err)
	}
	return nil
}

func (s Store) lockFile() string { return filepath.Join(s.Dir, "lock") }
