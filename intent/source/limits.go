package source

import (
	"fmt"
	"reflect"

	"go.yaml.in/yaml/v3"
)

// limits are what the tags of a field say about the words in it.
type limits struct{ enum, min, max, form string }

// bounded adds the limits min and max, which are spelt as the value is.
func bounded(t reflect.Type, l limits, s *scalar) *scalar {
	least, most := bound(t, l.min, s), bound(t, l.max, s)
	if !least.IsValid() && !most.IsValid() {
		return s
	}
	inside := *s
	inside.read = func(n *yaml.Node, dst reflect.Value) error {
		v := reflect.New(t).Elem()
		if err := s.read(n, v); err != nil {
			return err
		}
		if least.IsValid() && less(v, least) || most.IsValid() && less(most, v) {
			return fmt.Errorf("%s is out of range: want %s", n.Value, reach(l))
		}
		dst.Set(v)
		return nil
	}
	return &inside
}

func bound(t reflect.Type, text string, s *scalar) reflect.Value {
	if text == "" {
		return reflect.Value{}
	}
	v := reflect.New(t).Elem()
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: text}
	if err := s.read(n, v); err != nil {
		panic(fmt.Sprintf("source: limit %s of %s: %v", text, t, err))
	}
	return v
}

func less(a, b reflect.Value) bool {
	switch {
	case a.CanInt():
		return a.Int() < b.Int()
	case a.CanUint():
		return a.Uint() < b.Uint()
	}
	return a.Float() < b.Float()
}

func reach(l limits) string {
	switch {
	case l.max == "":
		return "at least " + l.min
	case l.min == "":
		return "at most " + l.max
	}
	return l.min + " to " + l.max
}
