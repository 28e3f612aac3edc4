package control

import (
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestWhatIsWrongWithAFabricStopsNobodyFromLookingAtIt opens every bad case of the checks: commands that change nothing go on with
// a fabric whatever the checks find, so that every part of it must bear to be written.
func TestWhatIsWrongWithAFabricStopsNobodyFromLookingAtIt(t *testing.T) {
	const cases = "../../intent/check/testdata/"
	base, err := txtar.ParseFile(cases + "base.txtar")
	if err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(cases + "*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatal("no cases", err)
	}
	wrong := 0
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files := fstest.MapFS{}
			for _, f := range slices.Concat(base.Files, a.Files) {
				if f.Name != "want" {
					files[f.Name] = &fstest.MapFile{Data: f.Data}
				}
			}
			r, err := Open(t.TempDir(), Options{Effects: Effects{Files: files, Commit: func(string) string { return "" }}})
			if err != nil {
				t.Fatal(err)
			}
			if r.Fabric == nil {
				return // the files say no fabric
			}
			if r.Findings.HasErrors() {
				wrong++
			}
			r.Unsaid(r.Names)
			for _, device := range r.Names {
				if len(r.Print(device, r.Wanted(device))) == 0 {
					t.Errorf("%s: nothing is written", device)
				}
			}
			r.topology(r.Names)
		})
	}
	if wrong < 20 {
		t.Errorf("only %d cases are wrong", wrong)
	}
}
