package gnmi

import (
	"strconv"
	"strings"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"github.com/weirfabric/weir/telemetry"
)

// node is a place in the tree of paths.
type node struct {
	children map[string]*node
	keys     []key
	leaf     *telemetry.Leaf
	path     int // index of the path that it is beneath
}

// key is a key of a list element, and what it holds.
type key struct {
	name  string
	word  string // {port}, {priority} ...; empty: value must be equal
	value string
}

// add puts a leaf into the tree.
func (n *node) add(elems []*gpb.PathElem, l *telemetry.Leaf, index int) {
	for _, e := range elems {
		if n.children == nil {
			n.children = map[string]*node{}
		}
		child, ok := n.children[e.GetName()]
		if !ok {
			child = &node{}
			for name, value := range e.GetKey() {
				k := key{name: name, value: value}
				if strings.HasPrefix(value, "{") {
					k.word = value
				}
				child.keys = append(child.keys, k)
			}
			n.children[e.GetName()] = child
		}
		n = child
	}
	n.leaf, n.path = l, index
}

// walk is a way down the tree, and what it picks up.
type walk struct {
	at           *node
	port, number string
}

func (w *walk) steps(elems []*gpb.PathElem) {
	for _, e := range elems {
		if w.at == nil {
			return
		}
		child, ok := w.at.children[e.GetName()]
		if !ok {
			_, local, _ := strings.Cut(e.GetName(), ":")
			child = w.at.children[local]
		}
		if w.at = child; child != nil && !w.capture(child.keys, e.GetKey()) {
			w.at = nil
		}
	}
}

// capture picks up the keys of an element. It is false where they are not those that are wanted.
func (w *walk) capture(keys []key, values map[string]string) bool {
	for _, k := range keys {
		v, ok := values[k.name]
		switch {
		case !ok:
			return false
		case k.word == "{port}":
			w.port = v
		case k.word == "":
			if v != k.value {
				return false
			}
		default:
			if w.number, ok = telemetry.Trailing(v); !ok {
				return false
			}
		}
	}
	return true
}

// scalar is the value of a leaf, in whichever of gNMI's forms it comes.
func scalar(l *telemetry.Leaf, v *gpb.TypedValue) (float64, telemetry.Status, bool) {
	switch v := v.GetValue().(type) {
	case *gpb.TypedValue_UintVal:
		return l.Scaled(float64(v.UintVal)), l.Status, true
	case *gpb.TypedValue_IntVal:
		return l.Scaled(float64(v.IntVal)), l.Status, true
	case *gpb.TypedValue_DoubleVal:
		return l.Scaled(v.DoubleVal), l.Status, true
	case *gpb.TypedValue_StringVal:
		return l.Read(v.StringVal)
	case *gpb.TypedValue_AsciiVal:
		return l.Read(v.AsciiVal)
	case *gpb.TypedValue_JsonIetfVal:
		return jsonScalar(l, v.JsonIetfVal)
	case *gpb.TypedValue_JsonVal:
		return jsonScalar(l, v.JsonVal)
	case *gpb.TypedValue_BoolVal:
		return l.Read(strconv.FormatBool(v.BoolVal))
	}
	return 0, 0, false
}

// jsonScalar reads a JSON string or number: RFC 7951 writes 64-bit numbers as strings.
func jsonScalar(l *telemetry.Leaf, body []byte) (float64, telemetry.Status, bool) {
	text := strings.TrimSpace(string(body))
	if unquoted, err := strconv.Unquote(text); err == nil {
		text = unquoted
	}
	// An identity may carry the name of its module.
	if _, local, found := strings.Cut(text, ":"); found && l.Values != nil {
		text = local
	}
	return l.Read(text)
}
