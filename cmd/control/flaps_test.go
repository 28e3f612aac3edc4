package control

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/telemetry/health"
)

func TestAWatchKnowsWhichPortsARunTakesDown(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	e1, e2, nic := addr.Port("leaf1", "e1"), addr.Port("leaf1", "e2"), addr.Port("gpu1", "eth0")
	topology := health.Topology{Ports: map[addr.Addr]health.Port{e1: {Peer: nic}, nic: {Peer: e1}, e2: {}}}
	store := journal.Store{Dir: t.TempDir(), Now: func() time.Time { return now }}
	f := ownFlaps{store: store, topology: topology}
	check := func(step string, want map[addr.Addr]time.Time) {
		t.Helper()
		if diff := cmp.Diff(want, f.at(now)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step, diff)
		}
	}
	check("no run yet", nil)

	lease, err := store.Lock(journal.Lock{Run: "r1", Verb: "apply"})
	if err != nil {
		t.Fatal(err)
	}
	j, err := store.Create("r1", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	record := func(r journal.Record) {
		t.Helper()
		r.Device = "leaf1"
		if err := j.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	record(journal.Record{Kind: journal.Pending, Flaps: []addr.Addr{e1}})
	check("announced, and nothing sent", map[addr.Addr]time.Time{})
	record(journal.Record{Kind: journal.Sending})
	now = now.Add(time.Minute)
	check("a long Set goes on", map[addr.Addr]time.Time{e1: now, nic: now})
	record(journal.Record{Kind: journal.Sent})
	sent := now
	now = now.Add(time.Minute)
	check("it was sent", map[addr.Addr]time.Time{e1: sent, nic: sent})
	record(journal.Record{Kind: journal.Pending, Flaps: []addr.Addr{addr.Device("leaf1")}})
	record(journal.Record{Kind: journal.Sending})
	record(journal.Record{Kind: journal.Sent})
	if err := lease.Release(); err != nil {
		t.Fatal(err)
	}
	undone := now
	now = now.Add(time.Second)
	check("the undo took the whole device down, and the run ended", map[addr.Addr]time.Time{e1: undone, nic: undone, e2: undone})

	f = ownFlaps{store: store, topology: topology}
	check("a watch that begins when the run has ended", map[addr.Addr]time.Time{e1: undone, nic: undone, e2: undone})
}
