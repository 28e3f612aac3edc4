// Package source reads YAML with positions: strictly, with line and column, and with a suggestion where a word is close
// to one that is known.
//
// Struct tags are the one definition of a document. The decoder and the JSON Schema both follow from them:
//
//	yaml:"key"           the key; fields without the tag are not read, except one named At of type diag.Pos, which gets
//	                     the place of the mapping
//	yaml:"key,required"  must be written
//	yaml:"key,alone"     a bool whose key may stand in place of the whole mapping: ecn: off is ecn: {off: true}
//	yaml:",inline"       the keys of an embedded struct belong to the outer mapping
//	doc:"..."            a sentence for the schema and for findings
//	enum:"a,b"           the words that are allowed
//	min:"0" max:"7"      the range, spelt as the value is
//	form:"name"          one of the text forms of this package; of Names that of each name
package source

import "github.com/weirfabric/weir/intent/diag"

// Value is a value that somebody wrote, and where. The zero Value was not written.
type Value[T any] struct {
	V  T
	At diag.Pos
}

// Set says whether the value was written.
func (v Value[T]) Set() bool { return v.At.Line > 0 }

// Or is v where it was written, and otherwise other.
func (v Value[T]) Or(other Value[T]) Value[T] {
	if v.Set() {
		return v
	}
	return other
}

// placed marks Value for the decoder.
func (Value[T]) placed() {}

// Where the decoder finds the fields of a Value.
const (
	valueV = iota
	valueAt
)
