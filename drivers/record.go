package drivers

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/weirfabric/weir/intent/plan"
)

// Recorder writes what is said to devices and what they answer, one JSON object an exchange, as a fixture for tests and
// for bug reports. Secrets are taken out: those that weir was given, and what looks like one in a device's answer.
type Recorder struct {
	Dialer Dialer
	To     io.Writer

	mu sync.Mutex
}

// Exchange is one line of a recording.
type Exchange struct {
	Device  string        `json:"device"`
	Call    string        `json:"call"` // dial, get, set, confirm, cancel, claim, markers, unclaim
	Queries []plan.Query  `json:"queries,omitempty"`
	Answers []Said        `json:"answers,omitempty"`
	Chunk   *plan.Chunk   `json:"chunk,omitempty"`
	Pending *plan.Pending `json:"pending,omitempty"`
	Error   string        `json:"error,omitempty"`
}

// Said is a recorded answer.
type Said struct {
	Name    string `json:"name"`
	Body    string `json:"body,omitempty"`
	Missing bool   `json:"missing,omitempty"`
}

// Dial connects, and records that.
func (r *Recorder) Dial(ctx context.Context, e Endpoint) (Target, error) {
	t, err := r.Dialer.Dial(ctx, e)
	rec := &recorded{recorder: r, target: t, device: e.Device, secrets: []Secret{e.Password, e.Key}}
	if werr := rec.write(Exchange{Call: "dial"}, err); err == nil {
		err = werr
	}
	if err != nil {
		if t != nil {
			err = errors.Join(err, t.Close())
		}
		return nil, err
	}
	return rec, nil
}

type recorded struct {
	recorder *Recorder
	target   Target
	device   string
	secrets  []Secret
}

// write appends an exchange that ended with err. Its own error is that of the recording.
func (r *recorded) write(x Exchange, err error) error {
	x.Device = r.device
	if err != nil {
		x.Error = r.clean(err.Error())
	}
	line, merr := json.Marshal(x)
	if merr != nil {
		return merr
	}
	r.recorder.mu.Lock()
	defer r.recorder.mu.Unlock()
	_, werr := r.recorder.To.Write(append(line, '\n'))
	return werr
}

func (r *recorded) clean(text string) string { return Redact(text, r.secrets...) }

func (r *recorded) Get(ctx context.Context, qs []plan.Query) ([]plan.Answer, error) {
	answers, err := r.target.Get(ctx, qs)
	x := Exchange{Call: "get", Queries: qs}
	for _, a := range answers {
		x.Answers = append(x.Answers, Said{Name: a.Name, Body: r.clean(string(a.Body)), Missing: a.Missing})
	}
	if werr := r.write(x, err); err == nil {
		err = werr
	}
	return answers, err
}

// Set, Confirm and Cancel do not report an error of the recording: the outcome on the device is what the caller must know.
func (r *recorded) Set(ctx context.Context, c plan.Chunk, p plan.Pending) error {
	err := r.target.Set(ctx, c, p)
	said := plan.Chunk{Send: r.cleanMessages(c.Send), Undo: r.cleanMessages(c.Undo), Impact: c.Impact}
	_ = r.write(Exchange{Call: "set", Chunk: &said, Pending: &p}, err)
	return err
}

func (r *recorded) cleanMessages(ms []plan.Message) []plan.Message {
	clean := make([]plan.Message, len(ms))
	for i, m := range ms {
		clean[i] = plan.Message{Op: m.Op, Path: m.Path, Body: r.clean(m.Body)}
	}
	return clean
}

func (r *recorded) Confirm(ctx context.Context, p plan.Pending) error {
	err := r.target.Confirm(ctx, p)
	_ = r.write(Exchange{Call: "confirm", Pending: &p}, err)
	return err
}

func (r *recorded) Cancel(ctx context.Context, p plan.Pending) error {
	err := r.target.Cancel(ctx, p)
	_ = r.write(Exchange{Call: "cancel", Pending: &p}, err)
	return err
}

// Claim, Markers and Unclaim are recorded with the markers that stand after them.
func (r *recorded) Claim(ctx context.Context, m Marker) ([]Marker, error) {
	return r.marked("claim", func(k Marking) ([]Marker, error) { return k.Claim(ctx, m) })
}

func (r *recorded) Markers(ctx context.Context) ([]Marker, error) {
	return r.marked("markers", func(k Marking) ([]Marker, error) { return k.Markers(ctx) })
}

func (r *recorded) Unclaim(ctx context.Context, m Marker) error {
	_, err := r.marked("unclaim", func(k Marking) ([]Marker, error) { return nil, k.Unclaim(ctx, m) })
	return err
}

func (r *recorded) marked(call string, do func(Marking) ([]Marker, error)) ([]Marker, error) {
	k, err := markingOf(r.target, r.device)
	if err != nil {
		return nil, err
	}
	standing, err := do(k)
	x := Exchange{Call: call}
	for _, m := range standing {
		x.Answers = append(x.Answers, Said{Name: "marker", Body: r.clean(m.Text)})
	}
	_ = r.write(x, err)
	return standing, err
}

func (r *recorded) Close() error { return r.target.Close() }
