package diag

import (
	"strings"
	"testing"
)

func TestNothingThatATerminalActsOnIsPlain(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"text stays as it is", "leaf1: Übertrag\tok\n", "leaf1: Übertrag\tok\n"},
		{"an escape sequence is written out", "\x1b]0;owned\x07", `\x1b]0;owned\a`},
		{"a carriage return in a line is written out", "ok\rbad", `ok\rbad`},
		{"the end of a line of a terminal is a newline", "one\r\ntwo", "one\ntwo"},
		{"a C1 character is written out", "a\u009b31m", `a\u009b31m`},
		{"an override of the direction is written out", "a\u202eb", `a\u202eb`},
		{"a zero-width character is written out", "a\u200bb", `a\u200bb`},
		{"a NUL is written out", "a\x00b", `a\x00b`},
		{"a byte that is no text is written out", "a\xffb", `a\xffb`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Plain(c.text); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestAnExcerptIsTheEndAndBounded(t *testing.T) {
	got := Excerpt(strings.Repeat("x", 1<<20) + "\x1b% Invalid input\n")
	if !strings.HasSuffix(got, `\x1b% Invalid input`) || !strings.HasPrefix(got, "... x") || len(got) > 4*LongestQuote {
		t.Errorf("got %d bytes: %.40q", len(got), got)
	}
	if got := Excerpt(" short\n"); got != "short" {
		t.Errorf("got %q", got)
	}
}
