package apply

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/drivers/apply/journal/etcd"
	"github.com/weirfabric/weir/drivers/apply/journal/etcd/etcdtest"
	"github.com/weirfabric/weir/intent/plan"
)

// stateIn is the state in etcd, as a process that is gone when it is asked for sees it.
func stateIn(t *testing.T, s *etcdtest.Server, who journal.Owner) journal.Store {
	t.Helper()
	b, err := etcd.Open(etcd.Config{Endpoints: []string{s.Endpoint}, Prefix: "/weir", Timeout: 6 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return journal.Store{Backend: b, Owner: who, Alive: func(int) bool { return false }}
}

// TestTwoOperatorsOnTwoMachinesShareTheStateInEtcd has one apply while the other tries to, and the other roll it back.
func TestTwoOperatorsOnTwoMachinesShareTheStateInEtcd(t *testing.T) {
	s := etcdtest.Start(t, etcdtest.Options{})
	f := newFleet(t)
	ada, eve := f.config, f.config
	ada.Store = stateIn(t, s, journal.Owner{Who: "ada@one", PID: 1, Boot: "one"})
	eve.Store = stateIn(t, s, journal.Owner{Who: "eve@two", PID: 1, Boot: "two"})
	var locked *journal.LockedError
	tried := 0
	ada.Observe = func(r journal.Record) {
		if r.Kind == journal.Sending && tried == 0 {
			tried++
			if _, err := eve.Apply(t.Context(), f.plan, f.want); !errors.As(err, &locked) || !strings.Contains(err.Error(), "ada@one") {
				t.Errorf("both apply: %v", err)
			}
		}
	}
	got, err := ada.Apply(t.Context(), f.plan, f.want)
	if err != nil || got.Outcome != journal.Applied || tried == 0 {
		t.Fatalf("got %+v, %v", got, err)
	}
	var consumed *journal.ConsumedError
	if _, err := eve.Apply(t.Context(), f.plan, f.want); !errors.As(err, &consumed) {
		t.Errorf("the same plan again: %v", err)
	}
	back, err := eve.PlanRollback(t.Context(), got.Run, ReturnOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := eve.Rollback(t.Context(), back); err != nil || got.Outcome != journal.Applied {
		t.Fatalf("the rollback: %+v, %v", got, err)
	}
	if diff := cmp.Diff(all(before), f.state()); diff != "" {
		t.Error(diff)
	}
	if m, err := ada.Store.Manifest(); err != nil || len(m) != 0 {
		t.Errorf("the manifest has %v, %v", m, err)
	}
}

// TestWithoutEtcdNothingMoreIsSentAndRecoverEndsTheRun kills etcd once a record of a kind is written. From then on no device gets
// anything but what that record announced: a chunk, or that a wave with a good verdict is confirmed and saved. When etcd is back
// another process ends the run, and waves are whole.
func TestWithoutEtcdNothingMoreIsSentAndRecoverEndsTheRun(t *testing.T) {
	for _, kind := range []journal.Kind{journal.Before, journal.Sending, journal.Reached, journal.Passed, journal.WaveEnded} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel() // it waits for what does not answer
			s := etcdtest.Start(t, etcdtest.Options{})
			f := newFleet(t)
			w := &witness{to: f.config.Dial}
			c := f.config
			c.Parallel, c.Store, c.Dial = 1, stateIn(t, s, owner(1)), w.dial
			c.Observe = func(r journal.Record) {
				if r.Kind == kind && !w.gone() {
					s.Kill()
					w.without(r)
				}
			}
			got, err := c.Apply(t.Context(), f.plan, f.want)
			if err != nil || !got.Outcome.Open() && got.Outcome != journal.Incomplete {
				t.Errorf("got %+v, %v", got, err)
			}
			if why := got.Why; !strings.Contains(why, "cannot be reached, and without it nothing is sent to any device") {
				t.Errorf("it does not say why: %s", why)
			}
			if len(w.sent) > 0 {
				t.Errorf("without etcd devices got %q", w.sent)
			}
			s.Start()
			again := f.config
			again.Store = stateIn(t, s, owner(2))
			open, err := again.Store.Unfinished()
			if err != nil || len(open) != 1 {
				t.Fatalf("open are %v, %v", open, err)
			}
			if got, err := again.Recover(t.Context(), open[0]); err != nil || got.Outcome.Open() {
				t.Fatalf("recover: %+v, %v", got, err)
			}
			f.wholeWaves(t)
			f.replan(t, "plan-2")
			if got, err := again.Apply(t.Context(), f.plan, f.want); err != nil || got.Outcome != journal.Applied {
				t.Errorf("the next apply: %+v, %v", got, err)
			}
		})
	}
}

// witness notes what devices get while there is no etcd, but for the one chunk that was announced last.
type witness struct {
	to func(context.Context, string) (drivers.Target, error)

	mu        sync.Mutex
	away      bool
	announced string // the device
	passed    bool
	sent      []string
}

func (w *witness) gone() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.away
}

func (w *witness) without(last journal.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.away, w.passed = true, last.Kind == journal.Passed
	if last.Kind == journal.Sending {
		w.announced = last.Device
	}
}

func (w *witness) dial(ctx context.Context, name string) (drivers.Target, error) {
	t, err := w.to(ctx, name)
	return witnessed{t, name, w}, err
}

type witnessed struct {
	drivers.Target
	name string
	by   *witness
}

func (w witnessed) Set(ctx context.Context, c plan.Chunk, p plan.Pending) error {
	w.by.mu.Lock()
	saves := w.by.passed && strings.HasSuffix(p.Name, "-save")
	if w.by.away && w.by.announced != w.name && !saves {
		w.by.sent = append(w.by.sent, w.name+" "+p.Name)
	}
	w.by.announced = ""
	w.by.mu.Unlock()
	return w.Target.Set(ctx, c, p)
}
