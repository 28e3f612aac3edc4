package check

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/inventory"
)

var update = flag.Bool("update", false, "write the wanted findings and docs/checks.md")

// An archive holds a fabric repo, whose files replace or add to those of base.txtar, and in "want" what weir check finds.
const (
	base   = "testdata/base.txtar"
	wanted = "want"
)

// now is the day of the test runs.
var now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func archive(t *testing.T, name string) *txtar.Archive {
	t.Helper()
	a, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// found is what weir check prints about the fabric repo in the archive.
func found(t *testing.T, a *txtar.Archive) string {
	t.Helper()
	files := fstest.MapFS{}
	for _, f := range append(archive(t, base).Files, a.Files...) {
		if f.Name != wanted {
			files[f.Name] = &fstest.MapFile{Data: f.Data}
		}
	}
	in, findings := intent.Load(files)
	inv, more := inventory.Load(files)
	if findings = append(findings, more...); findings.HasErrors() {
		t.Fatalf("the archive does not load:\n%s", findings)
	}
	f, more := fabric.Resolve(in, inv)
	findings = append(append(findings, more...), Run(f, now)...)
	return findings.String()
}

func TestEveryBadFabricIsFoundOutWithTheExactWords(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a := archive(t, name)
			got := found(t, a)
			i := wantIndex(a)
			if *update {
				a.Files[i].Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(a.Files[i].Data), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// wantIndex is the file of the archive that holds the wanted findings; it is added where it is missing.
func wantIndex(a *txtar.Archive) int {
	for i, f := range a.Files {
		if f.Name == wanted {
			return i
		}
	}
	a.Files = append(a.Files, txtar.File{Name: wanted})
	return len(a.Files) - 1
}

func TestEveryCheckHasABadCaseThatItFinds(t *testing.T) {
	for _, c := range All() {
		a := archive(t, filepath.Join("testdata", c.Name+".txtar"))
		if text := string(a.Files[wantIndex(a)].Data); !strings.Contains(text, "["+c.Name+"]") {
			t.Errorf("the bad case of %s does not show its finding:\n%s", c.Name, text)
		}
	}
}

func TestTheDocumentListsEveryCheck(t *testing.T) {
	const name = "../../docs/checks.md"
	var b bytes.Buffer
	b.WriteString("# The checks\n\nWritten by `go test ./intent/check -update` from the checks and their bad cases; do not edit.\n\n" +
		"`weir check`, `plan` and `apply` run every check on the resolved fabric. An error stops a plan, a warning should be weighed, a note informs.\n" +
		"Findings of one cause are one finding: a mistake in one line is not repeated for every port.\n" +
		"A finding that was weighed can be accepted in the fabric's document until a day: `accept: [{check: NAME, address: ADDRESS, reason: WHY, expires: 2027-03-31}]`.\n" +
		"A waiver that has expired, names no check or accepts nothing is itself a finding, under the name `waiver`.\n" +
		"Without `expires` it holds for ever. What is found later, when devices are looked at, is accepted in the same way; the name of a platform stands for\n" +
		"what its language finds:\n\n")
	for _, s := range Stages() {
		fmt.Fprintf(&b, "- `%s`: %s\n", s.Name, s.Doc)
	}
	for _, c := range All() {
		a := archive(t, filepath.Join("testdata", c.Name+".txtar"))
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n%s\n\n```\n%s```\n", c.Name, c.Doc, strings.TrimSpace(string(a.Comment)), a.Files[wantIndex(a)].Data)
	}
	if *update {
		if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b.String(), string(got)); diff != "" {
		t.Errorf("docs/checks.md is not what the checks say (-want +got):\n%s", diff)
	}
}
