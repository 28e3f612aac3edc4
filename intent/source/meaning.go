package source

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Meaning writes the documents of a YAML file without what only people read: comments, blank lines, indentation and the order of
// keys. Files of the same meaning are the same bytes. An error means that the file is not YAML,
// or has more in it than weir reads.
func Meaning(body []byte) ([]byte, error) {
	if values(body) > mostValues {
		return nil, fmt.Errorf("read YAML: more than %d values", mostValues)
	}
	var out bytes.Buffer
	documents := yaml.NewDecoder(bytes.NewReader(body))
	for {
		var n yaml.Node
		err := documents.Decode(&n)
		if errors.Is(err, io.EOF) {
			return out.Bytes(), nil
		}
		if err != nil {
			return nil, fmt.Errorf("read YAML: %w", err)
		}
		spell(&out, &n)
	}
}

// spell writes a node so that no two that differ are written the same: each with its kind, its type, its length and its parts.
func spell(out *bytes.Buffer, n *yaml.Node) {
	fmt.Fprintf(out, "%d %s %q %q %d\n", n.Kind, n.ShortTag(), n.Anchor, n.Value, len(n.Content))
	parts := n.Content
	if n.Kind == yaml.MappingNode {
		parts = byKey(parts)
	}
	for _, part := range parts {
		spell(out, part)
	}
}

// byKey orders the keys of a mapping, each before its value. Of keys that stand twice the first stays the first.
func byKey(content []*yaml.Node) []*yaml.Node {
	pairs := slices.Collect(slices.Chunk(content, 2))
	slices.SortStableFunc(pairs, func(a, b []*yaml.Node) int { return cmp.Compare(a[0].Value, b[0].Value) })
	return slices.Concat(pairs...)
}
