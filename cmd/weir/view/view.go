// Package view prints what weir found and did, for people. Programs read the JSON form of the same values.
package view

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/inventory"
)

// View prints to one writer. The zero Colour prints plain text.
type View struct {
	Out    io.Writer
	Colour bool
}

// The colours, as ANSI terminals number them.
const (
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
	bold   = "1"
	faint  = "2"
)

// paint colours s where the view has colours.
func (v View) paint(colour, s string) string {
	if !v.Colour || s == "" {
		return s
	}
	return "\x1b[" + colour + "m" + s + "\x1b[0m"
}

// Good, Bad and Dim colour a word.
func (v View) Good(s string) string { return v.paint(green, s) }

// Bad colours what is wrong.
func (v View) Bad(s string) string { return v.paint(red, s) }

// Dim colours what matters less.
func (v View) Dim(s string) string { return v.paint(faint, s) }

// Bold marks a heading.
func (v View) Bold(s string) string { return v.paint(bold, s) }

// Findings prints every finding and a closing count. Findings that say the same of several things are printed once, with all
// their addresses.
func (v View) Findings(l diag.List) {
	for _, g := range sameFindings(l) {
		v.finding(g)
	}
	if len(l) > 0 {
		v.Printf("%s\n", FindingCount(l))
	}
}

// States names the devices that are not active, by their state.
func (v View) States(r *control.Repo) {
	for _, state := range []inventory.State{inventory.Maintenance, inventory.Planned, inventory.Unmanaged} {
		if names := r.InState(state); len(names) > 0 {
			v.Printf("%s: %s\n", state, diag.First(names, 8))
		}
	}
}

// said is a finding and the addresses that it is about.
type said struct {
	diag.Diagnostic
	about []string
}

// sameFindings puts the findings together that differ in nothing but the address.
func sameFindings(l diag.List) []said {
	type words struct {
		severity               diag.Severity
		check, summary, detail string
	}
	var out []said
	index := map[words]int{}
	for _, d := range l {
		w := words{d.Severity, d.Check, d.Summary, d.Detail}
		i, seen := index[w]
		if !seen {
			i = len(out)
			index[w] = i
			out = append(out, said{Diagnostic: d})
		} else {
			for _, p := range d.At {
				if !slices.Contains(out[i].At, p) {
					out[i].At = append(slices.Clip(out[i].At), p)
				}
			}
		}
		if a := d.Addr.String(); a != "" {
			out[i].about = append(out[i].about, a)
		}
	}
	return out
}

// FindingCount says how many findings of each severity there are.
func FindingCount(l diag.List) string {
	var words []string
	for _, s := range []diag.Severity{diag.Error, diag.Warning, diag.Note} {
		if n := l.Count(s); n > 0 {
			words = append(words, diag.Count(n, s.String()))
		}
	}
	if len(words) == 0 {
		return "no findings"
	}
	return strings.Join(words, ", ")
}

func (v View) finding(f said) {
	colour := map[diag.Severity]string{diag.Error: red, diag.Warning: yellow, diag.Note: cyan}[f.Severity]
	head := ""
	if len(f.about) > 0 {
		head = diag.First(f.about, 4) + ": "
	}
	d := f.Diagnostic
	d.Addr = addr.Addr{}
	_, rest, _ := strings.Cut(d.String(), ": ")
	v.Printf("%s: %s%s", v.paint(colour, f.Severity.String()), head, rest)
}

// ranges writes numbers compactly: 0-25,27,29-31. Names that are no numbers are joined as they are.
func ranges(names []string) string {
	var numbers []int
	for _, n := range names {
		i, err := strconv.Atoi(n)
		if err != nil {
			return strings.Join(names, ",")
		}
		numbers = append(numbers, i)
	}
	slices.Sort(numbers)
	var words []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		word := strconv.Itoa(numbers[i])
		if j > i {
			word += "-" + strconv.Itoa(numbers[j])
		}
		words = append(words, word)
		i = j + 1
	}
	return strings.Join(words, ",")
}

// sign is the mark of an action, as people know it from other tools.
func (v View) sign(a plan.Action) string {
	switch a {
	case plan.Create:
		return v.paint(green, "+")
	case plan.Delete:
		return v.paint(red, "-")
	}
	return v.paint(yellow, "~")
}

// places writes where a change comes from: the first places, each once.
func places(at []diag.Pos) string {
	var words []string
	for _, p := range at {
		if s := p.String(); s != "" && !slices.Contains(words, s) {
			words = append(words, s)
		}
	}
	return diag.First(words, 2)
}

// quoted writes a value so that an empty one is seen.
func quoted(s string) string { return cmp.Or(s, `""`) }
