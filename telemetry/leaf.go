package telemetry

import (
	"strconv"
	"strings"

	"github.com/weirfabric/weir/templates/pack"
)

// numbers is how many priorities, queues and priority groups there are.
const numbers = 8

// placeholders are the words that stand for a number in names of fields, rows and paths.
var placeholders = map[string]string{"{priority}": LabelPriority, "{queue}": LabelQueue, "{group}": LabelGroup}

// Leaf is a field that is ready to be read.
type Leaf struct {
	pack.Field
	Metric *Metric
	Status Status // of its values
	Number string // of the priority, queue or group, where the field's name holds it
}

// NewLeaf is the field as it stands; ok is false where it names no metric of the catalog, or no status.
func NewLeaf(f pack.Field) (leaf *Leaf, ok bool) {
	status, err := statusOf(f)
	leaf = &Leaf{Field: f, Metric: Find(f.Metric), Status: status}
	return leaf, err == nil && leaf.Metric != nil
}

// statusOf is the status of a field's values: measured, where the pack does not say another one.
func statusOf(f pack.Field) (s Status, err error) {
	if f.Status != "" {
		err = s.UnmarshalText([]byte(f.Status))
	}
	return s, err
}

// Leaves are the fields by the names that a device uses: a name that holds {priority}, {queue} or {group} stands for eight.
func Leaves(fields map[string]pack.Field) map[string]*Leaf {
	out := make(map[string]*Leaf, len(fields))
	for name, f := range fields {
		leaf, ok := NewLeaf(f)
		if !ok {
			continue
		}
		word := placeholder(name)
		if word == "" {
			out[name] = leaf
			continue
		}
		for n := range numbers {
			numbered := *leaf
			numbered.Number = strconv.Itoa(n)
			out[strings.Replace(name, word, numbered.Number, 1)] = &numbered
		}
	}
	return out
}

// placeholder is the first word in s that stands for a number, or empty.
func placeholder(s string) string {
	for word := range placeholders {
		if strings.Contains(s, word) {
			return word
		}
	}
	return ""
}

// Read is the value of a field as a device writes it, in base units. What a device does not count it writes as N/A, which is
// unsupported, or as a dash or nothing, which is no reading: ok is false.
func (l *Leaf) Read(text string) (value float64, status Status, ok bool) {
	if l.Part > 0 {
		text = piece(text, l.Part)
	}
	switch text = strings.TrimSpace(text); text {
	case "", "-":
		return 0, 0, false
	case "N/A":
		return 0, Unsupported, true
	}
	if word, known := l.Values[text]; known {
		return word, l.Status, true
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil && strings.Contains(text, ",") {
		v, err = strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	}
	if err != nil || l.Values != nil {
		return 0, 0, false
	}
	return l.Scaled(v), l.Status, true
}

// Scaled is a number in base units.
func (l *Leaf) Scaled(v float64) float64 {
	if l.Scale == 0 {
		return v
	}
	return v * l.Scale
}

// piece is the nth part of a cell like 1/0, from 1.
func piece(text string, n int) string {
	for ; n > 1; n-- {
		_, rest, found := strings.Cut(text, "/")
		if !found {
			return ""
		}
		text = rest
	}
	first, _, _ := strings.Cut(text, "/")
	return first
}

// Rows is the form of the names of rows: a port's name, and perhaps a number and a fixed ending.
type Rows struct{ separator, word, ending string }

// NewRows compiles {port}, {port}:{queue} or {port}:{queue}:ending.
func NewRows(form string) Rows {
	rest := strings.TrimPrefix(form, "{port}")
	word := placeholder(rest)
	if word == "" {
		return Rows{ending: rest}
	}
	separator, ending, _ := strings.Cut(rest, word)
	return Rows{separator, word, ending}
}

// Match takes a row's name apart. A row of another form, or of a number above 7, is not one of these.
func (r Rows) Match(name string) (port, number string, ok bool) {
	name, ok = strings.CutSuffix(name, r.ending)
	if !ok || r.word == "" {
		return name, "", ok
	}
	i := strings.LastIndex(name, r.separator)
	if i <= 0 || !Number(name[i+len(r.separator):]) {
		return "", "", false
	}
	return name[:i], name[i+len(r.separator):], true
}

// Number says whether s is the number of a priority, queue or priority group.
func Number(s string) bool { return len(s) == 1 && s[0] >= '0' && s[0] < '0'+numbers }

// Trailing is the number that a name ends in, as in UC3 or Ethernet1-3. Ok is false where it is none of 0 to 7.
func Trailing(name string) (number string, ok bool) {
	i := len(name)
	for i > 0 && name[i-1] >= '0' && name[i-1] <= '9' {
		i--
	}
	return name[i:], Number(name[i:])
}
