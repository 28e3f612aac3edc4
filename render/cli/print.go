package cli

import (
	"strings"

	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/render"
)

// Print lays the document out as the device would show it: the part of the configuration that is weir's.
func (l *Language) Print(doc plan.Document) []render.File {
	deltas := make([]plan.Delta, len(doc))
	for i, leaf := range doc {
		deltas[i] = plan.Delta{Leaf: leaf, Action: plan.Create}
	}
	var out strings.Builder
	out.Grow(64 * len(doc))
	for _, t := range l.lines(l.edits(deltas)) {
		if t.depth > 0 && t.text == l.pack.Leave {
			if t.depth == 1 {
				out.WriteString(l.pack.Comment + "\n")
			}
			continue
		}
		for range t.depth {
			out.WriteString("   ")
		}
		out.WriteString(t.text + "\n")
	}
	return []render.File{{Name: l.pack.File, Body: []byte(out.String())}}
}
