package view

import (
	"cmp"
	"fmt"
	"time"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/drivers/apply"
	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/plan"
)

// Return prints what a rollback would do.
func (v View) Return(ret apply.Return, p plan.Plan) {
	if len(p.Waves) > 0 {
		v.legend(p)
	}
	for n, wave := range p.Waves {
		v.Printf("\n%s\n", v.Bold(fmt.Sprintf("Wave %d of %d: %s", n+1, len(p.Waves), diag.Count(len(wave), "device"))))
		for _, g := range groupSteps(wave, false) {
			v.step(g, PlanOptions{})
		}
	}
	v.Printf("\n")
	v.Findings(p.Findings)
	v.left(ret.Left)
	if len(ret.Back) > 0 {
		v.Printf("As before the run already: %s.\n", diag.First(ret.Back, 8))
	}
	s := p.Summary
	v.Printf("Rollback of %s: %s: %d to create, %d to update, %d to delete.\n", ret.Of, diag.Count(s.Devices, "device"), s.Create, s.Update, s.Delete)
	v.consequences(p)
}

// Damage prints what is wrong with a journal, and what would be lost with it.
func (v View) Damage(d *journal.Damaged) {
	v.Printf("%s\n%s before it %s sound.\n", d.DamagedError, diag.Count(d.Whole, "record"), map[bool]string{true: "is", false: "are"}[d.Whole == 1])
	for _, rec := range d.Lost {
		v.Printf("  lost: record %d, %s %s of wave %d\n", rec.Seq, rec.Kind, rec.Device, rec.Wave+1)
	}
	const shown = 400
	if raw := d.Raw[:min(len(d.Raw), shown)]; len(raw) > 0 {
		v.Printf("  in its place stands (%d bytes): %q\n", len(d.Raw), raw)
	}
}

// RunStory prints one run.
func (v View) RunStory(r control.RunStory) {
	v.Printf("%s %s", v.Bold(r.Verb), r.Run)
	if r.Of != "" {
		v.Printf(", which undoes %s", r.Of)
	}
	v.Printf(", begun %s\n", r.At.Format(time.RFC3339))
	for _, fact := range []struct{ name, value string }{
		{"by", r.Who}, {"from", r.From}, {"commit", r.Commit}, {"reason", r.Reason}, {"ticket", r.Ticket},
	} {
		if fact.value != "" {
			v.Printf("  %-6s  %s\n", fact.name, fact.value)
		}
	}
	for n, wave := range r.Waves {
		v.Printf("\n%s\n", v.Bold(fmt.Sprintf("Wave %d of %d", n+1, len(r.Waves))))
		for _, d := range wave {
			end := cmp.Or(string(d.Outcome), string(d.Phase), "not begun")
			v.Printf("  %s: %s %s\n", v.Bold(d.Device), end, d.Why)
			for _, ports := range groupPorts(d.Changes) {
				v.ports(ports)
			}
			for _, leaf := range d.Leaves {
				v.Printf("    differs: %s\n", leaf)
			}
		}
	}
	v.Printf("\n%s", cmp.Or(string(r.Outcome), "cut off: it has no end"))
	if r.Why != "" {
		v.Printf(": %s", r.Why)
	}
	v.Printf("\n")
}
