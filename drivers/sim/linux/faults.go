package linux

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/weirfabric/weir/drivers/sim"
)

// Faults are what the device can do wrong. It has no commits and no subscriptions.
func (d *Device) Faults(on sim.Operation) []sim.FaultKind {
	usual := []sim.FaultKind{sim.Reject, sim.Hang, sim.Slow, sim.Drop, sim.DropBefore, sim.Partial}
	switch on {
	case sim.Set:
		return slices.Concat(usual, []sim.FaultKind{sim.Ignore, sim.Lie, sim.Unsure})
	case sim.Get, sim.Session:
		return usual
	}
	return nil
}

// Edit runs a command line as somebody who is root on the server.
func (d *Device) Edit(text string) error {
	script, err := parse(text)
	if err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	s, err := newShell(process{d: d, user: "root", root: true, dir: "/"}, nil, nil)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), longestUnattended)
	defer cancel()
	var errs strings.Builder
	status, err := d.run(ctx, s, script, sim.Command{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: &errs})
	if err == nil && status != 0 {
		err = fmt.Errorf("%s: exit status %d: %s", text, status, strings.TrimSpace(errs.String()))
	}
	return err
}

// fault is what goes wrong with a change. A chunk that is to fail in its half is one change that works and a next one that
// does not.
func (d *Device) fault() sim.Fault {
	d.mu.Lock()
	refuse := d.refuse
	d.refuse = false
	d.mu.Unlock()
	if refuse {
		return sim.Fault{Kind: sim.Reject}
	}
	f := d.hw.Fault(sim.Set)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refuse = f.Kind == sim.Partial
	return f
}

// told is what a command said.
type told struct {
	out, errs []byte
	status    int
}

// lie makes the device answer as it last did, for a time.
func (d *Device) lie(span time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lies = d.hw.Now().Add(span)
}

// repeat runs a command that changes nothing, or says again what it said before the lie.
func (d *Device) repeat(c sim.Command, run func(sim.Command) (int, error)) (int, error) {
	d.mu.Lock()
	t, known := d.said[c.Line]
	known = known && d.hw.Now().Before(d.lies)
	d.mu.Unlock()
	if !known {
		var out, errs bytes.Buffer
		status, err := run(sim.Command{Line: c.Line, Stdin: c.Stdin, Stdout: &out, Stderr: &errs})
		if err != nil {
			return status, err
		}
		t = told{out.Bytes(), errs.Bytes(), status}
		d.mu.Lock()
		d.said[c.Line] = t
		d.mu.Unlock()
	}
	_, _ = c.Stdout.Write(t.out) // a client that is gone is noticed when it is read from
	_, _ = c.Stderr.Write(t.errs)
	return t.status, nil
}
