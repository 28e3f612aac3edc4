package simulation

import "regexp"

// known are the violations that are understood and not mended yet, each with what causes it. A violation that is not known fails
// the tests; one that is mended leaves this list, and its seed goes into the named ones.
var known = []struct {
	pattern *regexp.Regexp
	cause   string
}{
	{regexp.MustCompile(`the time to confirm ended`), "the deadline of a commit timer is compared with another clock than it was made by"},
}

// causeOf is why a violation is known; empty where it is not.
func causeOf(violation string) string {
	for _, k := range known {
		if k.pattern.MatchString(violation) {
			return k.cause
		}
	}
	return ""
}
