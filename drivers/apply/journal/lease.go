package journal

import (
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"
)

// Lease is the lock while this process holds it. It writes its heartbeat until it is released. It may be used from many
// goroutines at once.
type Lease struct {
	store Store
	guard io.Closer // nil: the lock that is written is all that there is

	mu    sync.Mutex
	timer *time.Timer // of the next heartbeat; nil: released
	lock  Lock
	lost  bool
}

// Run is the run that the lock is held for.
func (l *Lease) Run() string { return l.lock.Run }

// Held is a *LostError where the lock was taken from this process, and a *SilentError where others may take the process for gone,
// since its heartbeat could not be written for so long: then it may not send anything. It is asked right before each send, and
// writes a heartbeat that is late.
func (l *Lease) Held() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var failed error
	if l.age() > heartbeat { // this process was asleep, or its disk does not take it
		failed = l.renew()
	}
	switch {
	case l.lost || l.timer == nil:
		return &LostError{l.lock.Run}
	case l.age() >= silence:
		return &SilentError{l.lock.Run, l.lock.Beat, failed}
	}
	return nil
}

// age is how long ago the last heartbeat was written. Of the two clocks that a process has the one counts on while its machine sleeps,
// and the other is set by nobody: the longer time is believed.
func (l *Lease) age() time.Duration {
	now := l.store.Time()
	return max(now.Sub(l.lock.Beat), now.Round(0).Sub(l.lock.Beat.Round(0)))
}

// beat renews the lock, and does so again after a while.
func (l *Lease) beat() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil {
		_ = l.renew() // one that cannot be written is tried again with the next
		l.timer.Reset(heartbeat)
	}
}

// renew writes the heartbeat where the lock is still this one.
func (l *Lease) renew() error {
	held, err := l.store.Locked()
	if err != nil {
		return err
	}
	if !l.own(held) {
		l.lost = true
		return nil
	}
	err = l.write(l.store.backend().RenewLock)
	if errors.Is(err, ErrLost) {
		l.lost = true
		return nil
	}
	return err
}

// own says whether a lock that was read is this one.
func (l *Lease) own(held *Lock) bool {
	return held != nil && held.Run == l.lock.Run && held.Who == l.lock.Who && held.PID == l.lock.PID && held.Since.Equal(l.lock.Since)
}

// write has the lock written with the present time.
func (l *Lease) write(write func(body []byte) error) error {
	now := l.lock
	now.Beat = l.store.Time()
	body, err := json.Marshal(now)
	if err != nil {
		return err
	}
	if err := write(append(body, '\n')); err != nil {
		return err
	}
	l.lock.Beat = now.Beat
	return nil
}

// Release gives the lock back. Nothing may be sent from here on.
func (l *Lease) Release() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timer.Stop()
	l.timer = nil
	var err error
	if !l.lost {
		var held *Lock
		var was []byte
		if held, was, err = l.store.locked(); err == nil && l.own(held) {
			err = l.store.drop(was, nil)
		}
	}
	return errors.Join(err, l.unguard())
}

// unguard lets other processes of the machine try.
func (l *Lease) unguard() error {
	if l.guard == nil {
		return nil
	}
	return l.guard.Close()
}
