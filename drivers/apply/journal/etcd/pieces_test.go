package etcd_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/drivers/apply/journal/etcd/etcdtest"
	"github.com/weirfabric/weir/drivers/apply/journal/journaltest"
	"github.com/weirfabric/weir/intent/plan"
)

// TestDocumentsAreSharedSmallPieces writes what switches of 64 ports are before, twice, and one that is larger than a request may be.
func TestDocumentsAreSharedSmallPieces(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t, etcdtest.Options{})
	a := store(open(t, s, "/weir"), "one")
	lease, err := a.Lock(journal.Lock{Run: "1", Verb: "apply"})
	if err != nil {
		t.Fatal(err)
	}
	const devices = 8
	for _, run := range []string{"run-1", "run-2"} {
		j, err := a.Create(run, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = j.Append(journal.Record{Kind: journal.Started, Devices: [][]string{{"a"}}})
		for n := range devices {
			err = errors.Join(err, j.Append(journal.Record{Kind: journal.Before, Device: fmt.Sprint(n), Owned: journaltest.Document(uint64(n), 173<<10)}))
		}
		err = errors.Join(err, j.Append(journal.Record{Kind: journal.Before, Device: "large", Owned: journaltest.Document(devices, 3<<20)}),
			j.Append(journal.Record{Kind: journal.Ended, Outcome: journal.AsBefore}), j.Close())
		if err != nil {
			t.Fatal(err)
		}
	}
	c := s.Client()
	defer c.Close()
	all, err := c.Get(t.Context(), "/weir/", clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range all.Kvs {
		if len(kv.Value) >= 512<<10 {
			t.Errorf("%s has %d bytes", kv.Key, len(kv.Value))
		}
	}
	pieces := keys(t, s, "/weir/piece/")
	if len(pieces) < devices+3<<20/(480<<10) || len(pieces) > devices+12 {
		t.Errorf("%d pieces of %d documents", len(pieces), devices+1)
	}
	if _, err := c.Delete(t.Context(), pieces[0]); err != nil {
		t.Fatal(err)
	}
	var damaged *journal.DamagedError
	if _, err := a.Read("run-2"); !errors.As(err, &damaged) || !strings.Contains(err.Error(), "is not whole: piece "+strings.TrimPrefix(pieces[0], "/weir/piece/")[:12]) {
		t.Errorf("without a piece: %.300v", err)
	}
	if _, err := c.Put(t.Context(), pieces[1], "another"); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Read("run-1"); !errors.As(err, &damaged) {
		t.Errorf("with another piece: %.300v", err)
	}
	a.Keep = 1
	if err := errors.Join(a.Ready(""), a.Backend.Remove("run-2"), lease.Release()); err != nil {
		t.Fatal(err)
	}
	if left := append(keys(t, s, "/weir/piece/"), keys(t, s, "/weir/uses/")...); len(left) > 0 {
		t.Errorf("nobody names them any more: %q", left)
	}
}

func TestEachDeviceHasItsKeyInTheManifest(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t, etcdtest.Options{})
	a := store(open(t, s, "/weir"), "one")
	lease, _ := begin(t, a)
	if err := a.SaveManifest(plan.Manifest{"a": {"x"}, "b": {"y"}}); err != nil {
		t.Fatal(err)
	}
	c := s.Client()
	defer c.Close()
	if _, err := c.Put(t.Context(), "/weir/owned/a", `["x","by another"]`); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(a.SaveManifest(plan.Manifest{"a": {"x"}, "b": {"z"}}), lease.Release()); err != nil {
		t.Fatal(err)
	}
	m, err := a.Manifest()
	if err != nil || len(m["a"]) != 2 || m["b"][0] != "z" {
		t.Errorf("got %v, %v", m, err)
	}
}
