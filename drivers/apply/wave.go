package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/intent/plan"
)

// wave sends the steps of one wave, has it judged, and confirms or undoes the whole of it. It says whether the run goes on.
func (r *run) wave(ctx context.Context, n int, steps []plan.Step) bool {
	var members []*member
	for _, s := range steps {
		members = append(members, &member{run: r, wave: n, step: s})
	}
	unhurried := context.WithoutCancel(ctx)
	defer func() {
		r.unmark(unhurried, members, false)
		for _, m := range members {
			m.close()
			r.result.Devices = append(r.result.Devices, m.ended())
		}
	}()
	if err := r.all(members, func(m *member) error { return m.prepare(ctx) }); err != nil {
		r.undoAll(unhurried, members)
		return r.stop(members, fmt.Errorf("nothing of this wave was sent: %w", err))
	}
	if err := r.all(members, func(m *member) error { return m.validate(ctx) }); err != nil {
		r.undoAll(unhurried, members)
		return r.stop(members, fmt.Errorf("nothing of this wave was sent: %w", err))
	}
	judge := func(context.Context, map[string]time.Time) Verdict { return Verdict{Pass: true} }
	if r.Watch != nil {
		judge = r.Watch(ctx, steps)
	}
	if err := r.change(ctx, members, judge); err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("interrupted: %w", err)
		}
		r.undoAll(unhurried, members)
		return r.stop(members, err)
	}
	if err := r.confirmAll(unhurried, members); err != nil {
		if _, moved := errors.AsType[*movedError](err); moved {
			r.undoAll(unhurried, members)
		}
		return r.stop(members, err)
	}
	if err := r.append(journal.Record{Kind: journal.WaveEnded, Wave: n, Outcome: journal.Applied}); err != nil {
		return r.stop(members, err)
	}
	if ctx.Err() != nil {
		r.because(fmt.Errorf("interrupted after wave %d", n+1))
		return false
	}
	return true
}

// change sends everything, reads it back and has it judged. With a nil error the verdict is in the journal.
func (r *run) change(ctx context.Context, members []*member, judge func(context.Context, map[string]time.Time) Verdict) error {
	name := "weir-" + strings.ReplaceAll(r.journal.Run, ".", "-")
	err := r.all(members, func(m *member) error { return m.send(ctx, m.step, name, true) })
	if err != nil {
		return err
	}
	if err := r.all(members, func(m *member) error { return m.reach(ctx) }); err != nil {
		return err
	}
	sent := map[string]time.Time{}
	for _, m := range members {
		if !m.sent.IsZero() {
			sent[m.name()] = m.sent
		}
	}
	verdict := judge(ctx, sent)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !verdict.Pass {
		return fmt.Errorf("the counters say no: %s", verdict.Text)
	}
	if err := r.all(members, func(m *member) error { return m.unmoved(ctx) }); err != nil {
		return err
	}
	return r.append(journal.Record{Kind: journal.Passed, Wave: members[0].wave, Text: verdict.Text})
}

// reach reads the device back and compares it with what is wanted.
func (m *member) reach(ctx context.Context) error {
	state, err := m.read(ctx)
	if err != nil {
		return err
	}
	if left := m.remaining(m.name(), state); len(left) > 0 {
		return fmt.Errorf("%s: it took the changes, and reads back differently: %s is %q, wanted %q (%d differences)",
			m.name(), left[0].Addr, left[0].Before, left[0].After, len(left))
	}
	m.reached, m.lines = state.Owned.Digest(), m.newLines(state)
	return m.log(journal.Record{Kind: journal.Reached, Digest: m.reached, Parts: state.Owned.Parts(), Lines: m.lines})
}

// movedError says that a device does not hold any more what was read back: it was started anew, or changed by somebody else.
type movedError struct{ device string }

func (e *movedError) Error() string {
	return fmt.Sprintf("%s: it does not hold any more what was read back and judged: it was started anew, or somebody else changed it, or its own timer undid the change", e.device)
}

// unmoved reads the device again: a *movedError where weir's part of it is not what was read back. What others changed meanwhile
// is theirs.
func (m *member) unmoved(ctx context.Context) error {
	state, err := m.read(ctx)
	if err != nil {
		return err
	}
	if state.Owned.Digest() != m.reached {
		return &movedError{m.name()}
	}
	if lines := m.newLines(state); m.timed() && !slices.Equal(lines, m.lines) {
		m.lines = lines
		return m.log(journal.Record{Kind: journal.Reached, Digest: m.reached, Parts: state.Owned.Parts(), Lines: m.lines})
	}
	return nil
}

// confirmAll confirms every device, and reads it again. One that cannot be confirmed is tried again while patience lasts, and then
// left to Recover. With a *movedError the wave must be led back.
func (r *run) confirmAll(ctx context.Context, members []*member) error {
	return r.all(members, func(m *member) error {
		until := r.Store.Time().Add(r.Patience)
		for {
			err := m.confirm(ctx, m.step)
			if err == nil && m.pending != nil {
				err = m.unmovedNow(ctx)
			}
			if err == nil {
				return m.confirmed()
			}
			if _, moved := errors.AsType[*movedError](err); moved {
				return err
			}
			if barred(err) || r.Store.Time().After(until) {
				m.outcome, m.why = journal.Unknown, err
				return errors.Join(err, m.log(journal.Record{Kind: journal.Stuck, Outcome: journal.Unknown, Text: err.Error()}))
			}
			time.Sleep(r.Poll)
		}
	})
}

// stop ends the run with this wave. Devices to which nothing happened are as before.
func (r *run) stop(members []*member, why error) bool {
	for _, m := range members {
		if m.outcome == "" && m.pending == nil {
			m.outcome = journal.AsBefore
		}
		if m.outcome == "" {
			m.outcome, m.why = journal.Unknown, why
		}
	}
	r.because(why)
	return false
}

func (m *member) ended() DeviceResult {
	d := DeviceResult{Device: m.name(), Wave: m.wave, Outcome: m.outcome, Leaves: append([]string{}, m.leaves...), Lost: m.lost}
	if m.why != nil {
		d.Why = m.why.Error()
	}
	return d
}

// all runs do for every member, Parallel at once, and joins the errors.
func (r *run) all(members []*member, do func(*member) error) error {
	failed := make([]error, len(members))
	var running errgroup.Group
	running.SetLimit(r.Parallel)
	for i, m := range members {
		running.Go(func() error {
			failed[i] = do(m)
			return nil
		})
	}
	_ = running.Wait()
	return errors.Join(failed...)
}
