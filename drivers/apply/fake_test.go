package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/plan"
)

// device is a small device: keys and values, and where timed is set a commit timer like that of a session language.
type device struct {
	name  string
	timed bool

	mu       sync.Mutex
	running  map[string]string
	saved    map[string]string
	base     map[string]string // what an open timer goes back to
	open     string            // the name whose timer runs
	dead     bool
	fault    string // of the next Set: reject, hang, partial, lost
	updating int    // looks until a hung change takes effect
	mute     string // of the next Confirm, which takes effect: its answer is lost; dies: the device with it; changed: somebody comes after it; expired: the timer came first
	late     map[string]string
	invalid  error // what a validation comes to
	away     int   // Sets for which there is nobody to talk to, after the fault

	markable bool
	marker   string       // that stands on it
	unmarked error        // what a Claim comes to, once
	looked   func()       // is called whenever somebody asks for the marker, before the answer
	sets     []plan.Route // of what was sent
}

// words is the language of device; it satisfies Device.
type words struct {
	name  string
	timed bool
}

func (w words) Device() string { return w.name }
func (w words) Queries() []plan.Query {
	return []plan.Query{{Name: "all", Ways: []plan.Way{{Via: plan.SSH, Text: "show"}}}}
}

func (w words) Read(answers []plan.Answer) (plan.State, error) {
	var values map[string]string
	if err := json.Unmarshal(answers[0].Body, &values); err != nil {
		return plan.State{}, err
	}
	s := plan.State{Owned: document(w.name, values)}
	for _, k := range slices.Sorted(maps.Keys(values)) {
		if k[0] == '#' {
			s.Rest = append(s.Rest, k+" "+values[k])
		}
	}
	return s, nil
}

// Write is what every fleet wants.
func (w words) Write() (plan.Document, diag.List) {
	return document(w.name, map[string]string{"pfc": "3", "ecn": "150kB"}), nil
}

// Undo is a step whose last line goes first: a device of keys and values has no other order.
func (w words) Undo(have plan.State, before plan.Document) (plan.Step, diag.List) {
	s, findings := w.Step(have, before)
	for _, c := range s.Chunks {
		slices.Reverse(c.Send)
	}
	if w.timed {
		s.Confirm, s.ConfirmMost = time.Minute, time.Hour
	}
	return s, findings
}

func document(name string, values map[string]string) plan.Document {
	var d plan.Document
	for _, k := range slices.Sorted(maps.Keys(values)) {
		if k[0] != '#' { // foreign
			d = append(d, plan.Leaf{Path: []string{k}, Value: values[k], Addr: addr.Port(name, "p1").Of(addr.Queue, k), Object: "object of " + name})
		}
	}
	return d
}

func (w words) Step(have plan.State, want plan.Document) (plan.Step, diag.List) {
	s := plan.Step{Device: w.name, Base: have.Owned.Digest(), Parts: have.Owned.Parts(), Route: plan.SSHSession,
		Quiet: []plan.Query{{Name: "quiet"}}, Persist: []plan.Message{{Op: plan.Run, Body: "save"}}}
	was, will := map[string]string{}, map[string]string{}
	for _, l := range have.Owned {
		was[l.Path[0]] = l.Value
	}
	for _, l := range want {
		will[l.Path[0]] = l.Value
	}
	var c plan.Chunk
	for _, k := range slices.Sorted(maps.Keys(will)) {
		if was[k] != will[k] {
			c.Send = append(c.Send, plan.Message{Op: plan.SetUpdate, Path: k, Body: will[k]})
			s.Changes = append(s.Changes, plan.Change{Addr: addr.Device(w.name), Before: was[k], After: will[k]})
		}
	}
	for _, k := range slices.Sorted(maps.Keys(was)) {
		if _, stays := will[k]; !stays {
			c.Send = append(c.Send, plan.Message{Op: plan.SetDelete, Path: k})
			s.Changes = append(s.Changes, plan.Change{Addr: addr.Device(w.name), Before: was[k]})
		}
	}
	if len(c.Send) > 0 {
		s.Chunks = []plan.Chunk{c}
	}
	return s, nil
}

// target is a connection to a device.
type target struct{ *device }

func (d *device) dial() (drivers.Target, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dead {
		return nil, &drivers.UnreachableError{Device: d.name, Address: "fake", Err: errors.New("no route")}
	}
	if d.markable {
		return marking{target{d}}, nil
	}
	return target{d}, nil
}

// marking is a connection to a device that holds a marker.
type marking struct{ target }

func (t marking) Claim(ctx context.Context, m drivers.Marker) ([]drivers.Marker, error) {
	t.mu.Lock()
	err := t.unmarked
	t.unmarked = nil
	if err == nil && !t.dead && t.marker == "" {
		t.marker = m.Line()
	}
	t.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return t.Markers(ctx)
}

func (t marking) Markers(context.Context) ([]drivers.Marker, error) {
	t.mu.Lock()
	looked := t.looked
	t.mu.Unlock()
	if looked != nil {
		looked()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.dead:
		return nil, &drivers.UnreachableError{Device: t.name, Address: "fake", Err: errors.New("connection lost")}
	case t.marker == "":
		return nil, nil
	}
	return []drivers.Marker{drivers.ParseMarker(t.marker)}, nil
}

func (t marking) Unclaim(_ context.Context, m drivers.Marker) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dead {
		return &drivers.UnreachableError{Device: t.name, Address: "fake", Err: errors.New("connection lost")}
	}
	if t.marker == m.Text {
		t.marker = ""
	}
	return nil
}

func (t target) Get(_ context.Context, qs []plan.Query) ([]plan.Answer, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dead {
		return nil, errors.New("connection lost")
	}
	var out []plan.Answer
	for _, q := range qs {
		if q.Name == "quiet" {
			a := plan.Answer{Name: q.Name, Missing: t.late == nil}
			if t.late != nil {
				a.Body = []byte("updater")
				if t.updating--; t.updating <= 0 {
					maps.Copy(t.running, t.late)
					t.late = nil
				}
			}
			out = append(out, a)
			continue
		}
		body, _ := json.Marshal(t.running)
		out = append(out, plan.Answer{Name: q.Name, Body: body})
	}
	return out, nil
}

func (t target) Set(_ context.Context, c plan.Chunk, p plan.Pending) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dead {
		return &drivers.UnknownError{Device: t.name, Err: errors.New("connection lost")}
	}
	if t.away > 0 && t.fault == "" {
		t.away--
		return drivers.NotSent(t.name, &drivers.UnreachableError{Device: t.name, Address: "fake", Err: errors.New("connection refused")})
	}
	t.sets = append(t.sets, p.Route)
	if c.Send[0].Body == "validate" {
		return t.invalid
	}
	if c.Send[0].Body == "save" {
		t.saved = maps.Clone(t.running)
		return nil
	}
	fault := t.fault
	t.fault = ""
	if fault == "reject" {
		return &drivers.RejectedError{Device: t.name, Reason: "invalid input"}
	}
	if t.timed {
		if t.open != "" {
			return &drivers.RejectedError{Device: t.name, Reason: "a timer is running"}
		}
		t.open, t.base = p.Name, maps.Clone(t.running)
	}
	for i, m := range c.Send {
		if fault == "partial" && i == len(c.Send)/2 {
			return &drivers.PartialError{Device: t.name, Done: i, Err: errors.New("out of memory")}
		}
		if fault == "hang" {
			t.late, t.updating = map[string]string{}, 3
			for _, m := range c.Send {
				t.late[m.Path] = m.Body
			}
			return &drivers.UnknownError{Device: t.name, Err: context.DeadlineExceeded}
		}
		if m.Op == plan.SetDelete {
			delete(t.running, m.Path)
		} else {
			t.running[m.Path] = m.Body
		}
	}
	if fault == "lost" {
		t.dead = true
		return &drivers.UnknownError{Device: t.name, Err: errors.New("connection lost")}
	}
	return nil
}

func (t target) Confirm(_ context.Context, p plan.Pending) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dead {
		return errors.New("connection lost")
	}
	if t.timed && t.open != p.Name {
		return &drivers.RejectedError{Device: t.name, Reason: "no session " + p.Name, Err: drivers.ErrDecided}
	}
	if t.mute == "expired" {
		t.mute, t.running, t.open, t.base = "", t.base, "", nil
		return &drivers.RejectedError{Device: t.name, Reason: "no session " + p.Name, Err: drivers.ErrDecided}
	}
	t.open, t.base = "", nil
	if t.mute == "changed" {
		t.mute, t.running["pfc"] = "", "5"
		return nil
	}
	if mute := t.mute; mute != "" {
		t.mute, t.dead = "", mute == "dies"
		return &drivers.UnknownError{Device: t.name, Err: errors.New("connection lost")}
	}
	return nil
}

func (t target) Cancel(_ context.Context, p plan.Pending) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dead {
		return errors.New("connection lost")
	}
	if t.timed && t.open == p.Name {
		t.running, t.open, t.base = t.base, "", nil
	}
	return nil
}

func (t target) Close() error { return nil }

// fleet is a few devices and what is wanted of them.
type fleet struct {
	devices map[string]*device
	config  Config
	want    map[string]plan.Document
	plan    plan.Plan

	mu     sync.Mutex
	wrongs []string // what no run may do, and one did
}

func (f *fleet) wrong(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wrongs = append(f.wrongs, fmt.Sprintf(format, args...))
}

// newFleet makes three devices in two waves: a and b first, then c. b has a commit timer.
func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{devices: map[string]*device{}, want: map[string]plan.Document{}}
	f.config = Config{Store: journal.Store{Dir: t.TempDir(), Owner: owner(1)}, Devices: map[string]Device{}, Timeout: time.Second, Patience: 50 * time.Millisecond,
		Poll: time.Microsecond,
		Dial: func(_ context.Context, name string) (drivers.Target, error) { return f.devices[name].dial() }}
	for i, name := range []string{"a", "b", "c"} {
		f.devices[name] = &device{name: name, timed: i == 1, running: map[string]string{"pfc": "off", "old": "1", "#banner": "hands off"}}
		f.config.Devices[name] = words{name: name, timed: i == 1}
		f.want[name] = document(name, map[string]string{"pfc": "3", "ecn": "150kB"})
	}
	f.replan(t, "plan-1")
	return f
}

// owner is a process of this machine that is not there.
func owner(n int) journal.Owner { return journal.Owner{Who: "test@here", PID: 1<<30 + n, Boot: "boot"} }

// replan makes a plan from what runs now.
func (f *fleet) replan(t *testing.T, id string) {
	t.Helper()
	step := func(name string) plan.Step {
		state, err := words{name: name}.Read([]plan.Answer{{Body: f.running(name)}})
		if err != nil {
			t.Fatal(err)
		}
		s, _ := words{name: name}.Step(state, f.want[name])
		if name == "b" {
			s.Confirm, s.ConfirmMost = time.Minute, time.Hour
		}
		return s
	}
	f.plan = plan.Plan{ID: id, Waves: [][]plan.Step{{step("a"), step("b")}, {step("c")}}}
}

func (f *fleet) running(name string) []byte {
	d := f.devices[name]
	d.mu.Lock()
	defer d.mu.Unlock()
	body, _ := json.Marshal(d.running)
	return body
}

// state is what runs on all devices, for comparison.
func (f *fleet) state() map[string]string {
	out := map[string]string{}
	for name := range f.devices {
		out[name] = string(f.running(name))
	}
	return out
}

var (
	_ Device          = words{}
	_ drivers.Marking = marking{}
)
