package linux

import (
	"bytes"
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
		return slices.Concat(usual, []sim.FaultKind{sim.Ignore, sim.Lie})
	case sim.Get, sim.Session:
		return usual
	}
	return nil
}

// Edit runs a command line as somebody who is root on the server.
func (d *Device) Edit(text string) error {
	script, ok := parse(text)
	if !ok {
		return fmt.Errorf("%s: %w", text, errSyntax)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	var errs strings.Builder
	p := &process{d: d, root: true, stdout: io.Discard, stderr: &errs}
	status := p.list(script)
	d.apply()
	if status != 0 {
		return fmt.Errorf("%s: exit status %d: %s", text, status, strings.TrimSpace(errs.String()))
	}
	return nil
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
func (d *Device) repeat(c sim.Command, run func(out, errs io.Writer) int) int {
	d.mu.Lock()
	t, known := d.said[c.Line]
	known = known && d.hw.Now().Before(d.lies)
	d.mu.Unlock()
	if !known {
		var out, errs bytes.Buffer
		status := run(&out, &errs)
		t = told{out.Bytes(), errs.Bytes(), status}
		d.mu.Lock()
		d.said[c.Line] = t
		d.mu.Unlock()
	}
	_, _ = c.Stdout.Write(t.out) // a client that is gone is noticed when it is read from
	_, _ = c.Stderr.Write(t.errs)
	return t.status
}
