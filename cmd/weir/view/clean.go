package view

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/weirfabric/weir/intent/diag"
)

// ours are the only control sequences that a view prints: the colours of paint, where it has colours.
var ours = regexp.MustCompile("\x1b\\[(?:0|" + strings.Join([]string{red, green, yellow, cyan, bold, faint}, "|") + ")m")

// clearing empties a terminal's screen: cursor home, erase display (ECMA-48, section 8.3.21 and 8.3.39).
const clearing = "\x1b[H\x1b[2J"

// clean writes to a terminal what people may get: everything but the view's own colours goes through diag.Plain.
type clean struct {
	out    io.Writer
	colour bool
}

// Write counts the bytes that it was given.
func (c clean) Write(text []byte) (int, error) {
	if _, err := io.WriteString(c.out, c.plain(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

func (c clean) plain(text string) string {
	if !c.colour {
		return diag.Plain(text)
	}
	var b strings.Builder
	at := 0
	for _, found := range ours.FindAllStringIndex(text, -1) {
		b.WriteString(diag.Plain(text[at:found[0]]))
		b.WriteString(text[found[0]:found[1]])
		at = found[1]
	}
	b.WriteString(diag.Plain(text[at:]))
	return b.String()
}

// Printf prints. Whatever a device, a file or a plan put into the text, nothing in it acts on a terminal.
func (v View) Printf(format string, args ...any) { fmt.Fprintf(v.printer(), format, args...) }

// printer is where everything of the view is printed.
func (v View) printer() io.Writer { return clean{v.Out, v.Colour} }

// Clear empties the screen of a terminal.
func (v View) Clear() { _, _ = io.WriteString(v.Out, clearing) } // what is printed after it tells of an error
