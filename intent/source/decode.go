package source

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"go.yaml.in/yaml/v3"

	"github.com/weirfabric/weir/intent/diag"
)

// Check is the name under which everything that is wrong with the writing itself is reported.
const Check = "yaml"

// decoder reads the nodes of one document into Go values and collects what is wrong.
type decoder struct {
	file     string
	names    *atomic.Int64 // that texts with ranges stood for so far, in all files
	path     []step
	findings diag.List
}

// step is one step of the path to a value: a key, or with no key the place in a list.
type step struct {
	key   string
	index int
}

// decode reads node n, which has the shape s, into dst.
func (d *decoder) decode(s *shape, n *yaml.Node, doc string, dst reflect.Value) {
	if !d.readable(s, n, doc) {
		return
	}
	inner := dst
	if s.placed {
		inner = dst.Field(valueV)
	}
	before := len(d.findings)
	switch {
	case s.scalar != nil:
		d.scalar(s, n, doc, inner)
	case s.table:
		d.table(s, n, doc, inner)
	case s.elem != nil:
		d.list(s, n, doc, inner)
	default:
		d.mapping(s, n, doc, inner)
	}
	if s.placed && len(d.findings) == before {
		*dst.Field(valueAt).Addr().Interface().(*diag.Pos) = d.pos(n)
	}
}

// readable refuses what is never read, whatever is wanted.
func (d *decoder) readable(s *shape, n *yaml.Node, doc string) bool {
	switch {
	case n.Kind == yaml.AliasNode:
		d.errorf(n, "Anchors and aliases are not read, so that every value has one place. Write the value out, or say it once in an override or in defaults.",
			"an alias (*%s) stands here", shortened(n.Value))
	case n.Anchor != "":
		d.errorf(n, "Anchors and aliases are not read, so that every value has one place. Write the value out, or say it once in an override or in defaults.",
			"an anchor (&%s) stands here", shortened(n.Anchor))
	case n.Style&yaml.TaggedStyle != 0:
		d.errorf(n, "Remove the tag: weir knows what type belongs here.", "a tag (%s) stands here", shortened(n.Tag))
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
		d.errorf(n, doc, "has no value: want %s", s.want())
	default:
		return true
	}
	return false
}

func (d *decoder) scalar(s *shape, n *yaml.Node, doc string, dst reflect.Value) {
	if n.Kind != yaml.ScalarNode {
		d.errorf(n, doc, "want %s, found %s", s.want(), found(n))
		return
	}
	if !s.scalar.text && len(n.Value) > mostValue {
		d.errorf(n, doc, "%s is %d bytes long: want %s", short(n.Value), len(n.Value), s.want())
		return
	}
	several, _ := dst.Addr().Interface().(Names)
	if several != nil && d.names.Load() > mostNames {
		d.errorf(n, doc, "the files stand for more than %d names, and weir reads no more", mostNames)
		return
	}
	if err := s.scalar.read(n, dst); err != nil {
		dst.SetZero() // nothing is half read
		d.errorf(n, doc, "%s", err)
	} else if several != nil {
		d.names.Add(int64(several.Count()))
	}
}

func (d *decoder) list(s *shape, n *yaml.Node, doc string, dst reflect.Value) {
	if n.Kind != yaml.SequenceNode {
		summary := fmt.Sprintf("want %s, found %s", s.want(), found(n))
		if n.Kind == yaml.ScalarNode && s.elem.scalar != nil {
			summary += fmt.Sprintf(": write [%s]", shortened(n.Value))
		}
		d.errorf(n, doc, "%s", summary)
		return
	}
	if len(n.Content) > mostItems {
		d.errorf(n, "Part it into several documents.", "a list of %d, and weir reads %d at most", len(n.Content), mostItems)
		return
	}
	dst.Set(reflect.MakeSlice(dst.Type(), len(n.Content), len(n.Content)))
	for i, item := range n.Content {
		d.in(step{index: i}, func() { d.decode(s.elem, item, doc, dst.Index(i)) })
	}
}

func (d *decoder) table(s *shape, n *yaml.Node, doc string, dst reflect.Value) {
	if n.Kind != yaml.MappingNode {
		d.errorf(n, doc, "want %s, found %s", s.want(), found(n))
		return
	}
	dst.Set(reflect.MakeMapWithSize(dst.Type(), len(n.Content)/2))
	first := map[string]*yaml.Node{}
	for i := 0; i < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if !d.isKey(key) || d.twice(key, first[key.Value]) {
			continue
		}
		if err := formOf("key").refuse(key.Value); err != nil {
			d.errorf(key, doc, "key %s", err)
			continue
		}
		first[key.Value] = key
		v := reflect.New(s.elem.typ).Elem()
		d.in(step{key: key.Value}, func() { d.decode(s.elem, value, doc, v) })
		dst.SetMapIndex(reflect.ValueOf(key.Value), v)
	}
}

func (d *decoder) mapping(s *shape, n *yaml.Node, doc string, dst reflect.Value) {
	if n.Kind == yaml.ScalarNode && slices.Contains(s.alone(), n.Value) {
		word := dst.FieldByIndex(s.fields[s.field(n.Value)].index)
		word.Set(reflect.ValueOf(Value[bool]{true, d.pos(n)}))
		return
	}
	if n.Kind != yaml.MappingNode {
		d.errorf(n, doc, "want %s, found %s", s.want(), found(n))
		return
	}
	if s.at != nil {
		*dst.FieldByIndex(s.at).Addr().Interface().(*diag.Pos) = d.pos(n)
	}
	written := make([]*yaml.Node, len(s.fields))
	for i := 0; i < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if !d.isKey(key) {
			continue
		}
		at := s.field(key.Value)
		if at < 0 {
			d.unknown(s, key)
			continue
		}
		if d.twice(key, written[at]) {
			continue
		}
		written[at] = key
		f := &s.fields[at]
		d.path = append(d.path, step{key: f.key})
		d.decode(f.shape, value, f.doc, dst.FieldByIndex(f.index))
		d.path = d.path[:len(d.path)-1]
	}
	for i, f := range s.fields {
		if f.required && written[i] == nil {
			d.errorf(n, f.doc, "%s is missing", f.key)
		}
	}
}

// isKey says whether a key is a plain word, and reports it if not.
func (d *decoder) isKey(key *yaml.Node) bool {
	switch {
	case key.Kind != yaml.ScalarNode:
		d.errorf(key, "", "a key must be a word, found %s", found(key))
	case key.Anchor != "" || key.Style&yaml.TaggedStyle != 0:
		d.errorf(key, "Remove the anchor or the tag.", "a key must be a plain word")
	default:
		return true
	}
	return false
}

// twice reports a key that was written before.
func (d *decoder) twice(key, first *yaml.Node) bool {
	if first == nil {
		return false
	}
	before := len(d.findings)
	d.errorf(key, "Keep one of the two.", "key %s is written twice", short(key.Value))
	if len(d.findings) > before {
		d.findings[before].At = []diag.Pos{d.pos(first), d.pos(key)}
	}
	return true
}

func (d *decoder) unknown(s *shape, key *yaml.Node) {
	question := DidYouMean(key.Value, s.keys())
	if below := s.below(key.Value); question == "" && below != "" {
		question = fmt.Sprintf("; did you mean %s?", below)
	}
	d.errorf(key, "Known keys here: "+strings.Join(s.keys(), ", ")+".", "unknown key %s%s", short(key.Value), question)
}

// in runs f one step further down the path.
func (d *decoder) in(s step, f func()) {
	d.path = append(d.path, s)
	f()
	d.path = d.path[:len(d.path)-1]
}

// errorf adds a finding about a node. Its summary begins with the path to it.
func (d *decoder) errorf(n *yaml.Node, detail, format string, args ...any) {
	if len(d.findings) >= mostWrong {
		return
	}
	summary := fmt.Sprintf(format, args...)
	if p := d.spelt(); p != "" {
		summary = p + ": " + summary
	}
	d.findings.Add(diag.Diagnostic{Severity: diag.Error, Check: Check, Summary: diag.Plain(summary), Detail: detail, At: []diag.Pos{d.pos(n)}})
}

// spelt is the path as the operator would say it: classes[0].ecn.min.
func (d *decoder) spelt() string {
	var b strings.Builder
	for i, s := range d.path {
		switch {
		case s.key == "":
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case i > 0:
			b.WriteString("." + s.key)
		default:
			b.WriteString(s.key)
		}
	}
	return b.String()
}

func (d *decoder) pos(n *yaml.Node) diag.Pos {
	return diag.Pos{File: d.file, Line: n.Line, Column: n.Column}
}

// found says what a node is, for messages.
func found(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	return strconv.Quote(shortened(n.Value))
}
