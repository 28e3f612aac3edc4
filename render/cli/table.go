package cli

import (
	"slices"
	"strconv"
	"strings"

	"github.com/weirfabric/weir/templates/pack"
)

// implied are the lines that would say what the tables say.
func implied(t pack.Tables, text string) []string {
	var out []string
	for _, m := range t.Maps {
		entries := entriesOf(m, text)
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

// entriesOf are the targets in the order of what is mapped; nil where a row is not as expected.
func entriesOf(t pack.Table, text string) []int {
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
			row, ok := rowOf(t, line, len(out))
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

// rowOf is the part of a line that has targets. A row of tens must go on where the one before it ended.
func rowOf(t pack.Table, line string, next int) (string, bool) {
	if t.To != "" {
		return strings.CutPrefix(line, t.To)
	}
	head, rest, found := strings.Cut(line, ":")
	tens, err := strconv.Atoi(strings.TrimSpace(head))
	return rest, found && err == nil && 10*tens == next
}
