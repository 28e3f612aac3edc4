package apply

import (
	"context"
	"errors"
	"fmt"

	"github.com/weirfabric/weir/drivers/apply/journal"
)

// Abandon closes a run by hand that cannot come to its end: it changes nothing on any device, reads those that are left, keeps in
// the journal what differs from before and why the run was closed, and gives the lock back.
func (c Config) Abandon(ctx context.Context, name, reason string) (Result, error) {
	r, past, err := c.resume(name, "abandon")
	if err != nil {
		return Result{}, err
	}
	defer func() { _ = r.journal.Close() }() // what is on record was forced to disk
	if past.Ended {
		return Result{}, errors.Join(fmt.Errorf("run %s has its end already: %s", name, past.Outcome), r.lease.Release())
	}
	for _, d := range past.Left() {
		if d.Outcome == journal.Applied {
			r.result.Devices = append(r.result.Devices, DeviceResult{Device: d.Name, Wave: d.Wave, Outcome: d.Outcome, Leaves: []string{}})
			continue
		}
		m := &member{run: r, wave: d.Wave, before: d.Before}
		m.step.Device = d.Name
		err := m.leave(ctx, d)
		m.close()
		if err != nil {
			return Result{}, errors.Join(err, r.lease.Release())
		}
		r.result.Devices = append(r.result.Devices, m.ended())
	}
	r.unmark(ctx, nil, true)
	r.result.Outcome, r.result.Why = journal.Abandoned, reason
	if err := r.append(journal.Record{Kind: journal.Ended, Outcome: journal.Abandoned, Text: reason}); err != nil {
		return r.result, errors.Join(err, r.lease.Release())
	}
	return r.result, r.lease.Release()
}

// leave notes how a device is left.
func (m *member) leave(ctx context.Context, d journal.Device) error {
	m.outcome = journal.Unknown
	switch {
	case m.Devices[d.Name] == nil:
		m.why = errors.New("it is not in the inventory any more")
	case !d.Known:
		m.why = errors.New("what it was before is not on record")
	default:
		state, err := m.read(ctx)
		if err != nil {
			m.why = err
			break
		}
		if m.leaves = differ(d.Before, state.Owned); len(m.leaves) == 0 {
			m.outcome = journal.AsBefore
			return m.log(journal.Record{Kind: journal.Undone, Digest: state.Owned.Digest()})
		}
		m.outcome, m.why = journal.Partial, fmt.Errorf("%d values differ from before", len(m.leaves))
	}
	return m.log(journal.Record{Kind: journal.Stuck, Outcome: m.outcome, Text: m.why.Error(), Leaves: m.leaves})
}
