package diag

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// LongestQuote is how many bytes of what a device or a file says an error repeats: five lines of a terminal, enough for every
// refusal in the packs' tests.
const LongestQuote = 400

// Plain is a text as a terminal may get it: what a terminal acts on (control characters but tab and newline, ESC and the C1
// set among them), what turns the direction of text or hides it (Unicode's bidirectional and other format characters, line
// and paragraph separators) and bytes that are not UTF-8 are written as escapes, like \x1b. A carriage return before a newline
// goes. It is the one function that every way to a terminal takes.
func Plain(text string) string {
	if !strings.ContainsFunc(text, acts) && utf8.ValidString(text) {
		return text
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		if acts(r) || r == utf8.RuneError && size == 1 {
			quoted := strconv.QuoteToASCII(text[:size])
			b.WriteString(quoted[1 : len(quoted)-1])
		} else {
			b.WriteString(text[:size])
		}
		text = text[size:]
	}
	return b.String()
}

// Excerpt is what an error repeats of what a device or a file says: its end, where refusals stand, at most LongestQuote bytes
// of it before it is made plain.
func Excerpt(text string) string {
	text = strings.TrimSpace(text)
	if len(text) <= LongestQuote {
		return Plain(text)
	}
	return "... " + Plain(strings.ToValidUTF8(text[len(text)-LongestQuote:], ""))
}

// Acts says whether a terminal, or the eye of a reader, is led astray by a character of the text; the character is the first.
func Acts(text string) (rune, bool) {
	i := strings.IndexFunc(text, acts)
	if i < 0 {
		return 0, false
	}
	r, _ := utf8.DecodeRuneInString(text[i:])
	return r, true
}

func acts(r rune) bool {
	return r != '\n' && r != '\t' && unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}
