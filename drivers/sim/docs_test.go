package sim

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestEveryDeviationInTheDocumentationHasItsTest reads the tables of docs/lab.md.
func TestEveryDeviationInTheDocumentationHasItsTest(t *testing.T) {
	var source strings.Builder
	err := fs.WalkDir(os.DirFS("."), ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		source.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/lab.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	inTable := false
	for line := range strings.Lines(string(page)) {
		if !strings.HasPrefix(line, "|") {
			inTable = false
			continue
		}
		if strings.HasSuffix(strings.TrimSpace(line), "| test |") {
			inTable = true
			continue
		}
		if !inTable || strings.HasPrefix(line, "|---") {
			continue
		}
		rows++
		name := regexp.MustCompile(`\bTest\w+`).FindString(line)
		if name == "" || !strings.Contains(source.String(), "\nfunc "+name+"(t *testing.T)") {
			t.Errorf("no test %q for the row %s", name, line)
		}
	}
	if rows < 20 {
		t.Errorf("found %d rows", rows)
	}
}
