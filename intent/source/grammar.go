package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync/atomic"

	"go.yaml.in/yaml/v3"

	"github.com/weirfabric/weir/intent/diag"
)

// Kind is one sort of document: what follows its "kind:".
type Kind struct {
	Name string
	Doc  string
	Type reflect.Type // a struct with the tags of this package
}

// Grammar is the kinds of document that the files of a folder may hold. It is safe for use by many goroutines.
type Grammar struct {
	kinds  []Kind
	shapes []*shape
	// Elsewhere says of kinds that belong into other files where that is; for findings.
	Elsewhere map[string]string
}

// NewGrammar reads the definitions of the kinds.
func NewGrammar(kinds ...Kind) *Grammar {
	g := &Grammar{kinds: kinds}
	for _, k := range kinds {
		g.shapes = append(g.shapes, shapeOf(k.Type, limits{}))
	}
	return g
}

// Document is one document that was read. Value is a pointer to its kind's type.
type Document struct {
	Kind  string
	Value any
}

// Read reads the documents of one file. Documents with findings are returned as far as they could be read.
func (g *Grammar) Read(file string, body []byte) ([]Document, diag.List) {
	return g.read(file, body, &atomic.Int64{})
}

// read is Read of one of several files, whose texts with ranges stood for so many names so far.
func (g *Grammar) read(file string, body []byte, names *atomic.Int64) ([]Document, diag.List) {
	if pos, what := junk(file, body); what != "" {
		return nil, diag.List{{Severity: diag.Error, Check: Check, Summary: what, At: []diag.Pos{pos}, Detail: "Save the file as plain UTF-8 text."}}
	}
	if findings := crowded(file, body); findings != nil {
		return nil, findings
	}
	var documents []Document
	var findings diag.List
	decoder := yaml.NewDecoder(bytes.NewReader(body))
	for {
		var n yaml.Node
		err := decoder.Decode(&n)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			findings.Add(syntax(file, body, err))
			return documents, findings
		}
		if root := n.Content[0]; root.Kind != yaml.ScalarNode || root.Value != "" || root.Anchor != "" {
			doc, wrong := g.document(file, root, names)
			if doc.Value != nil {
				documents = append(documents, doc)
			}
			findings = append(findings, wrong...)
		}
	}
	if len(documents) == 0 && len(findings) == 0 {
		findings.Add(diag.Diagnostic{
			Severity: diag.Error, Check: Check, Summary: "the file holds no document",
			Detail: "Write at least one, beginning with its kind: " + join(g.names()) + "; or remove the file.",
			At:     []diag.Pos{{File: file, Line: 1, Column: 1}},
		})
	}
	return documents, findings
}

// document reads one document whose kind stands in it.
func (g *Grammar) document(file string, root *yaml.Node, names *atomic.Int64) (Document, diag.List) {
	d := &decoder{file: file, names: names}
	var doc Document
	if root.Kind != yaml.MappingNode {
		d.errorf(root, g.kindsKnown(), "want a document of keys and values that begins with its kind, found %s", found(root))
		return doc, d.findings
	}
	i := kindIndex(root, 0)
	if i < 0 {
		d.errorf(root, g.kindsKnown(), "kind is missing")
		return doc, d.findings
	}
	if second := kindIndex(root, i+2); second >= 0 {
		d.twice(root.Content[second], root.Content[i])
		return doc, d.findings
	}
	kind := root.Content[i+1]
	for k := range g.kinds {
		if kind.Kind == yaml.ScalarNode && g.kinds[k].Name == kind.Value {
			v := reflect.New(g.kinds[k].Type)
			rest := *root
			rest.Content = append(append([]*yaml.Node(nil), root.Content[:i]...), root.Content[i+2:]...)
			d.decode(g.shapes[k], &rest, g.kinds[k].Doc, v.Elem())
			doc.Kind, doc.Value = kind.Value, v.Interface()
			return doc, d.findings
		}
	}
	if where := g.Elsewhere[kind.Value]; where != "" {
		d.errorf(kind, g.kindsKnown(), "kind %s belongs %s", kind.Value, where)
		return doc, d.findings
	}
	d.errorf(kind, g.kindsKnown(), "unknown kind %s%s", found(kind), DidYouMean(kind.Value, g.names()))
	return doc, d.findings
}

// kindIndex is where the key "kind" stands among the nodes of a mapping, from a place on; -1 where it does not.
func kindIndex(root *yaml.Node, from int) int {
	for i := from; i < len(root.Content); i += 2 {
		if root.Content[i].Value == "kind" {
			return i
		}
	}
	return -1
}

func (g *Grammar) names() []string {
	names := make([]string, len(g.kinds))
	for i, k := range g.kinds {
		names[i] = k.Name
	}
	return names
}

func (g *Grammar) kindsKnown() string {
	return fmt.Sprintf("Each document says its kind here: %s.", strings.Join(g.names(), ", "))
}
