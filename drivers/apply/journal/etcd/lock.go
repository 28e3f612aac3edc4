package etcd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weirfabric/weir/drivers/apply/journal"
)

// Guard is nothing: the machine has no part in who has the lock.
func (b *Backend) Guard() (io.Closer, error) { return nil, nil } //nolint:nilnil // as the contract says it

// ReadLock asks etcd also for how long the owner was silent: clocks of machines differ, and etcd's is one.
func (b *Backend) ReadLock() (body []byte, silent time.Duration, err error) {
	err = b.do(func(ctx context.Context, c *clientv3.Client) error {
		body, silent = nil, -1
		resp, err := c.Get(ctx, b.key(lockKey))
		if err != nil || len(resp.Kvs) == 0 {
			return err
		}
		kv := resp.Kvs[0]
		body = kv.Value
		if kv.Lease == 0 || kv.CreateRevision == b.held() {
			return nil
		}
		left, err := c.TimeToLive(ctx, clientv3.LeaseID(kv.Lease))
		if err == nil {
			silent = time.Duration(left.GrantedTTL-max(left.TTL, 0)) * time.Second
		}
		return err
	})
	return body, silent, err
}

// TakeLock puts the lock on a lease: etcd removes it when nothing renewed that for long. The lock of an owner who is gone is removed
// first, since only a key that is created has a revision of its own, by which what the owner before may still write is told apart.
func (b *Backend) TakeLock(was, body []byte) error {
	if was != nil {
		if err := b.DropLock(was, nil); err != nil {
			return err
		}
	}
	var lease clientv3.LeaseID
	err := b.do(func(ctx context.Context, c *clientv3.Client) error {
		resp, err := c.Grant(ctx, int64(b.config.TTL/time.Second))
		if err == nil {
			lease = resp.ID
		}
		return err
	})
	if err != nil {
		return err
	}
	err = b.do(func(ctx context.Context, c *clientv3.Client) error {
		key := b.key(lockKey)
		resp, err := c.Txn(ctx).If(clientv3.Compare(clientv3.CreateRevision(key), "=", 0)).
			Then(clientv3.OpPut(key, string(body), clientv3.WithLease(lease))).Else(clientv3.OpGet(key)).Commit()
		if err != nil {
			return err
		}
		fence := resp.Header.Revision
		if !resp.Succeeded {
			stands := first(resp)
			if stands == nil || !bytes.Equal(stands.Value, body) || stands.Lease != int64(lease) { // and not ours, of a try whose answer was lost
				return journal.ErrHeld
			}
			fence = stands.CreateRevision
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.lease, b.fence = lease, fence
		return nil
	})
	if err != nil {
		b.revoke(lease)
	}
	return err
}

// RenewLock renews the lease, and the heartbeat for those who look.
func (b *Backend) RenewLock(body []byte) error {
	fence, err := b.fenced()
	if err != nil {
		return err
	}
	b.mu.Lock()
	lease := b.lease
	b.mu.Unlock()
	return b.do(func(ctx context.Context, c *clientv3.Client) error {
		if _, err := c.KeepAliveOnce(ctx, lease); errors.Is(err, rpctypes.ErrLeaseNotFound) {
			return b.lose()
		} else if err != nil {
			return err
		}
		resp, err := c.Txn(ctx).If(fence).Then(clientv3.OpPut(b.key(lockKey), string(body), clientv3.WithLease(lease))).Commit()
		if err == nil && !resp.Succeeded {
			return b.lose()
		}
		return err
	})
}

// DropLock removes the lock where it still reads so; ErrHeld where another one stands there.
func (b *Backend) DropLock(was, note []byte) error {
	key := b.key(lockKey)
	ours := false
	err := b.do(func(ctx context.Context, c *clientv3.Client) error {
		stands, err := c.Get(ctx, key)
		if err != nil || len(stands.Kvs) == 0 {
			return err
		}
		if !bytes.Equal(stands.Kvs[0].Value, was) {
			return journal.ErrHeld
		}
		revision := stands.Kvs[0].CreateRevision
		ours = revision == b.held()
		then := []clientv3.Op{clientv3.OpDelete(key)}
		if note != nil {
			then = append(then, clientv3.OpPut(b.key(brokenKeys, fmt.Sprintf("%020d", revision)), string(note)))
		}
		resp, err := c.Txn(ctx).If(clientv3.Compare(clientv3.CreateRevision(key), "=", revision), clientv3.Compare(clientv3.Value(key), "=", string(was))).
			Then(then...).Commit()
		if err == nil && !resp.Succeeded { // renewed meanwhile
			return journal.ErrHeld
		}
		return err
	})
	if err == nil && ours {
		b.mu.Lock()
		lease := b.lease
		b.mu.Unlock()
		_ = b.lose()
		b.revoke(lease)
	}
	return err
}

// revoke ends a lease. Where that fails it ends by itself.
func (b *Backend) revoke(lease clientv3.LeaseID) {
	ctx, cancel := context.WithTimeout(context.Background(), greeting)
	defer cancel()
	if c, err := b.connected(ctx); err == nil {
		_, _ = c.Revoke(ctx, lease)
	}
}

// first is the key that the first operation of a transaction read; nil: it is not there.
func first(resp *clientv3.TxnResponse) *mvccpb.KeyValue {
	if len(resp.Responses) == 0 || len(resp.Responses[0].GetResponseRange().GetKvs()) == 0 {
		return nil
	}
	return resp.Responses[0].GetResponseRange().Kvs[0]
}
