package source

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/weirfabric/weir/intent/diag"
)

// What the YAML parser says about text that is not YAML. It has two stages; the second, whose messages grammarMessage
// knows, counts lines from 0, and names the line where the block or bracket begins that does not fit.
var (
	parserMessage  = regexp.MustCompile(`^yaml: (?:line ([0-9]+): )?(.*)$`)
	grammarMessage = regexp.MustCompile(`^did not find expected (<|node|'-'|key|',')|^found (undefined tag|duplicate|incompatible)`)
)

// junk finds the first thing in a file that no text file holds: bytes that are not UTF-8, and control characters.
func junk(file string, body []byte) (at diag.Pos, what string) {
	line, column := 1, 1
	for i := 0; i < len(body); {
		r, size := utf8.DecodeRune(body[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return diag.Pos{File: file, Line: line, Column: column}, fmt.Sprintf("byte 0x%02x is not UTF-8 text", body[i])
		case unicode.IsControl(r) && r != '\t' && r != '\n' && r != '\r':
			return diag.Pos{File: file, Line: line, Column: column}, fmt.Sprintf("control character 0x%02x stands in the file", r)
		case unicode.Is(unicode.Bidi_Control, r):
			return diag.Pos{File: file, Line: line, Column: column}, fmt.Sprintf("the character U+%04X stands in the file, with which a text reads otherwise than it is", r)
		case r == '\n':
			line, column = line+1, 1
		default:
			column++
		}
		i += size
	}
	return at, ""
}

// syntax is the finding about text that is not YAML.
func syntax(file string, body []byte, err error) diag.Diagnostic {
	d := diag.Diagnostic{Severity: diag.Error, Check: Check, Detail: "Correct the file; what follows the place was not read."}
	parts := parserMessage.FindStringSubmatch(strings.ReplaceAll(err.Error(), "\n", " "))
	number, problem := 1, err.Error()
	if parts != nil {
		problem = parts[2]
		if n, err := strconv.Atoi(parts[1]); err == nil {
			number = n
		}
		if parts[1] != "" && grammarMessage.MatchString(problem) {
			number++
			d.Detail = "What begins here does not go on as YAML must: look at this line and at those below it."
		}
	}
	lines := bytes.Split(body, []byte("\n"))
	number = min(number, len(lines))
	for _, n := range []int{number, number + 1, number - 1} {
		if n >= 1 && n <= len(lines) && bytes.IndexByte(indent(lines[n-1]), '\t') >= 0 {
			d.Summary = "a tab indents this line"
			d.Detail = "YAML is indented by spaces: replace the tab."
			d.At = []diag.Pos{{File: file, Line: n, Column: 1 + bytes.IndexByte(lines[n-1], '\t')}}
			return d
		}
	}
	d.Summary = "this is not YAML: " + diag.Excerpt(problem)
	d.At = []diag.Pos{{File: file, Line: number, Column: 1 + len(indent(lines[number-1]))}}
	return d
}

// indent is the blanks that a line begins with.
func indent(line []byte) []byte { return line[:len(line)-len(bytes.TrimLeft(line, " \t"))] }
