package ssh

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/templates/pack"
)

// cli is a target whose commands are typed into a terminal.
type cli struct {
	*link
	term *terminal // nil: none, or thrown away
}

// open makes sure there is a terminal at the privileged prompt, a new one where the one at hand has ended while it was idle.
func (c *cli) open(ctx context.Context) error {
	if c.term != nil && c.term.wire.cause() == nil {
		return nil
	}
	c.discard()
	ctx, cancel := context.WithTimeout(ctx, c.timeout())
	defer cancel()
	if err := c.connect(ctx); err != nil {
		return err
	}
	term, err := openTerminal(ctx, c.client, c.pack, c.endpoint)
	if err == nil {
		c.term = term
		return nil
	}
	c.drop()
	if errors.Is(err, errLevel) {
		return &drivers.AuthError{Device: c.endpoint.Device, Err: err, Hint: "give the user of the device the privileged level, or a role that has it"}
	}
	return &drivers.UnreachableError{Device: c.endpoint.Device, Address: c.endpoint.SSH, Err: err}
}

// discard throws the terminal and its connection away.
func (c *cli) discard() {
	if c.term != nil {
		c.term.close()
		c.term = nil
	}
	c.drop()
}

// Close leaves the device.
func (c *cli) Close() error {
	c.discard()
	return nil
}

// run is terminal.run within the time of one command, with the terminal thrown away after an error.
func (c *cli) run(ctx context.Context, line string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout())
	defer cancel()
	return c.heard(c.term.run(ctx, line))
}

// runLong is run within the time of a change.
func (c *cli) runLong(ctx context.Context, line string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, c.setTimeout())
	defer cancel()
	return c.heard(c.term.run(ctx, line))
}

func (c *cli) heard(said string, err error) (string, error) {
	if err != nil {
		c.discard()
	}
	return said, err
}

// refusal is the device's refusal in what it said to a line; nil where it did not refuse.
func (c *cli) refusal(line, said string) error {
	if pack.FindAny(c.pack.Failures, said) == "" {
		return nil
	}
	return &drivers.RejectedError{Device: c.endpoint.Device, Input: line, Reason: c.endpoint.Quote(said)}
}

func (c *cli) Get(ctx context.Context, qs []plan.Query) ([]plan.Answer, error) {
	answers := make([]plan.Answer, 0, len(qs))
	for _, q := range qs {
		command, err := c.commandOf(q)
		if err != nil {
			return nil, err
		}
		if err := typable(command); err != nil {
			return nil, fmt.Errorf("%s: %w", c.endpoint.Device, err)
		}
		if err := c.open(ctx); err != nil {
			return nil, err
		}
		said, err := c.run(ctx, command)
		if err != nil {
			return nil, fmt.Errorf("%s: ask %s: %w", c.endpoint.Device, q.Name, err)
		}
		if err := drivers.Bounded([]byte(said)); err != nil {
			return nil, fmt.Errorf("%s: the answer to %s: %w", c.endpoint.Device, q.Name, err)
		}
		switch {
		case !brief(said):
			answers = append(answers, plan.Answer{Name: q.Name, Body: []byte(said + "\n")})
		case pack.FindAny(c.pack.Missing, said) != "":
			answers = append(answers, plan.Answer{Name: q.Name, Missing: true})
		case c.refusal(command, said) != nil:
			return nil, c.refusal(command, said)
		default:
			answers = append(answers, plan.Answer{Name: q.Name, Body: []byte(said + "\n")})
		}
	}
	return answers, nil
}

// brief says whether an answer is short enough to be a refusal. A long one may quote the words of one: a banner in a
// running configuration is any text.
func brief(said string) bool { return strings.Count(said, "\n") < 4 }

// Set sends a chunk of lines as one configuration session, or a chunk of commands one after another.
func (c *cli) Set(ctx context.Context, chunk plan.Chunk, p plan.Pending) error {
	device := c.endpoint.Device
	lines, commands, err := sorted(chunk.Send)
	if err != nil {
		return drivers.NotSent(device, err)
	}
	if err := c.open(ctx); err != nil {
		return drivers.NotSent(device, err)
	}
	if len(lines) > 0 {
		return c.session(ctx, lines, p)
	}
	for i, command := range commands {
		if err := ctx.Err(); err != nil {
			return after(device, i, drivers.NotSent(device, err))
		}
		said, err := c.runLong(ctx, command)
		if err != nil {
			return &drivers.UnknownError{Device: device, Err: fmt.Errorf("%s: %w", command, err)}
		}
		if err := c.refusal(command, said); err != nil {
			return after(device, i, err)
		}
	}
	return nil
}

// sorted parts a chunk into configuration lines and commands. A chunk is either, since a session takes effect whole.
func sorted(messages []plan.Message) (lines, commands []string, err error) {
	for _, m := range messages {
		switch m.Op {
		case plan.Line:
			lines = append(lines, m.Body)
		case plan.Run:
			commands = append(commands, m.Body)
		default:
			return nil, nil, fmt.Errorf("a message of kind %q cannot be typed into a terminal", m.Op)
		}
		if err := typable(m.Body); err != nil {
			return nil, nil, err
		}
	}
	if len(lines) > 0 && len(commands) > 0 {
		return nil, nil, errors.New("a chunk holds configuration lines and commands")
	}
	return lines, commands, nil
}

// typable refuses what a terminal would act on instead of taking it as it is: completion at a tab, help at a question
// mark, and the control characters.
func typable(line string) error {
	for _, r := range line {
		if r < ' ' || r == 0x7f || r == '?' {
			return fmt.Errorf("the terminal would act on the character %q in %q", r, line)
		}
	}
	return nil
}
