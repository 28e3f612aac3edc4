package eos

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirfabric/weir/drivers/sim"
)

// maxPending is how many configuration sessions may be open at once, EOS's default.
const maxPending = 5

// lateness is the device time after which what hung takes effect.
const lateness = 5 * time.Second

// The states of a session, as EOS 4.32 and later name them.
const (
	pending   = "pending"
	committed = "committed" // and its timer runs
	completed = "completed"
)

// session is a configuration session: a copy of the running configuration, edited apart. A commit puts the copy in the place
// of the running configuration, whatever that has become meanwhile.
type session struct {
	name      string
	state     string
	candidate *node
	completed time.Time

	before *node     // what the running configuration was, while the timer runs
	expiry time.Time // of the timer
	stop   context.CancelFunc
}

// openSession is the session of that name, made if there is none.
func (d *Device) openSession(name string) (*session, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.sessions[name]; s != nil && s.state == pending {
		return s, nil
	} else if s != nil {
		return nil, fmt.Errorf("%% Cannot open session %s: it is %s", name, s.state)
	}
	open := 0
	for _, s := range d.sessions {
		if s.state == pending {
			open++
		}
	}
	if open >= maxPending {
		// EOS refuses here in words of its own, which no source quotes.
		return nil, fmt.Errorf("%% Error: the maximum number of pending sessions is %d", maxPending)
	}
	s := &session{name: name, state: pending, candidate: d.running.clone()}
	d.sessions[name] = s
	return s, nil
}

// abort drops a session that is open, or reverts one whose timer runs.
func (d *Device) abort(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.sessions[name]
	switch {
	case s == nil || s.state == completed:
		return fmt.Errorf("%% Cannot abort session %s: there is none open", name)
	case s.state == committed:
		d.revert(s)
	default:
		delete(d.sessions, name)
	}
	return nil
}

// commit makes a session the running configuration. With a timer above 0 it is reverted at the end of the timer, unless it
// is committed again before. What goes wrong on request goes wrong here.
func (d *Device) commit(name string, timer time.Duration) error {
	switch f := d.hw.Fault(sim.Commit); f.Kind {
	case sim.Reject:
		return fmt.Errorf("%% Cannot commit session %s", name)
	case sim.DropBefore:
		return sim.ErrDrop
	case sim.Reboot:
		return errors.Join(d.commitHalf(name), sim.ErrDrop)
	case sim.Hang:
		d.later(func() { _ = d.commitNow(name, timer) }) // nobody waits for the answer
		return sim.ErrHang
	case sim.Partial:
		if err := d.commitHalf(name); err != nil {
			return err
		}
		return fmt.Errorf("%% Cannot commit session %s", name)
	case sim.Drop:
		return errors.Join(d.commitNow(name, timer), sim.ErrDrop)
	case sim.Ignore:
		return d.commitAs(name, timer, false)
	case sim.Lie:
		before := d.snapshot()
		err := d.commitNow(name, timer)
		d.lie(before, f.For)
		return err
	default:
		return d.commitNow(name, timer)
	}
}

func (d *Device) commitNow(name string, timer time.Duration) error {
	return d.commitAs(name, timer, true)
}

// commitAs commits a session, in appearance only where it is not effective.
func (d *Device) commitAs(name string, timer time.Duration, effective bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.sessions[name]
	switch {
	case s == nil || s.state == completed:
		return fmt.Errorf("%% Cannot commit session %s: there is none open", name)
	case s.state == committed && timer == 0:
		d.complete(s)
		return nil
	case s.state == committed:
		s.stop()
		d.start(s, timer)
		return nil
	case d.timed() != nil:
		return fmt.Errorf("%% Cannot commit session %s: the commit timer of session %s runs", name, d.timed().name)
	}
	before := d.running
	if effective {
		d.running = s.candidate.clone()
		d.apply()
	}
	if timer == 0 {
		d.complete(s)
		return nil
	}
	s.state, s.before, s.completed = committed, before, d.hw.Now()
	d.start(s, timer)
	return nil
}

// commitHalf makes the first half of what a session changes take effect, line by line of the global configuration.
func (d *Device) commitHalf(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.sessions[name]
	if s == nil {
		return fmt.Errorf("%% Cannot commit session %s: there is none open", name)
	}
	var changed []string
	for _, tree := range []*node{d.running, s.candidate} {
		for _, l := range tree.lines {
			a, b := d.running.find(l.key), s.candidate.find(l.key)
			same := a != nil && b != nil && a.text == b.text && len(diff(a, b, "")) == 0
			if !same && !slices.Contains(changed, l.key) {
				changed = append(changed, l.key)
			}
		}
	}
	half := d.running.clone()
	for _, key := range changed[:(len(changed)+1)/2] {
		half.remove(key)
		if l := s.candidate.find(key); l != nil {
			half.set(l.clone())
		}
	}
	d.running = half
	d.apply()
	return nil
}

// start runs the timer of a committed session.
func (d *Device) start(s *session, timer time.Duration) {
	ctx, cancel := context.WithCancel(context.Background())
	s.stop, s.expiry = cancel, d.hw.Now().Add(timer)
	switch f := d.hw.Fault(sim.Timer); f.Kind {
	case sim.Hang:
		return
	case sim.Revert:
		timer = f.Delay
	}
	d.work.Go(func() {
		defer cancel()
		if d.hw.Sleep(ctx, timer) != nil {
			return
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		if ctx.Err() == nil && d.sessions[s.name] == s && s.state == committed {
			d.revert(s)
		}
	})
}

// revert brings back what was before a session whose timer runs, and forgets the session.
func (d *Device) revert(s *session) {
	s.stop()
	d.running = s.before
	delete(d.sessions, s.name)
	d.apply()
}

// complete ends a session well. Only the last one that completed is remembered.
func (d *Device) complete(s *session) {
	if s.stop != nil {
		s.stop()
	}
	maps.DeleteFunc(d.sessions, func(_ string, old *session) bool { return old.state == completed })
	s.state, s.before, s.candidate, s.completed = completed, nil, nil, d.hw.Now()
}

// timed is the session whose commit timer runs, or nil.
func (d *Device) timed() *session {
	for _, s := range d.sessions {
		if s.state == committed {
			return s
		}
	}
	return nil
}

// later does something that nobody waits for after a while, unless the device loses its power before.
func (d *Device) later(do func()) {
	d.work.Go(func() {
		if d.hw.Sleep(context.Background(), lateness) == nil {
			do()
		}
	})
}

// sessionDiff is what a session would change, in the words of show session-config diffs.
func (d *Device) sessionDiff(s *session) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s.candidate == nil {
		return ""
	}
	lines := diff(d.running, s.candidate, "")
	if len(lines) == 0 {
		return ""
	}
	return fmt.Sprintf("--- system:/running-config\n+++ session:/%s-session-config\n%s\n", s.name, strings.Join(lines, "\n"))
}

// parseTimer reads hh:mm:ss.
func parseTimer(s string) (time.Duration, error) {
	parts := strings.Split(s, ":")
	if len(parts) != 3 {
		return 0, errInvalid
	}
	var total time.Duration
	for _, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil || n < 0 || len(p) > 2 {
			return 0, errInvalid
		}
		total = total*60 + time.Duration(n)*time.Second
	}
	return total, nil
}
