package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
		if me := s.owner(); l.host() != me.host() || l.Space != me.Space { // in another container: its process numbers mean nothing here
			return s.fresh(l)
		}
		return l.PID > 0 && s.alive(l.Owner)
	case earlier:
		return false
	}
	return s.fresh(l)
}

// keeps says whether the lock stays with its owner, for a process that has what the machine keeps processes apart by, where there is
// such a thing: then the kernel has said that an owner on this machine is gone.
func (s Store) keeps(l Lock, guarded bool) bool {
	return s.where(l) == away || !guarded && s.Running(l)
}

// Lock takes the lock for as long as the process lives, or returns a *LockedError. On one machine the kernel decides; a lock of
// another machine is never taken over, see Break. Without a run in l it is one that is to begin, under a name that no run has.
func (s Store) Lock(l Lock) (*Lease, error) {
	guard, err := s.exclude()
	if err != nil {
		return nil, err
	}
	lease := &Lease{store: s, guard: guard}
	held, was, err := s.locked()
	if err == nil && held != nil && s.keeps(*held, guard != nil) {
		err = &LockedError{*held, s.stale(*held)}
	}
	if err == nil && l.Run == "" {
		l.Run, err = s.freeName()
	}
	if err != nil {
		return nil, errors.Join(err, lease.unguard())
	}
	l.Owner, l.Since = s.owner(), s.Time()
	lease.lock = l
	err = lease.write(func(body []byte) error { return s.backend().TakeLock(was, body) })
	if errors.Is(err, ErrHeld) {
		return nil, errors.Join(s.heldBy(), lease.unguard())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("take the lock: %w", err), lease.unguard())
	}
	lease.mu.Lock()
	defer lease.mu.Unlock()
	lease.timer = time.AfterFunc(heartbeat, lease.beat)
	return lease, nil
}

// exclude takes what the machine keeps its processes apart by, or says who has it.
func (s Store) exclude() (io.Closer, error) {
	guard, err := s.backend().Guard()
	if errors.Is(err, ErrHeld) {
		return nil, s.heldBy()
	}
	return guard, err
}

// heldBy says who has a lock that somebody has.
func (s Store) heldBy() error {
	held, unread := s.Locked()
	if held == nil {
		held = &Lock{Run: "unknown", Verb: "unknown"} // its owner is about to write it, or has just removed it
	}
	return errors.Join(unread, &LockedError{Lock: *held})
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

// Locked is the lock that is written down, or nil.
func (s Store) Locked() (*Lock, error) {
	l, _, err := s.locked()
	return l, err
}

// locked is the lock, and how it stands there.
func (s Store) locked() (*Lock, []byte, error) {
	body, silent, err := s.backend().ReadLock()
	if err != nil {
		return nil, nil, fmt.Errorf("read the lock: %w", err)
	}
	if body == nil {
		return nil, nil, nil
	}
	l := Lock{Run: "unknown", Verb: "unknown"} // as it stays where somebody else than weir wrote it
	_ = json.Unmarshal(body, &l)
	if silent >= 0 {
		l.Beat = s.Time().Add(-silent)
	}
	return &l, body, nil
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
func (s Store) Break(reason string) (err error) {
	guard, err := s.exclude()
	if err != nil {
		return err
	}
	if guard != nil {
		defer guard.Close()
	}
	held, was, err := s.locked()
	if err != nil || held == nil {
		return err
	}
	var note []byte
	switch {
	case !s.keeps(*held, guard != nil):
	case s.where(*held) != away || s.fresh(*held) || reason == "":
		return &LockedError{*held, s.stale(*held)}
	default:
		if note, err = json.Marshal(Broken{*held, s.owner().Who, s.Time(), reason}); err != nil {
			return err
		}
		note = append(note, '\n')
	}
	return s.drop(was, note)
}

// drop removes the lock that was read.
func (s Store) drop(was, note []byte) error {
	err := s.backend().DropLock(was, note)
	if errors.Is(err, ErrHeld) {
		return s.heldBy()
	}
	if err != nil {
		return fmt.Errorf("give the lock back: %w", err)
	}
	return nil
}
