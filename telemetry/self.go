package telemetry

import (
	"context"
	"sync"
	"time"

	"github.com/weirfabric/weir/intent/addr"
)

// selfEvery is how often a source tells of itself.
const selfEvery = 5 * time.Second

// Self is what a source knows of its own work on one device, as metrics. It may be used from many goroutines at once.
type Self struct {
	device string
	sink   Sink
	every  time.Duration
	quiet  bool

	mu                             sync.Mutex
	parts                          map[string]*part
	reconnects, updates, unmatched uint64
	last                           time.Time
	lag                            time.Duration
}

// part is one stream, or the polling as a whole.
type part struct {
	up     bool
	gone   bool // refused for good: the target can be up without it
	silent int  // paths that bring nothing
}

// NewSelf watches over a source. Scale is how many seconds of the device pass in one of ours. A quiet one counts and tells
// nothing: a device that has streams is up or down by them, not by what is polled beside.
func NewSelf(device string, sink Sink, scale float64, quiet bool) *Self {
	return &Self{device: device, sink: sink, every: time.Duration(float64(selfEvery) / scale), quiet: quiet, parts: map[string]*part{}}
}

// Every is how often the source tells of itself.
func (s *Self) Every() time.Duration { return s.every }

// Part begins to watch a part, which is down at first.
func (s *Self) Part(name string) { s.change(name, func(*part) {}) }

// Up notes that the part works.
func (s *Self) Up(name string) { s.change(name, func(p *part) { p.up = true }) }

// Down notes that the part does not work, and tells at once.
func (s *Self) Down(name string) {
	s.change(name, func(p *part) { p.up = false })
	s.Unreachable()
}

// Unreachable tells at once that the device does not answer.
func (s *Self) Unreachable() { s.put([]Sample{s.sample(TargetUp, 0, time.Now())}) }

// Gone notes that the part was refused for good, and how many paths are lost with it.
func (s *Self) Gone(name string, paths int) {
	s.change(name, func(p *part) { p.gone, p.silent = true, paths })
}

// Silent notes how many paths of the part bring nothing.
func (s *Self) Silent(name string, paths int) { s.change(name, func(p *part) { p.silent = paths }) }

// Reconnect notes that something was tried again.
func (s *Self) Reconnect() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reconnects++
}

// Took notes updates, of which some no binding reads, and the device's time of them; zero: it does not say.
func (s *Self) Took(updates, unmatched int, taken, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.updates += uint64(updates)
	s.unmatched += uint64(unmatched)
	s.last = now
	if !taken.IsZero() {
		s.lag = now.Sub(taken)
	}
}

func (s *Self) change(name string, to func(*part)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.parts[name]
	if !ok {
		p = &part{}
		s.parts[name] = p
	}
	to(p)
}

// Run tells until ctx ends.
func (s *Self) Run(ctx context.Context) {
	ticker := time.NewTicker(s.every)
	defer ticker.Stop()
	for {
		s.put(s.samples(time.Now()))
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (s *Self) put(samples []Sample) {
	if !s.quiet {
		s.sink.Put(samples)
	}
}

func (s *Self) samples(now time.Time) []Sample {
	s.mu.Lock()
	defer s.mu.Unlock()
	working, down, silent := 0, 0, 0
	for _, p := range s.parts {
		silent += p.silent
		switch {
		case p.up:
			working++
		case !p.gone:
			down++
		}
	}
	up := 0.0
	if working > 0 && down == 0 {
		up = 1
	}
	out := []Sample{
		s.sample(TargetUp, up, now),
		s.sample(Reconnects, float64(s.reconnects), now),
		s.sample(Updates, float64(s.updates), now),
		s.sample(Unmatched, float64(s.unmatched), now),
		s.sample(SilentPaths, float64(silent), now),
	}
	if !s.last.IsZero() {
		out = append(out, s.sample(LastUpdate, float64(s.last.UnixNano())/1e9, now), s.sample(Lag, s.lag.Seconds(), now))
	}
	return out
}

func (s *Self) sample(m *Metric, v float64, now time.Time) Sample {
	return Sample{Metric: m, Addr: addr.Device(s.device), Value: v, At: now, Every: s.every}
}
