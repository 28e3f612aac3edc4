package eos

import (
	"slices"
	"strings"
	"time"

	"github.com/weirfabric/weir/drivers/sim"
)

// Faults are what the device can do wrong. A set is one line, which cannot be done by halves; what is acknowledged and not
// done, or done and not shown, is a commit.
func (d *Device) Faults(on sim.Operation) []sim.FaultKind {
	usual := []sim.FaultKind{sim.Reject, sim.Hang, sim.Slow, sim.Drop, sim.DropBefore}
	switch on {
	case sim.Set:
		return usual
	case sim.Get, sim.Session, sim.Subscribe:
		return append(usual, sim.Partial)
	case sim.Commit:
		return slices.Concat(usual, []sim.FaultKind{sim.Partial, sim.Ignore, sim.Lie})
	case sim.Timer:
		return []sim.FaultKind{sim.Hang, sim.Revert}
	}
	return nil
}

// Edit enters configuration lines as somebody at another terminal does.
func (d *Device) Edit(text string) error { return d.merge(strings.Split(text, "\n")) }

// lie makes the device show a configuration for a time.
func (d *Device) lie(shown *node, span time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shown, d.lies = shown, d.hw.Now().Add(span)
}
