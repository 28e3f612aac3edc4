package sim

import (
	"maps"
	"math"
	"slices"

	"github.com/weirfabric/weir/intent/qos"
)

// count turns the solution into what every port counts a second, and into watermarks.
func (s *solver) count() {
	for port := range s.topology.ends {
		for q := range 8 {
			s.countPause(port, q)
		}
	}
	for _, c := range s.courses {
		s.countFlow(c)
	}
	s.countBursts()
}

// The constants of PFC: a quantum is 512 bit times, and a PAUSE frame asks for at most 65535 of them (IEEE 802.1Qbb).
const longestPause = 65535 * 512

// fibre is the speed of signals that SONiC's headroom script reckons with, in m/s.
const fibre = 1.98e8

// response is what a peer still sends while it works on a PAUSE frame, in bytes: 3.8 KiB in SONiC's asic_table.j2. The lab's
// peers are typical, not the worst that the standard allows.
const response = 3.8 * 1024

// inFlight is what still arrives at a port after it asked for PAUSE, in bytes: both ways of the cable, the peer's response,
// a packet that the peer had begun and one that held up the PAUSE frame.
func (s *solver) inFlight(port int) float64 {
	e := s.topology.ends[port]
	cable := 2 * float64(e.spec.Cable) / fibre * float64(e.spec.Speed) / 8
	return cable + response + 2*frameOf(qos.Bytes(4096+overhead))
}

// countPause counts PAUSE on one lane: received where it is held, sent at the other end.
func (s *solver) countPause(port, q int) {
	l, st, e := &s.lanes[8*port+q], &s.ports[port], s.topology.ends[port]
	if e.peer == none || !s.up[port] {
		return
	}
	speed := float64(e.spec.Speed)
	other := &s.ports[e.peer]
	stormed := st.watchdogs[q].stormed
	paused := 1 - l.limit/speed
	var frames float64
	switch {
	case l.storm:
		frames = speed / longestPause
	case stormed || paused < settled:
		return
	default:
		frames = s.pauseFrames(port, q, l.limit)
	}
	other.rate[pfcSent][q] += frames
	st.rate[pfcReceived][q] += frames
	if !stormed && st.set.PFC.Has(qos.Priority(q)) {
		st.rate[pausedReceived][q] += paused
	}
}

// pauseFrames is how many PAUSE frames a second hold a port to a rate, and counts what they cannot hold. The group empties
// by hysteresis and fills again at line rate, each time with one XOFF and one XON; what is in flight after XOFF goes into
// headroom, or is dropped where it does not fit.
func (s *solver) pauseFrames(port, q int, rate float64) float64 {
	e := s.topology.ends[port]
	speed := float64(e.spec.Speed)
	in := &s.ports[e.peer]
	flying, room := s.inFlight(port), float64(in.set.Headroom[q])
	in.headroom[q] = max(in.headroom[q], qos.Bytes(min(flying, room)))
	if rate < speed*settled {
		return speed / longestPause
	}
	hysteresis := 8 * (2*frameOf(4096+overhead) + flying)
	cycles := 1 / (hysteresis/rate + hysteresis/max(speed-rate, 1))
	if flying > room {
		in.drop(groupDropped, q, cycles*(flying-room)/frameOf(4096+overhead), s.lanes[8*port+q].rdma)
	}
	return 2 * cycles
}

// countFlow counts a flow's packets at every port it passes, its losses, its marks and the CNPs they cause.
func (s *solver) countFlow(c *course) {
	if len(c.lanes) == 0 {
		return
	}
	pps := c.demand * c.slowed / 8 / c.packet
	var marked, dropped float64
	for hop, at := range c.lanes {
		port, q := at/8, at%8
		out := pps * s.lanes[at].share()
		if hop > 0 {
			s.countLoss(c, hop, pps-out)
			dropped += pps - out
		}
		p := s.marking(c, at)
		if c.ect {
			s.ports[port].rate[ecnMarked][q] += out * p
			marked += (out - marked) * p
		} else {
			s.ports[port].drop(queueDropped, q, out*p, c.class)
			dropped += out * p
			out -= out * p
		}
		s.pass(port, q, out, c.packet)
		pps = out
	}
	last := s.topology.ends[c.path[len(c.path)-1]].peer
	s.ports[last].rate[outOfSequence][0] += dropped
	s.ports[last].rate[ecnReceived][0] += marked
	s.notify(c, last, min(marked, cnpRate))
}

// countLoss counts packets that a congested lane could not send, where they were lost.
func (s *solver) countLoss(c *course, hop int, pps float64) {
	if pps <= 0 {
		return
	}
	at := c.lanes[hop]
	switch c.fates[hop] {
	case lost:
		s.ports[at/8].drop(queueDropped, at%8, pps, c.class)
	case overran:
		before := c.path[hop-1]
		in := s.topology.ends[before].peer
		s.ports[in].drop(groupDropped, at%8, pps, c.class)
		s.ports[in].rate[pfcSent][at%8] += float64(s.topology.ends[before].spec.Speed) / longestPause
		s.ports[before].rate[pfcReceived][at%8] += float64(s.topology.ends[before].spec.Speed) / longestPause
	}
}

// drop counts packets that a port loses.
func (s *portState) drop(as kind, q int, pps float64, rdma bool) {
	s.rate[as][q] += pps
	if rdma {
		s.rate[rdmaDropped][q] += pps
	}
}

// pass counts packets that leave by a port and arrive at its other end.
func (s *solver) pass(port, q int, pps, packet float64) {
	out, in := &s.ports[port].rate, &s.ports[s.topology.ends[port].peer].rate
	out[queuePackets][q] += pps
	out[queueBytes][q] += pps * packet
	out[outPackets][0] += pps
	out[outBytes][0] += pps * packet
	in[inPackets][0] += pps
	in[inBytes][0] += pps * packet
}

// marking is the share of a flow's packets that a lane marks (drops, where they may not be marked), and leaves the queue's
// depth as its watermark.
func (s *solver) marking(c *course, at int) float64 {
	port, q := at/8, at%8
	l, wred := &s.lanes[at], s.ports[port].set.Queues[q].WRED
	n, greedy := s.feeding(at)
	congested := l.limit < float64(s.topology.ends[port].spec.Speed)*(1-settled) || l.inflow >= l.capacity*(1-settled)
	if !congested && !l.marking {
		return 0
	}
	depth, _ := s.depthLimit(port, q, n)
	var p float64
	switch {
	case wred == nil:
	case l.marking:
		var fixed float64
		if p, fixed = equilibrium(l.capacity/8/c.packet, c.packet, greedy, *wred); fixed < depth {
			depth = fixed
		}
	default:
		p = curve(*wred, depth)
	}
	s.ports[port].queue[q] = max(s.ports[port].queue[q], qos.Bytes(depth))
	return p
}

// curve is the share of packets that WRED marks at a depth in bytes.
func curve(w qos.WRED, depth float64) float64 {
	switch {
	case depth <= float64(w.Min):
		return 0
	case depth >= float64(w.Max):
		return 1
	}
	return float64(w.Probability) / 100 * (depth - float64(w.Min)) / float64(w.Max-w.Min)
}

// The parameters of DCQCN (Zhu et al., SIGCOMM 2015).
const (
	increase = 40e6 // bit/s, R_AI
	timer    = 55e-6
	counter  = 10e6      // bytes, B
	cnpRate  = 1 / 50e-6 // CNPs a second of one flow at most
)

// equilibrium is where n flows of DCQCN settle on a queue that sends pps packets a second: the share of marked packets and
// the depth in bytes. It is the small-p form of the fluid model's fixed point (Zhu et al., CoNEXT 2016):
// p = [R_AI n^2 / (tau' C^2) x (1/B + n/(T C))^2]^(1/3), depth = Kmin + p (Kmax - Kmin) / Pmax.
func equilibrium(pps, packet float64, n int, w qos.WRED) (p, depth float64) {
	flows := float64(n)
	bracket := 1/(counter/packet) + flows/(timer*pps)
	p = math.Cbrt(increase / 8 / packet * flows * flows / (timer * pps * pps) * bracket * bracket)
	top := float64(w.Probability) / 100
	if top == 0 || p > top {
		return min(p, 1), float64(w.Max)
	}
	return p, float64(w.Min) + p*float64(w.Max-w.Min)/top
}

// The frame of a CNP in bytes: a RoCEv2 packet without payload and with 16 reserved bytes.
const cnpBytes = overhead + 16

// notify counts the CNPs that a receiver sends back and the sender obeys.
func (s *solver) notify(c *course, at int, pps float64) {
	set := s.ports[at].set
	if !set.ECN || pps == 0 {
		return
	}
	s.ports[at].rate[cnpSent][0] += pps
	for _, port := range c.path {
		back := s.topology.ends[port].peer
		device := s.topology.ends[back].device
		s.pass(back, int(s.classify(device, set.CNP)), pps, cnpBytes)
	}
	if first := &s.ports[c.path[0]]; first.set.ECN {
		first.rate[cnpHandled][0] += pps
	}
}

// roundTrip is what an answer takes through an idle fabric, in seconds; the value of theory's worked examples.
const roundTrip = 4e-6

// countBursts adds what happens when the senders of an incast begin together, before DCQCN has slowed them.
func (s *solver) countBursts() {
	groups := map[int][]*course{}
	for _, c := range s.courses {
		if !c.greedy || len(c.lanes) == 0 {
			continue
		}
		if at := c.lanes[len(c.lanes)-1]; s.lanes[at].marking {
			groups[at] = append(groups[at], c)
		}
	}
	for _, at := range slices.Sorted(maps.Keys(groups)) {
		s.countBurst(at, groups[at])
	}
}

// countBurst counts one burst's overshoot: PAUSE in front of the lane, or loss. The peak of n senders at line rate C is
// (n-1) C (RTT + Kmax/((n-1)C) + Kmax/C) plus, while DCQCN halves them every CNP interval, the sum of (n/2^i - 1) C tau.
func (s *solver) countBurst(at int, group []*course) {
	port, q := at/8, at%8
	n := float64(len(group))
	bytesASecond := s.lanes[at].capacity / 8
	top := float64(s.ports[port].set.Queues[q].WRED.Max)
	peak := (n-1)*bytesASecond*roundTrip + top + (n-1)*top
	for rest := n/2 - 1; rest > 0; rest = (rest+1)/2 - 1 {
		peak += rest * bytesASecond / cnpRate
	}
	ports, _ := s.feeding(at)
	limit, _ := s.depthLimit(port, q, ports)
	s.ports[port].queue[q] = max(s.ports[port].queue[q], qos.Bytes(min(peak, limit)))
	over := peak - limit
	if over <= 0 {
		return
	}
	for _, c := range group {
		hop := len(c.lanes) - 1
		part := over / n
		switch c.fates[hop] {
		case held:
			before := c.path[hop-1]
			up, down := &s.ports[before].rate, &s.ports[s.topology.ends[before].peer].rate
			frames := burstsASecond * 2 * math.Ceil(part/s.inFlight(before))
			up[pfcReceived][q] += frames
			down[pfcSent][q] += frames
			up[pausedReceived][q] += burstsASecond * part / bytesASecond
		default:
			s.countLoss(c, hop, burstsASecond*part/c.packet)
			s.ports[s.topology.ends[port].peer].rate[outOfSequence][0] += burstsASecond * part / c.packet
		}
	}
}
