package sim

import (
	"sync"
	"time"

	"github.com/weirfabric/weir/intent/qos"
)

// The data plane is a fluid: flows have rates, not packets. Real queues, PAUSE frames and DCQCN settle in microseconds to
// milliseconds, which is less than the step of the model, so that between two events (a configuration, a scenario, a port,
// a watchdog) every rate is constant. The rates are solved once after each event and the counters grow by them. The state
// is a function of the events and their times alone: the same events give the same counters, nothing runs between them,
// and reading a counter costs a multiplication.

// step is the resolution of the model in device time: what happens within one step happens at once.
const step = 10 * time.Millisecond

// How long a port is down when it flaps: what link training takes, roughly. It is the lab's choice.
const flapTime = time.Second

// plane is the data plane of all devices.
type plane struct {
	specs    []Spec
	topology *topology
	seed     uint64

	mu       sync.Mutex
	now      time.Duration // device time up to which events have happened
	ports    []portState   // by the index of the topology
	devices  []deviceState
	scenario scenario
	dirty    bool     // the rates must be solved anew, from now on
	ledger   []losing // that have ended
}

// deviceState is what one device is set to.
type deviceState struct {
	off       bool
	behaviour Behaviour
}

// portState is one port: what it is set to, and what it counted up to since.
type portState struct {
	set       PortBehaviour
	downUntil time.Duration // it flaps
	flaps     uint64
	up        bool // with its cable and the other end; as of the last solution

	counted   tally // up to since
	rate      tally // a second, from since on
	since     time.Duration
	headroom  [8]qos.Bytes // watermarks
	queue     [8]qos.Bytes
	watchdogs [8]watchdog
}

// kind is one of the things that a port counts.
type kind int

const (
	pfcReceived kind = iota
	pfcSent
	pausedReceived // seconds
	queuePackets
	queueBytes
	queueDropped
	ecnMarked
	groupDropped
	rdmaDropped // of the two before, packets of RDMA traffic
	inPackets   // this and the following are of the whole port and stand in element 0
	outPackets
	inBytes
	outBytes
	cnpSent
	cnpHandled
	ecnReceived
	outOfSequence
	kinds
)

// tally is a number of each kind by priority, queue or priority group.
type tally [kinds][8]float64

// grow adds what a rate brings in some seconds.
func (t *tally) grow(rate *tally, seconds float64) {
	for k := range t {
		for i := range t[k] {
			t[k][i] += rate[k][i] * seconds
		}
	}
}

func newPlane(specs []Spec, seed uint64) (*plane, error) {
	t, err := newTopology(specs)
	if err != nil {
		return nil, err
	}
	return &plane{
		specs:    specs,
		topology: t,
		seed:     seed,
		ports:    make([]portState, len(t.ends)),
		devices:  make([]deviceState, len(specs)),
		scenario: scenario{kind: Quiet, about: none, misfits: none},
		dirty:    true,
	}, nil
}

func (p *plane) byName(device string) int {
	for i, s := range p.specs {
		if s.Name == device {
			return i
		}
	}
	return none
}

// apply sets what a device does from now on.
func (p *plane) apply(now time.Duration, device int, b Behaviour) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.run(now)
	p.devices[device].behaviour = b
	for _, port := range p.topology.ports[device] {
		p.ports[port].set = b.Ports[p.topology.ends[port].spec.Name]
	}
	p.dirty = true
}

// flap takes a port down for a moment. An unknown port is left alone.
func (p *plane) flap(now time.Duration, device int, port string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i, known := p.topology.names[p.specs[device].Name+"/"+port]
	if !known {
		return
	}
	p.run(now)
	p.ports[i].flaps++
	p.ports[i].downUntil = p.now + flapTime
	if peer := p.topology.ends[i].peer; peer != none {
		p.ports[peer].flaps++
	}
	p.dirty = true
}

// power switches a device off, or on with all its counters at zero.
func (p *plane) power(now time.Duration, device int, on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.run(now)
	p.devices[device].off = !on
	for _, port := range p.topology.ports[device] {
		if on {
			p.ledger = append(p.ledger, p.losses(port)...)
			p.ports[port] = portState{set: p.ports[port].set, since: p.now}
		}
	}
	p.dirty = true
}

// counters are those of a port at a device time; of an unknown port they are zero.
func (p *plane) counters(now time.Duration, device int, port string) Counters {
	p.mu.Lock()
	defer p.mu.Unlock()
	i, known := p.topology.names[p.specs[device].Name+"/"+port]
	if !known {
		return Counters{}
	}
	p.run(now)
	p.settle()
	s := &p.ports[i]
	total := s.counted
	total.grow(&s.rate, (p.now - s.since).Seconds())
	return s.snapshot(&total)
}

// run lets time pass: everything that is due by now happens, in the order of time.
func (p *plane) run(now time.Duration) {
	now = now.Truncate(step)
	if now <= p.now {
		return
	}
	for {
		p.settle()
		due, happen := p.next(now)
		p.now = max(p.now, due)
		if happen == nil {
			return
		}
		happen()
		p.dirty = true
	}
}

// next is the first event that is due by the given time and what happens then; without one it is that time and nil.
func (p *plane) next(by time.Duration) (time.Duration, func()) {
	var happen func()
	for i := range p.ports {
		s := &p.ports[i]
		if s.downUntil > p.now && s.downUntil <= by {
			by, happen = s.downUntil, func() {}
		}
		for q := range s.watchdogs {
			w := &s.watchdogs[q]
			if w.due > 0 && w.due <= by && (w.due < by || happen == nil) {
				by, happen = w.due, w.bite
			}
		}
	}
	return by, happen
}

// settle solves the rates if something changed, after counting what the old ones brought.
func (p *plane) settle() {
	if !p.dirty {
		return
	}
	p.dirty = false
	for i := range p.ports {
		s := &p.ports[i]
		p.ledger = append(p.ledger, p.losses(i)...)
		s.counted.grow(&s.rate, (p.now - s.since).Seconds())
		s.since, s.rate = p.now, tally{}
	}
	p.solve()
}

// snapshot writes a tally as counters.
func (s *portState) snapshot(t *tally) Counters {
	c := Counters{
		Up: s.up, Flaps: s.flaps, HeadroomWatermark: s.headroom, QueueWatermark: s.queue,
		InPackets: uint64(t[inPackets][0]), OutPackets: uint64(t[outPackets][0]),
		InBytes: uint64(t[inBytes][0]), OutBytes: uint64(t[outBytes][0]),
		CNPSent: uint64(t[cnpSent][0]), CNPHandled: uint64(t[cnpHandled][0]),
		ECNReceived: uint64(t[ecnReceived][0]), OutOfSequence: uint64(t[outOfSequence][0]),
	}
	for q := range 8 {
		c.PFCReceived[q], c.PFCSent[q] = uint64(t[pfcReceived][q]), uint64(t[pfcSent][q])
		c.PausedReceived[q] = time.Duration(t[pausedReceived][q] * float64(time.Second))
		c.QueuePackets[q], c.QueueBytes[q] = uint64(t[queuePackets][q]), uint64(t[queueBytes][q])
		c.QueueDropped[q], c.GroupDropped[q] = uint64(t[queueDropped][q]), uint64(t[groupDropped][q])
		c.ECNMarked[q] = uint64(t[ecnMarked][q])
		w := &s.watchdogs[q]
		c.Stormed[q], c.StormsDetected[q], c.StormsRestored[q] = w.stormed, w.detected, w.restored
	}
	return c
}
