package diag

import (
	"fmt"
	"strconv"
	"strings"
)

// Count writes a number with its noun: 1 error, 2 errors.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	for _, ending := range []string{"ch", "s", "x"} {
		if strings.HasSuffix(noun, ending) {
			return strconv.Itoa(n) + " " + noun + "es"
		}
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// First writes at most most names and how many more there are.
func First(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
