package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/plan"
)

// PlanOptions say how much of a plan is printed.
type PlanOptions struct {
	Lines bool   // also what is sent, in the device's own words
	Apply string // the command that carries the plan out as it was saved; empty: it was not
}

// Plan prints a plan: waves, devices with the same changes together, ports with the same changes together.
func (v View) Plan(p plan.Plan, o PlanOptions) {
	if len(p.Waves) == 0 {
		v.Findings(p.Findings)
		v.skipped(p)
		v.Printf("No changes: every device that was read holds what the intent wants.\n")
		return
	}
	v.legend(p)
	for n, wave := range p.Waves {
		v.Printf("\n%s\n", v.Bold(fmt.Sprintf("Wave %d of %d: %s", n+1, len(p.Waves), diag.Count(len(wave), "device"))))
		for _, g := range groupSteps(wave, o.Lines) {
			v.step(g, o)
		}
	}
	if len(p.Findings) > 0 {
		v.Printf("\n")
		v.Findings(p.Findings)
	}
	v.skipped(p)
	s := p.Summary
	v.Printf("\nPlan: %s: %d to create, %d to update, %d to delete.\n", diag.Count(s.Devices, "device"), s.Create, s.Update, s.Delete)
	v.consequences(p)
	if o.Apply != "" {
		v.Printf("Saved. To carry out exactly this: %s\n", o.Apply)
	} else {
		v.Printf("This plan was not saved (-o FILE): an apply makes a new one, which may differ.\n")
	}
}

// skipped says loudly which devices the plan leaves out.
func (v View) skipped(p plan.Plan) {
	if len(p.Skipped) == 0 {
		return
	}
	var names []string
	for _, s := range p.Skipped {
		names = append(names, s.Device)
	}
	v.Printf("\n%s of this plan, since they could not be reached: %s (%s)\n", v.Bad("LEFT OUT"), diag.First(names, 8), diag.Count(len(names), "device"))
}

// legend explains the signs that the plan uses and no others.
func (v View) legend(p plan.Plan) {
	used := map[plan.Action]bool{}
	for _, wave := range p.Waves {
		for _, s := range wave {
			for _, c := range s.Changes {
				used[c.Action] = true
			}
		}
	}
	var words []string
	for _, a := range []plan.Action{plan.Create, plan.Update, plan.Delete} {
		if used[a] {
			words = append(words, v.sign(a)+" "+string(a))
		}
	}
	v.Printf("%s\n", strings.Join(words, "   "))
}

// consequences says what an operator must agree to.
func (v View) consequences(p plan.Plan) {
	flaps, adopts := map[string]bool{}, map[string]bool{}
	var single []string
	for _, wave := range p.Waves {
		for _, s := range wave {
			if s.Impact() > plan.None {
				flaps[s.Device] = true
			}
			if s.Single {
				single = append(single, s.Device)
			}
			for _, c := range s.Changes {
				if c.Adopt {
					adopts[s.Device] = true
				}
			}
		}
	}
	if len(flaps) > 0 {
		v.Printf("%s: traffic is touched on %s (apply needs --allow-flap).\n", v.paint(yellow, "note"), diag.Count(len(flaps), "device"))
	}
	if len(single) > 0 {
		v.Printf("%s: no other switch is of the tier of %s, so that nothing carries the traffic beside it (apply needs --allow-single).\n",
			v.paint(yellow, "note"), diag.First(single, 3))
	}
	if len(adopts) > 0 {
		v.Printf("%s: settings that weir did not make would become weir's on %s, marked \"adopt\" (apply needs --adopt).\n",
			v.paint(yellow, "note"), diag.Count(len(adopts), "device"))
	}
}

// stepGroup are devices whose steps differ in nothing but the device's name, as far as they are shown.
type stepGroup struct {
	devices []string
	step    plan.Step
}

func groupSteps(wave []plan.Step, lines bool) []stepGroup {
	var groups []stepGroup
	index := map[string]int{}
	for _, s := range wave {
		key := s.Platform + string(s.Route) + s.Why
		for _, c := range s.Changes {
			key += "\x00" + changeKey(c)
		}
		if lines { // what is sent is shown, and must then be the same as well
			key += "\x02" + fmt.Sprint(s.Chunks, s.Persist, s.Quiet)
		}
		if i, ok := index[key]; ok {
			groups[i].devices = append(groups[i].devices, s.Device)
			continue
		}
		index[key] = len(groups)
		groups = append(groups, stepGroup{[]string{s.Device}, s})
	}
	return groups
}

// changeKey is the change without its device and its places: what is done counts, not which line asks for it.
func changeKey(c plan.Change) string {
	a := c.Addr
	a.Device = ""
	return fmt.Sprint(c.Action, a, "\x01", c.Before, "\x01", c.After, c.Impact, c.Adopt)
}

func (v View) step(g stepGroup, o PlanOptions) {
	s := g.step
	v.Printf("\n  %s (%s) %s\n", v.Bold(diag.First(g.devices, 8)), s.Platform, v.Dim(by(s)))
	if len(g.devices) > 1 {
		v.Printf("  these %d devices: the same %s each\n", len(g.devices), diag.Count(len(s.Changes), "change"))
	}
	if s.Why != "" {
		v.Printf("  %s\n", v.Dim(s.Why))
	}
	for _, ports := range groupPorts(s.Changes) {
		v.ports(ports)
	}
	if o.Lines {
		v.lines(s)
	}
}

// by says which way a step goes and how long that takes.
func by(s plan.Step) string {
	words := map[plan.Route]string{
		plan.GNMISet: "by gNMI Set", plan.SSHBulk: "by SSH, as one load", plan.SSHSession: "by SSH, in a configuration session",
		plan.SSHShell: "by SSH, as files and commands"}[s.Route]
	if s.Confirm > 0 {
		words += fmt.Sprintf(", undone by the device itself unless confirmed within %v", s.Confirm)
	}
	if s.Cost > 0 {
		words += fmt.Sprintf(", about %v", s.Cost.Round(time.Second))
	}
	return words
}

// portGroup are ports with the same changes; the port "" stands for the device itself.
type portGroup struct {
	ports   []string
	changes []plan.Change
}

func groupPorts(changes []plan.Change) []portGroup {
	byPort := map[string][]plan.Change{}
	var order []string
	for _, c := range changes {
		if _, seen := byPort[c.Addr.Port]; !seen {
			order = append(order, c.Addr.Port)
		}
		byPort[c.Addr.Port] = append(byPort[c.Addr.Port], c)
	}
	slices.SortStableFunc(order, addr.Natural)
	var groups []portGroup
	index := map[string]int{}
	for _, port := range order {
		key := ""
		for _, c := range byPort[port] {
			c.Addr.Port = ""
			key += "\x00" + changeKey(c)
		}
		if i, ok := index[key]; ok && port != "" {
			groups[i].ports = append(groups[i].ports, port)
			continue
		}
		index[key] = len(groups)
		groups = append(groups, portGroup{[]string{port}, byPort[port]})
	}
	return groups
}

func (v View) ports(g portGroup) {
	if g.ports[0] != "" {
		head := diag.First(g.ports, 6)
		if len(g.ports) > 1 {
			head += fmt.Sprintf(" (%d ports, the same %s each)", len(g.ports), diag.Count(len(g.changes), "change"))
		}
		v.Printf("    %s\n", v.paint(cyan, head))
	}
	table := tabwriter.NewWriter(v.printer(), 0, 4, 2, ' ', 0)
	for _, row := range foldRows(g.changes) {
		value := quoted(row.change.Before) + " -> " + quoted(row.change.After)
		switch row.change.Action {
		case plan.Create:
			value = quoted(row.change.After)
		case plan.Delete:
			value = quoted(row.change.Before)
		}
		var marks []string
		if row.change.Impact > plan.None {
			marks = append(marks, v.paint(red, row.change.Impact.String()))
		}
		if row.change.Adopt {
			marks = append(marks, v.paint(yellow, "adopt"))
		}
		fmt.Fprintf(table, "      %s %s\t%s\t%s\t%s\n", v.sign(row.change.Action), row.name, value, strings.Join(marks, " "),
			v.Dim(places(row.change.Because)))
	}
	_ = table.Flush()
}

// row is one printed line: changes that differ in nothing but the last part of their name.
type row struct {
	change plan.Change
	name   string
	names  []string
}

func foldRows(changes []plan.Change) []row {
	var rows []row
	index := map[string]int{}
	for _, c := range changes {
		stem, last := "", c.Addr.Name
		if i := strings.LastIndexByte(c.Addr.Name, '/'); i >= 0 {
			stem, last = c.Addr.Name[:i+1], c.Addr.Name[i+1:]
		}
		key := fmt.Sprint(c.Action, c.Addr.Kind, stem, "\x00", c.Addr.Leaf, "\x00", c.Before, "\x00", c.After, c.Impact, c.Adopt, last == "")
		i, seen := index[key]
		if !seen {
			i = len(rows)
			index[key] = i
			rows = append(rows, row{change: c})
		}
		rows[i].names = append(rows[i].names, last)
	}
	for i, r := range rows {
		a := r.change.Addr
		stem := a.Name[:strings.LastIndexByte(a.Name, '/')+1]
		rows[i].name = addr.Addr{Kind: a.Kind, Name: stem + ranges(r.names), Leaf: a.Leaf}.String()
		rows[i].name = cmp.Or(rows[i].name, "settings")
	}
	return rows
}

// lines prints what is sent to the device, and what would undo it.
func (v View) lines(s plan.Step) {
	for i, c := range s.Chunks {
		v.Printf("    %s\n", v.Dim(fmt.Sprintf("chunk %d of %d (%s):", i+1, len(s.Chunks), c.Impact)))
		for _, m := range c.Send {
			for line := range strings.Lines(Message(m)) {
				v.Printf("      > %s\n", strings.TrimRight(line, "\n"))
			}
		}
		for _, m := range c.Undo {
			for line := range strings.Lines(Message(m)) {
				v.Printf("      %s\n", v.Dim("undo > "+strings.TrimRight(line, "\n")))
			}
		}
	}
	for _, m := range s.Persist {
		for line := range strings.Lines(Message(m)) {
			v.Printf("      > %s %s\n", strings.TrimRight(line, "\n"), v.Dim("(when it is confirmed)"))
		}
	}
	for _, q := range s.Quiet {
		for _, w := range q.Ways {
			v.Printf("      ? %s %s\n", w.Text, v.Dim("(to see that the device is quiet)"))
		}
	}
}

// Message writes one message as the device gets it.
func Message(m plan.Message) string {
	switch m.Op {
	case plan.Line, plan.Run:
		return m.Body
	case plan.Write:
		return fmt.Sprintf("write %s:\n%s", m.Path, m.Body)
	case plan.Remove:
		return "remove " + m.Path
	case plan.SetDelete:
		return "delete " + m.Path
	}
	return fmt.Sprintf("%s %s = %s", m.Op, m.Path, m.Body)
}

// Drift prints what moved. Changes say what would lead back: After is wanted, Before stands.
func (v View) Drift(devices []control.DeviceDrift) {
	n, unread, accepted, resting := 0, 0, 0, 0
	for _, d := range devices {
		if d.State != "" {
			resting++
			v.Printf("%s: not looked at: %s\n", d.Device, d.State)
		}
		n += len(d.Changes)
		accepted += d.Accepted
		if d.Error != "" {
			unread++
			v.Printf("%s: %s\n", v.Bad("error"), d.Error)
		}
		for _, c := range d.Changes {
			v.Printf("%s: is %s, the intent wants %s  %s\n", v.paint(yellow, c.Addr.String()), absent(c.Before, c.Action == plan.Create),
				absent(c.After, c.Action == plan.Delete), v.Dim(places(c.Because)))
		}
		v.weight(d)
	}
	switch {
	case unread > 0:
		v.Printf("%s could not be read: whether they drifted is not known.\n", diag.Count(unread, "device"))
	case n == 0:
		v.Printf("No drift: %s as the intent wants%s.\n", diag.Count(len(devices)-resting, "device"), map[bool]string{true: ", but for what is accepted"}[accepted > 0])
	}
	if n > 0 {
		v.Printf("%s.\n", diag.Count(n, "difference"))
	}
	if accepted > 0 {
		v.Printf("%s accepted in the repo (accept: {check: drift}).\n", diag.Count(accepted, "more difference"))
	}
}

// weight says what the drift of a device does to the lossless classes.
func (v View) weight(d control.DeviceDrift) {
	switch d.Lossless {
	case control.BreaksIt:
		for _, b := range d.Breaks {
			v.Printf("  %s: it is not lossless so: %s: %s\n", v.Bad("error"), b.At, b.What)
		}
	case control.StillLossless:
		v.Printf("  %s: no lossless class breaks by it\n", v.Good("note"))
	case control.NotKnown:
		v.Printf("  %s: whether what runs is lossless is not known (weir prove --all --live)\n", v.paint(yellow, "warning"))
	}
}

func absent(s string, gone bool) string {
	if gone {
		return "absent"
	}
	return quoted(s)
}
