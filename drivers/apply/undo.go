package apply

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/plan"
)

// tries is how often a device is led back at least before it is given up: the first may meet a device that still changes itself. While
// it cannot be reached it is tried on for as long as patience lasts: a server that was killed takes a while to come back.
const tries = 3

// undoName begins the name under which a device is led back.
const undoName = "weir-undo-"

// undoAll leads every device of a wave back that was touched. How it went stands in each member.
func (r *run) undoAll(ctx context.Context, members []*member) {
	_ = r.all(members, func(m *member) error {
		switch {
		case m.pending != nil || m.noted && m.doubt:
			m.undo(ctx)
		case m.noted:
			m.outcome = journal.AsBefore
			if err := m.untouched(); err != nil { // it is as before; that is not on record, or the manifest still claims what it has not
				m.outcome, m.why = journal.Unknown, err
			}
		case m.doubt:
			err := errors.New("what it was before is lost with records of the journal: look at it by hand, then abandon the run")
			m.outcome, m.why = journal.Unknown, errors.Join(err, m.log(journal.Record{Kind: journal.Stuck, Outcome: journal.Unknown, Text: err.Error()}))
		}
		return nil
	})
}

// untouched notes that a device to which nothing was sent is as before.
func (m *member) untouched() error {
	if err := m.own(m.owning(m.objects)); err != nil {
		return err
	}
	return m.log(journal.Record{Kind: journal.Undone, Digest: m.before.Digest()})
}

// undo leads the device back to what it was before, by weir's own inverse of what is read now, and notes how that ended. Nothing
// is done to the device before it is on record that it is led back.
func (m *member) undo(ctx context.Context) {
	var err error
	announced := false
	until, pause := m.Store.Time().Add(m.Patience), drivers.Backoff{First: m.Poll, Longest: m.Patience / 4}
	for n := 0; n < tries || unreachable(err) && m.Store.Time().Before(until); n++ {
		if n > 0 && unreachable(err) && !pause.Wait(ctx) {
			break
		}
		err = nil
		if !announced {
			err = m.log(journal.Record{Kind: journal.Undoing})
			announced = err == nil
		}
		if err == nil {
			err = m.restore(ctx)
		}
		if err == nil {
			m.outcome, m.why, m.leaves = journal.AsBefore, nil, nil
			return
		}
		if _, unknown := errors.AsType[*drivers.UnknownError](err); unknown || barred(err) || ctx.Err() != nil {
			break
		}
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

// restore makes one attempt: wait until the device is quiet, decide what it would undo by itself, send the inverse of what is
// different, and read.
func (m *member) restore(ctx context.Context) error {
	have, err := m.settled(ctx)
	if err == nil && m.timed() {
		if err = m.decide(ctx, have); err == nil {
			have, err = m.settled(ctx)
		}
	}
	if err != nil {
		return err
	}
	if m.leaves = differ(m.before, have.Owned); len(m.leaves) == 0 {
		if err := m.persistUndo(ctx); err != nil {
			return err
		}
		return m.restored(have)
	}
	have.Route = m.step.Route
	inverse, findings := m.toward(m.name(), have, m.before, true)
	if len(inverse.Chunks) == 0 {
		return fmt.Errorf("%s: %d values differ from before and cannot be set back: %s", m.name(), len(m.leaves), summaries(findings))
	}
	if err := m.send(ctx, inverse, m.undoing(), false); err != nil {
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

// undoing is the name of the next attempt at leading back: a device that remembers what it was told under a name takes no other change
// under it.
func (m *member) undoing() string {
	name := undoName + strings.ReplaceAll(m.journal.Run, ".", "-")
	if m.pending == nil || !strings.HasPrefix(m.pending.Name, name) {
		return name
	}
	n, err := strconv.Atoi(strings.TrimPrefix(m.pending.Name, name+"-"))
	if err != nil { // the first attempt has no number
		n = 1
	}
	return fmt.Sprintf("%s-%d", name, n+1)
}

// persistUndo makes persistent what an earlier attempt at leading back has reached after all. What that attempt saved, if it came to
// that, was what the device held then.
func (m *member) persistUndo(ctx context.Context) error {
	if m.pending == nil || !strings.HasPrefix(m.pending.Name, undoName) {
		return nil
	}
	if err := m.connect(ctx); err != nil {
		return err
	}
	return m.persist(ctx, m.step)
}

// toward is the step to a document, in the direction that is safe: what a run does is undone in the opposite order, and a rollback
// is itself an undoing.
func (r *run) toward(device string, have plan.State, to plan.Document, undoing bool) (plan.Step, diag.List) {
	if undoing != r.back {
		return r.Devices[device].Undo(have, to)
	}
	return r.Devices[device].Step(have, to)
}

// decide ends the device's own timer. It makes the device undo the change, which takes back everything that was done since:
// where others have changed lines meanwhile, the change is confirmed, and led back by weir's inverse, which leaves theirs. What led
// back already is confirmed. What comes of it is seen when the device is read; the error tells that nothing was done.
func (m *member) decide(ctx context.Context, have plan.State) error {
	if m.connect(ctx) != nil {
		return nil
	}
	if err := m.hold(ctx); err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, m.Timeout)
	defer stop()
	theirs := m.rest == "" || digestOf(have.Rest) != m.rest
	back := strings.HasPrefix(m.pending.Name, undoName) && len(differ(m.before, have.Owned)) == 0
	decide := m.target.Cancel
	if theirs || back {
		decide = m.target.Confirm
	}
	if err := decide(ctx, *m.pending); err != nil && !errors.Is(err, drivers.ErrDecided) {
		m.close()
		return nil
	}
	m.kept = true
	return nil
}

// restored notes that the device is as before.
func (m *member) restored(have plan.State) error {
	if err := m.own(m.owning(m.objects)); err != nil {
		return err
	}
	m.lost = missing(m.lines, have.Rest)
	return m.log(journal.Record{Kind: journal.Undone, Digest: have.Owned.Digest(), Lines: m.lost})
}

func summaries(findings diag.List) string {
	var words []string
	for _, f := range findings {
		words = append(words, f.Summary)
	}
	return strings.Join(words, "; ")
}
