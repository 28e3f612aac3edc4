package journal

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// TestALockIsTakenOverOnlyFromAnOwnerWhoIsGone leaves a lock behind, and has another process look at it.
func TestALockIsTakenOverOnlyFromAnOwnerWhoIsGone(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	booted := now.Add(-time.Hour)
	me := Owner{Who: "ada@host", PID: 7, Boot: "this", Booted: booted}
	for name, c := range map[string]struct {
		owner  Owner
		silent time.Duration
		alive  bool // a process of its number
		runs   bool
		taken  bool
		stale  bool
	}{
		"its process is gone":                               {Owner{Who: "ada@host", PID: 8, Boot: "this"}, 0, false, false, true, false},
		"its process is gone, and was another user's":       {Owner{Who: "eve@host", PID: 8, Boot: "this"}, 0, false, false, true, false},
		"the machine was started anew, and the number used": {Owner{Who: "ada@host", PID: 8, Boot: "before"}, 2 * time.Hour, true, false, true, false},
		"it is of another machine that lives":               {Owner{Who: "ada@elsewhere", PID: 8, Boot: "other"}, time.Minute, false, true, false, false},
		"it is of another machine that is silent":           {Owner{Who: "ada@elsewhere", PID: 8, Boot: "other"}, 3 * time.Minute, true, false, false, true},
		"it is of another machine of the same name":         {Owner{Who: "ada@host", PID: 8, Boot: "other"}, time.Minute, false, true, false, false},
		"it is of another container of this machine":        {Owner{Who: "ada@box", PID: 7, Boot: "this"}, 0, true, true, true, false},
	} {
		dir := t.TempDir()
		was, err := Store{Dir: dir, Owner: c.owner, Now: func() time.Time { return now.Add(-c.silent) }}.Lock(Lock{Run: "1", Verb: "apply"})
		if err != nil {
			t.Fatal(err)
		}
		was.timer.Stop()
		if err := was.guard.Close(); err != nil { // as the kernel does when the process ends, or on another machine
			t.Fatal(err)
		}
		s := Store{Dir: dir, Owner: me, Now: func() time.Time { return now }, Alive: func(int) bool { return c.alive }}
		held, err := s.Locked()
		if err != nil || s.Running(*held) != c.runs {
			t.Errorf("%s: running %t, %v", name, s.Running(*held), err)
		}
		lease, err := s.Lock(Lock{Run: "2", Verb: "recover"})
		var locked *LockedError
		if (err == nil) != c.taken || err != nil && (!errors.As(err, &locked) || locked.Stale != c.stale) {
			t.Errorf("%s: got %v", name, err)
		}
		if err == nil {
			if err := lease.Release(); err != nil {
				t.Error(err)
			}
			continue
		}
		if err := s.Break(""); !errors.As(err, &locked) {
			t.Errorf("%s: it is broken without a reason: %v", name, err)
		}
		if err := s.Break("the job was ended"); (err == nil) != c.stale {
			t.Errorf("%s: broken: %v", name, err)
		}
		if body, _ := os.ReadFile(filepath.Join(dir, "broken.jsonl")); c.stale != strings.Contains(string(body), `"reason":"the job was ended"`) {
			t.Errorf("%s: on record is %q", name, body)
		}
	}
}

func TestALockThatNobodyCanReadIsNotTakenOver(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	if err := os.WriteFile(files(s).lockFile(), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	var locked *LockedError
	if _, err := s.Lock(Lock{Run: "2"}); !errors.As(err, &locked) || !locked.Stale {
		t.Errorf("got %v", err)
	}
}

func TestAProcessIsToldByItsStartAndNotByItsNumberAlone(t *testing.T) {
	me := Self()
	other := me
	other.Start = "1"
	if s := (Store{}); !s.alive(me) || s.alive(other) {
		t.Errorf("this process lives: %t; the one before it with the same number: %t", s.alive(me), s.alive(other))
	}
	if err := syscall.Kill(1, 0); errors.Is(err, syscall.EPERM) && !(Store{}).alive(Owner{PID: 1}) {
		t.Error("a process of another user is taken for gone")
	}
}

func TestTheHeartbeatGoesOnUntilTheLockIsReleasedOrLost(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := Store{Dir: dir, Owner: Owner{Who: "ada@host", PID: 1}}
		l, err := s.Lock(Lock{Verb: "apply"})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		held, err := s.Locked()
		if err != nil || !s.fresh(*held) || l.Held() != nil {
			t.Errorf("got %+v, %v, %v", held, err, l.Held())
		}
		if err := s.drop(nil, nil); err != nil { // by somebody who takes this process for gone
			t.Fatal(err)
		}
		time.Sleep(heartbeat)
		synctest.Wait()
		var lost *LostError
		if err := l.Held(); !errors.As(err, &lost) {
			t.Errorf("it is not missed: %v", err)
		}
		if err := l.Release(); err != nil {
			t.Error(err)
		}
	})
}

func TestWhatAKilledProcessLeftHalfWrittenIsTidied(t *testing.T) {
	s, _ := written(t)
	for _, folder := range []string{s.Dir, files(s).runs()} {
		if err := os.WriteFile(filepath.Join(folder, temporary+"1"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, err := s.Lock(Lock{Verb: "apply"})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{s.Dir, files(s).runs()} {
		if left, _ := filepath.Glob(filepath.Join(folder, temporary+"*")); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	}
}
