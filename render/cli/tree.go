package cli

import (
	"slices"
	"strings"

	"github.com/weirfabric/weir/templates/pack"
)

// line is one line of a configuration with the headers of the blocks that it stands in.
type line struct {
	indent int
	words  []string
}

// eachLine yields the lines of a configuration that say something: no comments, no separators, no texts of others. It says whether
// the configuration ends inside a text of others.
func eachLine(l pack.Language, text string, comment func(string), each func(line)) (open bool) {
	skipping := false
	for raw := range strings.Lines(text) {
		raw = strings.TrimRight(raw, "\r\n")
		trimmed := strings.TrimLeft(raw, " ")
		switch {
		case skipping:
			skipping = trimmed != l.Heredoc.End
		case trimmed == "":
		case l.Comment != "" && strings.HasPrefix(trimmed, l.Comment):
			comment(trimmed)
		default:
			words := strings.Fields(trimmed)
			each(line{len(raw) - len(trimmed), words})
			skipping = slices.Contains(l.Heredoc.Begin, words[0])
		}
	}
	return skipping
}

// frame is a block that is open while lines are read.
type frame struct {
	indent int
	inside *scope // nil: weir knows nothing in there
	path   []string
	owner  owner
	holes  binding
}

// owner says whose a block is, and where it is.
type owner struct {
	ours   bool
	whole  bool   // everything in the block is weir's, what it does not know as well
	port   string // that the block is about
	object string // shared object that the block is part of
	at     string // address of the object below the device
	rule   *rule  // of the block; nil at the top
}
