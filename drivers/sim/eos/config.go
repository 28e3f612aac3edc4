package eos

import (
	"cmp"
	"errors"
	"slices"
	"strings"
)

// node is a configuration line and the lines inside it. The root has no text.
type node struct {
	text   string
	key    string
	rank   int
	place  place // of the lines inside; global where none can stand
	prompt string
	lines  []*node // in the printed order
}

// clone copies the tree.
func (n *node) clone() *node {
	c := *n
	c.lines = make([]*node, len(n.lines))
	for i, l := range n.lines {
		c.lines[i] = l.clone()
	}
	return &c
}

// find is the line of that key, or nil.
func (n *node) find(key string) *node {
	if n == nil {
		return nil
	}
	for _, l := range n.lines {
		if l.key == key {
			return l
		}
	}
	return nil
}

// value is what follows the key of a line, and whether there is one.
func (n *node) value(key string) (string, bool) {
	l := n.find(key)
	if l == nil || strings.HasPrefix(l.text, "no ") {
		return "", false
	}
	return strings.TrimSpace(strings.TrimPrefix(l.text, key)), true
}

// remove takes the line of that key away.
func (n *node) remove(key string) {
	n.lines = slices.DeleteFunc(n.lines, func(l *node) bool { return l.key == key })
}

// set puts a line in its place. A line of the same key is replaced, with what it has inside kept.
func (n *node) set(l *node) *node {
	if old := n.find(l.key); old != nil {
		old.text = l.text
		return old
	}
	at, _ := slices.BinarySearchFunc(n.lines, l, compareNodes)
	n.lines = slices.Insert(n.lines, at, l)
	return l
}

// compareNodes orders lines as the device prints them.
func compareNodes(a, b *node) int {
	return cmp.Or(cmp.Compare(a.rank, b.rank), compareNatural(a.key, b.key), strings.Compare(a.text, b.text))
}

// compareNatural orders text with the numbers in it as numbers.
func compareNatural(a, b string) int {
	for a != "" && b != "" {
		x, y := head(a), head(b)
		a, b = a[len(x):], b[len(y):]
		if isDigit(x[0]) && isDigit(y[0]) {
			if c := cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y)); c != 0 {
				return c
			}
		} else if c := strings.Compare(x, y); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

// head is the digits, or the one byte, that s begins with.
func head(s string) string {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return s[:max(n, 1)]
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// indent of a line inside another, as EOS prints it.
const indent = "   "

// print writes the lines as show running-config does.
func (n *node) print() []string {
	var out []string
	for i, l := range n.lines {
		if i > 0 && (l.place != global || n.lines[i-1].place != global || l.rank != n.lines[i-1].rank) {
			out = append(out, "!")
		}
		out = append(out, l.text)
		out = append(out, l.inside(indent)...)
	}
	return out
}

func (n *node) inside(prefix string) []string {
	var out []string
	for i, l := range n.lines {
		if l.place != global || i > 0 && n.lines[i-1].place != global {
			out = append(out, prefix+"!")
		}
		out = append(out, prefix+l.text)
		out = append(out, l.inside(prefix+indent)...)
	}
	return out
}

// diff is what leads from one tree to another, in the manner of a unified difference without line numbers: unchanged lines
// around a change are those that it stands in.
func diff(from, to *node, prefix string) []string {
	var out []string
	old, new := 0, 0
	for old < len(from.lines) || new < len(to.lines) {
		switch order := next(from, to, old, new); {
		case order < 0:
			out = append(out, from.lines[old].all("-", prefix)...)
			old++
		case order > 0:
			out = append(out, to.lines[new].all("+", prefix)...)
			new++
		default:
			a, b := from.lines[old], to.lines[new]
			old, new = old+1, new+1
			if a.text != b.text {
				out = append(out, "-"+prefix+a.text, "+"+prefix+b.text)
			}
			if within := diff(a, b, prefix+indent); len(within) > 0 {
				if a.text == b.text {
					out = append(out, " "+prefix+a.text)
				}
				out = append(out, within...)
			}
		}
	}
	return out
}

// next says whether the next line comes from the old tree (-1), the new one (1) or both.
func next(from, to *node, old, new int) int {
	switch {
	case old == len(from.lines):
		return 1
	case new == len(to.lines):
		return -1
	case from.lines[old].key == to.lines[new].key:
		return 0
	}
	return compareNodes(from.lines[old], to.lines[new])
}

// all is a line and everything in it with a sign before each.
func (n *node) all(sign, prefix string) []string {
	out := []string{sign + prefix + n.text}
	for _, l := range n.lines {
		out = append(out, l.all(sign, prefix+indent)...)
	}
	return out
}

// editor is a place in a configuration at which lines are entered.
type editor struct {
	grammar *grammar
	path    []*node // from the root to where it is
}

// at is the line that it stands in.
func (e *editor) at() *node { return e.path[len(e.path)-1] }

// enter takes one line. The innermost place that understands it is where it goes; what the lab knows nothing about
// understands everything, and so comes last.
func (e *editor) enter(text string) error {
	words := strings.Fields(text)
	if len(words) == 0 || strings.HasPrefix(words[0], "!") {
		return nil
	}
	if len(words) > 2 && strings.HasPrefix("interface", strings.ToLower(words[0])) {
		words = joinKind(words)
	}
	err := errInvalid
	for depth := len(e.path) - 1; depth >= 0; depth-- {
		if e.path[depth].place == inForeign {
			continue
		}
		tried := e.try(depth, words)
		if tried == nil {
			return nil
		}
		if errors.Is(err, errInvalid) {
			err = tried
		}
	}
	if e.at().place == inForeign {
		return e.try(len(e.path)-1, words)
	}
	return err
}

// try takes a line at a depth.
func (e *editor) try(depth int, words []string) error {
	parent, verb := e.path[depth], ""
	if words[0] == "no" || words[0] == "default" {
		verb, words = words[0], words[1:]
	}
	lines, err := e.grammar.parse(parent.place, words, verb != "")
	if err != nil {
		return err
	}
	e.path = e.path[:depth+1]
	for _, l := range lines {
		e.apply(parent, l, verb)
	}
	return nil
}

// apply makes one line take effect.
func (e *editor) apply(parent *node, l line, verb string) {
	text := l.text
	if verb == "no" {
		text = "no " + l.key
	}
	switch {
	case l.form.place == inForeign: // there is no telling what names a setting
		if opposite := opposite(text); parent.find(opposite) != nil {
			parent.remove(opposite)
			return
		}
		parent.set(&node{text: text, key: text, rank: l.form.rank})
	case l.form.enters == inInterface && verb != "":
		parent.find(l.key).lines = nil
	case verb == "default", verb == "no" && !l.form.no, unprinted[text], isDefault(text):
		parent.remove(l.key)
	default:
		n := parent.set(&node{text: text, key: l.key, rank: l.form.rank, place: l.form.enters, prompt: prompt(l)})
		if l.form.enters != global && verb == "" {
			e.path = append(e.path, n)
		}
	}
}

// opposite is the line with "no" before it, or without.
func opposite(text string) string {
	if positive, found := strings.CutPrefix(text, "no "); found {
		return positive
	}
	return "no " + text
}

// prompt of the mode that a line enters.
func prompt(l line) string {
	word := l.text[strings.LastIndexByte(l.text, ' ')+1:]
	return strings.ReplaceAll(l.form.prompt, "$", shortName(word))
}

// foreignRank comes after all that the grammar ranks.
const foreignRank = 1 << 20

// load reads a whole configuration. A line that the grammar does not know is kept as it is, where its indentation puts it:
// configurations of real devices say more than the lab understands.
func (e *editor) load(text string) {
	var open []struct {
		depth int
		node  *node
	}
	for raw := range strings.Lines(text) {
		raw = strings.TrimRight(raw, "\r\n ")
		line := strings.TrimLeft(raw, " ")
		if line == "" || line[0] == '!' || line == "end" {
			continue
		}
		depth := len(raw) - len(line)
		for len(open) > 0 && open[len(open)-1].depth >= depth {
			open = open[:len(open)-1]
		}
		if depth == 0 {
			e.path = e.path[:1]
		}
		if len(open) == 0 && e.enter(line) == nil {
			continue
		}
		parent := e.at()
		if len(open) > 0 {
			parent = open[len(open)-1].node
		}
		n := parent.set(&node{text: line, key: line, rank: foreignRank})
		open = append(open, struct {
			depth int
			node  *node
		}{depth, n})
	}
	e.path = e.path[:1]
}
