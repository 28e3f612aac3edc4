package host

import (
	"fmt"
	"slices"
	"time"

	"github.com/weirfabric/weir/host/nic"
	"github.com/weirfabric/weir/host/rdma"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
)

// What the route costs: a login, and each message on its own.
const (
	loginCost   = time.Second
	messageCost = 200 * time.Millisecond
)

const why = "Commands and files over SSH, one after another; a host has no commit timer. What is set stays over a reboot, by the " +
	"script that " + unit + " runs. No source says what a change does to traffic: weir takes it that PFC, MTU and 802.3x drain " +
	"the NIC, and that the rest does nothing."

// Script sets the modules and files first, then NIC by NIC; modules that are no longer wanted go last.
func (Language) Script(h *fabric.Host, have plan.State, deltas []plan.Delta) (plan.Step, diag.List) {
	findings := spoiled(h, have)
	deltas, refused := possible(h, have, deltas)
	findings = append(findings, refused...)
	if len(deltas) == 0 {
		return plan.Step{}, findings
	}
	step := plan.Step{Route: plan.SSHShell, Why: why, Cost: loginCost}
	add := func(part []plan.Delta, messages func(part []plan.Delta, backwards bool) []plan.Message) {
		if len(part) == 0 {
			return
		}
		chunk := plan.Chunk{Send: messages(part, false), Undo: messages(plan.Inverse(part), true)}
		for _, d := range part {
			c := change(h, d)
			chunk.Impact = max(chunk.Impact, c.Impact)
			step.Changes = append(step.Changes, c)
		}
		step.Cost += time.Duration(len(chunk.Send)) * messageCost
		step.Chunks = append(step.Chunks, chunk)
	}
	whole := func(part []plan.Delta, _ bool) []plan.Message { return hostMessages(part) }
	add(where(deltas, func(d plan.Delta) bool { return ofHost(d) && !unloads(d) }), whole)
	for _, n := range managed(h) {
		add(where(deltas, func(d plan.Delta) bool { return d.Leaf.Path[0] == n.Name }), func(part []plan.Delta, backwards bool) []plan.Message {
			return nicMessages(n, part, backwards)
		})
	}
	add(where(deltas, unloads), whole)
	return step, findings
}

func where(deltas []plan.Delta, is func(plan.Delta) bool) []plan.Delta {
	return slices.DeleteFunc(slices.Clone(deltas), func(d plan.Delta) bool { return !is(d) })
}

func ofHost(d plan.Delta) bool {
	return slices.Contains([]string{"module", "file", "unit"}, d.Leaf.Path[0])
}

func unloads(d plan.Delta) bool { return d.Leaf.Path[0] == "module" && d.Action == plan.Delete }

// hostMessages are those of modules, files and the unit, in an order that is right in both directions: a unit is enabled
// and disabled while its file stands.
func hostMessages(deltas []plan.Delta) []plan.Message {
	run := func(command string) plan.Message { return plan.Message{Op: plan.Run, Body: command} }
	of := func(kind string, gone bool) []plan.Delta {
		return where(deltas, func(d plan.Delta) bool { return d.Leaf.Path[0] == kind && (d.Action == plan.Delete) == gone })
	}
	out := rdma.ModuleMessages(of("module", false))
	for range of("unit", true) {
		out = append(out, run("systemctl disable "+unit))
	}
	reload := false
	for _, d := range where(deltas, func(d plan.Delta) bool { return d.Leaf.Path[0] == "file" }) {
		m := plan.Message{Op: plan.Write, Path: d.Leaf.Path[1], Body: d.Leaf.Value}
		if d.Action == plan.Delete {
			m = plan.Message{Op: plan.Remove, Path: d.Leaf.Path[1]}
		}
		out = append(out, m)
		reload = reload || d.Leaf.Path[1] == unitFile
	}
	if reload {
		out = append(out, run("systemctl daemon-reload"))
	}
	for range of("unit", false) {
		out = append(out, run("systemctl enable "+unit))
	}
	return append(out, rdma.ModuleMessages(of("module", true))...)
}

// change is a delta as the operator reads it. A file is told by its size: what it says is in the chunk.
func change(h *fabric.Host, d plan.Delta) plan.Change {
	c := plan.Change{
		Addr: d.Leaf.Addr, Action: d.Action, Before: d.Before, After: d.Leaf.Value, Adopt: d.Adopt,
		Impact: impact(d.Leaf), Because: because(h, d.Leaf),
	}
	if d.Action == plan.Delete {
		c.After = ""
	}
	if d.Leaf.Path[0] == "file" {
		c.Before, c.After = size(c.Before), size(c.After)
	}
	return c
}

// impact of a change: files, modules and marks do nothing to what is sent already.
func impact(l plan.Leaf) plan.Impact {
	if ofHost(plan.Delta{Leaf: l}) || rdma.Owns(l) {
		return plan.None
	}
	return nic.Impact(l)
}

func size(text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf("a file of %d bytes", len(text))
}

// because are the places in the repo that a value comes from.
func because(h *fabric.Host, l plan.Leaf) []diag.Pos {
	for _, m := range h.Modules {
		if l.Addr.Kind == addr.Module && rdma.ModuleName(m.Name) == l.Addr.Name {
			return m.At
		}
	}
	for _, n := range h.NICs {
		if n.Name != l.Path[0] {
			continue
		}
		if rdma.Owns(l) {
			return n.At
		}
		return nic.Because(n, l)
	}
	return h.At
}
