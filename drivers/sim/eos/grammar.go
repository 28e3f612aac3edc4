package eos

import (
	"errors"
	"slices"
	"strconv"
	"strings"
)

// What EOS says of lines that it does not take.
var (
	errInvalid     = errors.New("% Invalid input")
	errAmbiguous   = errors.New("% Ambiguous command")
	errIncomplete  = errors.New("% Incomplete command")
	errUnavailable = errors.New("% Unavailable command (not supported on this hardware platform)")
)

// grammar is what the lines of one device may be.
type grammar struct {
	forms      map[place][]form
	family     family
	interfaces []string
}

// form is a statement ready to be matched.
type form struct {
	statement
	tokens []string
	key    int // how many of the tokens name the setting
	rank   int // place in the printed order
}

func newGrammar(f family, interfaces []string) *grammar {
	g := &grammar{forms: map[place][]form{}, family: f, interfaces: interfaces}
	add := func(s statement) {
		tokens := strings.Fields(s.form)
		key := slices.Index(tokens, "!")
		if key < 0 {
			key = len(tokens)
		} else {
			tokens = slices.Delete(tokens, key, key+1)
		}
		g.forms[s.place] = append(g.forms[s.place], form{s, tokens, key, len(g.forms[s.place])})
	}
	for _, s := range statements {
		add(s)
	}
	for _, in := range []place{inInterface, inProfile} {
		for _, s := range onPorts {
			s.place = in
			add(s)
		}
	}
	return g
}

// line is a configuration line that was understood, in full words.
type line struct {
	form *form
	key  string // the words that name the setting
	text string
}

// cursor is a form that matches the words so far.
type cursor struct {
	form  *form
	at    int      // token that comes next
	words []string // in full, as tokens of the form; the numbers of a list joined by spaces
	again bool     // the token before takes more numbers
}

// parse understands words in a place. With named the words may end where those that name the setting end. A list makes
// several lines.
func (g *grammar) parse(in place, words []string, named bool) ([]line, error) {
	var alive []cursor
	for i := range g.forms[in] {
		alive = append(alive, cursor{form: &g.forms[in][i]})
	}
	for _, w := range words {
		var err error
		if alive, err = g.step(alive, w); err != nil {
			return nil, err
		}
	}
	for _, c := range alive {
		whole := c.at == len(c.form.tokens) || named && c.at == c.form.key
		if !whole {
			continue
		}
		if c.form.on != anyASIC && c.form.on != g.family {
			return nil, errUnavailable
		}
		return c.lines(), nil
	}
	return nil, errIncomplete
}

// step moves every form over one more word. Keywords written in full come first, then arguments and abbreviations.
func (g *grammar) step(alive []cursor, word string) ([]cursor, error) {
	var exact, other []cursor
	keywords := map[string]bool{}
	for _, c := range alive {
		if c.again {
			if full, ok := g.argument(c.form.tokens[c.at-1], word); ok {
				more := c
				more.words = slices.Clone(c.words)
				more.words[c.at-1] += " " + full
				other = append(other, more)
			}
		}
		if c.at == len(c.form.tokens) {
			if c.at > 0 && c.form.tokens[c.at-1] == "<rest>" {
				more := c
				more.words = slices.Clone(c.words)
				more.words[c.at-1] += " " + word
				other = append(other, more)
			}
			continue
		}
		token := c.form.tokens[c.at]
		if strings.HasPrefix(token, "<") {
			if full, ok := g.argument(token, word); ok {
				other = append(other, c.over(full))
			}
			continue
		}
		for alternative := range strings.SplitSeq(token, "|") {
			switch {
			case strings.EqualFold(alternative, word):
				exact = append(exact, c.over(alternative))
			case len(word) < len(alternative) && strings.EqualFold(alternative[:len(word)], word):
				keywords[alternative] = true
				other = append(other, c.over(alternative))
			}
		}
	}
	switch {
	case len(exact) > 0:
		return exact, nil
	case len(keywords) > 1:
		return nil, errAmbiguous
	case len(other) == 0:
		return nil, errInvalid
	}
	return other, nil
}

// over is the cursor behind one more token.
func (c cursor) over(full string) cursor {
	list := strings.HasSuffix(c.form.tokens[c.at], "+")
	return cursor{form: c.form, at: c.at + 1, words: append(slices.Clone(c.words), full), again: list}
}

// lines are what was understood: one, or one for each number of a list.
func (c cursor) lines() []line {
	list := slices.IndexFunc(c.form.tokens[:min(c.at, len(c.words))], func(t string) bool { return strings.HasSuffix(t, "+") })
	if list < 0 {
		return []line{c.line(c.words)}
	}
	var out []line
	for number := range strings.FieldsSeq(c.words[list]) {
		words := slices.Clone(c.words)
		words[list] = number
		out = append(out, c.line(words))
	}
	return out
}

func (c cursor) line(words []string) line {
	return line{c.form, strings.Join(words[:min(c.form.key, len(words))], " "), strings.Join(words, " ")}
}

// argument checks a word against an argument of a form and writes it in full.
func (g *grammar) argument(token, word string) (string, bool) {
	name := strings.Trim(token, "<>+")
	switch name {
	case "word", "rest":
		return word, true
	case "interface":
		full := interfaceName(word)
		return full, slices.Contains(g.interfaces, full)
	case "logical":
		for _, kind := range []string{"Port-Channel", "Loopback", "Management", "Vlan"} {
			if n, found := strings.CutPrefix(strings.ToLower(word), strings.ToLower(kind)); found && n != "" {
				return kind + n, true
			}
		}
		return "", false
	}
	limits, places, _ := strings.Cut(name, ":")
	low, high, _ := strings.Cut(limits, "-")
	decimals, _ := strconv.Atoi(places) // none where the form says nothing
	if whole, fraction, _ := strings.Cut(word, "."); len(fraction) > decimals || strings.Trim(whole+fraction, "0123456789") != "" {
		return "", false
	}
	n, err := strconv.ParseFloat(word, 64)
	return word, err == nil && n >= number(low) && n <= number(high)
}

// number reads a number of a form.
func number(s string) float64 {
	n, _ := strconv.ParseFloat(s, 64) // forms are written here, and a test reads them all
	return n
}

// interfaceName is the full name of an Ethernet port: et1/1 and Et1/1 are Ethernet1/1.
func interfaceName(s string) string {
	const full = "ethernet"
	digits := strings.IndexAny(s, "0123456789")
	if digits < 2 || !strings.HasPrefix(full, strings.ToLower(s[:digits])) {
		return s
	}
	return "Ethernet" + s[digits:]
}

// shortName is an interface as EOS prints it in tables and prompts: Et1/1.
func shortName(s string) string {
	for _, kind := range []string{"Ethernet", "Management", "Loopback"} {
		if n, found := strings.CutPrefix(s, kind); found {
			return kind[:2] + n
		}
	}
	return s
}
