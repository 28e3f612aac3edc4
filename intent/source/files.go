package source

import (
	"fmt"
	"io"
	"io/fs"

	"github.com/weirfabric/weir/intent/diag"
)

// The bounds of what a repo holds. docs/security.md lists them. A link that is written out takes some 60 bytes and eight values:
// a file of 100,000 links fits.
const (
	mostFile   = 8 << 20  // bytes of one file
	mostValues = 3 << 18  // of one file: one takes some 270 bytes of memory while it is read
	mostFiles  = 10_000   // files of one folder
	mostBytes  = 64 << 20 // bytes of them in all
	mostItems  = 1 << 17  // of one list
	mostNames  = 2 << 20  // that texts with ranges stand for, in all files: the ends of a million links, and their ports
	mostWrong  = 1000     // findings of one document: nobody reads more, and what is wrong a thousand times has one cause
)

// ReadFile reads a regular file of a repo. A pipe, a device or a folder in its place is an error, and is not opened: a pipe
// waits, and a device gives bytes for ever. So is a file of more than 8 MiB.
func ReadFile(fsys fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(fsys, name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file: weir reads no pipe, device or folder in the place of one", name)
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	body, err := io.ReadAll(io.LimitReader(f, mostFile+1))
	if err == nil && len(body) > mostFile {
		err = fmt.Errorf("%s is longer than %d bytes, which weir does not read: part it", name, mostFile)
	}
	if err != nil {
		return nil, err
	}
	return body, nil
}

// values is how many values a YAML file has at most, by what separates them: a list or a mapping by its bracket or its dash, a key and
// its value by a colon. In a list between brackets each value counts twice.
func values(body []byte) int {
	n, keyed := 0, false
	for i, c := range body {
		next := byte('\n')
		if i+1 < len(body) {
			next = body[i+1]
		}
		blank := next == ' ' || next == '\n' || next == '\t' || next == '\r'
		switch {
		case c == '[' || c == '{':
			n, keyed = n+1, false
		case c == ':' && (blank || i > 0 && (body[i-1] == '"' || body[i-1] == '\'')):
			n, keyed = n+2, true
		case c == ',' || c == ']' || c == '}':
			if !keyed {
				n += 2
			}
			keyed = c != ',' // what is closed was counted where it opened
		case c == '-' && next == ' ' && i+2 < len(body) && (body[i+2] == '{' || body[i+2] == '['): // counts as its bracket
		case (c == '-' || c == '?') && blank || c == '-' && next == '-':
			n++
		}
	}
	return n
}

// crowded finds a file that would take far more memory than it has bytes.
func crowded(file string, body []byte) diag.List {
	if values(body) <= mostValues {
		return nil
	}
	return diag.List{{
		Severity: diag.Error, Check: Check, Summary: fmt.Sprintf("the file has more than %d values", mostValues),
		Detail: "weir does not read so much of one file: part it, or write ranges.", At: []diag.Pos{{File: file, Line: 1, Column: 1}},
	}}
}
