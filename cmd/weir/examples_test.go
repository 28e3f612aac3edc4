package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/diag"
)

// examplesFolder has the fabric repos that people learn from.
const examplesFolder = "../../examples"

// exampleAnswer is what weir deadlock says of an example, as it stands or after a change that its README tells of.
type exampleAnswer struct {
	file, from, to string // the change; an empty file: none
	code           int
	quotes         []string // of what weir prints below its first line, in the README as well
}

// exampleAnswers are those of each example in the order of its README; the first is about the example as it stands.
var exampleAnswers = map[string][]exampleAnswer{
	"pod1": {{code: exitDone}},
	"ring": {
		{code: exitFindings, quotes: []string{"2 priorities keep the traffic of these states lossless"}},
		{file: "inventory/devices.yaml", from: "- {a: sw4/Ethernet4, b: sw1/Ethernet8}", to: "# {a: sw4/Ethernet4, b: sw1/Ethernet8}", code: exitDone},
		{file: "fabric.yaml", from: "routing: {policy: shortest-path}", to: "routing: {policy: up-down}", code: exitFindings},
	},
	"dragonfly": {
		{code: exitFindings, quotes: []string{"3 priorities keep the traffic of these states lossless"}},
		{file: "fabric.yaml", from: "routing: {policy: shortest-path}", to: "routing: {policy: up-down}", code: exitFindings},
	},
	"dual-tor": {
		{code: exitDone},
		{file: "fabric.yaml", from: "detour: detour", to: "detour: same", code: exitFindings},
	},
	"rails": {
		{code: exitDone},
		{file: "fabric.yaml", from: "policy: up-down", to: "policy: shortest-path", code: exitFindings},
	},
	"bgp": {
		{code: exitDone},
		{file: "fabric.yaml", from: "number: 64610", to: "number: 64610, each: true", code: exitFindings},
	},
}

// quoted gives what a text has in backticks, or on a line of its own, that begins as an answer about the fabric does.
func quoted(text, fabric string) []string {
	var out []string
	for _, m := range regexp.MustCompile("(?m)(?:^|`)("+regexp.QuoteMeta(fabric)+": [^`\n]*)(?:$|`)").FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}

// exampleFile reads a file of the examples.
func exampleFile(t *testing.T, name ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(examplesFolder, filepath.Join(name...)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// changed copies an example and changes one place of it. The folder is called as the example is.
func (a exampleAnswer) changed(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(examplesFolder, name))); err != nil {
		t.Fatal(err)
	}
	if a.file == "" {
		return dir
	}
	text := exampleFile(t, name, a.file)
	if n := strings.Count(text, a.from); n != 1 {
		t.Fatalf("%q stands %d times in %s, want once", a.from, n, a.file)
	}
	if err := os.WriteFile(filepath.Join(dir, a.file), []byte(strings.Replace(text, a.from, a.to, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestTheREADMEsOfTheExamplesQuoteWhatWeirAnswers(t *testing.T) {
	overview := exampleFile(t, "README.md")
	for name, answers := range exampleAnswers {
		t.Run(name, func(t *testing.T) {
			readme := exampleFile(t, name, "README.md")
			var lines []string
			for _, a := range answers {
				code, out := runDeadlock(t, console{}, a.changed(t, name))
				first, _, _ := strings.Cut(out, "\n")
				if code != a.code {
					t.Errorf("with %q: exit code %d, want %d: %s", a.to, code, a.code, first)
				}
				lines = append(lines, first)
				if !strings.Contains(readme, a.to) {
					t.Errorf("the README does not say %q", a.to)
				}
				for _, q := range a.quotes {
					if !strings.Contains(out, q) || !strings.Contains(readme, "`"+q+"`") {
						t.Errorf("with %q: %q is not both in the README and in what weir prints:\n%s", a.to, q, out)
					}
				}
			}
			if diff := cmp.Diff(lines, quoted(readme, name)); diff != "" && name != "pod1" { // that README is weir init's
				t.Errorf("the answers in the README (-weir +README):\n%s", diff)
			}
			if diff := cmp.Diff(lines[:1], quoted(overview, name)); diff != "" {
				t.Errorf("the answer in the table of all examples (-weir +README):\n%s", diff)
			}
		})
	}
}

func TestTheExamplesHaveNoErrorButTheCircleThatTheyShow(t *testing.T) {
	for name, answers := range exampleAnswers {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			c := &console{out: &out, err: io.Discard}
			code := c.main([]string{"check", "--json", exampleAnswer{}.changed(t, name)})
			var got findings
			if err := json.Unmarshal(out.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
			var wrong, want []string
			for _, f := range got.Findings {
				if f.Severity == diag.Error {
					wrong = append(wrong, f.Check)
				}
			}
			if answers[0].code != exitDone {
				want = []string{"deadlock"}
			}
			if diff := cmp.Diff(want, wrong); diff != "" || code != answers[0].code {
				t.Errorf("exit code %d, want %d; checks with an error (-want +got):\n%s", code, answers[0].code, diff)
			}
		})
	}
}

func TestTheTableOfExamplesListsEachOnce(t *testing.T) {
	entries, err := os.ReadDir(examplesFolder)
	if err != nil {
		t.Fatal(err)
	}
	overview := exampleFile(t, "README.md")
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		if exampleAnswers[e.Name()] == nil {
			t.Errorf("nothing tests the answer about %s", e.Name())
		}
		if n := strings.Count(overview, "| ["+e.Name()+"]("+e.Name()+") |"); n != 1 {
			t.Errorf("%s stands %d times in the table, want once", e.Name(), n)
		}
	}
}
