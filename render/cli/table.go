package cli

import (
	"slices"
	"strconv"
	"strings"
)

// tables are maps that the device shows as it uses them, beside the lines that its running configuration has of them.
type tables struct {
	Query query   `yaml:"query"`
	Maps  []table `yaml:"maps"`
}

// table is one map in the answer, below its title and up to the next empty line.
type table struct {
	Title string `yaml:"title"` // what its first line begins with
	// To begins the row of targets, one for each number from 0 on. Where it is empty, rows begin with the tens of the
	// numbers that they are about and a colon.
	To    string `yaml:"to"`
	Count int    `yaml:"count"` // of entries; a table with another number of them is not understood, and says nothing
	Skip  []int  `yaml:"skip"`  // entries that are the device's own business
	Line  string `yaml:"line"`  // the configuration line that would say the same: {from}, {to}
}

// implied are the lines that would say what the tables say.
func (t tables) implied(text string) []string {
	var out []string
	for _, m := range t.Maps {
		entries := m.entries(text)
		if len(entries) != m.Count {
			continue
		}
		for from, to := range entries {
			if !slices.Contains(m.Skip, from) {
				out = append(out, fill(m.Line, binding{"from": strconv.Itoa(from), "to": strconv.Itoa(to)}))
			}
		}
	}
	return out
}

// entries are the targets in the order of what is mapped; nil where a row is not as expected.
func (t table) entries(text string) []int {
	var out []int
	inside := false
	for raw := range strings.Lines(text) {
		line := strings.TrimSpace(raw)
		switch {
		case strings.HasPrefix(line, t.Title):
			inside = true
		case inside && line == "":
			return out
		case inside:
			row, ok := t.row(line, len(out))
			if !ok {
				continue
			}
			for word := range strings.FieldsSeq(row) {
				n, err := strconv.Atoi(word)
				if err != nil || n < 0 || n > 7 {
					return nil
				}
				out = append(out, n)
			}
		}
	}
	return out
}

// row is the part of a line that has targets. A row of tens must go on where the one before it ended.
func (t table) row(line string, next int) (string, bool) {
	if t.To != "" {
		return strings.CutPrefix(line, t.To)
	}
	head, rest, found := strings.Cut(line, ":")
	tens, err := strconv.Atoi(strings.TrimSpace(head))
	return rest, found && err == nil && 10*tens == next
}
