package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/telemetry/health"
)

// maxRows is how many devices are shown one by one; of more, those of which there is something to say.
const maxRows = 40

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
	shown, well := t.Devices, 0
	if len(shown) > maxRows {
		troubled := map[string]bool{}
		for _, x := range verdicts {
			troubled[x.Device] = true
		}
		shown = slices.DeleteFunc(slices.Clone(shown), func(d health.Device) bool { return !troubled[d.Name] })
		well = len(t.Devices) - len(shown)
	}
	width := 10
	for _, d := range shown {
		width = max(width, len(d.Name))
	}
	checks := health.Checks()
	for i := range checks {
		v.Printf("%*s  %s%s\n", width, "", strings.Repeat("│ ", i), checks[i].Name)
	}
	for _, d := range shown {
		v.Printf("%-*s  ", width, d.Name)
		for _, c := range checks {
			v.Printf("%s ", v.mark(worst[cell{d.Name, c.Name}]))
		}
		v.Printf("\n")
	}
	if well > 0 && len(shown) > 0 {
		v.Printf("%s %s\n", v.Good("well:"), diag.Count(well, "other device"))
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
	line := fmt.Sprintf("%s: %s: %s [%s]", v.paint(colour, word), verdictPlace(x), x.Summary, x.Check)
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

// verdictPlace is the address that a verdict is about.
func verdictPlace(x health.Verdict) string {
	if x.Device == "" {
		return "the fabric"
	}
	return x.At().String()
}

// HealthChanges prints the verdicts that began and ended between two judgements, each with the time of the second.
func (v View) HealthChanges(before, now control.Verdicts, at time.Time) {
	for _, x := range now.Without(before) {
		v.Printf("%s %s\n", at.Format(time.TimeOnly), VerdictLine(v, x))
	}
	for _, x := range before.Without(now) {
		v.Printf("%s %s %s: %s\n", at.Format(time.TimeOnly), v.Good("over"), verdictPlace(x), x.Check)
	}
}
