package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/templates/pack"
)

// scope is the inside of a block: which blocks and lines weir knows there.
type scope struct {
	rules []*rule
	index map[string][]*rule // by first word, where that is literal
	free  []*rule            // whose first word is a hole
}

// rule is a block or a line of the grammar.
type rule struct {
	order      int
	item       pack.Item
	line       pattern
	key, value pattern
	reads      pattern // of the value, part by part
	off        pattern
	negate     pattern
	list       string // hole of line whose words are leaves of their own
	impact     plan.Impact
	inside     *scope // of a block; nil for a line
}

// compile makes the rules of a language's grammar. With anyName its objects have any name, as others gave them, and what overrides an
// object is read as the object is.
func compile(l pack.Language, anyName bool) (*scope, error) {
	c := compiler{sets: l.Sets, anyName: anyName}
	return c.scope(l.Grammar, "")
}

// compiler numbers rules in the order in which they stand.
type compiler struct {
	sets    map[string][]pack.Item
	anyName bool
	order   int
}

// scope makes the rules of items. Those that do not say their impact have the one given.
func (c *compiler) scope(items []pack.Item, impact string) (*scope, error) {
	s := &scope{index: map[string][]*rule{}}
	for _, it := range items {
		it.Impact = cmp.Or(it.Impact, impact)
		r, err := c.rule(it)
		if err != nil {
			return nil, fmt.Errorf("grammar: %s%s: %w", it.Block, it.Line, err)
		}
		s.rules = append(s.rules, r)
		s.add(r.line, r)
		if len(r.off) > 0 {
			s.add(r.off, r)
		}
	}
	return s, nil
}

func (s *scope) add(p pattern, r *rule) {
	if p[0].hole != "" {
		s.free = append(s.free, r)
		return
	}
	s.index[p[0].word] = append(s.index[p[0].word], r)
}

func (c *compiler) rule(it pack.Item) (*rule, error) {
	c.order++
	r := &rule{order: c.order, item: it}
	if it.Impact == "" {
		return nil, errors.New("its impact is not said")
	}
	if err := r.impact.UnmarshalText([]byte(it.Impact)); err != nil {
		return nil, err
	}
	if c.anyName && it.Lifts != "" {
		it.Items, it.Include = nil, it.Lifts
	}
	key, value, parted := strings.Cut(it.Line, " | ")
	if !parted {
		key, value = it.Line, it.Value
	}
	if it.Key != "" {
		key = it.Key
	}
	for _, part := range []struct {
		text string
		to   *pattern
	}{{it.Block + strings.ReplaceAll(it.Line, " | ", " "), &r.line}, {single(key), &r.key}, {value, &r.value}, {it.Reads, &r.reads}, {it.Off, &r.off}, {it.Negate, &r.negate}} {
		var err error
		if *part.to, err = parsePattern(part.text); err != nil {
			return nil, err
		}
	}
	if len(r.line) == 0 {
		return nil, errors.New("it is neither a block nor a line")
	}
	if c.anyName && it.Block != "" && it.Object != "" {
		for i := range r.line {
			r.line[i].globs = nil
		}
	}
	r.list = r.line.list()
	r.item.OffSays = cmp.Or(it.OffSays, "no")
	if it.Block == "" {
		return r, nil
	}
	set, known := c.sets[it.Include]
	if it.Include != "" && !known {
		return nil, fmt.Errorf("there is no set %q", it.Include)
	}
	var err error
	r.inside, err = c.scope(slices.Concat(it.Items, set), it.Impact)
	return r, err
}

// single makes of {name...} the hole of one word: in a key, each word of the list stands alone.
func single(text string) string { return strings.ReplaceAll(text, "...}", "}") }

// find is the rule of a line, and what fills its holes. off says that it is the rule's other line.
func (s *scope) find(words []string) (r *rule, b binding, off bool) {
	if s == nil || len(words) == 0 {
		return nil, nil, false
	}
	for _, r := range s.index[words[0]] {
		if b, ok := r.line.match(words); ok {
			return r, b, false
		}
		if len(r.off) > 0 {
			if b, ok := r.off.match(words); ok {
				return r, b, true
			}
		}
	}
	for _, r := range s.free {
		if b, ok := r.line.match(words); ok {
			return r, b, false
		}
	}
	return nil, nil, false
}

// of is the rule that a leaf with this last element of its path belongs to; nil for a line that no rule knows.
func (s *scope) of(key []string) (*rule, binding) {
	if s == nil {
		return nil, nil
	}
	for _, r := range s.rules {
		p := r.key
		if r.inside != nil {
			p = r.line
		}
		if b, ok := p.match(key); ok {
			return r, b
		}
	}
	return nil, nil
}

// text is the line that says a leaf. In a list rule several keys may be said at once: then b holds all of them.
func (r *rule) text(b binding, value string) string {
	if len(r.off) > 0 && value == r.item.OffSays {
		return r.off.render(b)
	}
	if held, ok := r.value.match(strings.Fields(value)); ok {
		for hole, word := range held {
			b[hole] = word
		}
	}
	return r.line.render(b)
}

// back is the line that takes a leaf back.
func (r *rule) back(word string, b binding, value string) string {
	line := r.text(b, value) // also fills b with what the value says
	if len(r.negate) > 0 {
		return r.negate.render(b)
	}
	return word + " " + line
}
