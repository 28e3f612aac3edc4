package plan

import (
	"regexp"
	"strings"
)

// plainWord is a word that a POSIX shell takes as it is. A name of a variable before = would make an assignment of the first
// word of a command, which is a word of weir's own everywhere.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// PlainWord says whether a shell, and the command line of a switch, takes a word as it is.
func PlainWord(word string) bool { return plainWord.MatchString(word) }

// Word is a text as one word of a POSIX shell's command, whatever it holds: quoted where it must be. Every word that reaches a
// shell and is not written in the program goes through it. A NUL has no spelling; drivers/ssh sends no command with one.
func Word(text string) string {
	if PlainWord(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// Command is a command of a POSIX shell: what is written in the program (verb, of as many words as it needs), and the words
// after it, each as one word.
func Command(verb string, words ...string) string {
	var b strings.Builder
	b.WriteString(verb)
	for _, w := range words {
		b.WriteByte(' ')
		b.WriteString(Word(w))
	}
	return b.String()
}
