package check

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/weirfabric/weir/telemetry/health"
)

// incident is one published incident of lossless networks, and what weir does about it. The rows are in
// incidents_rows_test.go; docs/incidents.md is made of them.
type incident struct {
	id      string // as tests are named after it
	title   string
	story   string // what happened, and with what numbers
	source  string // public: where it was read
	plan    []string
	how     string // what else stops it at plan time, or what a check of the list sees of it
	live    []string
	seen    string   // what the verdict sees of it, where that is not all
	replays []replay // the tests of other packages; those of this one are found by their name
	open    string   // what of it is still open, and why
}

// replay is a test that lets the incident happen.
type replay struct {
	folder, test string
	name         string // of the case in its table; empty: the whole test
}

// cured is the folder of an archive with what the operator should have written.
const cured = "cured/"

func (in incident) archive() string { return filepath.Join("testdata", "incident-"+in.id+".txtar") }

// states are where the incident is caught.
func (in incident) states() []string {
	var out []string
	if len(in.plan) > 0 || in.how != "" {
		out = append(out, "plan")
	}
	if len(in.live) > 0 {
		out = append(out, "live")
	}
	if len(out) == 0 {
		out = append(out, "not yet")
	}
	return out
}

// replayed lets the checks that the row names see the archive of the incident, and what the operator should have written.
func replayed(t *testing.T, id string) {
	t.Helper()
	in := rowOf(t, id)
	bad := archive(t, in.archive())
	good := &txtar.Archive{}
	for _, f := range bad.Files {
		if name, ok := strings.CutPrefix(f.Name, cured); ok {
			good.Files = append(good.Files, txtar.File{Name: name, Data: f.Data})
		}
	}
	if len(in.plan) == 0 || len(good.Files) == 0 {
		t.Fatal("the row names no check, or the archive no cure")
	}
	before, after := found(t, bad), found(t, &txtar.Archive{Files: slices.Concat(bad.Files, good.Files)})
	for _, name := range in.plan {
		if !strings.Contains(before, "["+name+"]") {
			t.Errorf("%s does not find it:\n%s", name, before)
		}
		if strings.Contains(after, "["+name+"]") {
			t.Errorf("%s finds what is cured:\n%s", name, after)
		}
	}
}

func rowOf(t *testing.T, id string) incident {
	t.Helper()
	i := slices.IndexFunc(incidents, func(in incident) bool { return in.id == id })
	if i < 0 {
		t.Fatalf("there is no incident %s", id)
	}
	return incidents[i]
}

// tests are the test functions of a folder of the repository and the texts that each holds.
func tests(t *testing.T, folder string) map[string][]string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("../..", folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for _, name := range names {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Test") {
				out[fn.Name.Name] = textsIn(fn)
			}
		}
	}
	return out
}

// textsIn are the texts that a function holds.
func textsIn(fn *ast.FuncDecl) []string {
	var out []string
	ast.Inspect(fn, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil {
				out = append(out, text)
			}
		}
		return true
	})
	return out
}

var namedAfter = regexp.MustCompile(`^Test(I[0-9]+)[A-Z]`)

// replaysHere are the tests of this package by the incident that they are named after.
func replaysHere(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for name := range tests(t, "intent/check") {
		if m := namedAfter.FindStringSubmatch(name); m != nil {
			out[m[1]] = append(out[m[1]], name)
		}
	}
	for _, names := range out {
		slices.Sort(names)
	}
	return out
}

func TestEveryIncidentIsToldAndReplayed(t *testing.T) {
	checks, verdicts := map[string]bool{}, map[string]bool{}
	for _, c := range All() {
		checks[c.Name] = true
	}
	for _, c := range health.Checks() {
		verdicts[string(c.Name)] = true
	}
	here := replaysHere(t)
	folders := map[string]map[string][]string{}
	for i, in := range incidents {
		if in.id != fmt.Sprintf("I%d", i+1) || in.title == "" || in.story == "" || in.source == "" {
			t.Errorf("row %d is %s: it is out of order, or tells too little", i+1, in.id)
		}
		for _, name := range in.plan {
			if !checks[name] {
				t.Errorf("%s: there is no check %s", in.id, name)
			}
		}
		for _, name := range in.live {
			if !verdicts[name] {
				t.Errorf("%s: there is no verdict %s", in.id, name)
			}
		}
		states := in.states()
		if slices.Contains(states, "plan") && len(here[in.id])+len(in.replays) == 0 || slices.Contains(states, "live") && len(in.replays) == 0 {
			t.Errorf("%s is said to be caught and no test replays it", in.id)
		}
		if len(in.plan) > 0 && len(here[in.id]) == 0 {
			t.Errorf("%s: checks are said to catch it, and no test of this package is named after it", in.id)
		}
		if slices.Contains(states, "not yet") && in.open == "" {
			t.Errorf("%s is not caught, and nothing says why", in.id)
		}
		for _, r := range in.replays {
			if folders[r.folder] == nil {
				folders[r.folder] = tests(t, r.folder)
			}
			texts, ok := folders[r.folder][r.test]
			if !ok || r.name != "" && !slices.Contains(texts, r.name) {
				t.Errorf("%s: %s has no test %s with a case %q", in.id, r.folder, r.test, r.name)
			}
		}
	}
	for id := range here {
		if !slices.ContainsFunc(incidents, func(in incident) bool { return in.id == id }) {
			t.Errorf("tests are named after %s, which is no incident", id)
		}
	}
}

func TestTheDocumentTellsEveryIncident(t *testing.T) {
	const name = "../../docs/incidents.md"
	body := document(t)
	if *update {
		if err := os.WriteFile(name, body, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(body), string(got)); diff != "" {
		t.Errorf("docs/incidents.md is not what the rows say (-want +got):\n%s", diff)
	}
}

// document is docs/incidents.md.
func document(t *testing.T) []byte {
	t.Helper()
	count := map[string]int{}
	for _, in := range incidents {
		count[strings.Join(in.states(), ", ")]++
	}
	var b bytes.Buffer
	b.WriteString("# Published incidents\n\nWritten by `go test ./intent/check -update` from the rows in `intent/check/incidents_rows_test.go`; do not edit.\n\n" +
		"What has gone wrong in lossless networks, as those who ran them published it, and what weir does about it.\n" +
		"**plan**: a check stops it or tells of it before anything is sent, or what is planned cannot do it. **live**: a verdict of `weir watch` names it; `apply` judges each wave by the same counters.\n" +
		"**not yet**: neither. Every row that is caught is replayed by the tests that it names.\n\n")
	fmt.Fprintf(&b, "Of %d incidents %d are caught at plan time alone, %d live alone, %d both ways, and %d not yet.\n\n",
		len(incidents), count["plan"], count["live"], count["plan, live"], count["not yet"])
	b.WriteString("| | incident | state | checks | verdicts |\n|---|---|---|---|---|\n")
	for _, in := range incidents {
		fmt.Fprintf(&b, "| [%s](#%s) | %s | %s | %s | %s |\n", in.id, anchor(in), in.title, strings.Join(in.states(), ", "), quoted(in.plan), quoted(in.live))
	}
	here := replaysHere(t)
	for _, in := range incidents {
		section(t, &b, in, here[in.id])
	}
	return b.Bytes()
}

// anchor is where a heading is found, as common readers of Markdown spell it.
func anchor(in incident) string {
	heading := strings.ToLower(in.id + ": " + in.title)
	return strings.ReplaceAll(regexp.MustCompile(`[^a-z0-9 -]`).ReplaceAllString(heading, ""), " ", "-")
}

func quoted(names []string) string {
	var out []string
	for _, n := range names {
		out = append(out, "`"+n+"`")
	}
	return strings.Join(out, ", ")
}

func section(t *testing.T, b *bytes.Buffer, in incident, here []string) {
	t.Helper()
	fmt.Fprintf(b, "\n## %s: %s\n\n%s\n\nSource: %s.\n", in.id, in.title, in.story, in.source)
	if len(in.plan) > 0 {
		fmt.Fprintf(b, "\n**Plan**, by %s.", quoted(in.plan))
	} else if in.how != "" {
		b.WriteString("\n**Plan.**")
	}
	if in.how != "" {
		fmt.Fprintf(b, " %s", in.how)
	}
	if len(in.plan) > 0 {
		a := archive(t, in.archive())
		fmt.Fprintf(b, " The replay: %s\n\n```\n%s```\n", strings.TrimSpace(string(a.Comment)), findingsOf(string(a.Files[wantIndex(a)].Data), in.plan))
	} else if in.how != "" {
		b.WriteString("\n")
	}
	if len(in.live) > 0 {
		fmt.Fprintf(b, "\n**Live**, by the verdict %s.", quoted(in.live))
		if in.seen != "" {
			fmt.Fprintf(b, " %s", in.seen)
		}
		b.WriteString("\n")
	}
	switch {
	case in.open == "":
	case slices.Contains(in.states(), "not yet"):
		fmt.Fprintf(b, "\n**Not yet.** %s\n", in.open)
	default:
		fmt.Fprintf(b, "\n**Still open.** %s\n", in.open)
	}
	var names []string
	for _, name := range here {
		names = append(names, "`intent/check` "+name)
	}
	for _, r := range in.replays {
		name := "`" + r.folder + "` " + r.test
		if r.name != "" {
			name += " (" + r.name + ")"
		}
		names = append(names, name)
	}
	if len(names) > 0 {
		fmt.Fprintf(b, "\nReplayed by %s.\n", strings.Join(names, "; "))
	}
}

var begins = regexp.MustCompile(`(?m)^(error|warning|note): `)

// findingsOf are those of the findings in a text that are of the checks.
func findingsOf(text string, checks []string) string {
	var out string
	starts := begins.FindAllStringIndex(text, -1)
	for i, s := range starts {
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		one := text[s[0]:end]
		head, _, _ := strings.Cut(one, "\n")
		if slices.ContainsFunc(checks, func(c string) bool { return strings.HasSuffix(head, "["+c+"]") }) {
			out += one
		}
	}
	return out
}
