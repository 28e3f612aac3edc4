package journal_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/drivers/apply/journal/journaltest"
)

func TestAFolderIsABackend(t *testing.T) {
	journaltest.Run(t, func(t *testing.T) journaltest.Place {
		dir := t.TempDir()
		return journaltest.Place{
			Process: func() journal.Store { return journal.Store{Dir: dir} },
			Edit: func(run string, change func([]string) []string) {
				name := filepath.Join(dir, "runs", run+".jsonl")
				body, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				lines := strings.SplitAfter(strings.TrimSuffix(string(body), "\n"), "\n")
				lines[len(lines)-1] += "\n"
				if err := os.WriteFile(name, []byte(strings.Join(change(lines), "")), 0o600); err != nil {
					t.Fatal(err)
				}
			},
		}
	})
}
