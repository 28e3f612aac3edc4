package poll

import (
	"bytes"
	"encoding/json"
	"path"
	"strings"

	"github.com/weirfabric/weir/telemetry"
	"github.com/weirfabric/weir/templates/pack"
)

// emit is called with each field that a parser finds: of which port, where the answer says it, and the number of the priority,
// queue or group, where it is not part of the field's name.
type emit func(l *telemetry.Leaf, port, number, text string)

// parser reads the answers of one poll.
type parser struct {
	form   string
	rows   telemetry.Rows
	leaves map[string]*telemetry.Leaf
	paths  []jsonPath
}

func newParser(p pack.Poll) parser {
	out := parser{form: p.Form, rows: telemetry.NewRows(p.Rows), leaves: map[string]*telemetry.Leaf{}}
	if p.Form != "json" {
		out.leaves = telemetry.Leaves(p.Fields)
		return out
	}
	for name, f := range p.Fields {
		if l, ok := telemetry.NewLeaf(f); ok {
			out.leaves[name] = l
			out.paths = append(out.paths, jsonPath{strings.Split(name, "."), l})
		}
	}
	return out
}

func (p parser) parse(body []byte, e emit) {
	switch p.form {
	case "lines":
		p.lines(body, e)
	case "table":
		p.table(body, e)
	case "json":
		p.json(body, e)
	}
}

// lines reads NAME: VALUE, as ethtool -S prints, and PATH:VALUE, as grep -H does: the name is the last element of the path.
func (p parser) lines(body []byte, e emit) {
	for line := range strings.Lines(string(body)) {
		i := strings.LastIndexByte(strings.TrimSpace(line), ':')
		if i < 0 {
			continue
		}
		line = strings.TrimSpace(line)
		if l, ok := p.leaves[path.Base(strings.TrimSpace(line[:i]))]; ok {
			e(l, "", "", line[i+1:])
		}
	}
}

// table reads columns under a rule of dashes, as SONiC's commands print: the groups of dashes say where the columns are, and
// the line above what they are called. There may be several tables.
func (p parser) table(body []byte, e emit) {
	var header []string
	var columns [][2]int
	previous := ""
	for line := range strings.Lines(string(body)) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "--"):
			columns = rule(line)
			header = cells(previous, columns)
		case strings.TrimSpace(line) == "":
			columns = nil
		case columns != nil:
			p.row(header, cells(line, columns), e)
		}
		previous = line
	}
}

func (p parser) row(header, row []string, e emit) {
	port, number, ok := p.rows.Match(row[0])
	if !ok {
		return
	}
	for i, name := range header {
		if l, ok := p.leaves[name]; ok {
			e(l, port, number, row[i])
		}
	}
}

// rule gives where each group of dashes begins and ends.
func rule(line string) [][2]int {
	var out [][2]int
	for i := 0; i < len(line); {
		if line[i] != '-' {
			i++
			continue
		}
		from := i
		for i < len(line) && line[i] == '-' {
			i++
		}
		out = append(out, [2]int{from, i})
	}
	return out
}

// cells cuts a line at the columns.
func cells(line string, columns [][2]int) []string {
	out := make([]string, len(columns))
	for i, c := range columns {
		from, to := min(c[0], len(line)), min(c[1], len(line))
		out[i] = strings.TrimSpace(line[from:to])
	}
	return out
}

// jsonPath is the way to a field through objects. An element may be or hold {port}, {priority}, {queue} or {group}.
type jsonPath struct {
	elems []string
	leaf  *telemetry.Leaf
}

func (p parser) json(body []byte, e emit) {
	var root any
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if d.Decode(&root) != nil {
		return
	}
	for _, j := range p.paths {
		j.walk(root, j.elems, "", "", e)
	}
}

func (j jsonPath) walk(at any, elems []string, port, number string, e emit) {
	if len(elems) == 0 {
		switch v := at.(type) {
		case string:
			e(j.leaf, port, number, v)
		case json.Number:
			e(j.leaf, port, number, v.String())
		}
		return
	}
	object, ok := at.(map[string]any)
	if !ok {
		return
	}
	prefix, word, captures := strings.Cut(elems[0], "{")
	if !captures {
		if next, ok := object[elems[0]]; ok {
			j.walk(next, elems[1:], port, number, e)
		}
		return
	}
	for name, next := range object {
		rest, ok := strings.CutPrefix(name, prefix)
		switch {
		case !ok:
		case word == "port}":
			j.walk(next, elems[1:], rest, number, e)
		case telemetry.Number(rest):
			j.walk(next, elems[1:], port, rest, e)
		}
	}
}
