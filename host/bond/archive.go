package bond

import (
	"maps"
	"slices"
	"strings"
)

// begins is a line before each file of an archive; its lines are indented, so that none of them looks like one.
const begins = "file "

// archive is files as one text, in the order of their paths.
func archive(files map[string]string) string {
	var out strings.Builder
	for _, path := range slices.Sorted(maps.Keys(files)) {
		out.WriteString(begins + path + "\n")
		for line := range strings.Lines(files[path]) {
			out.WriteString("\t" + line)
		}
	}
	return out.String()
}

// unarchive reads an archive back; nil: the text is none.
func unarchive(text string) map[string]string {
	if !strings.HasPrefix(text, begins) {
		return nil
	}
	files, path := map[string]string{}, ""
	for line := range strings.Lines(text) {
		if name, is := strings.CutPrefix(line, begins); is {
			path = strings.TrimSuffix(name, "\n")
			files[path] = ""
			continue
		}
		files[path] += strings.TrimPrefix(line, "\t")
	}
	return files
}

// Shown is a value of a leaf as an operator reads it: of files that are not as weir writes them, their names.
func Shown(value string) string {
	files := unarchive(value)
	if files == nil {
		return value
	}
	return "other files: " + strings.Join(slices.Sorted(maps.Keys(files)), ", ")
}
