package eos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/weirfabric/weir/drivers/sim"
)

// cli is one terminal, or one command without a terminal.
type cli struct {
	d          *Device
	privileged bool
	mode       mode
	session    *session // that is edited, in the mode of that name
	where      []string // keys of the lines that it stands in
}

// mode is where commands go.
type mode int

const (
	commanding  mode = iota
	configuring      // the running configuration
	drafting         // a session's
)

// shell begins a terminal. People log in without privileges and raise them with enable.
func (d *Device) shell(*sim.Terminal) sim.Shell { return &cli{d: d} }

// exec runs commands without a terminal, one a line. They have all privileges, as with "aaa authorization exec default
// local" and a user of privilege 15.
func (d *Device) exec(ctx context.Context, c sim.Command) (int, error) {
	session := &cli{d: d, privileged: true}
	for line := range strings.Lines(c.Line) {
		err := session.Line(ctx, line, c.Stdout)
		switch {
		case errors.Is(err, io.EOF):
			return 0, nil
		case err != nil:
			return 0, err
		}
	}
	return 0, nil
}

// Close ends the terminal. A session that is open stays open, as on the device.
func (c *cli) Close() {}

// promptName is how many letters of a session's name the prompt shows.
const promptName = 6

// Prompt shows the mode.
func (c *cli) Prompt() (string, bool) {
	words := []string{"config"}
	if c.mode == drafting {
		words = append(words, "s", c.session.name[:min(promptName, len(c.session.name))])
	}
	e := c.editor()
	for i, n := range e.path[1:] {
		if i > 0 && n.place != inQueue {
			words = words[:len(words)-1]
		}
		words = append(words, n.prompt)
	}
	switch {
	case c.mode != commanding:
		return fmt.Sprintf("%s(%s)#", c.d.hostname(), strings.Join(words, "-")), true
	case c.privileged:
		return c.d.hostname() + "#", true
	}
	return c.d.hostname() + ">", true
}

// editor is the place where configuration lines go. The configuration may have been replaced since the last line: then the
// place is as near as there is.
func (c *cli) editor() *editor {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	return c.editorLocked()
}

func (c *cli) editorLocked() *editor {
	root := c.d.running
	if c.mode == drafting && c.session.candidate != nil {
		root = c.session.candidate
	}
	e := &editor{grammar: c.d.grammar, path: []*node{root}}
	for _, key := range c.where {
		n := e.at().find(key)
		if n == nil {
			break
		}
		e.path = append(e.path, n)
	}
	return e
}

// Line acts on one line. What the device has to say goes to out; only what ends the terminal is an error.
func (c *cli) Line(ctx context.Context, text string, out io.Writer) error {
	text = strings.TrimSpace(text)
	if text == "" || strings.HasPrefix(text, "!") {
		return nil
	}
	err := c.run(ctx, text, out)
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, sim.ErrHang) || errors.Is(err, sim.ErrDrop) {
		return err
	}
	_, err = fmt.Fprintln(out, err)
	return err
}

// run tries a line as a command, and in the configuration modes as configuration.
func (c *cli) run(ctx context.Context, text string, out io.Writer) error {
	command, pipes, err := splitPipes(text)
	if err != nil {
		return err
	}
	found, words, err := c.lookUp(command)
	if err != nil && c.mode != commanding && !strings.HasPrefix("show", firstWord(text)) {
		return c.configure(text)
	}
	if err != nil {
		return err
	}
	if found.ask != nil {
		return c.show(ctx, *found, words, pipes, out)
	}
	said, err := found.do(c, words)
	if said != "" {
		fmt.Fprintln(out, said)
	}
	return err
}

func firstWord(s string) string { return strings.Fields(s)[0] }

// configure takes a configuration line.
func (c *cli) configure(text string) error {
	switch c.d.hw.Fault(sim.Set).Kind {
	case sim.Reject:
		return fmt.Errorf("%% Error: %s is refused", text)
	case sim.Hang:
		if c.mode == configuring {
			c.d.later(func() { _ = c.enter(text) }) // nobody waits for the answer
		}
		return sim.ErrHang
	case sim.Drop:
		return errors.Join(c.enter(text), sim.ErrDrop)
	case sim.DropBefore, sim.Reboot:
		return sim.ErrDrop
	}
	return c.enter(text)
}

func (c *cli) enter(text string) error {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	if c.mode == drafting && c.session.state != pending {
		return fmt.Errorf("%% Error: session %s is %s", c.session.name, c.session.state)
	}
	e := c.editorLocked()
	if err := e.enter(text); err != nil {
		return err
	}
	c.where = nil
	for _, n := range e.path[1:] {
		c.where = append(c.where, n.key)
	}
	if c.mode == configuring {
		c.d.apply()
	}
	return nil
}

// show asks and prints through the pipes.
func (c *cli) show(ctx context.Context, q command, words []string, pipes []pipe, out io.Writer) error {
	switch c.d.hw.Fault(sim.Get).Kind {
	case sim.Reject:
		return fmt.Errorf("%% Error: no answer to %s", strings.Join(words, " "))
	case sim.Hang:
		return sim.ErrHang
	case sim.Drop, sim.DropBefore, sim.Partial, sim.Reboot:
		return sim.ErrDrop
	}
	a, err := q.ask(c, words)
	if err != nil {
		return err
	}
	text := a.text
	if len(pipes) > 0 && pipes[0].verb == "json" {
		if a.value == nil {
			return errors.New("% This is an unconverted command")
		}
		body, err := json.MarshalIndent(a.value, "", "    ")
		if err != nil {
			return fmt.Errorf("%% Error: %w", err)
		}
		text, pipes = string(body), pipes[1:]
	} else if text == "" && a.value != nil {
		body, err := json.MarshalIndent(a.value, "", "    ") // the lab has no table for it
		if err != nil {
			return fmt.Errorf("%% Error: %w", err)
		}
		text = string(body)
	}
	for _, p := range pipes {
		text = p.filter(text)
	}
	if text = strings.TrimRight(text, "\n"); text == "" {
		return ctx.Err()
	}
	_, err = fmt.Fprintln(out, text)
	return err
}

// pipe is what stands behind a bar.
type pipe struct {
	verb    string
	pattern *regexp.Regexp
}

// splitPipes takes a line apart at its bars.
func splitPipes(text string) (string, []pipe, error) {
	parts := strings.Split(text, " | ")
	var pipes []pipe
	if !strings.HasPrefix("show", firstWord(parts[0])) { // only show has pipes: a description may contain a bar
		return text, nil, nil
	}
	for _, p := range parts[1:] {
		verb, rest, _ := strings.Cut(strings.TrimSpace(p), " ")
		full := ""
		for _, v := range []string{"json", "include", "exclude", "begin", "section", "no-more"} {
			if verb != "" && strings.HasPrefix(v, verb) {
				full = v
				break
			}
		}
		pattern, err := regexp.Compile(rest)
		if full == "" || err != nil {
			return "", nil, errInvalid
		}
		pipes = append(pipes, pipe{full, pattern})
	}
	return parts[0], pipes, nil
}

// filter is what the pipe lets through.
func (p pipe) filter(text string) string {
	var out []string
	keep := false
	for _, l := range strings.Split(text, "\n") {
		matches := p.pattern.MatchString(l)
		switch p.verb {
		case "include":
			keep = matches
		case "exclude":
			keep = !matches
		case "begin":
			keep = keep || matches
		case "section": // a line that matches, with all that is inside it
			keep = matches || keep && strings.HasPrefix(l, " ")
		default:
			keep = true
		}
		if keep {
			out = append(out, l)
		}
	}
	return strings.Join(out, "\n")
}

// openSession enters a configuration session.
func (c *cli) openSession(name string) error {
	switch c.d.hw.Fault(sim.Session).Kind {
	case sim.Reject:
		return errors.New("% Error: no session can be opened")
	case sim.Hang:
		return sim.ErrHang
	case sim.Drop, sim.DropBefore, sim.Partial, sim.Reboot:
		return sim.ErrDrop
	}
	s, err := c.d.openSession(name)
	if err != nil {
		return err
	}
	c.mode, c.session, c.where = drafting, s, nil
	return nil
}

// commit commits the session that the terminal is in and leaves it.
func (c *cli) commit(timer time.Duration) error {
	err := c.d.commit(c.session.name, timer)
	if err == nil {
		c.leave()
	}
	return err
}

// leave goes back to the commands.
func (c *cli) leave() { c.mode, c.session, c.where = commanding, nil, nil }
