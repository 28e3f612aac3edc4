package sonic

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weirfabric/weir/drivers/sim"
)

// Faults are what the device can do wrong. It has no commit timer, and a session is a command over SSH.
func (d *Device) Faults(on sim.Operation) []sim.FaultKind {
	usual := []sim.FaultKind{sim.Reject, sim.Hang, sim.Slow, sim.Drop, sim.DropBefore, sim.Partial}
	switch on {
	case sim.Set:
		return slices.Concat(usual, []sim.FaultKind{sim.Ignore, sim.Lie})
	case sim.Get, sim.Session, sim.Subscribe:
		return usual
	}
	return nil
}

// Edit runs a command line as somebody who is root on the switch.
func (d *Device) Edit(text string) error {
	var out, errs strings.Builder
	status, err := d.execute(context.Background(), invocation{in: strings.NewReader(""), out: &out, err: &errs, root: true}, text)
	if err == nil && status != 0 {
		err = fmt.Errorf("%s: exit status %d: %s", text, status, strings.TrimSpace(errs.String()))
	}
	return err
}

// lie makes the device show a configuration for a time.
func (d *Device) lie(shown database, span time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shown, d.lies = shown, d.hw.Now().Add(span)
}
