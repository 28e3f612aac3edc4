package render

import (
	"slices"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/plan"
)

// Undo is the step from before to have, turned round. What may be undone, and by which route, the language says of the step that
// leads back.
func (b *bound[D]) Undo(have plan.State, before plan.Document) (plan.Step, diag.List) {
	deltas, findings := Diff(b.name, before, have, b.manifest)
	back, refused := b.language.Script(b.dev, have, deltas)
	findings = append(findings, refused...)
	deltas = scripted(deltas, back.Changes)
	from := have
	from.Owned, from.Route = made(have.Owned, deltas), back.Route
	step, _ := b.language.Script(b.dev, from, plan.Inverse(deltas))
	step.Device, step.Platform = b.name, b.platform
	step.Base, step.Parts = have.Owned.Digest(), have.Owned.Parts()
	step.Changes, step.Why, step.Validate = back.Changes, back.Why, back.Validate
	slices.Reverse(step.Chunks)
	for i, c := range step.Chunks {
		step.Chunks[i].Send, step.Chunks[i].Undo = c.Undo, c.Send
	}
	return step, findings
}

// scripted are the deltas that the language has made changes of.
func scripted(deltas []plan.Delta, changes []plan.Change) []plan.Delta {
	if len(changes) == len(deltas) {
		return deltas
	}
	at := map[addr.Addr]bool{}
	for _, c := range changes {
		at[c.Addr] = true
	}
	return slices.DeleteFunc(slices.Clone(deltas), func(d plan.Delta) bool { return !at[d.Leaf.Addr] })
}

// made is the document after deltas, which are in order.
func made(d plan.Document, deltas []plan.Delta) plan.Document {
	out := make(plan.Document, 0, len(d)+len(deltas))
	rest := d.Sorted()
	for _, x := range deltas {
		n, there := slices.BinarySearchFunc(rest, x.Leaf, plan.Compare)
		out = append(out, rest[:n]...)
		if there {
			n++
		}
		rest = rest[n:]
		if x.Action != plan.Delete {
			out = append(out, x.Leaf)
		}
	}
	return append(out, rest...)
}
