package host

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weirfabric/weir/host/bond"
	"github.com/weirfabric/weir/host/memlock"
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
	"script that " + unit + " runs. A change of PFC takes the port down and up; weir takes it that MTU and 802.3x drain the NIC, of " +
	"which no source says anything, and that the rest does nothing."

// Script sets the modules and files first, then NIC by NIC.
func (Language) Script(h *fabric.Host, have plan.State, deltas []plan.Delta) (plan.Step, diag.List) {
	findings := spoiled(h, have)
	deltas, refused := possible(h, have, deltas)
	findings = append(append(findings, refused...), untried(h, deltas)...)
	modules := unloaded(h, have)
	if len(deltas)+len(modules) == 0 {
		return plan.Step{}, findings
	}
	step := plan.Step{Route: plan.SSHShell, Why: why, Cost: loginCost}
	add := func(changes []plan.Change, send, undo []plan.Message) {
		if len(send) == 0 {
			return
		}
		chunk := plan.Chunk{Send: send, Undo: undo}
		for _, c := range changes {
			chunk.Impact = max(chunk.Impact, c.Impact)
		}
		step.Changes = append(step.Changes, changes...)
		step.Cost += time.Duration(len(chunk.Send)) * messageCost
		step.Chunks = append(step.Chunks, chunk)
	}
	whole := where(deltas, ofHost)
	add(slices.Concat(loads(h, modules, whole), changesOf(h, whole)), slices.Concat(load(modules), hostMessages(whole)), hostMessages(plan.Inverse(whole)))
	services := where(deltas, func(d plan.Delta) bool { return d.Leaf.Path[0] == memlock.Part })
	add(changesOf(h, services), memlock.Messages(services), memlock.Messages(plan.Inverse(services)))
	for _, name := range bonds(deltas) {
		part := where(deltas, func(d plan.Delta) bool { return d.Leaf.Path[0] == bond.Part && d.Leaf.Path[1] == name })
		done := with(have.Owned, part)
		add(changesOf(h, part), bondMessages(h, name, have.Owned, have.Facts, part), bondMessages(h, name, done, have.Facts, plan.Inverse(part)))
	}
	for _, n := range managed(h) {
		part := where(deltas, func(d plan.Delta) bool { return d.Leaf.Path[0] == n.Name })
		done := with(have.Owned, part)
		add(changesOf(h, part), nicMessages(n, have.Owned, part, false), nicMessages(n, done, plan.Inverse(part), true))
	}
	return step, findings
}

// bondMessages make a bond anew. The RDMA device of its ports goes and comes with it, and how it was to send is said to it again.
func bondMessages(h *fabric.Host, name string, have plan.Document, facts map[string]string, deltas []plan.Delta) []plan.Message {
	out := bond.Messages(h, name, have, facts, deltas)
	if !bond.Remade(deltas) {
		return out
	}
	for _, n := range managed(h) {
		if on := h.Bond(n.Name); on == nil || on.Name != name || len(out) == 0 {
			continue
		}
		var again []plan.Delta
		for _, l := range have {
			if l.Path[0] == n.Name && l.Path[1] == "roce" {
				again = append(again, plan.Delta{Leaf: l, Action: plan.Create})
			}
		}
		out = append(out, rdma.Messages(n, again, false)...)
	}
	return out
}

// bonds are the names of the bonds that deltas are about, in order.
func bonds(deltas []plan.Delta) []string {
	var out []string
	for _, d := range deltas {
		if d.Leaf.Path[0] == bond.Part && !slices.Contains(out, d.Leaf.Path[1]) {
			out = append(out, d.Leaf.Path[1])
		}
	}
	slices.SortFunc(out, addr.Natural)
	return out
}

// with is a document once deltas are made to it.
func with(doc plan.Document, deltas []plan.Delta) plan.Document {
	out := slices.DeleteFunc(slices.Clone(doc), func(l plan.Leaf) bool {
		return slices.ContainsFunc(deltas, func(d plan.Delta) bool { return plan.Compare(d.Leaf, l) == 0 })
	})
	for _, d := range deltas {
		if d.Action != plan.Delete {
			out = append(out, d.Leaf)
		}
	}
	return out
}

// unloaded are the wanted modules that the host has not loaded.
func unloaded(h *fabric.Host, have plan.State) []string {
	return slices.DeleteFunc(rdma.Modules(h), func(name string) bool { return have.Facts[moduleFact+name] != missing })
}

func load(modules []string) []plan.Message {
	var out []plan.Message
	for _, name := range modules {
		out = append(out, rdma.Load(name))
	}
	return out
}

// loads are the changes that modules are loaded. Where the file that names them changes as well, that is told instead.
func loads(h *fabric.Host, modules []string, whole []plan.Delta) []plan.Change {
	if slices.ContainsFunc(whole, func(d plan.Delta) bool { return d.Leaf.Path[1] == modulesFile }) {
		return nil
	}
	var out []plan.Change
	for _, name := range modules {
		a := addr.Device(h.Name).Of(addr.Module, name)
		out = append(out, plan.Change{Addr: a, Action: plan.Create, After: "loaded", Because: because(h, plan.Leaf{Path: []string{"module", name}, Addr: a})})
	}
	return out
}

func changesOf(h *fabric.Host, deltas []plan.Delta) []plan.Change {
	var out []plan.Change
	for _, d := range deltas {
		out = append(out, change(h, d))
	}
	return out
}

func where(deltas []plan.Delta, is func(plan.Delta) bool) []plan.Delta {
	return slices.DeleteFunc(slices.Clone(deltas), func(d plan.Delta) bool { return !is(d) })
}

func ofHost(d plan.Delta) bool {
	return slices.Contains([]string{"file", "unit"}, d.Leaf.Path[0])
}

// hostMessages are those of files and the unit, in an order that is right in both directions: a unit is enabled and disabled while
// its file stands. A file that says anew what wants the unit counts when the unit is enabled again.
func hostMessages(deltas []plan.Delta) []plan.Message {
	run := func(command string) plan.Message { return plan.Message{Op: plan.Run, Body: command} }
	of := func(kind string, gone bool) []plan.Delta {
		return where(deltas, func(d plan.Delta) bool { return d.Leaf.Path[0] == kind && (d.Action == plan.Delete) == gone })
	}
	var out []plan.Message
	for range of("unit", true) {
		out = append(out, run("systemctl disable "+unit))
	}
	reload, again := false, false
	for _, d := range where(deltas, func(d plan.Delta) bool { return d.Leaf.Path[0] == "file" }) {
		m := plan.Message{Op: plan.Write, Path: d.Leaf.Path[1], Body: d.Leaf.Value}
		if d.Action == plan.Delete {
			m = plan.Message{Op: plan.Remove, Path: d.Leaf.Path[1]}
		}
		out = append(out, m)
		reload = reload || d.Leaf.Path[1] == unitFile
		again = again || d.Leaf.Path[1] == unitFile && d.Action == plan.Update
	}
	if reload {
		out = append(out, run("systemctl daemon-reload"))
	}
	if again && len(of("unit", true))+len(of("unit", false)) == 0 {
		out = append(out, run("systemctl reenable "+unit))
	}
	for range of("unit", false) {
		out = append(out, run("systemctl enable "+unit))
	}
	return out
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
	if d.Leaf.Path[0] == bond.Part {
		c.Before, c.After = bond.Shown(c.Before), bond.Shown(c.After)
	}
	if d.Leaf.Path[0] == "file" || memlock.Path(d.Leaf) != "" {
		c.Before, c.After = size(c.Before), size(c.After)
		if strings.HasSuffix(d.Leaf.Path[1], plan.Unfinished) {
			c.Before, c.After = d.Before, ""
		}
	}
	return c
}

// impact of a change: files, modules and marks do nothing to what is sent already.
func impact(l plan.Leaf) plan.Impact {
	switch {
	case l.Path[0] == bond.Part:
		return bond.Impact(l)
	case ofHost(plan.Delta{Leaf: l}), l.Path[0] == memlock.Part, rdma.Owns(l):
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
	if l.Path[0] == bond.Part {
		return bond.Because(h, l)
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
