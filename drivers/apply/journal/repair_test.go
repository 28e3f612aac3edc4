package journal

import (
	"os"
	"strings"
	"testing"
)

func TestAJournalThatIsReplacedIsKeptAsItWas(t *testing.T) {
	for name, replace := range map[string]func(Store) (string, error){
		"repaired": func(s Store) (string, error) { return s.Repair("run-1") },
		"given up": func(s Store) (string, error) { return s.GiveUp("run-1", "looked at by hand") },
	} {
		s, file := written(t, kinds()...)
		edit(t, file, func(b string) string { return strings.Join(strings.SplitAfter(b, "\n")[:5], "") + "noise\n" })
		was, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		kept, err := replace(s)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if copied, err := os.ReadFile(kept); err != nil || string(copied) != string(was) {
			t.Errorf("%s: the copy is %q, %v", name, copied, err)
		}
	}
}
