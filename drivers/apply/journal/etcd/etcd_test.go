package etcd_test

import (
	"fmt"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/drivers/apply/journal/etcd"
	"github.com/weirfabric/weir/drivers/apply/journal/etcd/etcdtest"
	"github.com/weirfabric/weir/drivers/apply/journal/journaltest"
)

// open is the state under a prefix as one process sees it.
func open(t *testing.T, s *etcdtest.Server, prefix string, more ...func(*etcd.Config)) *etcd.Backend {
	t.Helper()
	c := etcd.Config{Endpoints: []string{s.Endpoint}, Prefix: prefix, TLS: s.TLS(), Timeout: 10 * time.Second}
	for _, m := range more {
		m(&c)
	}
	b, err := etcd.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// keys are those that begin so.
func keys(t *testing.T, s *etcdtest.Server, prefix string) []string {
	t.Helper()
	c := s.Client()
	defer c.Close()
	resp, err := c.Get(t.Context(), prefix, clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, kv := range resp.Kvs {
		out = append(out, string(kv.Key))
	}
	return out
}

func TestEtcdIsABackend(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t, etcdtest.Options{})
	n := 0
	journaltest.Run(t, func(t *testing.T) journaltest.Place {
		n++
		prefix := fmt.Sprintf("/weir/%d", n)
		return journaltest.Place{
			Process: func() journal.Store { return journal.Store{Backend: open(t, s, prefix)} },
			Edit:    func(run string, change func([]string) []string) { edit(t, s, prefix+"/record/"+run+"/", change) },
		}
	})
}

// edit puts what change makes of the values under a prefix in their place.
func edit(t *testing.T, s *etcdtest.Server, prefix string, change func([]string) []string) {
	t.Helper()
	c := s.Client()
	defer c.Close()
	resp, err := c.Get(t.Context(), prefix, clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	var values []string
	for _, kv := range resp.Kvs {
		values = append(values, string(kv.Value))
	}
	if _, err := c.Delete(t.Context(), prefix, clientv3.WithPrefix()); err != nil {
		t.Fatal(err)
	}
	for i, v := range change(values) {
		if _, err := c.Put(t.Context(), fmt.Sprintf("%s%08d", prefix, i+1), v); err != nil {
			t.Fatal(err)
		}
	}
}
