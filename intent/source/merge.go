package source

import (
	"fmt"
	"reflect"

	"github.com/weirfabric/weir/intent/diag"
)

// Merge adds what src says to dst: pointers to two values of one type with the tags of this package, read from two documents.
// Lists are joined. What both have written is a finding that names both places, and stays as dst has it.
func Merge[T any](dst, src *T) diag.List {
	var findings diag.List
	merge(shapeOf(reflect.TypeFor[T](), limits{}), "", reflect.ValueOf(dst).Elem(), reflect.ValueOf(src).Elem(), &findings)
	return findings
}

func merge(s *shape, path string, dst, src reflect.Value, findings *diag.List) {
	switch {
	case s.placed:
		have, more := dst.Field(valueAt).Interface().(diag.Pos), src.Field(valueAt).Interface().(diag.Pos)
		if have.Line > 0 && more.Line > 0 {
			findings.Add(diag.Diagnostic{
				Severity: diag.Error, Check: Check, Summary: fmt.Sprintf("%s is said twice", path),
				Detail: "Both documents speak of the same thing. Keep one of the two.", At: []diag.Pos{have, more},
			})
		} else if more.Line > 0 {
			dst.Set(src)
		}
	case s.elem != nil && !s.table:
		dst.Set(reflect.AppendSlice(dst, src))
	case s.fields != nil:
		for _, f := range s.fields {
			key := f.key
			if path != "" {
				key = path + "." + key
			}
			merge(f.shape, key, dst.FieldByIndex(f.index), src.FieldByIndex(f.index), findings)
		}
	}
}

// Nearer is what near says, and where it says nothing what far says. Both are structs of Values.
func Nearer[T any](near, far T) T {
	n, f := reflect.ValueOf(&near).Elem(), reflect.ValueOf(far)
	for i := range n.NumField() {
		if at, ok := n.Field(i).Field(valueAt).Interface().(diag.Pos); ok && at.Line == 0 {
			n.Field(i).Set(f.Field(i))
		}
	}
	return near
}
