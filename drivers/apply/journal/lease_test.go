package journal

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// asleep is a store whose process does not run between two looks at its clock: no timer fires.
type asleep struct {
	OS
	ahead time.Duration
	full  bool
}

func (a *asleep) now() time.Time { return time.Now().Add(a.ahead) }

func (a *asleep) CreateTemp(folder string) (string, File, error) {
	if a.full {
		return "", nil, syscall.ENOSPC
	}
	return a.OS.CreateTemp(folder)
}

// TestALeaseIsLookedAtAnewByAProcessThatWasAsleep stops the process for a while, during which others see its lock.
func TestALeaseIsLookedAtAnewByAProcessThatWasAsleep(t *testing.T) {
	for name, c := range map[string]struct {
		asleep time.Duration
		then   func(t *testing.T, other Store, a *asleep)
		want   string
	}{
		"nobody was there":                             {time.Hour, func(*testing.T, Store, *asleep) {}, ""},
		"somebody took the lock, and has gone":         {time.Hour, func(t *testing.T, s Store, _ *asleep) { broken(t, s) }, "does not hold its lock any more"},
		"somebody took the lock, and has a run":        {time.Hour, func(t *testing.T, s Store, _ *asleep) { broken(t, s); locked(t, s) }, "does not hold its lock any more"},
		"the disk is full":                             {time.Hour, func(_ *testing.T, _ Store, a *asleep) { a.full = true }, "others may take it for gone: write"},
		"the disk is full, and others think it alive":  {time.Minute, func(_ *testing.T, _ Store, a *asleep) { a.full = true }, ""},
		"somebody took it before others thought it so": {time.Minute, func(t *testing.T, s Store, _ *asleep) { broken(t, s) }, "does not hold its lock any more"},
	} {
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			a := &asleep{}
			s := Store{Dir: dir, Disk: a, Now: a.now, Owner: Owner{Who: "ada@host", PID: 1, Boot: "this"}}
			l, err := s.Lock(Lock{Verb: "apply"})
			if err != nil {
				t.Fatal(err)
			}
			a.ahead += c.asleep
			c.then(t, Store{Dir: dir, Now: a.now, Owner: Owner{Who: "eve@elsewhere", PID: 1, Boot: "other"}}, a)
			switch err := l.Held(); {
			case (err == nil) != (c.want == ""), err != nil && !strings.Contains(err.Error(), c.want):
				t.Errorf("%s: got %v, want %q", name, err, c.want)
			case err == nil && !a.full:
				if held, err := s.Locked(); err != nil || !s.fresh(*held) {
					t.Errorf("%s: others take it for gone: %+v, %v", name, held, err)
				}
			}
			a.full = false
			if err := l.Release(); err != nil {
				t.Error(err)
			}
		})
	}
}

// broken removes the lock, as Break does on a machine to which this one's kernel lock means nothing.
func broken(t *testing.T, s Store) {
	t.Helper()
	if err := s.drop(nil, nil); err != nil {
		t.Fatal(err)
	}
}

func locked(t *testing.T, s Store) {
	t.Helper()
	l := &Lease{store: s, lock: Lock{Run: "2", Verb: "recover", Owner: s.owner(), Since: s.Time()}}
	if err := l.write(s.backend().RenewLock); err != nil {
		t.Fatal(err)
	}
}

func TestAJournalHasAnIDOfItsOwnThatStays(t *testing.T) {
	seen := map[string]bool{}
	for range 3 {
		s := Store{Dir: t.TempDir()}
		id, err := s.ID()
		if err != nil || !idForm.MatchString(id) || seen[id] {
			t.Fatalf("got %q, %v", id, err)
		}
		seen[id] = true
		if again, err := (Store{Dir: s.Dir, Owner: Owner{Who: "eve@elsewhere", PID: 7}}).ID(); err != nil || again != id {
			t.Errorf("to another process it is %q, %v", again, err)
		}
	}
	s := Store{Dir: t.TempDir()}
	if err := s.backend().WriteID([]byte("../../x\n")); err != nil {
		t.Fatal(err)
	}
	if id, err := s.ID(); err == nil {
		t.Errorf("what weir did not write is taken: %q", id)
	}
	if _, err := (Store{Dir: t.TempDir(), Disk: &asleep{full: true}}).ID(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("with a full disk: got %v", err)
	}
}
