package etcd

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// log is the journal of one run, which knows what the last record is that etcd has.
type log struct {
	backend *Backend
	run     string
	count   int      // of the records
	head    string   // after them
	tried   []string // heads that etcd may have taken instead, though it did not say so: they are overwritten
}

// headOf names a run's nth record and what it is.
func headOf(n int, record []byte) string {
	sum := sha256.Sum256(record)
	return fmt.Sprintf("%d %x", n, sum[:12])
}

// Add writes a record, its entry and the head in one transaction, which holds while the lock is this process's and the last record is
// the one that this process wrote last.
func (l *log) Add(record, entry []byte) error {
	b := l.backend
	fence, err := b.fenced()
	if err != nil {
		return err
	}
	n := l.count + 1
	ops, err := b.record(l.run, n, record)
	if err != nil {
		return err
	}
	key, next, expected := b.key(headKeys, l.run), headOf(n, record), l.head
	ops = append(ops, clientv3.OpPut(numbered(b.of(indexKeys, l.run), n), string(entry)), clientv3.OpPut(key, next))
	l.tried = append(l.tried, next)
	err = b.do(func(ctx context.Context, c *clientv3.Client) error {
		for {
			resp, err := c.Txn(ctx).If(fence, clientv3.Compare(clientv3.Value(key), "=", expected)).Then(ops...).
				Else(clientv3.OpGet(key), clientv3.OpGet(b.key(lockKey), clientv3.WithKeysOnly())).Commit()
			if err != nil || resp.Succeeded {
				return err
			}
			lock := resp.Responses[1].GetResponseRange().Kvs
			if len(lock) == 0 || lock[0].CreateRevision != b.held() {
				return b.lose()
			}
			stands := ""
			if kv := first(resp); kv != nil {
				stands = string(kv.Value)
			}
			switch {
			case stands == next: // of a try whose answer was lost
				return nil
			case stands == l.head || slices.Contains(l.tried, stands):
				expected = stands
			default:
				return errors.New("somebody else has changed it")
			}
		}
	})
	if err != nil {
		return err
	}
	l.count, l.head, l.tried = n, next, nil
	return nil
}

func (l *log) Close() error { return nil }
