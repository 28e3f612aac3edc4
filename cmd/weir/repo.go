package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/spf13/cobra"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/intent/check"
	"github.com/weirfabric/weir/intent/diag"
)

// options are what every command that opens a repo hands on.
func (c *console) options(journal string) (control.Options, error) {
	o := control.Options{Journal: journal, Lab: c.lab, Effects: c.effects}
	if o.Effects.Allow == nil {
		o.Effects.Allow = c.allow
	}
	if c.record != "" {
		to, err := os.OpenFile(c.record, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600) // closed when the process ends
		if err != nil {
			return o, fmt.Errorf("record the dialogue with devices: %w", err)
		}
		o.Record = to
	}
	return o, nil
}

// open reads, resolves and checks the repo in dir. journal overrides where the journal is kept.
func (c *console) open(dir, journal string) (*control.Repo, error) {
	c.place = place{dir, journal}
	o, err := c.options(journal)
	if err != nil {
		return nil, err
	}
	return control.Open(dir, o)
}

// resolved opens the repo for a command that changes nothing, or ends what was begun: it goes on whatever the checks find, and says
// how much that is.
func (c *console) resolved(dir, journal string) (*control.Repo, error) {
	r, err := c.open(dir, journal)
	if err != nil {
		return nil, err
	}
	if r.Fabric == nil {
		return nil, c.refused(r.Findings)
	}
	c.alsoWrong(r)
	return r, nil
}

// mustHold opens the repo for what goes on only when nothing is wrong with it.
func (c *console) mustHold(dir, journal string) (*control.Repo, error) {
	r, err := c.open(dir, journal)
	if err != nil {
		return nil, err
	}
	if r.Findings.HasErrors() {
		return nil, c.refused(r.Findings)
	}
	return r, nil
}

// devices opens the repo for a command that talks to the selected devices, and warns of what is not verified.
func (c *console) devices(dir string, s control.Selection) (*control.Repo, []string, error) {
	r, err := c.resolved(dir, "")
	if err != nil {
		return nil, nil, err
	}
	names, err := c.reached(r, s)
	if err != nil {
		return nil, nil, err
	}
	c.warnUnverified(r, names)
	return r, names, nil
}

// deviceFlag is the flag of all commands that can look at a part of the fabric. More says what that means for the command.
func deviceFlag(cmd *cobra.Command, s *control.Selection, more string) {
	cmd.Flags().StringArrayVar((*[]string)(s), "device", nil, "only devices whose names match one of these globs, and with a ! in front none: 'leaf*,!leaf3'; may be given more than once"+more)
}

// reached are the selected devices that weir talks to. Of the others it is noted that they are left out, and why.
func (c *console) reached(r *control.Repo, s control.Selection) ([]string, error) {
	names, aside, err := r.Reached(s)
	var reasons []string
	by := map[string][]string{}
	for _, a := range aside {
		if by[a.Why] == nil {
			reasons = append(reasons, a.Why)
		}
		by[a.Why] = append(by[a.Why], a.Device)
	}
	for _, why := range reasons {
		word := "is"
		if len(by[why]) > 1 {
			word = "are"
		}
		c.stderr().Printf("%s %s left out: %s\n", diag.First(by[why], 8), word, why)
	}
	return names, err
}

// warnUnverified warns loudly of devices that are not verified.
func (c *console) warnUnverified(r *control.Repo, names []string) {
	for _, u := range r.Unverified(names) {
		c.stderr().Printf("%s: %s: %s (%s in the inventory)\n", c.stderr().Bad("INSECURE"), u.Device, u.Text, u.Setting)
	}
}

// warnUnfinished notes beside a command that only reads where an earlier run stands.
func (c *console) warnUnfinished(r *control.Repo) {
	if err := r.Free(); err != nil {
		c.stderr().Printf("%s: %v\n", c.stderr().Bad("note"), err)
		if next := c.advice(err); next != "" {
			c.stderr().Printf("  %s\n", next)
		}
	}
}

// warnExpired warns of acceptances that do not count any more.
func (c *console) warnExpired(r *control.Repo) {
	c.stderr().Findings(slices.DeleteFunc(slices.Clone(r.Findings), func(d diag.Diagnostic) bool {
		return d.Check != check.Waiver || d.Severity != diag.Warning
	}))
}

// findings is the JSON form of check.
type findings struct {
	Format   int       `json:"format"`
	Findings diag.List `json:"findings"`
}

// refused prints the findings because of which a command does not go on, and is its exit code.
func (c *console) refused(l diag.List) error {
	if c.json {
		if err := c.printJSON(findings{1, l}); err != nil {
			return err
		}
	} else {
		c.stderr().Findings(l)
	}
	return exit(exitFindings)
}

// printJSON writes one JSON document to out.
func (c *console) printJSON(value any) error { return c.encode(value, "  ") }

// printLine writes one JSON document to out, in a line of its own.
func (c *console) printLine(value any) error { return c.encode(value, "") }

func (c *console) encode(value any, indent string) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetIndent("", indent)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	if err == nil {
		_, err = io.WriteString(c.out, escaped(text.String()))
	}
	if err != nil {
		return fmt.Errorf("print JSON: %w", err)
	}
	return nil
}

// escaped is JSON with escapes also for those characters that act on a terminal and that the encoder leaves: in JSON they stand
// in strings alone.
func escaped(text string) string {
	if _, acts := diag.Acts(text); !acts {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if _, acts := diag.Acts(string(r)); !acts {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, "\\u%04x", unit)
		}
	}
	return b.String()
}

// writeFile writes a file and makes the folders above it.
func writeFile(name string, body []byte) error {
	return errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, body, 0o644))
}
