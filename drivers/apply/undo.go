package apply

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/intent/plan"
)

// tries is how often a device is led back at least before it is given up: the first may meet a device that still changes itself. While
// it cannot be reached it is tried on for as long as patience lasts: a server that was killed takes a while to come back.
const tries = 3

// undoAll leads every device of a wave back that was touched. How it went stands in each member.
func (r *run) undoAll(ctx context.Context, members []*member) {
	_ = r.all(members, func(m *member) error {
		switch {
		case m.pending != nil:
			m.undo(ctx)
		case m.noted:
			m.outcome = journal.AsBefore
			return m.disown()
		}
		return nil
	})
}

// undo leads the device back to what it was before, by weir's own inverse of what is read now, and notes how that ended.
func (m *member) undo(ctx context.Context) {
	err := m.log(journal.Record{Kind: journal.Undoing})
	until, pause := m.Store.Time().Add(m.Patience), drivers.Backoff{First: m.Poll, Longest: m.Patience / 4}
	for n := 0; n < tries || unreachable(m.why) && m.Store.Time().Before(until); n++ {
		if n > 0 && unreachable(m.why) && !pause.Wait(ctx) {
			break
		}
		if err == nil {
			err = m.restore(ctx)
		}
		if err == nil {
			m.outcome, m.why, m.leaves = journal.AsBefore, nil, nil
			return
		}
		var unknown *drivers.UnknownError
		if errors.As(err, &unknown) || ctx.Err() != nil {
			break
		}
		m.why = err
		err = nil
	}
	if err == nil {
		err = m.why
	}
	m.outcome, m.why = journal.Unknown, err
	if len(m.leaves) > 0 {
		m.outcome = journal.Partial
	}
	if logged := m.log(journal.Record{Kind: journal.Stuck, Outcome: m.outcome, Text: err.Error(), Leaves: m.leaves}); logged != nil {
		m.why = errors.Join(err, logged)
	}
}

func unreachable(err error) bool {
	var away *drivers.UnreachableError
	return errors.As(err, &away)
}

// restore makes one attempt: cancel what the device would undo by itself, wait until it is quiet, send the inverse of what is
// different, and read.
func (m *member) restore(ctx context.Context) error {
	if !m.kept && m.pending != nil {
		m.cancel(ctx)
	}
	have, err := m.settled(ctx)
	if err != nil {
		return err
	}
	if m.leaves = differ(m.before, have.Owned); len(m.leaves) == 0 {
		return m.restored(have)
	}
	have.Route = m.step.Route
	inverse, findings := m.Devices[m.name()].Step(have, m.before)
	if len(inverse.Chunks) == 0 {
		return fmt.Errorf("%s: %d values differ from before and cannot be set back: %s", m.name(), len(m.leaves), summaries(findings))
	}
	name := "weir-undo-" + strings.ReplaceAll(m.journal.Run, ".", "-")
	if err := m.send(ctx, inverse, name); err != nil {
		return err
	}
	if err := m.confirm(ctx, inverse); err != nil {
		return err
	}
	if have, err = m.settled(ctx); err != nil {
		return err
	}
	if m.leaves = differ(m.before, have.Owned); len(m.leaves) > 0 {
		return fmt.Errorf("%s: set back, and %d values still differ from before", m.name(), len(m.leaves))
	}
	return m.restored(have)
}

// cancel asks the device to drop what it holds unconfirmed. What comes of it is seen when the device is read.
func (m *member) cancel(ctx context.Context) {
	if m.connect(ctx) != nil {
		return
	}
	ctx, stop := context.WithTimeout(ctx, m.Timeout)
	defer stop()
	if m.target.Cancel(ctx, *m.pending) != nil {
		m.close()
	}
}

// restored notes that the device is as before.
func (m *member) restored(have plan.State) error {
	if err := m.disown(); err != nil {
		return err
	}
	return m.log(journal.Record{Kind: journal.Undone, Digest: have.Owned.Digest()})
}

// disown gives back what was taken into the manifest.
func (m *member) disown() error {
	return m.own(func(manifest plan.Manifest) { setObjects(manifest, m.name(), m.objects) })
}

func setObjects(m plan.Manifest, device string, objects []string) {
	if len(objects) == 0 {
		delete(m, device)
		return
	}
	m[device] = objects
}
