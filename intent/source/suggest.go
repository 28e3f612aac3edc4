package source

import (
	"fmt"
	"strings"
)

// suggest is the known word that word was probably meant to be; empty where none is close. Words that differ only in case
// are closest; otherwise at most a quarter of the letters, and one more, may be wrong. Of equally close ones the first wins.
func suggest(word string, known []string) string {
	if len(word) > mostName {
		return "" // nobody meant to write that
	}
	best, least := "", 2+len([]rune(word))/4
	for _, k := range known {
		if strings.EqualFold(word, k) {
			return k
		}
		if d := distance(strings.ToLower(word), strings.ToLower(k)); d < least && d < len([]rune(k)) {
			best, least = k, d
		}
	}
	return best
}

// DidYouMean is the end of a sentence about an unknown word: a question with the suggestion, or nothing.
func DidYouMean(word string, known []string) string {
	if s := suggest(word, known); s != "" {
		return fmt.Sprintf("; did you mean %q?", s)
	}
	return ""
}

// distance counts the insertions, deletions, replacements and swaps of neighbours that lead from a to b (optimal string
// alignment, Damerau 1964).
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := range x {
		row[0] = i + 1
		for j := range y {
			replaced := last[j]
			if x[i] != y[j] {
				replaced++
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, replaced)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}

// join lists words for a sentence: a, b or c.
func join(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
