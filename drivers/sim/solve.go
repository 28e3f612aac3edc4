package sim

import "github.com/weirfabric/weir/intent/qos"

// lane is one queue of one port: what leaves a device by a port in a priority. Rates are in bit/s.
type lane struct {
	capacity float64 // what the port leaves for the queue
	limit    float64 // what PAUSE from the other end lets through
	inflow   float64
	depth    int  // switches between this lane and the one whose congestion paused it
	wanted   bool // some flow wants to pass
	rdma     bool // and one of them is RDMA
	marking  bool // it is congested, and DCQCN holds its senders
	storm    bool // the other end is a host whose NIC sends PAUSE without end
}

// share is how much of what arrives can leave.
func (l *lane) share() float64 {
	if allowed := min(l.capacity, l.limit); l.inflow > allowed {
		return allowed / l.inflow
	}
	return 1
}

// solver works out the rates for the state of the moment.
type solver struct {
	*plane
	up      []bool
	lanes   []lane
	courses []*course
	feeds   map[int]*feed // by lane
}

// rounds bounds the iteration; fabrics of a few tiers settle in a handful.
const rounds = 200

// solve sets every port's rates, watermarks and watchdogs for the time from now on.
func (p *plane) solve() {
	s := &solver{plane: p, up: make([]bool, len(p.ports)), lanes: make([]lane, 8*len(p.ports))}
	s.cables()
	s.storms()
	for _, f := range p.flows(p.scenario) {
		s.courses = append(s.courses, s.chart(f))
	}
	s.findRoutes()
	s.findFeeds()
	for range rounds {
		s.fill()
		if !s.push() {
			break
		}
	}
	s.fill()
	s.count()
	s.guard()
}

// cables finds which ports are up with their other ends, and what each could send.
func (s *solver) cables() {
	alive := func(i int) bool {
		st := &s.ports[i]
		return st.set.Up && st.downUntil <= s.now && !s.devices[s.topology.ends[i].device].off
	}
	for i, e := range s.topology.ends {
		s.up[i] = e.peer != none && alive(i) && alive(e.peer)
		s.ports[i].up = s.up[i]
		for q := range 8 {
			l := lane{capacity: float64(e.spec.Speed), limit: float64(e.spec.Speed)}
			if s.ports[i].watchdogs[q].stormed && s.ports[i].set.Watchdog.Action == qos.Drop {
				l.limit = 0
			}
			s.lanes[8*i+q] = l
		}
	}
}

// storms marks and stops the lanes in front of the host whose NIC storms.
func (s *solver) storms() {
	if s.scenario.kind != NICStorm {
		return
	}
	for _, port := range s.topology.ports[s.scenario.about] {
		front := s.topology.ends[port].peer
		if front == none || !s.up[front] {
			continue
		}
		for _, q := range s.stormOf(port).All() {
			l := &s.lanes[8*front+int(q)]
			l.storm = true
			if s.ports[front].set.PFC.Has(q) && !s.ports[front].watchdogs[q].stormed {
				l.limit = 0
			}
		}
	}
}

// stormOf is the priorities that a host's NIC storms on: its lossless ones, or that of its RDMA traffic.
func (s *solver) stormOf(port int) qos.PrioritySet {
	set := s.ports[port].set
	if set.PFC != 0 {
		return set.PFC
	}
	return qos.Priorities(s.classify(s.topology.ends[port].device, qos.DSCP(set.TOS>>2)))
}

// fill lets all flows go and finds what arrives at every lane, and what the lanes of one port leave each other.
func (s *solver) fill() {
	for i := range s.lanes {
		s.lanes[i].inflow = 0
	}
	hops := 0
	for _, c := range s.courses {
		hops = max(hops, len(c.lanes))
	}
	for _, c := range s.courses {
		if len(c.lanes) > 0 {
			c.rates[0] = c.demand * c.slowed
		}
	}
	// Hop by hop: what leaves the lanes of one hop arrives at the next. In a Clos a lane is the same hop of all flows that
	// go on from it, so that its inflow is whole when its share is taken.
	shares := make([]float64, len(s.lanes))
	for hop := range hops {
		for _, c := range s.courses {
			if hop < len(c.lanes) {
				s.lanes[c.lanes[hop]].inflow += c.rates[hop]
			}
		}
		for i := range s.lanes {
			shares[i] = s.lanes[i].share()
		}
		for _, c := range s.courses {
			if hop < len(c.lanes) {
				c.rates[hop+1] = c.rates[hop] * shares[c.lanes[hop]]
			}
		}
	}
	for port, e := range s.topology.ends {
		s.divide(port, float64(e.spec.Speed))
	}
}

// divide gives each queue of a port what the others do not use, and never less than its own share.
func (s *solver) divide(port int, rate float64) {
	var used, weights float64
	lanes := s.lanes[8*port : 8*port+8]
	for q := range lanes {
		used += lanes[q].inflow * lanes[q].share()
		weights += s.ports[port].set.Queues[q].Weight
	}
	for q := range lanes {
		l := &lanes[q]
		own := 1 / 8.0
		if set := s.ports[port].set.Queues[q]; set.Strict {
			own = 1
		} else if weights > 0 {
			own = set.Weight / weights
		}
		l.capacity = max(rate-(used-l.inflow*l.share()), rate*own)
	}
}

// pair is two lanes that flows pass one after the other.
type pair struct{ before, at int }

// push lets every congested lane act on what is in front of it: DCQCN slows the senders that obey it, PAUSE the lanes that
// bring the rest. It returns whether anything still moves.
func (s *solver) push() (moved bool) {
	shares := make([]float64, len(s.lanes))
	for i := range s.lanes {
		shares[i] = s.lanes[i].share()
	}
	parts := map[pair]float64{} // what lanes under PAUSE bring to congested ones
	var order []pair
	for _, c := range s.courses {
		for hop, at := range c.lanes {
			l := &s.lanes[at]
			if hop == 0 || shares[at] > 1-settled {
				continue
			}
			if c.obeys && l.limit >= l.capacity && s.marks(at) {
				c.slowed *= shares[at]
				l.marking, moved = true, true
			} else if c.fates[hop] == held {
				p := pair{c.lanes[hop-1], at}
				if _, known := parts[p]; !known {
					order = append(order, p)
				}
				parts[p] += c.rates[hop]
			}
		}
	}
	for _, p := range order {
		moved = s.pause(p, parts[p], shares) || moved
	}
	return moved
}

// pause holds one lane back for a congested one, with all that it carries, until its part fits. Every ingress keeps an
// equal share of what the congested lane can send: groups that all stand at XOFF drain alike.
func (s *solver) pause(p pair, part float64, shares []float64) bool {
	before, at := &s.lanes[p.before], &s.lanes[p.at]
	if part == 0 {
		return false
	}
	ports, _ := s.feeding(p.at)
	factor := max(shares[p.at], min(at.capacity, at.limit)/float64(ports)/part)
	limit := before.inflow * shares[p.before] * factor
	if factor > 1-settled || limit > before.limit*(1-settled) {
		return false
	}
	before.limit, before.depth = limit, at.depth+1
	return true
}

// settled is the relative change that is none.
const settled = 1e-4

// guard tells every watchdog how its queue fares.
func (s *solver) guard() {
	for port, e := range s.topology.ends {
		st := &s.ports[port]
		if s.specs[e.device].Host {
			continue
		}
		for q := range 8 {
			l := &s.lanes[8*port+q]
			watched := s.up[port] && st.set.Watched.Has(qos.Priority(q)) && st.set.PFC.Has(qos.Priority(q))
			still := l.storm || !st.watchdogs[q].stormed && l.limit < float64(e.spec.Speed)*(1-stuckRatio)
			st.watchdogs[q].watch(s.now, watched, st.set.Watchdog, still && l.wanted, l.depth)
		}
	}
}

// stuckRatio is the share of time that PAUSE must hold a queue to be a storm: SONiC's detection on Mellanox asks for 99 %.
const stuckRatio = 0.99
