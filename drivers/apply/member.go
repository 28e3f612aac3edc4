package apply

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/intent/plan"
)

// member is one device of a wave.
type member struct {
	*run
	wave    int
	step    plan.Step
	target  drivers.Target // nil: not connected
	noted   bool           // what follows was read and is in the journal
	doubt   bool           // records about it are lost: it is looked at whatever the others say
	before  plan.Document  // as the device was read before anything was sent
	others  []string       // lines of others then; not known of a run that was cut off
	rest    plan.Digest    // of these lines, where the device has a commit timer
	lines   []string       // of others, that were new when the device was read last
	reached plan.Digest    // of what was read back when it held what was wanted
	objects []string       // that were weir's before
	pending *plan.Pending  // nil: nothing was announced
	sent    time.Time      // when the last message was answered; zero: none was sent
	kept    bool           // decided on the device: its own timer no longer undoes it
	marked  bool           // the run's marker was seen on the device
	bare    bool           // the device holds no marker
	outcome journal.Outcome
	why     error
	leaves  []string
	lost    []string // lines of others that the device's timer took with it
}

func (m *member) name() string { return m.step.Device }

func (m *member) log(rec journal.Record) error {
	rec.Wave, rec.Device = m.wave, m.name()
	return m.append(rec)
}

// connect dials unless the device is connected.
func (m *member) connect(ctx context.Context) error {
	if m.target != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, m.Timeout)
	defer cancel()
	t, err := m.Dial(ctx, m.name())
	if err != nil {
		return err
	}
	m.target = t
	return nil
}

// close ends the connection. What a device says to a goodbye does not matter.
func (m *member) close() {
	if m.target != nil {
		_ = m.target.Close()
		m.target = nil
	}
}

// read asks the device for its configuration. A connection that failed is thrown away.
func (m *member) read(ctx context.Context) (plan.State, error) {
	if err := m.connect(ctx); err != nil {
		return plan.State{}, err
	}
	device := m.Devices[m.name()]
	ctx, cancel := context.WithTimeout(ctx, m.Timeout)
	defer cancel()
	answers, err := m.target.Get(ctx, device.Queries())
	if err != nil {
		m.close()
		return plan.State{}, fmt.Errorf("%s: read the configuration: %w", m.name(), err)
	}
	state, err := device.Read(answers)
	if err != nil {
		return plan.State{}, fmt.Errorf("%s: read the configuration: %w", m.name(), err)
	}
	return state, nil
}

// prepare makes the device this run's, and writes down what it is before anything is sent, and what will be weir's.
func (m *member) prepare(ctx context.Context) error {
	if len(m.step.Chunks) > 0 {
		if err := m.hold(ctx); err != nil {
			return err
		}
	}
	state, err := m.read(ctx)
	if err != nil {
		return err
	}
	if state.Owned.Digest() != m.step.Base {
		if len(m.remaining(m.name(), state)) > 0 {
			return &StaleError{map[string][]string{m.name(): changedParts(m.step, state)}}
		}
		m.step.Chunks, m.step.Persist = nil, nil
	}
	m.before = state.Owned
	note := journal.Record{Kind: journal.Before, Owned: m.before}
	if m.step.Confirm > 0 {
		m.others, m.rest = state.Rest, digestOf(state.Rest)
		note.Rest = m.rest
	}
	return m.own(func(manifest plan.Manifest) error {
		m.objects = slices.Clone(manifest[m.name()])
		note.Objects = m.objects
		if err := m.log(note); err != nil {
			return err
		}
		m.noted = true
		for _, l := range m.want[m.name()] {
			if l.Object != "" && !slices.Contains(manifest[m.name()], l.Object) {
				manifest[m.name()] = append(manifest[m.name()], l.Object)
			}
		}
		return nil
	})
}

// timed says that the device may still undo by itself what was sent.
func (m *member) timed() bool { return m.pending != nil && !m.kept }

// digestOf is the digest of lines, in whatever order.
func digestOf(lines []string) plan.Digest {
	sum := sha256.Sum256([]byte(strings.Join(slices.Sorted(slices.Values(lines)), "\n")))
	return plan.Digest(hex.EncodeToString(sum[:]))
}

// newLines are the lines of others that stand there now and did not before, where that is known.
func (m *member) newLines(state plan.State) []string {
	if m.rest == "" || m.rest != digestOf(m.others) {
		return m.lines
	}
	return missing(state.Rest, m.others)
}

// missing are the lines that are not among others.
func missing(lines, others []string) []string {
	var out []string
	for _, l := range lines {
		if !slices.Contains(others, l) {
			out = append(out, l)
		}
	}
	return out
}

// send sends the chunks of a step under a name, each announced first. Where there are none it leaves the device in peace. A step of
// the plan is announced with its changes.
func (m *member) send(ctx context.Context, step plan.Step, name string, planned bool) error {
	if len(step.Chunks) == 0 {
		return nil
	}
	if err := m.connect(ctx); err != nil {
		return err
	}
	p := plan.Pending{Device: m.name(), Name: name, Route: step.Route}
	if step.Confirm > 0 {
		p.Confirm, p.Deadline = step.Confirm, m.Store.Time().Add(step.Confirm)
	}
	note := journal.Record{Kind: journal.Pending, Pending: &p, Flaps: step.Flaps()}
	if planned {
		note.Changes = told(step.Changes)
	}
	if err := m.log(note); err != nil {
		return err
	}
	m.pending, m.kept = &p, step.Confirm == 0
	for i, chunk := range step.Chunks {
		if err := m.log(journal.Record{Kind: journal.Sending, Chunk: i}); err != nil {
			return err
		}
		if err := m.set(ctx, step, chunk, p); err != nil {
			return fmt.Errorf("%s: chunk %d of %d: %w", m.name(), i+1, len(step.Chunks), err)
		}
		m.sent = m.Store.Time()
		if err := m.log(journal.Record{Kind: journal.Sent, Chunk: i}); err != nil {
			return err
		}
	}
	return nil
}

// told are changes without their places in the repo.
func told(changes []plan.Change) []plan.Change {
	out := slices.Clone(changes)
	for i := range out {
		out[i].Because = nil
	}
	return out
}

// set sends one chunk to a device that is this run's. After an error that leaves the connection in doubt it is thrown away.
func (m *member) set(ctx context.Context, step plan.Step, chunk plan.Chunk, p plan.Pending) error {
	if err := m.hold(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, m.Timeout+time.Duration(3*float64(step.Cost)/m.Scale))
	defer cancel()
	err := m.target.Set(ctx, chunk, p)
	var rejected *drivers.RejectedError
	if err != nil && !errors.As(err, &rejected) {
		m.close()
	}
	return err
}

// confirm confirms what was sent, if anything was, and makes it persistent.
func (m *member) confirm(ctx context.Context, step plan.Step) error {
	if m.pending == nil {
		return nil
	}
	if err := m.connect(ctx); err != nil {
		return err
	}
	if err := m.hold(ctx); err != nil {
		return err
	}
	asking, cancel := context.WithTimeout(ctx, m.Timeout)
	defer cancel()
	if err := m.confirmPending(asking); err != nil {
		m.close()
		return fmt.Errorf("%s: confirm: %w", m.name(), err)
	}
	m.kept = true
	return m.persist(ctx, step)
}

// persist makes what the device holds survive a restart, where the route does not do that by itself. The device is connected.
func (m *member) persist(ctx context.Context, step plan.Step) error {
	if len(step.Persist) == 0 {
		return nil
	}
	save := *m.pending
	save.Name, save.Confirm, save.Deadline = m.pending.Name+"-save", 0, time.Time{}
	if err := m.hold(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, m.Timeout)
	defer cancel()
	if err := m.target.Set(ctx, plan.Chunk{Send: step.Persist}, save); err != nil {
		m.close()
		return fmt.Errorf("%s: applied, but not made persistent: %w", m.name(), err)
	}
	return nil
}

// confirmPending makes the device keep what was sent. One that says that nothing waits any more kept it before, where the answer was lost
// or the process killed, or has undone it by itself: what it holds tells which.
func (m *member) confirmPending(ctx context.Context) error {
	err := m.target.Confirm(ctx, *m.pending)
	if !errors.Is(err, drivers.ErrDecided) {
		return err
	}
	state, unread := m.read(ctx)
	if unread != nil {
		return unread
	}
	if state.Owned.Digest() != m.reached {
		return &movedError{m.name()}
	}
	return nil
}

// unmovedNow is unmoved within the time of one operation.
func (m *member) unmovedNow(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, m.Timeout)
	defer cancel()
	return m.unmoved(ctx)
}

// confirmed notes that the device's change stays. A rollback gives back what its run had taken into the manifest.
func (m *member) confirmed() error {
	if m.owners != nil {
		if err := m.own(m.owning(m.owners[m.name()])); err != nil {
			return err
		}
	}
	if err := m.log(journal.Record{Kind: journal.Confirmed}); err != nil {
		return err
	}
	m.outcome, m.kept = journal.Applied, true
	return nil
}

// owning makes the objects those that are weir's on the device.
func (m *member) owning(objects []string) func(plan.Manifest) error {
	return func(manifest plan.Manifest) error {
		manifest[m.name()] = objects
		if len(objects) == 0 {
			delete(manifest, m.name())
		}
		return nil
	}
}

// settled waits until nothing on the device still changes it and two readings agree, and gives that reading. It gives up
// when patience ends.
func (m *member) settled(ctx context.Context) (plan.State, error) {
	ctx, cancel := context.WithTimeout(ctx, m.Patience)
	defer cancel()
	var last plan.Digest
	for {
		state, quiet, err := m.look(ctx)
		if err == nil && quiet {
			now := state.Owned.Digest()
			if now == last {
				return state, nil
			}
			last = now
		} else {
			last = ""
		}
		select {
		case <-ctx.Done():
			if err == nil {
				err = errors.New("it keeps changing")
			}
			return plan.State{}, &drivers.UnknownError{Device: m.name(), Err: fmt.Errorf("no two equal readings within %v: %w", m.Patience, err)}
		case <-time.After(m.Poll):
		}
	}
}

// look reads the device once and says whether its updaters are quiet.
func (m *member) look(ctx context.Context) (plan.State, bool, error) {
	if err := m.connect(ctx); err != nil {
		return plan.State{}, false, err
	}
	if len(m.step.Quiet) > 0 {
		asking, cancel := context.WithTimeout(ctx, m.Timeout)
		answers, err := m.target.Get(asking, m.step.Quiet)
		cancel()
		if err != nil {
			m.close()
			return plan.State{}, false, err
		}
		for _, a := range answers {
			if !a.Missing && strings.TrimSpace(string(a.Body)) != "" {
				return plan.State{}, false, nil
			}
		}
	}
	state, err := m.read(ctx)
	return state, true, err
}

// differ lists the leaves in which two documents differ, as a person reads them.
func differ(before, now plan.Document) []string {
	was := map[string]string{}
	for _, l := range before {
		was[strings.Join(l.Path, " ")] = l.Value
	}
	var out []string
	for _, l := range now {
		path := strings.Join(l.Path, " ")
		old, there := was[path]
		if !there {
			out = append(out, fmt.Sprintf("%s: %q is new", path, l.Value))
		} else if old != l.Value {
			out = append(out, fmt.Sprintf("%s: %q, before %q", path, l.Value, old))
		}
		delete(was, path)
	}
	for path, old := range was {
		out = append(out, fmt.Sprintf("%s: gone, before %q", path, old))
	}
	slices.Sort(out)
	return out
}
