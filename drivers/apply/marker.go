package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/intent/plan"
)

// MarkedError says that another run is changing a device, or was cut off while it did. Nothing is sent to it.
type MarkedError struct {
	Device string
	By     drivers.Marker
}

func (e *MarkedError) Error() string {
	if e.By.Run == "" {
		return fmt.Sprintf("%s: its marker is %s: look what it is, and remove it", e.Device, e.By)
	}
	return fmt.Sprintf("%s: %s is changing it, or was cut off: wait for it, or end it there with weir recover; where whoever made it and its journal are gone: --take-over %s",
		e.Device, e.By, e.By.Run)
}

// goneError says that the marker that this run put on a device stands there no more: somebody removed it, and may have changed the
// device since, or it went with a restart.
type goneError struct{ device string }

func (e *goneError) Error() string {
	return fmt.Sprintf("%s: the marker of this run does not stand on it any more: it was taken over, or the device was started anew; nothing more is sent before weir recover", e.device)
}

// barred says that an error keeps a run off a device for good.
func barred(err error) bool {
	_, marked := errors.AsType[*MarkedError](err)
	_, gone := errors.AsType[*goneError](err)
	_, lost := errors.AsType[*journal.LostError](err)
	return marked || gone || lost
}

// hold makes sure that nobody else changes the device: its marker is this run's, which is put there the first time, and then that
// the run's lock is. It is asked right before whatever changes something. The marker is asked for first, since that takes longer.
func (m *member) hold(ctx context.Context) error {
	if err := m.lease.Held(); err != nil {
		return err
	}
	if err := m.mark(ctx); err != nil {
		return err
	}
	return m.lease.Held()
}

// mark sees that the run's marker stands on the device, and puts it there the first time.
func (m *member) mark(ctx context.Context) error {
	if m.bare {
		return nil
	}
	if m.marked {
		standing, err := m.markers(ctx, drivers.Marking.Markers)
		if err != nil {
			return err
		}
		return m.alone(standing)
	}
	if err := m.connect(ctx); err != nil {
		return err
	}
	if _, ok := m.target.(drivers.Marking); !ok {
		return m.markless("its transport has none")
	}
	if err := m.log(journal.Record{Kind: journal.Marking}); err != nil {
		return err
	}
	standing, err := m.claim(ctx)
	for n := 0; err == nil && n < tries; n++ {
		at := slices.IndexFunc(standing, func(s drivers.Marker) bool { return !s.Same(m.marker) && m.over(s) })
		if at < 0 {
			break
		}
		standing, err = m.takeOver(ctx, standing[at])
	}
	if none, ok := errors.AsType[*drivers.NoMarkerError](err); ok {
		return errors.Join(m.log(journal.Record{Kind: journal.Unmarked, Text: none.Why}), m.markless(none.Why))
	}
	if err != nil {
		return fmt.Errorf("%s: mark it as this run's: %w", m.name(), err)
	}
	if err := m.alone(standing); err != nil {
		return errors.Join(err, m.log(journal.Record{Kind: journal.Unmarked, Text: "it is another run's"}))
	}
	m.marked = true
	return nil
}

// takeOver puts the run's marker in the place of another.
func (m *member) takeOver(ctx context.Context, other drivers.Marker) ([]drivers.Marker, error) {
	if err := m.log(journal.Record{Kind: journal.Marking, Text: "taken over from " + other.String()}); err != nil {
		return nil, err
	}
	if err := m.unclaim(ctx, other); err != nil {
		return nil, err
	}
	return m.claim(ctx)
}

// markless notes that no marker can stand on the device, which is nobody's then.
func (m *member) markless(why string) error {
	m.bare = true
	m.reporting.Lock()
	defer m.reporting.Unlock()
	if l := (Left{m.name(), why}); !slices.Contains(m.result.Unmarked, l) {
		m.result.Unmarked = append(m.result.Unmarked, l)
		slices.SortFunc(m.result.Unmarked, byDevice)
	}
	return nil
}

// alone says why the device is not this run's: another marker stands there, or its own does not.
func (m *member) alone(standing []drivers.Marker) error {
	own := false
	for _, s := range standing {
		if !s.Same(m.marker) {
			return &MarkedError{m.name(), s}
		}
		own = true
	}
	if !own {
		return &goneError{m.name()}
	}
	return nil
}

func (m *member) claim(ctx context.Context) ([]drivers.Marker, error) {
	return m.markers(ctx, func(k drivers.Marking, ctx context.Context) ([]drivers.Marker, error) { return k.Claim(ctx, m.marker) })
}

func (m *member) unclaim(ctx context.Context, other drivers.Marker) error {
	_, err := m.markers(ctx, func(k drivers.Marking, ctx context.Context) ([]drivers.Marker, error) {
		return nil, k.Unclaim(ctx, other)
	})
	return err
}

// markers asks the device about markers. What went wrong on the way is tried again on another connection: everything that is asked
// for may be asked for twice.
func (m *member) markers(ctx context.Context, ask func(drivers.Marking, context.Context) ([]drivers.Marker, error)) (standing []drivers.Marker, err error) {
	for n := range tries {
		if n > 0 {
			m.close()
			select {
			case <-ctx.Done():
				return nil, err
			case <-time.After(m.Poll):
			}
		}
		if err = m.connect(ctx); err != nil {
			continue
		}
		k, ok := m.target.(drivers.Marking)
		if !ok {
			return nil, &drivers.NoMarkerError{Device: m.name(), Why: "its transport has none"}
		}
		asking, stop := context.WithTimeout(ctx, m.Timeout)
		standing, err = ask(k, asking)
		stop()
		if _, none := errors.AsType[*drivers.NoMarkerError](err); none || err == nil {
			return standing, err
		}
	}
	return nil, err
}

// over says whether another run's marker may be taken over: the operator named that run, or it is of this journal, which has its end.
func (r *run) over(other drivers.Marker) bool {
	if r.TakeOver != "" && other.Of(r.TakeOver) {
		return true
	}
	if other.ID != r.marker.ID {
		return false
	}
	runs, err := r.Store.Runs()
	at := slices.IndexFunc(runs, other.Of)
	if err != nil || at < 0 {
		return false
	}
	over, err := r.Store.Over(runs[at])
	return err == nil && over
}

// unclaimed is an error where a device is another run's. A device that holds no marker is nobody's.
func (m *member) unclaimed(ctx context.Context) error {
	standing, err := m.markers(ctx, drivers.Marking.Markers)
	if _, none := errors.AsType[*drivers.NoMarkerError](err); none {
		return nil
	}
	for _, s := range standing {
		if !s.Same(m.marker) && !m.over(s) {
			return &MarkedError{m.name(), s}
		}
	}
	return err
}

// unmark takes the run's markers off the devices that it is done with, and off all where it is given up. Those that it cannot
// reach are in the result: the next run of this journal takes them over.
func (r *run) unmark(ctx context.Context, members []*member, all bool) {
	var left []*member
	for n, w := range journal.Replay(r.journal.Records()).Waves {
		for _, d := range w.Devices {
			done := d.Outcome != "" || d.Pending == nil && !d.Doubt
			if !d.Marked && !(all && d.Doubt) || !done && !all {
				continue
			}
			at := slices.IndexFunc(members, func(m *member) bool { return m.name() == d.Name && m.wave == n })
			if at >= 0 {
				left = append(left, members[at])
				continue
			}
			left = append(left, &member{run: r, wave: n, step: plan.Step{Device: d.Name}})
		}
	}
	_ = r.all(left, func(m *member) error {
		defer m.close()
		err := m.unmarkOne(ctx)
		r.reporting.Lock()
		defer r.reporting.Unlock()
		r.result.Marked = slices.DeleteFunc(r.result.Marked, func(l Left) bool { return l.Device == m.name() })
		if err != nil {
			r.result.Marked = append(r.result.Marked, Left{m.name(), err.Error()})
		}
		return nil
	})
	slices.SortFunc(r.result.Marked, byDevice)
}

// unmarkOne removes the run's marker, and no other.
func (m *member) unmarkOne(ctx context.Context) error {
	if m.Devices[m.name()] == nil {
		return errors.New("it is not in the inventory any more")
	}
	if err := m.lease.Held(); err != nil {
		return err
	}
	standing, err := m.markers(ctx, drivers.Marking.Markers)
	if err != nil {
		return err
	}
	for _, s := range standing {
		if !s.Same(m.marker) {
			continue
		}
		if err := m.unclaim(ctx, s); err != nil {
			return err
		}
	}
	m.marked = false
	return m.log(journal.Record{Kind: journal.Unmarked})
}
