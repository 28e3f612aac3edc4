package cli

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// pattern is one line of a device's language, word by word. It is written as the line itself with holes:
//
//	{name}        one word
//	{name:a|b}    one word that is a or b; each may be a glob
//	{name...}     one or more words, each of which is a value of its own
//	{name*}       all words that are left, at least one, taken together
type pattern []token

type token struct {
	word  string   // literal; empty for a hole
	hole  string   // name of the hole
	globs []string // of a hole; none: any word
	many  bool     // {name...}
	rest  bool     // {name*}
}

// binding is what the holes of a pattern hold.
type binding map[string]string

func parsePattern(s string) (pattern, error) {
	var p pattern
	for _, word := range strings.Fields(s) {
		inner, open := strings.CutPrefix(word, "{")
		inner, closed := strings.CutSuffix(inner, "}")
		if open != closed {
			return nil, fmt.Errorf("pattern %q: %q is half a hole", s, word)
		}
		if !open {
			p = append(p, token{word: word})
			continue
		}
		t := token{}
		name, globs, constrained := strings.Cut(inner, ":")
		if constrained {
			t.globs = strings.Split(globs, "|")
		}
		name, t.many = strings.CutSuffix(name, "...")
		t.hole, t.rest = strings.CutSuffix(name, "*")
		if t.hole == "" {
			return nil, fmt.Errorf("pattern %q: %q has no name", s, word)
		}
		p = append(p, t)
	}
	for i, t := range p {
		if t.rest && i < len(p)-1 {
			return nil, fmt.Errorf("pattern %q: nothing can follow {%s*}", s, t.hole)
		}
	}
	return p, nil
}

// match fills the holes from the words of a line. The map is made only for a line that matches.
func (p pattern) match(words []string) (binding, bool) {
	if !p.fits(words) {
		return nil, false
	}
	b := make(binding, 2)
	for i, t := range p {
		n := 1
		switch {
		case t.rest:
			n = len(words)
		case t.many:
			n = p[i+1:].after(words)
		}
		if t.hole != "" {
			b[t.hole] = strings.Join(words[:n], " ")
		}
		words = words[n:]
	}
	return b, true
}

// fits says whether the words have the pattern's shape.
func (p pattern) fits(words []string) bool {
	for i, t := range p {
		switch {
		case i >= len(words):
			return false
		case t.rest:
			return true
		case t.many:
			return p[i+1:].after(words[i:]) > 0
		case !t.accepts(words[i]):
			return false
		}
	}
	return len(words) == len(p)
}

// after is how many words come before the first place where the pattern fits to the end; 0 where it never does.
func (p pattern) after(words []string) int {
	for n := 1; n <= len(words); n++ {
		if p.fits(words[n:]) {
			return n
		}
	}
	return 0
}

func (t token) accepts(word string) bool {
	if t.hole == "" {
		return t.word == word
	}
	for _, glob := range t.globs {
		if ok, err := path.Match(glob, word); ok && err == nil {
			return true
		}
	}
	return len(t.globs) == 0
}

// render writes the line. A hole that nothing fills is left out.
func (p pattern) render(b binding) string {
	words := make([]string, 0, len(p))
	for _, t := range p {
		word := t.word
		if t.hole != "" {
			word = b[t.hole]
		}
		if word != "" {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

// head is what all lines of the pattern begin with: the words before the first hole.
func (p pattern) head() string {
	n := slices.IndexFunc(p, func(t token) bool { return t.hole != "" })
	if n < 0 {
		n = len(p)
	}
	return p[:n].render(nil)
}

// list is the hole whose words are values of their own, or empty.
func (p pattern) list() string {
	for _, t := range p {
		if t.many {
			return t.hole
		}
	}
	return ""
}

// fill replaces {name} in a text that is no line, such as the spelling of an address.
func fill(text string, b binding) string {
	for strings.Contains(text, "{") {
		before, hole, _ := strings.Cut(text, "{")
		name, after, closed := strings.Cut(hole, "}")
		if !closed {
			break
		}
		text = before + b[name] + after
	}
	return text
}
