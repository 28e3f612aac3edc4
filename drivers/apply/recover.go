package apply

import (
	"context"
	"fmt"

	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/intent/plan"
)

// Recover ends a run that was killed or cut off, or that left devices behind that could not be reached: a wave whose verdict
// was good is finished, any other is led back. Waves before it stay as they are.
func (c Config) Recover(ctx context.Context, name string) (Result, error) {
	c = c.withDefaults()
	if err := c.takeOver(name); err != nil {
		return Result{}, err
	}
	j, err := c.Store.Open(name, c.Observe)
	if err != nil {
		return Result{}, err
	}
	defer j.Close()
	r := &run{Config: c, journal: j, result: Result{Run: name, Outcome: journal.AsBefore, Devices: []DeviceResult{}}}
	past := journal.Replay(j.Records())
	if past.Damage != "" {
		return Result{}, &journal.DamagedError{Run: name, Damage: past.Damage}
	}
	if past.Verb == "rollback" {
		if r.owners, err = c.ownersBefore(past.Of); err != nil {
			return Result{}, err
		}
	}
	members, err := r.left(past)
	if err != nil {
		return Result{}, err
	}
	defer func() {
		for _, m := range members {
			m.close()
		}
	}()
	if past.Recovery == journal.Undo || !r.finish(ctx, members) {
		r.undoAll(ctx, members)
		r.result.Why = "what the run left was led back to what was there before"
	} else {
		r.result.Outcome = journal.Applied
	}
	for _, m := range members {
		if m.outcome == "" {
			m.outcome = journal.AsBefore
		}
		r.result.Devices = append(r.result.Devices, m.ended())
	}
	return r.result, r.end()
}

// takeOver takes the lock of a run whose process is gone.
func (c Config) takeOver(name string) error {
	held, err := c.Store.Locked()
	if err != nil {
		return err
	}
	if held != nil && c.Store.Running(*held, c.Who) && held.PID != c.PID {
		return &journal.LockedError{Lock: *held}
	}
	if err := c.Store.Unlock(); err != nil {
		return err
	}
	return c.Store.Lock(journal.Lock{Run: name, Verb: "recover", Who: c.Who, PID: c.PID, Since: c.Store.Time()})
}

// left rebuilds the devices that recovery is about from the journal.
func (r *run) left(past journal.Run) ([]*member, error) {
	var members []*member
	for _, d := range past.Left() {
		if r.Devices[d.Name] == nil {
			return nil, fmt.Errorf("%s: the run touched it, and it is not in the inventory any more", d.Name)
		}
		m := &member{run: r, wave: d.Wave, step: plan.Step{Device: d.Name, Persist: d.Persist, Quiet: d.Quiet}, noted: true,
			before: d.Before, objects: d.Objects, reached: d.Reached, pending: d.Pending, kept: !d.Timer, outcome: d.Outcome}
		if d.Pending != nil {
			m.step.Route = d.Pending.Route
		}
		members = append(members, m)
	}
	return members, nil
}

// finish confirms what a good wave left unconfirmed. It says no when a device does not hold any more what was judged: then
// the wave must be led back whole.
func (r *run) finish(ctx context.Context, members []*member) bool {
	err := r.all(members, func(m *member) error {
		if m.outcome == journal.Applied || m.pending == nil {
			return nil
		}
		confirming := m.confirm(ctx, m.step)
		state, err := m.settled(ctx)
		if err != nil {
			return err
		}
		if state.Owned.Digest() != m.reached {
			return fmt.Errorf("%s: it does not hold any more what was judged good", m.name())
		}
		if confirming != nil && !m.pending.Deadline.IsZero() && r.Store.Time().Before(m.pending.Deadline) {
			return confirming
		}
		return m.confirmed()
	})
	if err != nil {
		for _, m := range members {
			m.outcome = ""
		}
	}
	return err == nil
}
