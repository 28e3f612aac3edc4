package ssh

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/templates/pack"
)

// session makes the lines one configuration session. A commit overwrites what others changed since the session was opened,
// so it is opened, filled, compared and committed in one go. Nothing takes effect before the commit.
func (c *cli) session(ctx context.Context, lines []string, p plan.Pending) error {
	device := c.endpoint.Device
	commit, err := c.commitOf(p)
	if err != nil {
		return drivers.NotSent(device, err)
	}
	all, _, err := c.list(ctx)
	if err == nil {
		err = c.foreign(all, p.Name)
	}
	if err == nil {
		err = c.reclaim(ctx, all)
	}
	if err != nil {
		return drivers.NotSent(device, err)
	}
	if err := c.fill(ctx, lines, p.Name); err != nil {
		c.abort(ctx)
		var refused *drivers.RejectedError
		if errors.As(err, &refused) {
			return err
		}
		return drivers.NotSent(device, err)
	}
	if err := ctx.Err(); err != nil {
		c.abort(ctx)
		return drivers.NotSent(device, err)
	}
	said, err := c.runLong(ctx, commit)
	if err != nil {
		return &drivers.UnknownError{Device: device, Err: fmt.Errorf("%s: %w", commit, err)}
	}
	if err := c.refusal(commit, said); err != nil {
		c.abort(ctx)
		return err
	}
	if !c.pack.Levels.Privileged.Match(c.term.at) {
		at := c.term.at
		c.discard()
		return &drivers.UnknownError{Device: device, Err: fmt.Errorf("%s left the terminal at %q: %s", commit, at, c.endpoint.Quote(said))}
	}
	return nil
}

// commitOf is the verb that commits: with a timer where the device is to undo the change at a deadline.
func (c *cli) commitOf(p plan.Pending) (string, error) {
	switch {
	case c.pack.Session.Open == "":
		return "", errors.New("this platform has no configuration sessions")
	case !plan.PlainWord(p.Name):
		return "", fmt.Errorf("the session's name %q is not one plain word", p.Name)
	case p.Confirm == 0:
		return c.pack.Session.Commit, nil
	case c.pack.Session.Timer == "":
		return "", errors.New("this platform has no commit timer over SSH")
	}
	return strings.ReplaceAll(c.pack.Session.Timer, "{time}", clock(p.Confirm)), nil
}

// clock writes a duration as HH:MM:SS, rounded up to a whole second.
func clock(d time.Duration) string {
	s := int64((d + time.Second - 1) / time.Second)
	return fmt.Sprintf("%02d:%02d:%02d", s/3600, s/60%60, s%60)
}

// fill opens a session and types the lines. The device's own comparison is asked for before, when it must be empty, since
// otherwise someone else's lines would be committed too, and after, when it is a second opinion for the log.
func (c *cli) fill(ctx context.Context, lines []string, name string) error {
	verbs := c.pack.Session
	if _, err := c.order(ctx, named(verbs.Open, name)); err != nil {
		return err
	}
	if !c.pack.Levels.Configuration.Match(c.term.at) {
		return fmt.Errorf("%s led to the prompt %q", named(verbs.Open, name), c.term.at)
	}
	said, err := c.order(ctx, verbs.Diff)
	if err != nil {
		return err
	}
	if foreign := changed(said); len(foreign) > 0 {
		return fmt.Errorf("a new session %s already holds %d changes: %s", name, len(foreign), c.endpoint.Quote(foreign[0]))
	}
	for _, line := range lines {
		if _, err := c.order(ctx, line); err != nil {
			return err
		}
	}
	if said, err = c.order(ctx, verbs.Diff); err != nil {
		return err
	}
	c.log.Debug("the device compared the session", "session", name, "lines", len(lines), "differences", changed(said))
	return nil
}

// changed lists the lines of a unified diff that were added or removed.
func changed(diff string) []string {
	var all []string
	for line := range strings.Lines(diff) {
		added, removed := strings.HasPrefix(line, "+"), strings.HasPrefix(line, "-")
		if (added || removed) && !strings.HasPrefix(line, "+++") && !strings.HasPrefix(line, "---") {
			all = append(all, strings.TrimRight(line, "\r\n"))
		}
	}
	return all
}

// order is run, whose refusal is an error.
func (c *cli) order(ctx context.Context, line string) (string, error) {
	if c.term == nil {
		return "", errors.New("the terminal is gone")
	}
	said, err := c.run(ctx, line)
	if err != nil {
		return said, fmt.Errorf("%s: %w", line, err)
	}
	return said, c.refusal(line, said)
}

// abort leaves the session without a trace, also when the caller's context has ended. Where that does not work the device
// keeps an open session, which has no effect and is reclaimed by the next one.
func (c *cli) abort(ctx context.Context) {
	if c.term == nil || !c.pack.Levels.Configuration.Match(c.term.at) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	if _, err := c.order(ctx, c.pack.Session.Abort); err != nil {
		c.log.Warn("the session could not be aborted and stays open without effect", "err", err)
		c.discard()
	}
}

// sessions is what the device lists. The session whose commit timer runs is told by its state, or by name at the top: EOS
// does the first up to 4.32, and the second after that (NAPALM's driver of EOS, ansible's arista.eos).
type sessions struct {
	Timed    string `json:"commitTimerSessionName"`
	Sessions map[string]struct {
		State string `json:"state"`
	} `json:"sessions"`
}

// waits says whether the session's commit waits for its confirmation.
func (s sessions) waits(name string, verbs pack.Verbs) bool {
	return s.Timed == name || (verbs.Timed != "" && strings.Contains(s.Sessions[name].State, verbs.Timed))
}

// list asks for the sessions. A device that cannot list them says ok = false.
func (c *cli) list(ctx context.Context) (all sessions, ok bool, err error) {
	said, err := c.run(ctx, c.pack.Session.List)
	if err != nil {
		return all, false, err
	}
	return all, json.Unmarshal([]byte(said), &all) == nil, nil
}

// foreign is an error where the commit of another session of weir waits for its confirmation: it is of another change.
func (c *cli) foreign(all sessions, name string) error {
	verbs := c.pack.Session
	for _, other := range slices.Sorted(maps.Keys(all.Sessions)) {
		if other != name && strings.HasPrefix(other, verbs.Ours) && all.waits(other, verbs) {
			return fmt.Errorf("session %s was committed and waits for its confirmation", c.endpoint.Quote(other))
		}
	}
	return nil
}

// reclaim aborts the sessions that a weir which was cut off has left open: a device allows only a few, and then refuses
// everyone. One that waits for its confirmation is none of them, and no marker is.
func (c *cli) reclaim(ctx context.Context, all sessions) error {
	verbs, marker := c.pack.Session, c.pack.Marker.Prefix
	for _, name := range slices.Sorted(maps.Keys(all.Sessions)) {
		left := strings.HasPrefix(name, verbs.Ours) && all.Sessions[name].State == verbs.Pending && all.Timed != name
		if !left || marker != "" && strings.HasPrefix(name, marker) {
			continue
		}
		c.log.Info("abort a session that was left open", "session", name)
		if _, err := c.order(ctx, named(verbs.Cancel, name)); err != nil {
			return err
		}
	}
	return nil
}

// Confirm makes the session's commit stay.
func (c *cli) Confirm(ctx context.Context, p plan.Pending) error {
	return c.decide(ctx, p, c.pack.Session.Confirm)
}

// Cancel makes the device undo the session's commit now.
func (c *cli) Cancel(ctx context.Context, p plan.Pending) error {
	return c.decide(ctx, p, c.pack.Session.Cancel)
}

// decide gives the verb to a session that waits for its confirmation. One that does not is a rejection of drivers.ErrDecided:
// naming it to the device could open a new one.
func (c *cli) decide(ctx context.Context, p plan.Pending, verb string) error {
	device := c.endpoint.Device
	if p.Confirm == 0 {
		return nil
	}
	if err := c.open(ctx); err != nil {
		return drivers.NotSent(device, err)
	}
	all, ok, err := c.list(ctx)
	if err != nil {
		return drivers.NotSent(device, err)
	}
	command := named(verb, p.Name)
	if ok && !all.waits(p.Name, c.pack.Session) {
		return &drivers.RejectedError{Device: device, Input: command, Reason: drivers.ErrDecided.Error(), Err: drivers.ErrDecided}
	}
	said, err := c.runLong(ctx, command)
	if err != nil {
		return &drivers.UnknownError{Device: device, Err: fmt.Errorf("%s: %w", command, err)}
	}
	return c.refusal(command, said)
}

func named(verb, name string) string { return strings.ReplaceAll(verb, "{name}", name) }
