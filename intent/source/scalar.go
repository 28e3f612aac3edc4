package source

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Text is a type that reads itself from one word. Written says how it is written: in words for messages, and as a regular
// expression for the schema.
type Text interface {
	encoding.TextUnmarshaler
	Written() (want, pattern string)
}

// scalar is how one word is read.
type scalar struct {
	want   string         // "a whole number from 0 to 7"
	text   bool           // it bounds its length itself; all others have mostValue characters at most
	schema map[string]any // the same as JSON Schema
	read   func(n *yaml.Node, dst reflect.Value) error
}

// scalarOf is how a type is read from one word; nil where it is not.
func scalarOf(t reflect.Type, l limits) *scalar {
	if p, ok := parsers[t]; ok {
		return bounded(t, l, parsedScalar(p))
	}
	if text, ok := reflect.New(t).Interface().(Text); ok {
		want, pattern := text.Written()
		return parsedScalar(parser{want, pattern, func(text string, dst reflect.Value) error {
			return dst.Addr().Interface().(Text).UnmarshalText([]byte(text))
		}})
	}
	if _, ok := reflect.New(t).Interface().(Names); ok {
		return namesScalar(t, l)
	}
	switch {
	case t.Kind() == reflect.Bool:
		return &scalar{want: "true or false", schema: map[string]any{"type": "boolean"}, read: readBool}
	case t.Kind() == reflect.String:
		return textScalar(l)
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64:
		return wholeNumber(t, l)
	}
	return nil
}

func readBool(n *yaml.Node, dst reflect.Value) error {
	switch {
	case n.ShortTag() == "!!str" && (n.Value == "true" || n.Value == "false"):
		return fmt.Errorf("%q is text: write %s, without quotes", n.Value, n.Value)
	case n.ShortTag() != "!!bool":
		return fmt.Errorf("%q is not known: write true or false", n.Value)
	}
	dst.SetBool(strings.EqualFold(n.Value, "true"))
	return nil
}

// textScalar reads text: one of the words of enum, or of a form.
func textScalar(l limits) *scalar {
	f := formOf(l.form)
	if l.enum == "" {
		return &scalar{want: f.want, text: true, schema: f.schema(), read: func(n *yaml.Node, dst reflect.Value) error {
			if err := f.read(n); err != nil {
				return err
			}
			dst.SetString(n.Value)
			return nil
		}}
	}
	words := strings.Split(l.enum, ",")
	want := join(words)
	return &scalar{want: want, schema: map[string]any{"enum": words}, read: func(n *yaml.Node, dst reflect.Value) error {
		if !slices.Contains(words, n.Value) {
			return fmt.Errorf("%s is not known: want %s%s", short(n.Value), want, DidYouMean(n.Value, words))
		}
		dst.SetString(n.Value)
		return nil
	}}
}

// namesScalar reads a text that stands for several: each of them has the form.
func namesScalar(t reflect.Type, l limits) *scalar {
	f := formOf(l.form)
	want, pattern := reflect.New(t).Interface().(Names).Written()
	return &scalar{want: want, text: true, schema: map[string]any{"type": "string", "pattern": pattern, "maxLength": mostName}, read: func(n *yaml.Node, dst reflect.Value) error {
		if len(n.Value) > mostName {
			return fmt.Errorf("%s is %d bytes long: want %s, of %d at most", short(n.Value), len(n.Value), want, mostName)
		}
		all, err := dst.Addr().Interface().(Names).Spread(n.Value)
		if err != nil {
			return err
		}
		for _, name := range all {
			if err := f.refuse(name); err != nil {
				return err
			}
		}
		return nil
	}}
}

// wholeNumber reads a decimal number in the range of the type and of the limits.
func wholeNumber(t reflect.Type, l limits) *scalar {
	s := &scalar{want: "a whole number", schema: map[string]any{"type": "integer"}}
	if l.min != "" && l.max != "" {
		s.want = fmt.Sprintf("a whole number from %s to %s", l.min, l.max)
	}
	s.read = func(n *yaml.Node, dst reflect.Value) error {
		v, err := strconv.ParseInt(n.Value, 10, 64)
		switch {
		case err == nil && n.ShortTag() == "!!str":
			return fmt.Errorf("%q is text: write %s, without quotes", n.Value, n.Value)
		case err != nil || n.Value != strconv.FormatInt(v, 10):
			return fmt.Errorf("%q is no number: want %s", n.Value, s.want)
		case dst.CanInt() && dst.OverflowInt(v), dst.CanUint() && (v < 0 || dst.OverflowUint(uint64(v))):
			return fmt.Errorf("%s is out of range: want %s", n.Value, s.want)
		case dst.CanInt():
			dst.SetInt(v)
		default:
			dst.SetUint(uint64(v))
		}
		return nil
	}
	for name, limit := range map[string]string{"minimum": l.min, "maximum": l.max} {
		if n, err := strconv.Atoi(limit); err == nil {
			s.schema[name] = n
		}
	}
	return bounded(t, l, s)
}
