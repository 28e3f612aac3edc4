package cli

import (
	"cmp"
	"slices"
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/plan"
)

// edit is what is to be done inside one block, or outside of all blocks.
type edit struct {
	header string
	rule   *rule  // of the block; nil at the top and for a block that no rule knows
	inside *scope // what weir knows in the block
	drop   bool   // the block goes, with everything in it
	set    []statement
	back   []statement
	blocks []*edit
}

// statement is one line to be said or taken back.
type statement struct {
	rule  *rule // nil: a line that no rule knows
	key   string
	holes binding
	value string
}

// typed is a line as it is typed or printed: depth counts the blocks around it.
type typed struct {
	depth int
	text  string
	doubt string // what lines like it begin with, where no source shows that the device takes them; else empty
}

// edits sorts deltas into blocks.
func (l *Language) edits(deltas []plan.Delta) *edit {
	root := &edit{inside: l.grammar}
	for _, d := range deltas {
		e := root
		last := len(d.Leaf.Path) - 1
		for _, header := range d.Leaf.Path[:last] {
			e = e.block(header)
		}
		e.add(d.Leaf.Path[last], d)
	}
	return root
}

// block is the edit of a block inside this one.
func (e *edit) block(header string) *edit {
	// Deltas are sorted by path, so the block wanted is mostly the one that was wanted last.
	for _, b := range slices.Backward(e.blocks) {
		if b.header == header {
			return b
		}
	}
	b := &edit{header: header}
	if b.rule, _ = e.inside.of(strings.Fields(header)); b.rule != nil {
		b.inside = b.rule.inside
	}
	e.blocks = append(e.blocks, b)
	return b
}

func (e *edit) add(key string, d plan.Delta) {
	rule, holes := e.inside.of(strings.Fields(key))
	if rule != nil && rule.inside != nil {
		e.block(key).drop = d.Action == plan.Delete
		return
	}
	s := statement{rule, key, holes, d.Leaf.Value}
	if d.Action == plan.Delete {
		e.back = append(e.back, s)
	} else {
		e.set = append(e.set, s)
	}
}

// place is that of a rule in the grammar; what no rule knows comes last.
func (r *rule) place() int {
	if r == nil {
		return int(^uint(0) >> 1)
	}
	return r.order
}

func compareStatements(a, b statement) int {
	return cmp.Or(cmp.Compare(a.rule.place(), b.rule.place()), addr.Natural(a.key, b.key))
}

// lines are those that make the edit: first what is taken back in a block, then what is said; last of all, what nothing
// refers to any more goes, in the order opposite to that in which it is defined.
func (l *Language) lines(root *edit) []typed {
	var out []typed
	keep, drop := root.parted()
	sets := l.spell(root.set)
	for _, b := range keep {
		for len(sets) > 0 && sets[0].order < b.rule.place() {
			out = append(out, sets[0].at(0))
			sets = sets[1:]
		}
		out = l.body(out, b, 0)
	}
	for _, s := range sets {
		out = append(out, s.at(0))
	}
	gone := l.unsay(root.back)
	for _, b := range drop {
		gone = append(gone, l.negation(b.rule, b.header, l.pack.Negate+" "+b.header))
	}
	slices.SortStableFunc(gone, func(a, b ordered) int { return cmp.Compare(b.order, a.order) })
	for _, g := range gone {
		out = append(out, g.at(0))
	}
	return out
}

// body is a block with everything that is to be done in it. A block in it that goes is taken back line by line.
func (l *Language) body(out []typed, e *edit, depth int) []typed {
	out = append(out, typed{depth: depth, text: e.header})
	for _, s := range l.unsay(e.back) {
		out = append(out, s.at(depth+1))
	}
	sets := l.spell(e.set)
	keep, _ := e.parted()
	for _, b := range keep {
		for len(sets) > 0 && sets[0].order < b.rule.place() {
			out = append(out, sets[0].at(depth+1))
			sets = sets[1:]
		}
		out = l.body(out, b, depth+1)
	}
	for _, s := range sets {
		out = append(out, s.at(depth+1))
	}
	return append(out, typed{depth: depth + 1, text: l.pack.Leave})
}

// parted are the blocks that stay and those that go, as the grammar orders them and then as people count.
func (e *edit) parted() (keep, drop []*edit) {
	slices.SortStableFunc(e.blocks, func(a, b *edit) int {
		return cmp.Or(cmp.Compare(a.rule.place(), b.rule.place()), addr.Natural(a.header, b.header))
	})
	for _, b := range e.blocks {
		if b.drop {
			drop = append(drop, b)
		} else {
			keep = append(keep, b)
		}
	}
	return keep, drop
}

// ordered is a line and its place in the grammar.
type ordered struct {
	order int
	text  string
	doubt string
}

// at is the line inside so many blocks.
func (o ordered) at(depth int) typed { return typed{depth, o.text, o.doubt} }

func (l *Language) spell(statements []statement) []ordered {
	return joined(statements, func(s statement) ordered {
		if s.rule == nil {
			return ordered{text: s.key}
		}
		return ordered{text: s.rule.text(s.holes, s.value)}
	})
}

func (l *Language) unsay(statements []statement) []ordered {
	return joined(statements, func(s statement) ordered {
		if s.rule == nil {
			return l.negation(nil, s.key, l.pack.Negate+" "+s.key)
		}
		return l.negation(s.rule, s.key, s.rule.back(l.pack.Negate, s.holes, s.value))
	})
}

// negation is the line that takes back what a rule, or no rule, is about.
func (l *Language) negation(r *rule, key, line string) ordered {
	switch {
	case r == nil:
		return ordered{order: r.place(), text: line, doubt: l.pack.Negate + " " + key}
	case r.item.Proven:
		return ordered{order: r.place(), text: line}
	case len(r.negate) > 0:
		return ordered{order: r.place(), text: line, doubt: r.negate.head()}
	}
	return ordered{order: r.place(), text: line, doubt: l.pack.Negate + " " + r.line.head()}
}

// joined writes the statements in order; those of one list rule that have the same value share a line.
func joined(statements []statement, write func(statement) ordered) []ordered {
	slices.SortStableFunc(statements, compareStatements)
	type same struct {
		rule  *rule
		value string
	}
	lists := map[same]int{}
	var merged []statement
	for _, s := range statements {
		if s.rule == nil || s.rule.list == "" {
			merged = append(merged, s)
			continue
		}
		at, ok := lists[same{s.rule, s.value}]
		if !ok {
			lists[same{s.rule, s.value}] = len(merged)
			merged = append(merged, s)
			continue
		}
		merged[at].holes[s.rule.list] += " " + s.holes[s.rule.list]
	}
	out := make([]ordered, 0, len(merged))
	for _, s := range merged {
		line := write(s)
		line.order = s.rule.place()
		out = append(out, line)
	}
	return out
}
