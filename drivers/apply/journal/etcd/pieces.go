package etcd

import (
	"context"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// put stores pieces that are not there yet. They are there before a record names them.
func (b *Backend) put(pieces []piece) error {
	for _, p := range pieces {
		fence, err := b.fenced()
		if err != nil {
			return err
		}
		body, err := pack(p.body)
		if err != nil {
			return err
		}
		key := b.key(pieceKeys, p.name)
		err = b.do(func(ctx context.Context, c *clientv3.Client) error {
			there, err := c.Get(ctx, key, clientv3.WithCountOnly())
			if err != nil || there.Count > 0 {
				return err
			}
			resp, err := c.Txn(ctx).If(fence).Then(clientv3.OpPut(key, string(body))).Commit()
			if err == nil && !resp.Succeeded {
				return b.lose()
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// atOnce is how many pieces are read in one request: at most 8 MB.
const atOnce = 16

// pieces are those of the names, without those that are not there or not as they were written.
func (b *Backend) pieces(names []string) (map[string][]byte, error) {
	out := map[string][]byte{}
	for len(names) > 0 {
		n := min(atOnce, len(names))
		var ops []clientv3.Op
		for _, name := range names[:n] {
			ops = append(ops, clientv3.OpGet(b.key(pieceKeys, name)))
		}
		err := b.do(func(ctx context.Context, c *clientv3.Client) error {
			resp, err := c.Txn(ctx).Then(ops...).Commit()
			if err != nil {
				return err
			}
			for i, r := range resp.Responses {
				for _, kv := range r.GetResponseRange().Kvs {
					if body, ok := unpack(names[i], kv.Value); ok {
						out[names[i]] = body
					}
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		names = names[n:]
	}
	return out, nil
}

// sweep removes the pieces that no record names. Only who has the lock writes either.
func (b *Backend) sweep() error {
	used := map[string]bool{}
	err := b.each(b.key(usesKeys), clientv3.WithKeysOnly(), func(key string, _ []byte) error {
		used[key[strings.LastIndexByte(key, '/')+1:]] = true
		return nil
	})
	if err != nil {
		return err
	}
	var ops []clientv3.Op
	prefix := b.key(pieceKeys)
	err = b.each(prefix, clientv3.WithKeysOnly(), func(key string, _ []byte) error {
		if !used[strings.TrimPrefix(key, prefix)] {
			ops = append(ops, clientv3.OpDelete(key))
		}
		return nil
	})
	if err != nil {
		return err
	}
	return b.write(ops...)
}

// page is how many keys are read in one request.
const page = 1000

// each reads the keys that begin so, in their order.
func (b *Backend) each(prefix string, option clientv3.OpOption, take func(key string, value []byte) error) error {
	options := []clientv3.OpOption{clientv3.WithRange(clientv3.GetPrefixRangeEnd(prefix)), clientv3.WithLimit(page)}
	if option != nil {
		options = append(options, option)
	}
	for from := prefix; ; {
		var resp *clientv3.GetResponse
		err := b.do(func(ctx context.Context, c *clientv3.Client) (err error) {
			resp, err = c.Get(ctx, from, options...)
			return err
		})
		if err != nil {
			return err
		}
		for _, kv := range resp.Kvs {
			if err := take(string(kv.Key), kv.Value); err != nil {
				return err
			}
			from = string(kv.Key) + "\x00"
		}
		if !resp.More {
			return nil
		}
	}
}
