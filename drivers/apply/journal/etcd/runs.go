package etcd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/drivers/apply/journal"
)

// List reads a head and a summary a run.
func (b *Backend) List() (map[string]journal.Listed, error) {
	runs := map[string]journal.Listed{}
	heads, ended := b.key(headKeys), b.key(endedKeys)
	err := b.each(heads, clientv3.WithKeysOnly(), func(key string, _ []byte) error {
		runs[strings.TrimPrefix(key, heads)] = journal.Listed{Records: true}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = b.each(ended, nil, func(key string, value []byte) error {
		run := strings.TrimPrefix(key, ended)
		runs[run] = journal.Listed{Summary: value, Records: runs[run].Records}
		return nil
	})
	return runs, err
}

// Journal reads the records, and in them the pieces that they name. A record that lacks one says so in its place.
func (b *Backend) Journal(run string) ([]byte, error) {
	lines, err := b.lines(run)
	if err != nil || lines == nil {
		return nil, err
	}
	return append([]byte{}, slices.Concat(lines...)...), nil
}

// Index reads the entries.
func (b *Backend) Index(run string) (index []byte, err error) {
	err = b.each(b.of(indexKeys, run), nil, func(_ string, value []byte) error {
		index = append(index, ended(value)...)
		return nil
	})
	return index, err
}

// lines are the lines of a journal; nil where there is no such run.
func (b *Backend) lines(run string) ([][]byte, error) {
	var stored [][]byte
	err := b.each(b.of(recordKeys, run), nil, func(_ string, value []byte) error {
		stored = append(stored, value)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(stored) == 0 {
		there, err := b.there(b.key(headKeys, run))
		if err != nil || !there {
			return nil, err
		}
	}
	var names []string
	for _, s := range stored {
		head, _ := parse(s)
		for _, v := range head.Values {
			names = append(names, v.Pieces...)
		}
	}
	slices.Sort(names)
	pieces, err := b.pieces(slices.Compact(names))
	if err != nil {
		return nil, err
	}
	lines := make([][]byte, 0, len(stored))
	size := 0
	for _, s := range stored {
		head, rest := parse(s)
		line, err := head.join(rest, pieces)
		if err != nil {
			if line, err = json.Marshal(map[string]string{"lost": err.Error()}); err != nil {
				return nil, err
			}
		}
		if size += len(line); size > all {
			return nil, fmt.Errorf("the journal of %s: %w", run, drivers.TooMuch(all))
		}
		lines = append(lines, ended(line))
	}
	return lines, nil
}

// ended is a line with its end.
func ended(line []byte) []byte {
	if bytes.HasSuffix(line, []byte("\n")) {
		return line
	}
	return append(slices.Clone(line), '\n')
}

func (b *Backend) there(key string) (there bool, err error) {
	err = b.do(func(ctx context.Context, c *clientv3.Client) error {
		resp, err := c.Get(ctx, key, clientv3.WithCountOnly())
		there = err == nil && resp.Count > 0
		return err
	})
	return there, err
}

// Create writes the head of a run that is not there.
func (b *Backend) Create(run string) (journal.Log, error) {
	fence, err := b.fenced()
	if err != nil {
		return nil, err
	}
	key, empty := b.key(headKeys, run), headOf(0, nil)
	err = b.do(func(ctx context.Context, c *clientv3.Client) error {
		resp, err := c.Txn(ctx).If(fence, clientv3.Compare(clientv3.CreateRevision(key), "=", 0)).
			Then(clientv3.OpPut(key, empty)).Else(clientv3.OpGet(key)).Commit()
		if err != nil || resp.Succeeded {
			return err
		}
		switch stands := first(resp); {
		case stands == nil:
			return b.lose()
		case string(stands.Value) == empty: // of a try whose answer was lost
			return nil
		}
		return errors.New("it is there already")
	})
	if err != nil {
		return nil, err
	}
	return &log{backend: b, run: run, head: empty}, nil
}

// Continue writes what of the index and the head is another than k has it, and removes what stands behind it.
func (b *Backend) Continue(run string, k journal.Kept) (journal.Log, error) {
	l, err := b.become(run, k)
	if err != nil {
		return nil, err
	}
	return l, nil
}

// Replace copies the records that stand there, and writes those of k.
func (b *Backend) Replace(run string, k journal.Kept) (kept string, err error) {
	var n int
	for n = 1; ; n++ {
		kept = b.key(copyKeys, run, "/", fmt.Sprint(n), "/")
		resp := 0
		err := b.each(kept, clientv3.WithKeysOnly(), func(string, []byte) error { resp++; return nil })
		if err != nil {
			return "", err
		}
		if resp == 0 {
			break
		}
	}
	records := b.of(recordKeys, run)
	ops := []clientv3.Op{}
	err = b.each(records, nil, func(key string, value []byte) error {
		ops = append(ops, clientv3.OpPut(kept+strings.TrimPrefix(key, records), string(value)))
		return nil
	})
	if err == nil {
		err = b.write(append(ops, clientv3.OpDelete(b.key(endedKeys, run)))...)
	}
	if err == nil {
		_, err = b.become(run, k)
	}
	return kept, err
}

// become makes k what stands of a run: its records first, then its index, then its head. Between these it is damaged still.
func (b *Backend) become(run string, k journal.Kept) (*log, error) {
	stand, err := b.lines(run)
	if err != nil {
		return nil, err
	}
	var ops []clientv3.Op
	lines := slices.Collect(bytes.Lines(k.Journal))
	records, entries := b.of(recordKeys, run), b.of(indexKeys, run)
	for i, line := range lines {
		if i < len(stand) && bytes.Equal(stand[i], line) {
			continue
		}
		more, err := b.record(run, i+1, line)
		if err != nil {
			return nil, err
		}
		ops = append(ops, more...)
	}
	if len(stand) > len(lines) {
		ops = append(ops, clientv3.OpDelete(numbered(records, len(lines)+1), clientv3.WithRange(clientv3.GetPrefixRangeEnd(records))))
	}
	n := 0
	index := slices.Collect(bytes.Lines(k.Index))
	err = b.each(entries, nil, func(key string, value []byte) error {
		if n < len(index) && key == numbered(entries, n+1) && bytes.Equal(value, index[n]) {
			n++
			return nil
		}
		ops = append(ops, clientv3.OpDelete(key))
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := b.write(ops...); err != nil {
		return nil, err
	}
	ops = nil
	for i, entry := range index[n:] {
		ops = append(ops, clientv3.OpPut(numbered(entries, n+i+1), string(entry)))
	}
	l := &log{backend: b, run: run, count: len(lines)}
	if len(lines) > 0 {
		l.head = headOf(len(lines), lines[len(lines)-1])
	} else {
		l.head = headOf(0, nil)
	}
	return l, b.write(append(ops, clientv3.OpPut(b.key(headKeys, run), l.head))...)
}

// record stores the pieces of a line, and gives the operations that write it as a run's nth.
func (b *Backend) record(run string, n int, line []byte) ([]clientv3.Op, error) {
	stored, pieces, err := split(line)
	if err == nil {
		err = b.put(pieces)
	}
	if err != nil {
		return nil, err
	}
	ops := []clientv3.Op{clientv3.OpPut(numbered(b.of(recordKeys, run), n), string(stored))}
	named := map[string]bool{}
	for _, p := range pieces {
		if !named[p.name] { // etcd takes a key once in a transaction
			named[p.name] = true
			ops = append(ops, clientv3.OpPut(b.of(usesKeys, run)+p.name, ""))
		}
	}
	return ops, nil
}

// Summarise writes the summary.
func (b *Backend) Summarise(run string, body []byte) error {
	return b.write(clientv3.OpPut(b.key(endedKeys, run), string(body)))
}

// Sync has nothing to do: what etcd has taken is on the disks of most of its servers.
func (b *Backend) Sync(string) error { return nil }

// Remove removes the keys of runs, and the pieces that nobody names then.
func (b *Backend) Remove(runs ...string) error {
	var ops []clientv3.Op
	shared := false
	for _, run := range runs {
		err := b.each(b.of(usesKeys, run), clientv3.WithKeysOnly(), func(string, []byte) error { shared = true; return nil })
		if err != nil {
			return err
		}
		for _, keys := range []string{recordKeys, indexKeys, usesKeys, copyKeys} {
			ops = append(ops, clientv3.OpDelete(b.of(keys, run), clientv3.WithPrefix()))
		}
		ops = append(ops, clientv3.OpDelete(b.key(headKeys, run)))
	}
	if err := b.write(ops...); err != nil || !shared {
		return err
	}
	return b.sweep()
}
