package journal

import (
	"encoding/json"
	"io"
	"sync"
	"time"
)

// Lease is the lock while this process holds it. It writes its heartbeat until it is released. It may be used from many
// goroutines at once.
type Lease struct {
	store  Store
	kernel io.Closer

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

// age is how long ago the last heartbeat was written.
func (l *Lease) age() time.Duration { return l.store.Time().Sub(l.lock.Beat) }

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
	if held == nil || held.Run != l.lock.Run || held.Owner.Who != l.lock.Who || held.PID != l.lock.PID || !held.Since.Equal(l.lock.Since) {
		l.lost = true
		return nil
	}
	return l.write()
}

// write writes the lock with the present time.
func (l *Lease) write() error {
	now := l.lock
	now.Beat = l.store.Time()
	body, err := json.Marshal(now)
	if err != nil {
		return err
	}
	if err := l.store.replace(l.store.lockFile(), append(body, '\n')); err != nil {
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
		err = l.store.unlock()
	}
	if closed := l.kernel.Close(); err == nil {
		err = closed
	}
	return err
}
