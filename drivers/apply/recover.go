package apply

import (
	"context"
	"errors"
	"fmt"

	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/intent/plan"
)

// Recover ends a run that was killed or cut off, or that left devices behind that could not be reached: a wave whose verdict
// was good is finished, any other is led back. Waves before it stay as they are. A run that another process has ended meanwhile is
// left as it is.
func (c Config) Recover(ctx context.Context, name string) (Result, error) {
	r, past, err := c.resume(name, "recover")
	if err != nil {
		return Result{}, err
	}
	if past.Ended {
		return Result{Run: name, Outcome: past.Outcome, Why: past.Why, Devices: []DeviceResult{}}, errors.Join(r.journal.Close(), r.lease.Release())
	}
	members, err := r.left(past)
	if err == nil && r.back {
		r.owners, err = c.ownersBefore(past.Of)
	}
	if err != nil {
		return Result{}, errors.Join(err, r.journal.Close(), r.lease.Release())
	}
	defer func() {
		for _, m := range members {
			m.close()
		}
	}()
	if past.Recovery == journal.Undo || !r.finish(ctx, past, members) {
		r.undoAll(ctx, members)
		r.because(errors.New("what the run left was led back to what was there before"))
	}
	for _, m := range members {
		if m.outcome == "" {
			m.outcome = journal.AsBefore
		}
		r.result.Devices = append(r.result.Devices, m.ended())
	}
	r.unmark(ctx, members, false)
	r.end()
	return r.result, nil
}

// resume takes the lock for a run that is there, and says under it what its journal means.
func (c Config) resume(name, verb string) (*run, journal.Run, error) {
	c = c.withDefaults()
	lease, err := c.Store.Lock(journal.Lock{Run: name, Verb: verb})
	if err != nil {
		return nil, journal.Run{}, err
	}
	marker, err := c.markerOf(name, verb)
	if err != nil {
		return nil, journal.Run{}, errors.Join(err, lease.Release())
	}
	j, err := c.Store.Open(name, c.Observe)
	if err != nil {
		return nil, journal.Run{}, errors.Join(err, lease.Release())
	}
	past := journal.Replay(j.Records())
	past.Name = name
	if past.Damage != "" {
		err := &journal.DamagedError{Run: name, Damage: past.Damage}
		return nil, past, errors.Join(err, j.Close(), lease.Release())
	}
	r := &run{Config: c, lease: lease, journal: j, marker: marker, back: past.Verb == rollback, result: Result{Run: name, Devices: []DeviceResult{}}}
	return r, past, nil
}

// left rebuilds the devices that recovery is about from the journal. What is sent to them is made again.
func (r *run) left(past journal.Run) ([]*member, error) {
	var members []*member
	for _, d := range past.Left() {
		device := r.Devices[d.Name]
		if device == nil {
			return nil, fmt.Errorf("%s: the run touched it, and it is not in the inventory any more", d.Name)
		}
		m := &member{run: r, wave: d.Wave, noted: d.Known, doubt: d.Doubt, before: d.Before, rest: d.Rest, lines: d.Lines,
			objects: d.Objects, reached: d.Reached, pending: d.Pending, kept: !d.Timer, outcome: d.Outcome}
		state := plan.State{}
		if d.Pending != nil {
			state.Route = d.Pending.Route
		}
		whole, _ := device.Write()
		step, _ := device.Step(state, whole)
		m.step = plan.Step{Device: d.Name, Route: state.Route, Persist: step.Persist, Quiet: step.Quiet}
		members = append(members, m)
	}
	return members, nil
}

// finish confirms what a good wave left unconfirmed, and ends the wave. It says no when a device does not hold any more what was
// judged: then the wave must be led back whole. One that cannot be reached is left to a later Recover.
func (r *run) finish(ctx context.Context, past journal.Run, members []*member) bool {
	var open []*member
	for _, m := range members {
		if m.outcome != journal.Applied {
			open = append(open, m)
		}
	}
	err := r.all(open, func(m *member) error {
		if _, moved := errors.AsType[*movedError](m.unmovedNow(ctx)); moved {
			return &movedError{m.name()}
		}
		return nil
	})
	if err == nil {
		err = r.confirmAll(ctx, open)
	}
	if err == nil {
		err = r.append(journal.Record{Kind: journal.WaveEnded, Wave: past.Last, Outcome: journal.Applied})
	}
	if err != nil {
		r.because(err)
	}
	if _, moved := errors.AsType[*movedError](err); moved {
		for _, m := range members {
			m.outcome = ""
		}
		return false
	}
	for _, m := range open {
		if m.outcome == "" {
			m.outcome, m.why = journal.Unknown, err
		}
	}
	return true
}
