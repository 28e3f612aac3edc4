package plan

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"slices"

	"github.com/weirfabric/weir/intent/addr"
)

// Digest is a SHA-256 in hex.
type Digest string

// Leaf is one value of a device's configuration, where the device's own language has it.
type Leaf struct {
	Path   []string  `json:"path"`             // {"WRED_PROFILE", "rdma", "ecn"}; {"interface Ethernet1", "mtu"}
	Value  string    `json:"value"`            // normal form: equal values are equal strings
	Addr   addr.Addr `json:"address"`          // what the operator calls it
	Object string    `json:"object,omitempty"` // the shared object it is part of (DSCP_TO_TC_MAP|AZURE); empty for a port's own setting
}

// Document is a set of leaves. Sorted, it is the same bytes for the same configuration.
type Document []Leaf

// Compare orders leaves by path.
func Compare(a, b Leaf) int { return slices.Compare(a.Path, b.Path) }

// Sort puts the leaves into their order.
func (d Document) Sort() { slices.SortFunc(d, Compare) }

// Sorted is the document in its order. The document itself stays as it is.
func (d Document) Sorted() Document {
	if slices.IsSortedFunc(d, Compare) {
		return d
	}
	sorted := slices.Clone(d)
	sorted.Sort()
	return sorted
}

// Digest is the same for documents with the same paths and values, in whatever order.
func (d Document) Digest() Digest {
	h := sha256.New()
	var line []byte
	for _, l := range d.Sorted() {
		line = l.spell(line[:0])
		h.Write(line)
	}
	return Digest(hex.EncodeToString(h.Sum(nil)))
}

// Parts are the digests of the document by shared object and, for the rest, by port (device leaves under "").
func (d Document) Parts() map[string]Digest {
	hashes := map[string]hash.Hash{}
	var line []byte
	for _, l := range d.Sorted() {
		part := cmp.Or(l.Object, l.Addr.Port)
		if hashes[part] == nil {
			hashes[part] = sha256.New()
		}
		line = l.spell(line[:0])
		hashes[part].Write(line)
	}
	parts := make(map[string]Digest, len(hashes))
	for part, h := range hashes {
		parts[part] = Digest(hex.EncodeToString(h.Sum(nil)))
	}
	return parts
}

// spell appends what a digest covers of a leaf.
func (l Leaf) spell(to []byte) []byte {
	for _, p := range l.Path {
		to = append(append(to, p...), 0)
	}
	return append(append(append(to, 1), l.Value...), 2)
}

// State is what was read from a device, sorted into what weir answers for and what it does not.
type State struct {
	Owned   Document            // settings of the ports in the inventory, and the shared objects that weir wants or made
	Derived Document            // what the device works out by itself: never a difference
	Foreign Document            // what others put there and weir's objects refer to or are referred to by
	Users   map[string][]string // shared object -> the foreign rows that use it
	Facts   map[string]string   // version, hwsku, asic ...: what the language's rules depend on
	Rest    []string            // lines of others, as the device prints them, where its own timer would take them back with a change
	Route   Route               // by which a script should go where the language has a choice; empty: the language decides
}

// Manifest lists the shared objects of each device that weir made or adopted. It is kept with the journal.
type Manifest map[string][]string

// Has says whether weir owns the shared object on the device.
func (m Manifest) Has(device, object string) bool { return slices.Contains(m[device], object) }

// Delta is one leaf that differs from what is wanted.
type Delta struct {
	Leaf   Leaf // as wanted; for Delete as it stands
	Action Action
	Before string // value on the device; empty for Create
	Adopt  bool   // the leaf's shared object stands on the device and is not in the manifest
}

// Inverse are the deltas that lead back.
func Inverse(deltas []Delta) []Delta {
	out := make([]Delta, len(deltas))
	for i, d := range deltas {
		switch d.Action {
		case Create:
			d.Action, d.Before = Delete, d.Leaf.Value
		case Delete:
			d.Action, d.Before = Create, ""
		default:
			d.Leaf.Value, d.Before = d.Before, d.Leaf.Value
		}
		out[i] = d
	}
	return out
}
