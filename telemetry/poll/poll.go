// Package poll brings samples by asking over and over, where a device has no stream for them: hosts, and what a switch only
// tells in a command.
package poll

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/telemetry"
	"github.com/weirfabric/weir/templates/pack"
)

// Session is an open connection to a device that can be asked. It is used by one goroutine. An answer that the device does not
// have is Missing, not an error; an error means that the connection is of no more use.
type Session interface {
	Get(ctx context.Context, qs []plan.Query) ([]plan.Answer, error)
	Close() error
}

// Poller asks one device.
type Poller struct {
	Device   telemetry.Device
	Bindings pack.Counters
	Dial     func(ctx context.Context) (Session, error) // an error of kind *drivers.AuthError is one for an operator
	Sink     telemetry.Sink
	Streams  bool              // the device has streams: only what they do not bring is asked
	Log      *slog.Logger      // nil: none
	Scale    float64           // seconds of the device in one of ours; 0: 1. Only in a laboratory is it another
	Retry    time.Duration     // the first pause before the device is dialled again; it grows to 60 times that. 0: 1 s
	Access   *telemetry.Access // what the sources of the device share; nil: it has no other
}

// askTimeout is for a connection, and for one round of questions.
const askTimeout = time.Minute

// Run asks until ctx ends. A device without anything to ask is no error.
func (p *Poller) Run(ctx context.Context) error {
	w := p.start()
	if len(w.rounds) == 0 {
		return nil
	}
	side, stop := context.WithCancel(ctx)
	told := make(chan struct{})
	go func() {
		defer close(told)
		w.self.Run(side)
	}()
	defer func() {
		stop()
		<-told
	}()
	pause := telemetry.Backoff(w.retry)
	for {
		began := time.Now()
		err := w.session(ctx)
		if ctx.Err() != nil {
			return nil
		}
		w.self.Down(polling)
		w.access.Failed(polling, err)
		pause.Worked(began)
		if !w.wait(ctx, pause, err) {
			return nil
		}
		w.self.Reconnect()
	}
}

// wait pauses after an error, long where the device refuses the login. It is false when ctx ended first.
func (w *work) wait(ctx context.Context, pause *drivers.Backoff, err error) bool {
	if refused, ok := errors.AsType[*drivers.AuthError](err); ok {
		w.log.Error("the device refuses the login of the poll", "err", refused)
		return w.access.Refused(ctx, polling)
	}
	w.log.Warn("the device cannot be asked", "err", err)
	return pause.Wait(ctx)
}

// polling is the one part of a poller.
const polling = "polling"

// work is a Poller at work.
type work struct {
	*Poller
	log    *slog.Logger
	scale  float64
	retry  time.Duration
	rounds []*round
	self   *telemetry.Self
	access *telemetry.Access
}

// round is the questions of one poll.
type round struct {
	poll     pack.Poll
	every    time.Duration
	due      time.Time
	queries  []plan.Query
	ports    []string // by query: the port that it asks about; empty: all
	parser   parser
	expected *telemetry.Expected
	off      bool // nothing is to be listed: what it needs is on nowhere
	silent   bool
}

func (p *Poller) start() *work {
	w := &work{Poller: p, log: p.Log, scale: p.Scale, retry: p.Retry, access: p.Access}
	if w.log == nil {
		w.log = slog.New(slog.DiscardHandler)
	}
	w.log = w.log.With("device", p.Device.Name)
	if w.scale == 0 {
		w.scale = 1
	}
	if w.retry == 0 {
		w.retry = time.Second
	}
	if w.access == nil {
		w.access = &telemetry.Access{}
	}
	w.self = telemetry.NewSelf(p.Device.Name, p.Sink, w.scale, p.Streams)
	w.self.Part(polling)
	for _, b := range p.Bindings.Polls {
		if b.Fallback && p.Streams {
			continue
		}
		r := &round{poll: b, every: time.Duration(float64(b.Every) / w.scale), parser: newParser(b), expected: telemetry.NewExpected(p.Device), off: !p.Device.Needed(b.Needs)}
		for _, l := range r.parser.leaves {
			r.expected.Add(l, r.every, b.Needs)
		}
		r.ask(p.Device)
		if len(r.queries) > 0 {
			w.rounds = append(w.rounds, r)
		}
	}
	return w
}

// ask makes the questions: one, or one for each port where the command names it.
func (r *round) ask(d telemetry.Device) {
	add := func(port, text string) {
		name := strings.TrimSuffix(r.poll.Name+"/"+port, "/")
		r.queries = append(r.queries, plan.Query{Name: name, Ways: []plan.Way{{Via: plan.SSH, Text: text}}})
		r.ports = append(r.ports, port)
	}
	if !strings.Contains(r.poll.Ask, "{") {
		add("", r.poll.Ask)
		return
	}
	for _, p := range d.Ports {
		if strings.Contains(r.poll.Ask, "{rdma}") && p.RDMA == "" {
			continue
		}
		add(p.Name, strings.NewReplacer("{port}", plan.Word(p.Name), "{rdma}", plan.Word(p.RDMA)).Replace(r.poll.Ask))
	}
}

// session opens a connection and asks on it until something fails.
func (w *work) session(ctx context.Context) error {
	dialling, cancel := context.WithTimeout(ctx, askTimeout)
	s, err := w.Dial(dialling)
	cancel()
	if err != nil {
		return err
	}
	defer s.Close()
	for {
		next := time.Now().Add(time.Hour)
		for _, r := range w.rounds {
			if now := time.Now(); !now.Before(r.due) {
				r.due = now.Add(r.every)
				if err := w.query(ctx, s, r); err != nil {
					return err
				}
			}
			if r.due.Before(next) {
				next = r.due
			}
		}
		timer := time.NewTimer(time.Until(next))
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C:
		}
	}
}

// query asks one round and puts what it says.
func (w *work) query(ctx context.Context, s Session, r *round) error {
	asking, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	answers, err := s.Get(asking, r.queries)
	if err != nil {
		return err
	}
	now := time.Now()
	var samples []telemetry.Sample
	answered := false
	for _, a := range answers {
		i := slices.IndexFunc(r.queries, func(q plan.Query) bool { return q.Name == a.Name })
		if a.Missing || i < 0 {
			continue
		}
		answered = true
		samples = append(samples, r.read(w.Device.Name, r.ports[i], a.Body, now)...)
	}
	w.self.Up(polling)
	w.access.Works(polling)
	w.self.Took(len(samples), 0, time.Time{}, now)
	w.Sink.Put(append(samples, r.missing(now, answered)...))
	if silent := len(samples) == 0 && !r.off && !(answered && r.optional()); silent != r.silent {
		r.silent = silent
		if silent {
			w.log.Warn("asked but silent", "poll", r.poll.Name)
		}
	}
	w.self.Silent(polling, w.silent())
	return nil
}

// optional says whether an empty answer says enough: nothing is listed of what was never counted.
func (r *round) optional() bool {
	for _, l := range r.parser.leaves {
		if l.Absent != pack.AbsentZero {
			return false
		}
	}
	return true
}

// missing are samples for what did not come. A device that does not know the question has not said that anything is zero.
func (r *round) missing(now time.Time, answered bool) []telemetry.Sample {
	samples := r.expected.Missing(now, nil, true, nil)
	for i := range samples {
		if !answered && samples[i].Status.Counts() {
			samples[i].Status = telemetry.Unsupported
		}
	}
	return samples
}

func (w *work) silent() int {
	n := 0
	for _, r := range w.rounds {
		if r.silent {
			n++
		}
	}
	return n
}

// read turns an answer into samples. Port is the one that was asked about, or empty.
func (r *round) read(device, port string, body []byte, now time.Time) []telemetry.Sample {
	var out []telemetry.Sample
	r.parser.parse(body, func(l *telemetry.Leaf, of, number, text string) {
		if of == "" {
			of = port
		}
		if l.Number != "" {
			number = l.Number
		}
		v, status, ok := l.Read(text)
		if !ok {
			return
		}
		r.expected.Saw(l, of)
		out = append(out, telemetry.Sample{Metric: l.Metric, Addr: l.Metric.At(device, of, number), Value: v, Status: status, At: now, Every: r.every})
	})
	return out
}
