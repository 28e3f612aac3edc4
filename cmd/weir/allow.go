package main

import (
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/intent/diag"
)

// allow asks whether a repo may use what the operator's own configuration does not allow yet, and remembers a yes. Without
// somebody to ask it prints the lines that would allow it.
func (c *console) allow(q control.Request) error {
	v := c.stderr()
	person := c.person
	if person == nil && terminal(os.Stdin) && terminal(c.err) {
		person = c.asked
	}
	if person == nil {
		v.Printf("%s: the fabric repo wants to use what your configuration does not allow. Look at it, then add these lines to %s:\n%s",
			v.Bad("refused"), q.Config, q.Lines)
		return errNotAllowed
	}
	v.Printf("\nThe fabric repo wants to use, and your configuration (%s) does not allow yet:\n", q.Config)
	var shown []string
	for _, u := range q.Uses {
		if slices.Contains(shown, u.What) {
			continue
		}
		shown = append(shown, u.What)
		var devices, addresses []string
		for _, other := range q.Uses {
			if other.What == u.What {
				devices, addresses = append(devices, other.Device), append(addresses, other.Address)
			}
		}
		slices.Sort(addresses)
		v.Printf("  %s\n    for %s, at %s\n", v.Bold(u.What), diag.First(devices, 8), diag.First(slices.Compact(addresses), 8))
		v.Printf("    %s\n", v.Dim(means(u.What)))
	}
	if !person("Allow this, for these devices at these addresses, and remember it? Only yes is taken: ") {
		return errNotAllowed
	}
	return q.Remember()
}

var errNotAllowed = errors.New("the operator does not allow it")

// means says what it means to allow something.
func means(what string) string {
	kind, rest, _ := strings.Cut(what, ":")
	switch kind {
	case "env":
		return "the variable's value is sent to them as a secret"
	case "file":
		return "the file's content is sent to them as a secret, or used as a key"
	case "exec":
		return "the command is run on this machine, and what it prints is sent to them as a secret"
	case "tls":
		if strings.TrimSpace(rest) == "plaintext" {
			return "everything, passwords too, goes to them unencrypted"
		}
	}
	return "whoever answers at these addresses is believed, and gets the secrets"
}
