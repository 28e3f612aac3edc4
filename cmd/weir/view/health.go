package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/telemetry/health"
)

// Health prints the state of the fabric: a row a device, a column a check, and below it every verdict in words.
func (v View) Health(t health.Topology, verdicts []health.Verdict, now time.Time) {
	type cell struct {
		device string
		check  health.Check
	}
	worst := map[cell]health.Verdict{}
	for _, x := range verdicts {
		k := cell{x.Device, x.Check}
		if was, seen := worst[k]; !seen || x.Severity > was.Severity {
			worst[k] = x
		}
	}
	width := 10
	for _, d := range t.Devices {
		width = max(width, len(d.Name))
	}
	checks := health.Checks()
	for i := range checks {
		v.Printf("%*s  %s%s\n", width, "", strings.Repeat("│ ", i), checks[i].Name)
	}
	for _, d := range t.Devices {
		v.Printf("%-*s  ", width, d.Name)
		for _, c := range checks {
			v.Printf("%s ", v.mark(worst[cell{d.Name, c.Name}]))
		}
		v.Printf("\n")
	}
	v.Printf("\n")
	for _, x := range verdicts {
		v.Printf("%s %s\n", VerdictLine(v, x), v.Dim("for "+now.Sub(x.Since).Round(100*time.Millisecond).String()))
	}
	if len(verdicts) == 0 {
		v.Printf("%s: %s, nothing to report.\n", v.Good("well"), diag.Count(len(t.Devices), "device"))
	}
}

// mark is one cell of the matrix.
func (v View) mark(x health.Verdict) string {
	switch {
	case x.Check == "":
		return v.paint(green, "·")
	case x.State == health.Unknown:
		return v.paint(yellow, "?")
	case x.Severity == diag.Error:
		return v.paint(red, "✖")
	case x.Severity == diag.Warning:
		return v.paint(yellow, "!")
	}
	return v.paint(cyan, "i")
}

// VerdictLine is one verdict in words: how grave, where, what, who is at fault.
func VerdictLine(v View, x health.Verdict) string {
	colour := map[diag.Severity]string{diag.Error: red, diag.Warning: yellow, diag.Note: cyan}[x.Severity]
	word := x.Severity.String()
	if x.State == health.Unknown {
		word, colour = "unknown", yellow
	}
	line := fmt.Sprintf("%s: %s: %s [%s]", v.paint(colour, word), x.At(), x.Summary, x.Check)
	if x.Culprit != nil {
		role := "at fault"
		if x.Check == health.Incast {
			role = "towards"
		}
		line += fmt.Sprintf(" %s: %s", role, v.Bold(x.Culprit.String()))
	}
	if x.Estimate {
		line += " (estimated)"
	}
	return line
}

// HealthChanges prints the verdicts that began and ended between two judgements, each with the time of the second.
func (v View) HealthChanges(before, now control.Verdicts, at time.Time) {
	for _, x := range now.Without(before) {
		v.Printf("%s %s\n", at.Format(time.TimeOnly), VerdictLine(v, x))
	}
	for _, x := range before.Without(now) {
		v.Printf("%s %s %s: %s\n", at.Format(time.TimeOnly), v.Good("over"), x.At(), x.Check)
	}
}
