package etcd_test

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/drivers/apply/journal/etcd"
	"github.com/weirfabric/weir/drivers/apply/journal/etcd/etcdtest"
	"github.com/weirfabric/weir/drivers/apply/journal/journaltest"
	"github.com/weirfabric/weir/intent/plan"
)

// store is the state as a process of another machine each sees it.
func store(b *etcd.Backend, machine string) journal.Store {
	return journal.Store{Backend: b, Owner: journal.Owner{Who: "ada@" + machine, PID: 1, Boot: machine}, Alive: func(int) bool { return true }}
}

// begin takes the lock and writes the first records of a run.
func begin(t *testing.T, s journal.Store, records ...journal.Record) (*journal.Lease, *journal.Journal) {
	t.Helper()
	lease, err := s.Lock(journal.Lock{Run: "run-1", Verb: "apply"})
	if err != nil {
		t.Fatal(err)
	}
	j, err := s.Create("run-1", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range append([]journal.Record{{Kind: journal.Started, Devices: [][]string{{"a"}}}}, records...) {
		if err := j.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	return lease, j
}

// TestARunThatSleptThroughItsLockWritesNothing lets runs stand still for longer than their locks last, as a machine does that is
// suspended, and lets somebody else recover them meanwhile. Each finds out by another write.
func TestARunThatSleptThroughItsLockWritesNothing(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t, etcdtest.Options{})
	c := s.Client()
	defer c.Close()
	type sleeper struct {
		journal.Store
		lease *journal.Lease
		log   *journal.Journal
	}
	writes := map[string]func(sleeper) error{
		"a record": func(s sleeper) error { return s.log.Append(journal.Record{Kind: journal.Before, Device: "a"}) },
		"a record with a document": func(s sleeper) error {
			return s.log.Append(journal.Record{Kind: journal.Before, Device: "a", Owned: journaltest.Document(1, 10<<10)})
		},
		"the manifest":   func(s sleeper) error { return s.SaveManifest(plan.Manifest{"a": {"x"}}) },
		"a journal":      func(s sleeper) error { return second(s.GiveUp("run-1", "it is mine")) },
		"another run":    func(s sleeper) error { return second(s.Create("run-2", nil)) },
		"an end of runs": func(s sleeper) error { return s.Backend.Remove("run-1") },
	}
	prefixOf := func(name string) string { return "/" + strings.ReplaceAll(name, " ", "-") }
	asleep := map[string]sleeper{}
	for name := range writes {
		slept := store(open(t, s, prefixOf(name), func(c *etcd.Config) { c.TTL = 2 * time.Second }), "one") // and the first heartbeat is due after 30 s
		lease, j := begin(t, slept)
		asleep[name] = sleeper{slept, lease, j}
	}
	for name, write := range writes {
		gone := c.Watch(t.Context(), prefixOf(name)+"/lock", clientv3.WithFilterPut())
		if there, err := c.Get(t.Context(), prefixOf(name)+"/lock"); err != nil || len(there.Kvs) > 0 {
			<-gone
		}
		other := store(open(t, s, prefixOf(name)), "two")
		lease, err := other.Lock(journal.Lock{Run: "run-1", Verb: "recover"})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		before := keys(t, s, prefixOf(name)+"/")
		if err := write(asleep[name]); !errors.Is(err, journal.ErrLost) {
			t.Errorf("%s: it writes: %v", name, err)
		}
		if after := keys(t, s, prefixOf(name)+"/"); !slices.Equal(before, after) {
			t.Errorf("%s: there were %q, and are %q", name, before, after)
		}
		again, err := other.Open("run-1", nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := errors.Join(again.Append(journal.Record{Kind: journal.Ended, Outcome: journal.AsBefore}), again.Close(), lease.Release()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if r, err := other.Replay("run-1"); err != nil || r.Records != 2 || !r.Ended {
			t.Errorf("%s: got %+v, %v", name, r, err)
		}
	}
}

// TestAKilledEtcdStopsARunUntilItIsBack kills etcd as kill -9 does, and starts it again with what it had on its disk.
func TestAKilledEtcdStopsARunUntilItIsBack(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t, etcdtest.Options{})
	b := open(t, s, "/weir", func(c *etcd.Config) { c.Timeout = 6 * time.Second })
	lease, j := begin(t, store(b, "one"))
	s.Kill()
	var away *journal.UnreachableError
	if err := j.Append(journal.Record{Kind: journal.Before, Device: "a"}); !errors.As(err, &away) || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("got %v", err)
	}
	s.Start()
	if err := lease.Held(); err != nil {
		t.Error(err)
	}
	again(t, func() error { return j.Append(journal.Record{Kind: journal.Stuck, Device: "a"}) })
	if err := lease.Release(); err != nil {
		t.Error(err)
	}
	records, err := store(b, "one").Read("run-1")
	if err != nil || len(records) != 2 || records[1].Kind != journal.Stuck {
		t.Errorf("got %+v, %v", records, err)
	}
}

// TestARecordWhoseAnswerWasLostIsOverwritten has etcd take a record whose answer never comes.
func TestARecordWhoseAnswerWasLostIsOverwritten(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t, etcdtest.Options{})
	between := newProxy(t, s.Endpoint)
	b := open(t, s, "/weir", func(c *etcd.Config) {
		c.Endpoints, c.Timeout = []string{"http://" + between.address}, 6*time.Second
	})
	_, j := begin(t, store(b, "one"))
	other := store(open(t, s, "/weir"), "two")
	between.deaf.Store(true)
	var away *journal.UnreachableError
	if err := j.Append(journal.Record{Kind: journal.Before, Device: "a"}); !errors.As(err, &away) {
		t.Fatalf("got %v", err)
	}
	if records, err := other.Read("run-1"); err != nil || len(records) != 2 {
		t.Fatalf("etcd has not taken it, so this shows nothing: %+v, %v", records, err)
	}
	between.deaf.Store(false)
	between.cut()
	again(t, func() error { return j.Append(journal.Record{Kind: journal.Undoing, Device: "a"}) })
	records, err := other.Read("run-1")
	if err != nil || len(records) != 2 || records[1].Kind != journal.Undoing {
		t.Errorf("got %+v, %v", records, err)
	}
}

// again does something until the client is connected again.
func again(t *testing.T, do func() error) {
	t.Helper()
	pause := drivers.Backoff{First: 50 * time.Millisecond, Longest: time.Second}
	for n := 0; ; n++ {
		err := do()
		if err == nil {
			return
		}
		if n == 50 || !pause.Wait(t.Context()) {
			t.Fatalf("it does not go on: %v", err)
		}
	}
}

// proxy stands before etcd. While it is deaf no answer passes.
type proxy struct {
	address string
	deaf    atomic.Bool
	mu      sync.Mutex
	open    []net.Conn
}

func newProxy(t *testing.T, endpoint string) *proxy {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{address: l.Addr().String()}
	t.Cleanup(func() {
		_ = l.Close()
		p.cut()
	})
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", strings.TrimPrefix(endpoint, "http://"))
			if err != nil {
				_ = conn.Close()
				continue
			}
			p.mu.Lock()
			p.open = append(p.open, conn, server)
			p.mu.Unlock()
			go func() { _, _ = io.Copy(server, conn) }()
			go func() { _, _ = io.Copy(answers{conn, p}, server) }()
		}
	}()
	return p
}

// cut closes every connection.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.open {
		_ = c.Close()
	}
	p.open = nil
}

// answers are those of etcd, which are dropped while the proxy is deaf.
type answers struct {
	net.Conn
	proxy *proxy
}

func (a answers) Write(body []byte) (int, error) {
	if a.proxy.deaf.Load() {
		return len(body), nil
	}
	return a.Conn.Write(body)
}

// TestAFullEtcdStopsARunBeforeAnythingIsSent fills etcd to its quota.
func TestAFullEtcdStopsARunBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t, etcdtest.Options{Quota: 100 << 20})
	b := open(t, s, "/weir", func(c *etcd.Config) { c.Quota = 40 << 20 }) // its file grows by steps of 16 MiB, some at once
	a := store(b, "one")
	lease, j := begin(t, a)
	if err := a.Ready(""); err != nil {
		t.Fatalf("it has room: %v", err)
	}
	var full *journal.FullError
	fill(t, s, func() bool { return errors.As(a.Ready(""), &full) })
	if !strings.Contains(full.Error(), "of its 40 MiB") {
		t.Errorf("nearly full: %v", full)
	}
	if err := j.Append(journal.Record{Kind: journal.Before, Device: "a"}); err != nil {
		t.Errorf("a run that has begun goes on: %v", err)
	}
	fill(t, s, func() bool { return false })
	if err := j.Append(journal.Record{Kind: journal.Pending, Device: "a", Pending: &plan.Pending{}}); !errors.As(err, &full) || !strings.Contains(err.Error(), "--quota-backend-bytes") {
		t.Errorf("in the middle: %v", err)
	}
	if err := a.Ready(""); !errors.As(err, &full) || !strings.Contains(err.Error(), "NOSPACE") {
		t.Errorf("full: %v", err)
	}
	if err := lease.Release(); err != nil {
		t.Errorf("the lock is given back: %v", err)
	}
	if r, err := a.Replay("run-1"); err != nil || r.Records != 2 {
		t.Errorf("what was written is read: %+v, %v", r, err)
	}
}

// fill writes until etcd takes no more, or enough says so.
func fill(t *testing.T, s *etcdtest.Server, enough func() bool) {
	t.Helper()
	c := s.Client()
	defer c.Close()
	for n := 0; n < 400 && !enough(); n++ {
		if _, err := c.Put(context.Background(), "/filler", strings.Repeat("x", 512<<10)); err != nil {
			return
		}
	}
}
