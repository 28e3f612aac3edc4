package source

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/weirfabric/weir/intent/diag"
)

// shape is how a type is written in YAML. Exactly one of scalar, elem and fields is there.
type shape struct {
	typ    reflect.Type
	placed bool    // typ is a Value: what is read goes into V, its place into At
	scalar *scalar // one word
	elem   *shape  // of a list, or of the values of a table
	table  bool    // elem is that of a table with keys of the operator's choice
	fields []field // of a mapping with known keys
	name   string  // of a mapping's type, for the schema
	at     []int   // index of the field that gets the mapping's place; nil: none
}

// field is one key of a mapping.
type field struct {
	key, doc        string
	required, alone bool
	index           []int
	shape           *shape
}

// shapeOf reads the tags of a type. It panics on a type that it cannot read, which is a mistake in the definition.
func shapeOf(t reflect.Type, l limits) *shape {
	s := &shape{typ: t}
	inner := t
	if t.Implements(reflect.TypeFor[interface{ placed() }]()) {
		s.placed = true
		inner = t.Field(valueV).Type
	}
	if s.scalar = scalarOf(inner, l); s.scalar != nil {
		return s
	}
	switch inner.Kind() {
	case reflect.Slice:
		s.elem = shapeOf(inner.Elem(), l)
	case reflect.Map:
		s.elem, s.table = shapeOf(inner.Elem(), l), true
	case reflect.Struct:
		s.name = inner.Name()
		s.addFields(inner, nil)
	default:
		panic(fmt.Sprintf("source: %s cannot be read from YAML", t))
	}
	return s
}

func (s *shape) addFields(t reflect.Type, outer []int) {
	for f := range t.Fields() {
		index := append(slices.Clone(outer), f.Index...)
		tag, tagged := f.Tag.Lookup("yaml")
		key, option, _ := strings.Cut(tag, ",")
		switch {
		case tagged && option == "inline":
			s.addFields(f.Type, index)
		case tagged:
			s.fields = append(s.fields, field{
				key: key, doc: f.Tag.Get("doc"), required: option == "required", alone: option == "alone", index: index,
				shape: shapeOf(f.Type, limits{f.Tag.Get("enum"), f.Tag.Get("min"), f.Tag.Get("max"), f.Tag.Get("form")}),
			})
		case f.Name == "At" && f.Type == reflect.TypeFor[diag.Pos]():
			s.at = index
		}
	}
}

// field is the position of a key; -1 where it is not known.
func (s *shape) field(key string) int {
	for i := range s.fields {
		if s.fields[i].key == key {
			return i
		}
	}
	return -1
}

// keys are the known keys, in the order of the definition.
func (s *shape) keys() []string {
	keys := make([]string, len(s.fields))
	for i, f := range s.fields {
		keys[i] = f.key
	}
	return keys
}

// alone are the keys that may stand in place of the whole mapping.
func (s *shape) alone() []string {
	var keys []string
	for _, f := range s.fields {
		if f.alone {
			keys = append(keys, f.key)
		}
	}
	return keys
}

// below finds a key in the mappings one level further in, for a suggestion: pfc.watchdog.
func (s *shape) below(key string) string {
	for _, f := range s.fields {
		if f.shape.fields != nil && f.shape.field(key) >= 0 {
			return f.key + "." + key
		}
	}
	return ""
}

// want says what is expected, for messages.
func (s *shape) want() string {
	switch {
	case s.scalar != nil:
		return s.scalar.want
	case s.table:
		return "a mapping of names to " + s.elem.want()
	case s.elem != nil:
		return "a list"
	case len(s.alone()) > 0:
		return fmt.Sprintf("the word %s or a mapping with keys such as %s", join(s.alone()), s.example())
	}
	return "a mapping with keys such as " + s.example()
}

func (s *shape) example() string {
	keys := slices.DeleteFunc(s.keys(), func(k string) bool { return slices.Contains(s.alone(), k) })
	return strings.Join(keys[:min(3, len(keys))], ", ")
}
