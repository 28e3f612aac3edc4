package gnmi

import (
	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"github.com/weirfabric/weir/telemetry"
	"github.com/weirfabric/weir/templates/pack"
)

// table is a path whose value is one object of rows.
type table struct {
	elems  []string
	forms  []telemetry.Rows
	leaves []map[string]*telemetry.Leaf // by form
	paths  []int                        // index of the path, by form
}

func (d *Decoder) addTable(p pack.Path, leaves map[string]*telemetry.Leaf, index int) error {
	path, err := parsePath(p.Path)
	if err != nil {
		return err
	}
	t := d.table(path.GetElem(), nil)
	if t == nil {
		t = &table{}
		for _, e := range path.GetElem() {
			t.elems = append(t.elems, e.GetName())
		}
		d.tables = append(d.tables, t)
	}
	t.forms = append(t.forms, telemetry.NewRows(p.Rows))
	t.leaves = append(t.leaves, leaves)
	t.paths = append(t.paths, index)
	return nil
}

// table finds the table of a path, or nil.
func (d *Decoder) table(prefix, elems []*gpb.PathElem) *table {
tables:
	for _, t := range d.tables {
		if len(t.elems) != len(prefix)+len(elems) {
			continue
		}
		for i, want := range t.elems {
			e := elems
			if i < len(prefix) {
				e = prefix
			} else {
				i -= len(prefix)
			}
			if e[i].GetName() != want {
				continue tables
			}
		}
		return t
	}
	return nil
}

// rows appends the samples of a table.
func (d *Decoder) rows(t *table, v *gpb.TypedValue) {
	body := v.GetJsonIetfVal()
	if body == nil {
		body = v.GetJsonVal()
	}
	r := reader{d: d, t: t, facts: d.facts.Load()}
	if err := scanRows(body, r.row, r.field); err != nil {
		d.miss++
	}
}

// reader takes the rows of one value.
type reader struct {
	d     *Decoder
	t     *table
	facts *facts
	form  int
	port  string
	num   string
	first int // of the row's samples
}

// row begins a row, and says whether its fields matter.
func (r *reader) row(name []byte) bool {
	r.first = len(r.d.out)
	for i, f := range r.t.forms {
		port, number, ok := f.Match(string(name))
		if !ok {
			continue
		}
		if known, found := r.facts.ports[port]; found {
			port = known
		}
		r.form, r.port, r.num = i, port, number
		return true
	}
	return false
}

func (r *reader) field(name, value []byte) {
	l, ok := r.t.leaves[r.form][string(name)]
	if !ok {
		return
	}
	v, whole := digits(value)
	status := l.Status
	if !whole || l.Values != nil || l.Part > 0 {
		if v, status, ok = l.Read(string(value)); !ok {
			return
		}
	} else {
		v = l.Scaled(v)
	}
	if l.Switch != "" && r.facts.off[l.Switch] {
		v, status = 0, telemetry.Disabled
	}
	number := r.num
	if l.Number != "" {
		number = l.Number
	}
	for i, s := range r.d.out[r.first:] {
		// What is measured wins over what is estimated of the same thing.
		if s.Metric == l.Metric && s.Addr.Name == number && (s.Status == telemetry.Estimated || status == telemetry.Estimated) {
			if s.Status == telemetry.Estimated {
				r.d.out[r.first+i].Value, r.d.out[r.first+i].Status = v, status
			}
			return
		}
	}
	r.d.emit(l, r.port, number, v, status, r.t.paths[r.form])
}
