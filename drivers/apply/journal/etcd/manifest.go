package etcd

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weirfabric/weir/intent/plan"
)

// ReadID reads one key.
func (b *Backend) ReadID() (id []byte, err error) {
	err = b.do(func(ctx context.Context, c *clientv3.Client) error {
		resp, err := c.Get(ctx, b.key(idKey))
		if err == nil && len(resp.Kvs) > 0 {
			id = resp.Kvs[0].Value
		}
		return err
	})
	return id, err
}

// WriteID writes it.
func (b *Backend) WriteID(id []byte) error { return b.write(clientv3.OpPut(b.key(idKey), string(id))) }

// Manifest is one key a device.
func (b *Backend) Manifest() (plan.Manifest, error) {
	m := plan.Manifest{}
	prefix := b.key(ownedKeys)
	err := b.each(prefix, nil, func(key string, value []byte) error {
		var objects []string
		if err := json.Unmarshal(value, &objects); err != nil {
			return fmt.Errorf("%s is no list of objects: %w", key, err)
		}
		m[strings.TrimPrefix(key, prefix)] = objects
		return nil
	})
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.owned = cloned(m)
	return m, nil
}

// SaveManifest writes the devices whose objects are others than when they were read.
func (b *Backend) SaveManifest(m plan.Manifest) error {
	b.mu.Lock()
	was := b.owned
	b.mu.Unlock()
	if was == nil {
		if _, err := b.Manifest(); err != nil {
			return err
		}
		return b.SaveManifest(m)
	}
	var ops []clientv3.Op
	for _, device := range slices.Sorted(maps.Keys(m)) {
		old, known := was[device]
		if known && slices.Equal(old, m[device]) {
			continue
		}
		body, err := json.Marshal(m[device])
		if err != nil {
			return err
		}
		ops = append(ops, clientv3.OpPut(b.key(ownedKeys, device), string(body)))
	}
	for _, device := range slices.Sorted(maps.Keys(was)) {
		if _, stays := m[device]; !stays {
			ops = append(ops, clientv3.OpDelete(b.key(ownedKeys, device)))
		}
	}
	if err := b.write(ops...); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.owned = cloned(m)
	return nil
}

func cloned(m plan.Manifest) plan.Manifest {
	out := plan.Manifest{}
	for device, objects := range m {
		out[device] = slices.Clone(objects)
	}
	return out
}
