package main

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

// full is a disk without space.
type full struct{ io.Writer }

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestAnAnswerThatCannotBePrintedIsAnError(t *testing.T) {
	for _, args := range [][]string{{"check", "../../examples/pod1"}, {"--json", "check", "../../examples/pod1"}, {"deadlock", "../../examples/ring"}} {
		var said bytes.Buffer
		if code := run(args, full{}, &said); code != exitError || !strings.Contains(said.String(), "no space left") {
			t.Errorf("%v: exit code %d, %s", args, code, said.String())
		}
	}
}
