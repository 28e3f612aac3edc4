package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
)

// check is the name of this package's findings.
const check = "language"

// Write lays the switch out as text and reads that text as the device's own would be read.
func (l *Language) Write(sw *fabric.Switch) (plan.Document, diag.List) {
	v, findings := l.view(sw)
	var text strings.Builder
	text.Grow(16 << 10)
	for _, t := range l.layout {
		if err := t.Execute(&text, v); err != nil {
			findings.Errorf(check, sw.Address(), nil, "the layout of this language has a mistake: %v", err)
			return nil, findings
		}
	}
	r := l.reader(sw)
	r.read(text.String())
	r.sort()
	if len(r.strays) > 0 {
		findings.Errorf(check, sw.Address(), nil, "the layout of this language writes lines that its grammar does not know: %s", strings.Join(r.strays, "; "))
	}
	return r.state.Owned, append(findings, l.assumed(sw, text.String())...)
}

// assumed says in one finding, in the same words for switches with the same lines, what of the text is not verified.
func (l *Language) assumed(sw *fabric.Switch, text string) diag.List {
	var says []string
	for _, a := range l.pack.Unverified {
		if a.Lines.Match(text) {
			says = append(says, a.Says)
		}
	}
	if len(says) == 0 {
		return nil
	}
	return diag.List{{
		Severity: diag.Note, Check: check, Addr: sw.Address(),
		Summary: "what the switch makes of some lines is not verified: look at them on one switch first", Detail: strings.Join(says, " "),
	}}
}

// Read sorts the lines of the running configuration. The device's tables come first, so that a line overrides them.
func (l *Language) Read(sw *fabric.Switch, answers []plan.Answer) (plan.State, error) {
	r := l.reader(sw)
	running := slices.IndexFunc(answers, func(a plan.Answer) bool { return a.Name == l.pack.Query.Name })
	if running < 0 || answers[running].Missing {
		return plan.State{}, fmt.Errorf("%s: the device did not show its %s", sw.Name, l.pack.Query.Name)
	}
	if err := l.whole(string(answers[running].Body)); err != nil {
		return plan.State{}, fmt.Errorf("%s: %w", sw.Name, err)
	}
	for _, a := range answers {
		if a.Name == l.pack.Tables.Query.Name && !a.Missing {
			r.read(strings.Join(implied(l.pack.Tables, string(a.Body)), "\n"))
			r.imply()
		}
	}
	r.read(string(answers[running].Body))
	r.sort()
	return r.state, nil
}

// whole says whether text is a running configuration from its beginning to its end, and what is missing where it is not. A device
// that refuses to show it says so in a line or two, and a connection that ends cuts it off.
func (l *Language) whole(text string) error {
	q := l.pack.Query
	lines := strings.Split(strings.TrimSpace(text), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	open := eachLine(l.pack, text, func(string) {}, func(line) {})
	switch {
	case last == "":
		return fmt.Errorf("the %s is empty", q.Name)
	case q.End != "" && (last != q.End || open):
		return fmt.Errorf("the %s is not whole: it ends with %q and not with %q, after %d lines that begin with %q", q.Name, shorten(last), q.End, len(lines), shorten(strings.TrimSpace(lines[0])))
	}
	return nil
}

// shorten cuts what a device said to a length that fits into an error.
func shorten(text string) string {
	const longest = 60
	if len(text) > longest {
		return text[:longest] + "..."
	}
	return text
}
