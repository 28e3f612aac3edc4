package ssh

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/intent/plan"
)

// filled is a marker's command with its words.
func filled(command string, m drivers.Marker, text string) string {
	return strings.NewReplacer("{name}", m.Name(), "{text}", plan.Word(text)).Replace(command)
}

// holds says why the device holds no marker; nil where it does.
func (l *link) holds() error {
	if len(l.pack.Marker.Claim) == 0 {
		return &drivers.NoMarkerError{Device: l.endpoint.Device, Why: fmt.Sprintf("weir knows none for %s", l.endpoint.Platform)}
	}
	return nil
}

// Claim makes the marker's file where there is none.
func (s *shell) Claim(ctx context.Context, m drivers.Marker) ([]drivers.Marker, error) {
	if err := s.holds(); err != nil {
		return nil, err
	}
	if !plan.PlainWord(m.Name()) {
		return nil, fmt.Errorf("%s: the marker's name %q is not one plain word", s.endpoint.Device, m.Name())
	}
	standing, out, err := s.marker(ctx, filled(s.pack.Marker.Claim[0], m, m.Line()))
	if err == nil && len(standing) == 0 {
		err = &drivers.RejectedError{Device: s.endpoint.Device, Input: "the marker of this run", Reason: out.reason(s.endpoint)}
	}
	return standing, err
}

// Markers reads the marker's file.
func (s *shell) Markers(ctx context.Context) ([]drivers.Marker, error) {
	if err := s.holds(); err != nil {
		return nil, err
	}
	standing, _, err := s.marker(ctx, s.pack.Marker.Read)
	return standing, err
}

// Unclaim removes the marker's file where it still is the one that was read.
func (s *shell) Unclaim(ctx context.Context, m drivers.Marker) error {
	if err := s.holds(); err != nil {
		return err
	}
	standing, out, err := s.marker(ctx, filled(s.pack.Marker.Remove, m, m.Text))
	if err == nil && len(standing) > 0 && standing[0].Text == m.Text {
		err = &drivers.RejectedError{Device: s.endpoint.Device, Input: "to remove the marker", Reason: out.reason(s.endpoint)}
	}
	return err
}

// marker runs a command that ends with printing the marker that stands.
func (s *shell) marker(ctx context.Context, command string) ([]drivers.Marker, output, error) {
	verbs, device := s.pack.Marker, s.endpoint.Device
	out, err := s.run(ctx, s.timeout(), step{command: command}, verbs.Root && s.endpoint.User != "root")
	switch {
	case err != nil:
		return nil, out, fmt.Errorf("%s: look at the marker: %w", device, err)
	case out.status != 0 && s.says(verbs.Denied, out):
		return nil, out, &drivers.NoMarkerError{Device: device, Why: "the user may not write it: " + out.reason(s.endpoint)}
	case out.status == 0 && out.whole:
		text := strings.TrimSuffix(string(out.stdout[:min(len(out.stdout), drivers.MaxMarker)]), "\n")
		return []drivers.Marker{drivers.ParseMarker(text)}, out, nil
	case out.whole && len(out.stdout) == 0 && s.says(s.pack.Missing, out):
		return nil, out, nil
	}
	return nil, out, &drivers.RejectedError{Device: device, Input: "to read the marker", Reason: out.reason(s.endpoint)}
}

// Claim opens the marker's session where no other one is listed, and looks again: of two that do so at once, whoever sees the
// other withdraws.
func (c *cli) Claim(ctx context.Context, m drivers.Marker) ([]drivers.Marker, error) {
	all, err := c.markerSessions(ctx)
	if err != nil {
		return nil, err
	}
	if standing := c.markers(all); len(standing) > 0 {
		return standing, nil
	}
	own := c.pack.Marker.Prefix + m.Name()
	if err := c.reclaim(ctx, all); err != nil {
		return nil, err
	}
	if err := c.leaveOpen(ctx, own); err != nil {
		return nil, err
	}
	if all, err = c.markerSessions(ctx); err != nil {
		return nil, err
	}
	standing := c.markers(all)
	if len(standing) > 1 {
		m.Text = own
		err = c.Unclaim(ctx, m)
		standing = slices.DeleteFunc(standing, func(s drivers.Marker) bool { return s.Text == own })
	}
	return standing, err
}

// leaveOpen opens a session and leaves it as it is.
func (c *cli) leaveOpen(ctx context.Context, name string) error {
	if !plan.PlainWord(name) {
		return fmt.Errorf("%s: the marker's name %q is not one plain word", c.endpoint.Device, name)
	}
	for _, command := range c.pack.Marker.Claim {
		if _, err := c.order(ctx, strings.ReplaceAll(command, "{name}", name)); err != nil {
			c.discard()
			return err
		}
	}
	if !c.pack.Levels.Privileged.Match(c.term.at) {
		at := c.term.at
		c.discard()
		return fmt.Errorf("%s: opening the session %s left the terminal at %q", c.endpoint.Device, name, at)
	}
	return nil
}

// Markers lists the sessions that are markers.
func (c *cli) Markers(ctx context.Context) ([]drivers.Marker, error) {
	all, err := c.markerSessions(ctx)
	return c.markers(all), err
}

// Unclaim aborts the marker's session where it is listed.
func (c *cli) Unclaim(ctx context.Context, m drivers.Marker) error {
	all, err := c.markerSessions(ctx)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(m.Text, c.pack.Marker.Prefix) {
		return fmt.Errorf("%s: the session %s is no marker, and is left to whoever opened it", c.endpoint.Device, c.endpoint.Quote(m.Text))
	}
	if !slices.ContainsFunc(c.markers(all), func(s drivers.Marker) bool { return s.Text == m.Text }) {
		return nil
	}
	_, err = c.order(ctx, strings.ReplaceAll(c.pack.Marker.Remove, "{name}", m.Text))
	return err
}

// markerSessions is list, of which anything but a list is an error.
func (c *cli) markerSessions(ctx context.Context) (sessions, error) {
	if err := c.holds(); err != nil {
		return sessions{}, err
	}
	if err := c.open(ctx); err != nil {
		return sessions{}, err
	}
	all, ok, err := c.list(ctx)
	if err == nil && !ok {
		err = errors.New("it is not as it should be")
	}
	if err != nil {
		return sessions{}, fmt.Errorf("%s: the list of sessions: %w", c.endpoint.Device, err)
	}
	return all, nil
}

// markers are the sessions that are markers: open, and named as such.
func (c *cli) markers(all sessions) []drivers.Marker {
	var standing []drivers.Marker
	for _, name := range slices.Sorted(maps.Keys(all.Sessions)) {
		if rest, marks := strings.CutPrefix(name, c.pack.Marker.Prefix); marks && all.Sessions[name].State == c.pack.Session.Pending {
			m := drivers.ParseMarker(rest)
			m.Text = name
			standing = append(standing, m)
		}
	}
	return standing
}
