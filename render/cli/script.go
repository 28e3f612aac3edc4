package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
)

// Script makes one chunk of the deltas, since a configuration session is committed as a whole.
func (l *Language) Script(sw *fabric.Switch, have plan.State, deltas []plan.Delta) (plan.Step, diag.List) {
	findings := l.clashes(sw, have)
	if len(deltas) == 0 {
		return plan.Step{}, findings
	}
	step := plan.Step{Route: plan.SSHSession, Why: l.pack.Why, Confirm: l.pack.Confirm, ConfirmMost: l.pack.ConfirmMost}
	why := l.reasons(sw)
	send, doubtedSend := l.messages(deltas)
	undo, doubtedUndo := l.messages(plan.Inverse(deltas))
	findings = append(findings, doubts(sw, doubtedSend, doubtedUndo)...)
	chunk := plan.Chunk{Send: send, Undo: undo}
	for _, d := range deltas {
		c := plan.Change{
			Addr: d.Leaf.Addr, Action: d.Action, Before: d.Before, After: d.Leaf.Value, Adopt: d.Adopt,
			Impact: l.impact(d.Leaf), Because: why.of(d.Leaf.Addr),
		}
		if d.Action == plan.Delete {
			c.After = ""
		}
		chunk.Impact = max(chunk.Impact, c.Impact)
		step.Changes = append(step.Changes, c)
	}
	step.Chunks = []plan.Chunk{chunk}
	step.Cost = l.pack.Cost.Step + time.Duration(len(chunk.Send))*l.pack.Cost.Line
	for _, line := range l.pack.Persist { // typed at the prompt: a session does not know it
		step.Persist = append(step.Persist, plan.Message{Op: plan.Run, Body: line})
	}
	return step, findings
}

// messages are the lines that make the deltas happen, and what those of them begin with that no source shows.
func (l *Language) messages(deltas []plan.Delta) (out []plan.Message, doubted []string) {
	for _, t := range l.lines(l.edits(deltas)) {
		out = append(out, plan.Message{Op: plan.Line, Body: t.text})
		if t.doubt != "" {
			doubted = append(doubted, t.doubt)
		}
	}
	return out, doubted
}

// doubts says in one finding which lines take settings back that no source shows. Those that are only in the undo are a note.
func doubts(sw *fabric.Switch, send, undo []string) diag.List {
	f := diag.Diagnostic{
		Severity: diag.Note, Check: check, Addr: sw.Address(),
		Summary: "some lines that would undo this are not verified",
	}
	remedy := " Until it is confirmed, the switch undoes the change by itself and needs none of them."
	if len(send) > 0 {
		f.Severity, f.Summary = diag.Warning, "some lines that take settings back are not verified"
		remedy = " If the switch refuses one, nothing of the step takes effect: type them in a session on one switch first, and abort it."
	}
	lines := slices.Concat(send, undo)
	slices.Sort(lines)
	if lines = slices.Compact(lines); len(lines) == 0 {
		return nil
	}
	f.Detail = "No source shows these, nor that a value in them is the one without a line: " + strings.Join(lines, "; ") + "." + remedy
	return diag.List{f}
}

// impact is what the grammar says of a change to the leaf: its line's, or that of the block around it.
func (l *Language) impact(leaf plan.Leaf) plan.Impact {
	impact := plan.None
	inside := l.grammar
	for _, part := range leaf.Path {
		rule, _ := inside.of(strings.Fields(part))
		if rule == nil {
			break
		}
		impact, inside = rule.impact, rule.inside
	}
	return impact
}

// clashes are lines of others on weir's ports that override what weir says, and a switch that is not what the inventory says.
func (l *Language) clashes(sw *fabric.Switch, have plan.State) diag.List {
	var findings diag.List
	for _, leaf := range have.Foreign {
		inside := l.grammar
		var rule *rule
		for _, part := range leaf.Path {
			if rule, _ = inside.of(strings.Fields(part)); rule == nil {
				break
			}
			inside = rule.inside
		}
		if rule != nil && rule.item.Clash != "" {
			last := len(leaf.Path) - 1
			where := cmp.Or(strings.Join(leaf.Path[:last], ", "), "the switch's configuration")
			findings.Add(diag.Diagnostic{
				Severity: diag.Warning, Check: check, Addr: leaf.Addr, At: []diag.Pos{sw.At},
				Summary: fmt.Sprintf("%q stands in %s and is not weir's", strings.TrimSpace(leaf.Path[last]+" "+leaf.Value), where),
				Detail:  rule.item.Clash,
			})
		}
	}
	if runs := have.Facts["sku"]; runs != "" && sw.SKU != "" && runs != sw.SKU {
		findings.Add(diag.Diagnostic{
			Severity: diag.Warning, Check: check, Addr: sw.Address(), At: []diag.Pos{sw.At},
			Summary: fmt.Sprintf("the inventory says %s, but the device calls itself %s", sw.SKU, runs),
			Detail:  "Buffers and the names of queues follow from the SKU.",
		})
	}
	return findings
}
