package drivers

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestOnlyRegularFilesOfABoundedSizeAreRead has in the place of a file what waits and what never ends.
func TestOnlyRegularFilesOfABoundedSizeAreRead(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.WriteFile(at("file"), []byte("0123456789"), 0o600), os.Symlink("/dev/zero", at("device")), syscall.Mkfifo(at("pipe"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"device": "is no regular file but a device", "pipe": "is no regular file but a pipe", ".": "is no regular file but a folder"} {
		if _, err := ReadFile(at(name), 100); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
	if body, err := ReadFile(at("file"), 10); err != nil || string(body) != "0123456789" {
		t.Errorf("got %q, %v", body, err)
	}
	if _, err := ReadFile(at("file"), 9); !errors.Is(err, ErrTooMuch) {
		t.Errorf("got %v, want that it is too much", err)
	}
	if _, err := ReadFile(at("none"), 9); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want that there is none", err)
	}
}

func TestAnAnswerIsBounded(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		read bool
	}{
		"a document":                      {`{"a": {"b": "[[[[", "c": "\"{{{"}}`, true},
		"text with brackets":              {"interface [" + strings.Repeat("[", 1000), true},
		"a document that is deep":         {strings.Repeat(`{"a":`, 65) + "1" + strings.Repeat("}", 65), false},
		"the same after a blank":          {" \n" + strings.Repeat(`{"a":`, 65) + "1" + strings.Repeat("}", 65), false},
		"a document of too many values":   {"[" + strings.Repeat("1,", 200_001) + "1]", false},
		"text that is longer than any is": {strings.Repeat("x", MaxAnswer+1), false},
	} {
		if err := Bounded([]byte(c.body)); (err == nil) != c.read {
			t.Errorf("%s: %v", name, err)
		}
	}
}
