package simulation

import "regexp"

// known are the violations that are understood and not mended yet, each with what causes it. A violation that is not known fails
// the tests; one that is mended leaves this list, and its seed goes into the named ones.
var known = []struct {
	pattern *regexp.Regexp
	cause   string
}{
	{regexp.MustCompile(`says that the run is as before, and \d+ devices are applied`), "a run that stops after a wave that stays says as before"},
	{regexp.MustCompile(`says that the run is applied, and \d+ of \d+ devices are`), "an interrupt between waves ends as applied"},
	{regexp.MustCompile(`the journal cannot be read: read record`), "a record that the full disk has cut stands in the middle of the journal"},
	{regexp.MustCompile(`recover does not come to an end: , , (read record|the journal of run .* is damaged)`), "the same, met by recover"},
	{regexp.MustCompile(`the journal of .* is damaged: record \d+ \(\w+\): (the run had ended|the wave had ended|wave \d+ was begun)`), "two operators write to one run"},
	{regexp.MustCompile(`change devices at the same time`), "a run of another machine counts as cut off"},
	{regexp.MustCompile(`the time to confirm ended`), "the deadline of a commit timer is compared with another clock than it was made by"},
	{regexp.MustCompile(`what somebody else had set is gone`), "a device's own revert takes back what others changed meanwhile"},
	{regexp.MustCompile(`new line # /etc/.*\.weir`), "a file that was being written on a host is left behind"},
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
