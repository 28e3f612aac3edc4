// Package cli is every line-oriented language: configurations that are lines in blocks. A vendor is a folder with a
// pack.yaml and templates: the templates lay out what Go decided, and the pack's grammar reads configurations back, says
// which lines are weir's, what each is called by the operator, how it is taken back and what that does to traffic.
//
// A leaf's path is the headers of the blocks that a line stands in and the part of the line that says what is set; its
// value is the part that says to what. So a number that changes is one update. A line that lists several things which are
// set alike is one leaf for each. A block that is weir's as a whole has a leaf of its own, with an empty value.
//
// What is wanted is always stated in full. A device may leave out of its running configuration what is so by default. The
// defaults are not guessed: maps are also read from a table of what the device uses, where the pack knows one, and what no
// answer has counts as not set, so that it is stated again, which does no harm.
package cli

import (
	"fmt"
	"io/fs"
	"path"
	"text/template"

	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/render"
	"github.com/weirfabric/weir/templates/pack"
)

// Language is the language of one vendor. It may be used from many goroutines at once.
type Language struct {
	name    string // of the platform
	pack    pack.Language
	grammar *scope
	any     *scope // the grammar for what others configured: its objects have any name
	layout  []*template.Template
	rewrite *template.Template // of the rules of priority bumping; nil: the language has no words for them
}

var _ render.Language[*fabric.Switch] = (*Language)(nil)

// New reads the language in a folder: section language of DIR/pack.yaml and the templates that it names.
func New(fsys fs.FS, dir string) (*Language, error) {
	p, err := pack.ReadLanguage(fsys, dir)
	if err != nil {
		return nil, err
	}
	l := &Language{name: path.Base(dir), pack: p}
	if l.grammar, err = compile(p, false); err == nil {
		l.any, err = compile(p, true)
	}
	if err != nil {
		return nil, fmt.Errorf("read section language of %s/pack.yaml: %w", dir, err)
	}
	for _, name := range p.Layout {
		text, err := fs.ReadFile(fsys, path.Join(dir, name))
		if err != nil {
			return nil, fmt.Errorf("read the layout of %s: %w", dir, err)
		}
		t, err := parse(name, text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		l.layout = append(l.layout, t)
	}
	if p.Rewrite != nil {
		text, err := fs.ReadFile(fsys, path.Join(dir, p.Rewrite.Layout))
		if err != nil {
			return nil, fmt.Errorf("read the layout of %s: %w", dir, err)
		}
		if l.rewrite, err = parse(p.Rewrite.Layout, text); err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
	}
	return l, nil
}

// Must is New for folders that are part of the program; an error in one is a bug.
func Must(fsys fs.FS, dir string) *Language {
	l, err := New(fsys, dir)
	if err != nil {
		panic(err)
	}
	return l
}

func ask(q pack.Query) plan.Query {
	return plan.Query{Name: q.Name, Ways: []plan.Way{{Via: plan.SSH, Text: q.Command}}}
}

// Queries ask for the running configuration, and for the maps as the device uses them.
func (l *Language) Queries(*fabric.Switch) []plan.Query {
	out := []plan.Query{ask(l.pack.Query)}
	if l.pack.Tables.Query.Name != "" {
		tables := ask(l.pack.Tables.Query)
		tables.Optional = true
		out = append(out, tables)
	}
	return out
}
