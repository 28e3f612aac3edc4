package journal

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestWhatIsNoFileOfTheStoreIsNeitherReadNorWritten puts other things in the place of the store's files.
func TestWhatIsNoFileOfTheStoreIsNeitherReadNorWritten(t *testing.T) {
	elsewhere := filepath.Join(t.TempDir(), "theirs")
	if err := os.WriteFile(elsewhere, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		put  func(name string) error
		want string
	}{
		"a pipe":                 {func(name string) error { return syscall.Mkfifo(name, 0o600) }, "is"},
		"a link to a file":       {func(name string) error { return os.Symlink(elsewhere, name) }, "is a link"},
		"a link to endless zero": {func(name string) error { return os.Symlink("/dev/zero", name) }, "is a link"},
		"a folder":               {func(name string) error { return os.Mkdir(name, 0o700) }, "is"},
	} {
		name := filepath.Join(t.TempDir(), "owned.json")
		if err := c.put(name); err != nil {
			t.Fatal(err)
		}
		for verb, do := range map[string]func() error{
			"read": func() error {
				_, err := OS{}.ReadFile(name)
				return err
			},
			"append to": func() error {
				_, err := OS{}.Append(name)
				return err
			},
			"lock": func() error {
				_, err := OS{}.Lock(name)
				return err
			},
		} {
			if err := do(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s %s: got %v, want %s", verb, what, err, c.want)
			}
		}
	}
}

func TestAFileOfTheStoreHasABound(t *testing.T) {
	dir := t.TempDir()
	for name, size := range map[string]int64{"owned.json": maxBeside, "20260101-000000.000" + extension: maxJournal} {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Truncate(size + 1); err != nil { // of holes: nothing is on the disk
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := (OS{}).ReadFile(f.Name()); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("it is longer than %d bytes", size)) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
