// Package diag holds findings: what weir has to say about what a person wrote or must decide.
package diag

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/weirfabric/weir/intent/addr"
)

// Severity says how grave a finding is.
type Severity int

// An error stops a plan, a warning should be weighed, a note informs.
const (
	Note Severity = iota + 1
	Warning
	Error
)

var severities = map[Severity]string{Note: "note", Warning: "warning", Error: "error"}

func (s Severity) String() string { return severities[s] }

// MarshalText writes error, warning or note.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads error, warning or note.
func (s *Severity) UnmarshalText(text []byte) error {
	for severity, name := range severities {
		if name == string(text) {
			*s = severity
			return nil
		}
	}
	return fmt.Errorf("severity %q: want error, warning or note", text)
}

// Pos is a place in a file of the fabric repo. Line and column count from 1; the zero value is no place.
type Pos struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

func (p Pos) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// ComparePos orders places by file, line and column.
func ComparePos(a, b Pos) int {
	return cmp.Or(addr.Natural(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}

// Diagnostic is one finding.
type Diagnostic struct {
	Severity Severity  `json:"severity"`
	Check    string    `json:"check"`            // the name of the check or stage, as docs/checks.md lists it
	Summary  string    `json:"summary"`          // what is wrong, one line, without the address
	Detail   string    `json:"detail,omitempty"` // why it matters and what to do
	Addr     addr.Addr `json:"address"`
	At       []Pos     `json:"at"` // every place that caused it
	// Devices are all that it concerns, with an empty name for the fabric as a whole; nil: the device of Addr.
	Devices []string `json:"-"`
}

// Concerns says whether a finding is about a device that is asked for, or about the fabric as a whole.
func (d Diagnostic) Concerns(asked func(device string) bool) bool {
	if d.Devices == nil {
		return d.Addr.Device == "" || asked(d.Addr.Device)
	}
	return slices.ContainsFunc(d.Devices, func(name string) bool { return name == "" || asked(name) })
}

// List is a set of findings. The zero value is empty and ready to use.
type List []Diagnostic

// Add appends a finding.
func (l *List) Add(d Diagnostic) { *l = append(*l, d) }

// Errorf appends an error without detail at the places given.
func (l *List) Errorf(check string, a addr.Addr, at []Pos, format string, args ...any) {
	l.Add(Diagnostic{Severity: Error, Check: check, Summary: fmt.Sprintf(format, args...), Addr: a, At: at})
}

// HasErrors says whether any finding is of severity error.
func (l List) HasErrors() bool {
	return slices.ContainsFunc(l, func(d Diagnostic) bool { return d.Severity == Error })
}

// Concerning are the findings about devices that are asked for, or about the fabric as a whole.
func (l List) Concerning(asked func(device string) bool) List {
	return slices.DeleteFunc(slices.Clone(l), func(d Diagnostic) bool { return !d.Concerns(asked) })
}

// Count is the number of findings of one severity.
func (l List) Count(s Severity) int {
	n := 0
	for _, d := range l {
		if d.Severity == s {
			n++
		}
	}
	return n
}

// Sort orders the findings: graver first, then by address, check, place and words.
func (l List) Sort() {
	slices.SortStableFunc(l, func(a, b Diagnostic) int {
		return cmp.Or(-cmp.Compare(a.Severity, b.Severity), addr.Compare(a.Addr, b.Addr), cmp.Compare(a.Check, b.Check),
			slices.CompareFunc(a.At, b.At, ComparePos), cmp.Compare(a.Summary, b.Summary))
	})
}

// String prints the findings as text, one paragraph each. It is the plain form; cmd's views add colour.
func (l List) String() string {
	var b strings.Builder
	for _, d := range l {
		b.WriteString(d.String())
	}
	return b.String()
}

// String prints one finding: severity, address, summary, detail and every place.
func (d Diagnostic) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", d.Severity)
	if a := d.Addr.String(); a != "" {
		fmt.Fprintf(&b, "%s: ", a)
	}
	b.WriteString(d.Summary)
	if d.Check != "" {
		fmt.Fprintf(&b, " [%s]", d.Check)
	}
	b.WriteByte('\n')
	for _, p := range d.At {
		fmt.Fprintf(&b, "  at %s\n", p)
	}
	for line := range strings.Lines(d.Detail) {
		fmt.Fprintf(&b, "  %s\n", strings.TrimRight(line, "\n"))
	}
	return b.String()
}

// MarshalJSON writes a list without findings, and a finding without places, as [] and never as null.
func (l List) MarshalJSON() ([]byte, error) {
	all := make([]Diagnostic, len(l))
	for i, d := range l {
		if all[i] = d; d.At == nil {
			all[i].At = []Pos{}
		}
	}
	return json.Marshal(all)
}
