package main

import (
	"errors"
	"strings"

	"github.com/weirfabric/weir/cmd/control"
)

// place is where a command found its repo, as it was told.
type place struct{ dir, journal string }

// hint is a command line on the same repo, journal and devices as this one, to be pasted as it stands.
func (c *console) hint(words ...string) string {
	if c.place.dir != "" && c.place.dir != "." {
		words = append(words, quoteShell(c.place.dir))
	}
	return c.hintOf(words)
}

// hintRepo is hint for a command whose argument is another, and whose repo is named by a flag.
func (c *console) hintRepo(words ...string) string {
	if c.place.dir != "" && c.place.dir != "." {
		words = append(words, "--repo", quoteShell(c.place.dir))
	}
	return c.hintOf(words)
}

func (c *console) hintOf(words []string) string {
	if c.place.journal != "" {
		words = append(words, "--journal", quoteShell(c.place.journal))
	}
	if c.lab {
		words = append(words, "--lab")
	}
	return "weir " + strings.Join(words, " ")
}

// quoteShell makes one word of a shell's command line.
func quoteShell(word string) string {
	plain := func(r rune) bool {
		return strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:@%", r)
	}
	if word != "" && strings.TrimFunc(word, plain) == "" && !strings.HasPrefix(word, "-") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// advice is the command that an operator runs after an error; empty where there is none.
func (c *console) advice(err error) string {
	var locked *control.LockedError
	var unfinished *control.UnfinishedError
	var damaged *control.DamagedError
	switch {
	case errors.As(err, &damaged) && damaged.Tail:
		return c.hint("runs", "--repair", damaged.Run)
	case errors.As(err, &damaged):
		return c.hint("runs", "--repair", damaged.Run, "--give-up", "--reason", "TEXT")
	case errors.As(err, &unfinished):
		return c.hint("recover")
	case errors.As(err, &locked) && locked.Stale:
		return c.hint("locks", "--release", "--force", "--reason", "TEXT")
	}
	return ""
}
