package sonic

import (
	"fmt"
	"slices"
	"time"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
)

// Script takes the device from one state to the other. Few changes go by gNMI, where the device validates them; a large
// rollout, or one that the updater would refuse, goes by the bulk route. A route in the state is kept to.
func (Language) Script(sw *fabric.Switch, have plan.State, deltas []plan.Delta) (plan.Step, diag.List) {
	s := script{sw: sw, have: have, seen: rowsOf(have.Derived, have.Foreign)}
	deltas = s.sayable(deltas)
	s.observe(deltas)
	if len(deltas) == 0 {
		return plan.Step{}, s.findings
	}
	s.start(deltas)
	edits := s.edits(deltas)
	route := s.route(edits)
	if route == plan.GNMISet {
		edits = s.withoutRefused(edits)
	}
	if len(edits) == 0 {
		return plan.Step{}, s.findings
	}
	step := plan.Step{Route: route, Quiet: []plan.Query{quiet}, Validate: s.validation(edits)}
	for i := range edits {
		edits[i].impact = s.impact(route, edits[i])
		for _, d := range edits[i].deltas {
			step.Changes = append(step.Changes, s.change(d, edits[i].impact))
		}
	}
	slices.SortStableFunc(step.Changes, func(a, b plan.Change) int { return addr.Compare(a.Addr, b.Addr) })
	if route == plan.GNMISet {
		step.Chunks, step.Cost = s.sets(edits), s.setsCost(edits)
	} else {
		step.Chunks, step.Cost = s.loads(edits)
		step.Persist = []plan.Message{{Op: plan.Run, Body: "sudo config save -y"}}
	}
	if len(step.Validate) > 0 {
		step.Cost += validateCost
	}
	step.Why = why(step)
	return step, s.findings
}

// script is the making of one step.
type script struct {
	sw            *fabric.Switch
	have          plan.State
	seen          rows            // what is not weir's
	before, after rows            // of what is edited, while chunks are made: before and after the chunk
	others        map[string]bool // tables with rows that are in neither
	pauses        bool            // a port gets PFC for one more priority
	findings      diag.List
}

// route is the state's, or else gNMI for what it is fit for.
func (s *script) route(edits []edit) plan.Route {
	refused := s.refused(edits)
	switch {
	case s.have.Route != "":
		return s.have.Route
	case len(refused) > 0:
		for _, f := range refused {
			f.Severity = diag.Note
			f.Detail = "The step goes by the bulk route, past the updater."
			s.findings.Add(f)
		}
		return plan.SSHBulk
	case s.setsCost(edits) > patience, s.doomed():
		return plan.SSHBulk
	}
	return plan.GNMISet
}

// refused are the rows that the updater would refuse to edit, one finding for all of a table with the same reason.
func (s *script) refused(edits []edit) diag.List {
	var refused diag.List
	at := map[string]int{}
	for _, e := range edits {
		reason := s.refusal(e)
		if reason == "" {
			continue
		}
		if _, known := at[e.table+reason]; !known {
			at[e.table+reason] = len(refused)
			refused.Add(diag.Diagnostic{
				Severity: diag.Error, Check: check, Addr: e.deltas[0].Leaf.Addr, At: because(s.sw, e.deltas[0].Leaf),
				Summary: fmt.Sprintf("SONiC's updater would refuse to change %s: %s", e.table, reason),
				Detail:  "It is left out. By the bulk route over SSH it is possible.",
			})
		}
	}
	return refused
}

func (s *script) refusal(e edit) string {
	return refusal(e.table, e.key, s.before[e.table][e.key], s.after[e.table][e.key], s.empty(s.before, e.table), s.have.Facts[FactASIC])
}

// empty says whether the device has no row of a table, in a state that before or after stands for.
func (s *script) empty(state rows, table string) bool {
	return len(state[table]) == 0 && !s.others[table]
}

// withoutRefused leaves out what the updater would refuse, and says so.
func (s *script) withoutRefused(edits []edit) []edit {
	s.findings = append(s.findings, s.refused(edits)...)
	kept := edits[:0]
	var out []edit
	for _, e := range edits {
		if s.refusal(e) == "" {
			kept = append(kept, e)
		} else {
			out = append(out, e)
		}
	}
	for _, e := range out {
		revert(s.after, e)
	}
	return kept
}

// impact is what an edit does to the traffic of its port.
func (s *script) impact(route plan.Route, e edit) plan.Impact {
	switch {
	case route == plan.GNMISet && flapTables[e.table] && s.up(e.port()):
		return plan.Flaps
	case e.table == tableGroup && e.stage == headroom && len(s.before[e.table][e.key]) > 0 && s.up(e.port()):
		// Until the next row is there, what arrives after PAUSE has no headroom.
		return plan.Drains
	}
	return plan.None
}

// up says whether a port is administratively up; one that the device says nothing of is taken to be. A row of PORT without
// admin_status is down (patch_sorter.py RequiredValueIdentifier).
func (s *script) up(port string) bool {
	row, known := s.seen[tablePort][port]
	return !known || row["admin_status"] == "up"
}

func (s *script) change(d plan.Delta, impact plan.Impact) plan.Change {
	c := plan.Change{
		Addr: d.Leaf.Addr, Action: d.Action, Before: d.Before, After: d.Leaf.Value, Impact: impact, Adopt: d.Adopt,
		Because: because(s.sw, d.Leaf),
	}
	if d.Action == plan.Delete {
		c.After = ""
	}
	return c
}

// why tells the operator which way the step goes and what that means.
func why(step plan.Step) string {
	seconds := step.Cost.Round(100 * time.Millisecond)
	if step.Route == plan.GNMISet {
		text := fmt.Sprintf("gNMI, %s, about %s: few changes, validated by the device's updater", count(len(step.Chunks), "Set"), seconds)
		if step.Impact() == plan.Flaps {
			text += ", which takes the ports concerned down and up"
		}
		if len(step.Validate) > 0 {
			text += ". Where the device can be reached over SSH its dry run looks at the whole before; without, only each Set is validated"
		} else {
			text += ". The whole is not validated before"
		}
		return text + ". Each Set is made persistent at once, and with it whatever else is changed and unsaved on the device."
	}
	validated := "validated by weir alone: the device's own dry run could not take the whole"
	if len(step.Validate) > 0 {
		validated = "validated before by the dry run of the device's updater, but for rows that it does not let be changed"
	}
	return fmt.Sprintf("bulk load over SSH, %s, about %s: past the device's updater, which would take much longer or refuse. No port flaps; "+
		"%s. Made persistent when confirmed, and with it whatever else is changed and unsaved on the device.",
		count(len(step.Chunks), "load"), seconds, validated)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
