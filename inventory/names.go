package inventory

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// maxNames bounds what one text with ranges may stand for, so that a slip does not make millions of ports.
const maxNames = 4096

// names is a text with ranges in brackets and all that it stands for: Ethernet[0-252/4], leaf[01-16], Ethernet[1-32]/[1-4].
// Of several ranges the last one runs fastest.
type names struct{ all []string }

// bracket is a range: first and last number, and a step.
var bracket = regexp.MustCompile(`\[([0-9]{1,6})-([0-9]{1,6})(?:/([0-9]{1,6}))?\]`)

// Spread reads a text with ranges, or one without, which stands for itself.
func (n *names) Spread(text string) ([]string, error) {
	n.all = []string{text}
	if strings.ContainsAny(text, "[]") {
		all, err := Spread(text)
		if err != nil {
			return nil, err
		}
		n.all = all
	}
	return n.all, nil
}

// Count is how many names it stands for.
func (n *names) Count() int { return len(n.all) }

// Written says how names are written.
func (*names) Written() (want, pattern string) {
	return "a name, or several like Ethernet[0-252/4]", `^[A-Za-z0-9\[][A-Za-z0-9_.:/\[\]-]*$`
}

// Spread writes a text out for every number of its ranges: leaf[1-2] is leaf1 and leaf2. A text without a range stands for itself;
// other brackets are an error.
func Spread(text string) ([]string, error) {
	all, rest := []string{""}, text
	for {
		at := bracket.FindStringSubmatchIndex(rest)
		plain := rest
		if at != nil {
			plain = rest[:at[0]]
		}
		if strings.ContainsAny(plain, "[]") {
			return nil, fmt.Errorf("%q: write a range as first and last number, and a step if it is not 1: [1-32] or [0-252/4]", text)
		}
		if at == nil {
			return product(all, []string{rest}), nil
		}
		numbers, err := numbersOf(bracket.FindStringSubmatch(rest))
		if err != nil || len(all)*len(numbers) > maxNames {
			return nil, fmt.Errorf("%q: a range counts upwards, and stands for %d names at most", text, maxNames)
		}
		all, rest = product(product(all, []string{plain}), numbers), rest[at[1]:]
	}
}

// numbersOf writes out one range. A first number with leading zeros sets the width of all.
func numbersOf(parts []string) ([]string, error) {
	first, err := strconv.Atoi(parts[1])
	last, errLast := strconv.Atoi(parts[2])
	step := 1
	if parts[3] != "" {
		step, _ = strconv.Atoi(parts[3])
	}
	if err != nil || errLast != nil || last < first || step < 1 || (last-first)/step >= maxNames {
		return nil, fmt.Errorf("range %s", parts[0])
	}
	width := 1
	if parts[1][0] == '0' {
		width = len(parts[1])
	}
	var out []string
	for i := first; i <= last; i += step {
		out = append(out, fmt.Sprintf("%0*d", width, i))
	}
	return out, nil
}

// shorten is a text with one range, cut down to its first n names.
func shorten(text string, n int) string {
	return bracket.ReplaceAllStringFunc(text, func(r string) string {
		numbers, err := numbersOf(bracket.FindStringSubmatch(r))
		if err != nil || n > len(numbers) {
			return r
		}
		_, tail, stepped := strings.Cut(r, "/")
		if !stepped {
			tail = "]"
		} else {
			tail = "/" + tail
		}
		return "[" + numbers[0] + "-" + numbers[n-1] + tail
	})
}

// product joins every text of a with every text of b.
func product(a, b []string) []string {
	out := make([]string, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			out = append(out, x+y)
		}
	}
	return out
}
