package view

import (
	"regexp"
	"strings"
	"testing"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/drivers/apply"
	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/plan"
)

// evil is what a device, a plan or a waiver may say to a terminal.
const evil = "\x1b]0;owned\x07\x1b[2J\x1b[31mred\u009b31m\u202e\r\b"

// acting is what acts on a terminal, beside newlines and tabs.
var acting = regexp.MustCompile("[\x00-\x08\x0b-\x1f\x7f\u0080-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069]")

// TestNoControlCharacterReachesATerminal prints what others said in every form of the views that has words of others.
func TestNoControlCharacterReachesATerminal(t *testing.T) {
	change := plan.Change{Addr: addr.Port("leaf1"+evil, "Ethernet0"+evil).Of(addr.PFC, "3"+evil).With(evil), Action: plan.Update, Before: evil, After: evil,
		Because: []diag.Pos{{File: evil, Line: 1, Column: 1}}}
	finding := diag.Diagnostic{Severity: diag.Error, Check: evil, Summary: evil, Detail: evil, Addr: change.Addr, At: change.Because}
	step := plan.Step{Device: "leaf1" + evil, Platform: evil, Why: evil, Changes: []plan.Change{change}, Chunks: []plan.Chunk{{
		Send: []plan.Message{{Op: plan.Write, Path: evil, Body: evil}, {Op: plan.Run, Body: evil}}, Undo: []plan.Message{{Op: plan.Line, Body: evil}},
	}}}
	for _, colour := range []bool{false, true} {
		var out strings.Builder
		v := View{Out: &out, Colour: colour}
		v.Plan(plan.Plan{Waves: [][]plan.Step{{step}}, Findings: diag.List{finding}}, PlanOptions{Lines: true, Apply: evil})
		v.Findings(diag.List{finding})
		v.Drift([]control.DeviceDrift{{Device: evil, Changes: []plan.Change{change}, Error: evil}})
		left := []apply.Left{{Device: evil, Why: evil}}
		v.Return(apply.Return{Of: evil, Waves: [][]plan.Step{{step}}, Left: left, Back: []string{evil}}, plan.Plan{Waves: [][]plan.Step{{step}}})
		v.RunResult("apply", apply.Result{Run: evil, Why: evil, Left: left, Unmarked: left, Marked: left, Devices: []apply.DeviceResult{
			{Device: evil, Outcome: journal.Partial, Why: evil, Leaves: []string{evil}, Lost: []string{evil}}}}, Next{evil, evil, evil})
		v.RunStory(control.RunStory{RunRow: control.RunRow{Run: evil, Of: evil, Audit: journal.Audit{Who: evil, Reason: evil}}, Why: evil,
			Waves: [][]control.DeviceRun{{{Device: evil, Why: evil, Changes: []plan.Change{change}, Leaves: []string{evil}}}}})
		v.Damage(&journal.Damaged{DamagedError: &journal.DamagedError{Run: evil, Damage: evil}, Lost: []journal.Record{{Kind: evil, Device: evil}}, Raw: []byte(evil)})
		run := ShowRun(v, false)
		for _, kind := range []journal.Kind{journal.Started, journal.Pending, journal.Reached, journal.Passed, journal.Stuck} {
			run.Record(journal.Record{Kind: kind, Device: evil, Text: evil, Of: evil})
		}
		run.End()
		text := out.String()
		if colour {
			text = strings.NewReplacer("\x1b[31m", "", "\x1b[32m", "", "\x1b[33m", "", "\x1b[36m", "", "\x1b[1m", "", "\x1b[2m", "", "\x1b[0m", "").Replace(text)
		}
		if at := acting.FindStringIndex(text); at != nil {
			t.Errorf("colours %t: %q reaches the terminal", colour, text[max(0, at[0]-30):min(len(text), at[1]+30)])
		}
		if !strings.Contains(text, `\x1b]0;owned`) {
			t.Errorf("colours %t: what was said is not shown at all", colour)
		}
	}
}

// A record that has no beginning, as in a recovery, has no duration either.
func TestWhatHasNoBeginningTookNoTime(t *testing.T) {
	var out strings.Builder
	run := ShowRun(View{Out: &out}, false)
	run.Record(journal.Record{Kind: journal.Reached, Device: "leaf1"})
	run.End()
	if strings.Contains(out.String(), "s)") {
		t.Errorf("got %q, want no duration", out.String())
	}
}
