package etcd

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weirfabric/weir/drivers/apply/journal"
)

// What etcd takes in one transaction, by its defaults: 128 operations and 1.5 MiB.
const (
	maxOps   = 100
	maxBytes = 1 << 20
)

// held is the revision at which the lock was created that this process has; 0: it has none.
func (b *Backend) held() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.fence
}

// fenced is what must hold for anything to be written.
func (b *Backend) fenced() (clientv3.Cmp, error) {
	fence := b.held()
	if fence == 0 {
		return clientv3.Cmp{}, journal.ErrLost
	}
	return clientv3.Compare(clientv3.CreateRevision(b.key(lockKey)), "=", fence), nil
}

// write makes operations that do the same when they are done again, in as few transactions as etcd takes them in, each while the
// lock is this process's.
func (b *Backend) write(ops ...clientv3.Op) error {
	for len(ops) > 0 {
		n, size := 0, 0
		for n < len(ops) && n < maxOps && (n == 0 || size+sizeOf(ops[n]) <= maxBytes) {
			size += sizeOf(ops[n])
			n++
		}
		fence, err := b.fenced()
		if err != nil {
			return err
		}
		err = b.do(func(ctx context.Context, c *clientv3.Client) error {
			resp, err := c.Txn(ctx).If(fence).Then(ops[:n]...).Commit()
			if err == nil && !resp.Succeeded {
				err = b.lose()
			}
			return err
		})
		if err != nil {
			return err
		}
		ops = ops[n:]
	}
	return nil
}

func sizeOf(op clientv3.Op) int { return len(op.KeyBytes()) + len(op.ValueBytes()) }

// lose notes that the lock is not this process's any more.
func (b *Backend) lose() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fence, b.lease = 0, clientv3.NoLease
	return journal.ErrLost
}
