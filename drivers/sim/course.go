package sim

import "github.com/weirfabric/weir/intent/qos"

// fate is what becomes of packets that a congested queue cannot send.
type fate int

const (
	held    fate = iota // PAUSE keeps them at the sender in front
	overran             // PAUSE is sent and not obeyed: they overrun the headroom
	lost                // the priority is not lossless: the queue drops them
)

// course is a flow on its way.
type course struct {
	*flow
	lanes  []int
	fates  []fate    // by hop
	packet float64   // bytes
	ect    bool      // its packets say that they may be marked
	obeys  bool      // both ends run DCQCN
	slowed float64   // what DCQCN leaves of its demand, 0 to 1
	rates  []float64 // what arrives at each hop, in bit/s
}

// findRoutes gives every course its path and its lanes. A flow without a way sends nothing.
func (s *solver) findRoutes() {
	distances := map[int][]int{}
	for _, c := range s.courses {
		if distances[c.to] == nil {
			distances[c.to] = s.topology.distances(c.to, s.up)
		}
		if dist := distances[c.to]; dist[c.from] > 0 {
			c.path = s.topology.route(c.from, c.to, dist, s.up, s.seed)
		}
		s.queue(c)
	}
}

// chart reads from the sender and the receiver how a flow's packets look.
func (s *solver) chart(f *flow) *course {
	c := &course{flow: f, packet: frameOf(0), slowed: 1}
	for _, port := range s.topology.ports[f.from] {
		set := s.ports[port].set
		c.packet = frameOf(set.MTU)
		ecn := qos.ECN(set.TOS & 3)
		c.ect = f.class && (set.ECN || ecn == qos.ECT0 || ecn == qos.ECT1)
		c.obeys = c.ect && set.ECN
	}
	for _, port := range s.topology.ports[f.to] {
		c.obeys = c.obeys && s.ports[port].set.ECN
	}
	return c
}

// overhead of a RoCEv2 packet on Ethernet in bytes: Ethernet 18, IPv4 20, UDP 8, BTH 12, ICRC 4.
const overhead = 62

// frameOf is the bytes of a full RoCEv2 frame through an interface: the largest InfiniBand MTU that fits its IP MTU.
func frameOf(mtu qos.Bytes) float64 {
	for _, payload := range []qos.Bytes{4096, 2048, 1024, 512} {
		if payload+overhead <= mtu {
			return float64(payload + overhead)
		}
	}
	return 1024 + overhead
}

// dscp of a flow's packets.
func (s *solver) dscp(c *course, port int) qos.DSCP {
	if !c.class {
		return 0
	}
	return qos.DSCP(s.ports[port].set.TOS >> 2)
}

// queue finds the lanes of a course, and what becomes at each of what it cannot send.
func (s *solver) queue(c *course) {
	if len(c.path) == 0 {
		return
	}
	dscp := s.dscp(c, c.path[0])
	for hop, port := range c.path {
		device := s.topology.ends[port].device
		q := s.classify(device, dscp)
		if c.class && device == s.scenario.misfits {
			q = s.wrongly(device)
		}
		at := 8*port + int(q)
		s.lanes[at].wanted, s.lanes[at].rdma = true, s.lanes[at].rdma || c.class
		c.lanes = append(c.lanes, at)
		c.fates = append(c.fates, s.fateOf(c, hop, q))
	}
	c.rates = make([]float64, len(c.lanes)+1)
}

// fateOf says what becomes of packets that hop cannot send in priority q. A host holds back its own.
func (s *solver) fateOf(c *course, hop int, q qos.Priority) fate {
	port := c.path[hop]
	if w := &s.ports[port].watchdogs[q]; w.stormed && s.ports[port].set.Watchdog.Action == qos.Drop {
		return lost
	}
	if hop == 0 {
		return held
	}
	before := c.path[hop-1]
	in := s.topology.ends[before].peer
	if !s.ports[in].set.PFC.Has(q) {
		return lost
	}
	if !s.ports[before].set.PFC.Has(q) || c.lanes[hop-1] != 8*before+int(q) || s.ports[before].watchdogs[q].stormed {
		return overran
	}
	return held
}

// classify is the priority a device gives a DSCP, among 0 to 7.
func (s *solver) classify(device int, d qos.DSCP) qos.Priority {
	return s.devices[device].behaviour.Classify[d&63] & 7
}

// wrongly is the priority of the class on a switch that classifies it wrongly: the first that no port keeps lossless.
func (s *solver) wrongly(device int) qos.Priority {
	var lossless qos.PrioritySet
	for _, port := range s.topology.ports[device] {
		lossless |= s.ports[port].set.PFC
	}
	for q := range qos.Priority(8) {
		if !lossless.Has(q) {
			return q
		}
	}
	return 0
}

// feed is by which ports and in how many flows a lane is fed.
type feed struct {
	ports map[int]bool
	flows int
}

// findFeeds looks every lane's feed up once.
func (s *solver) findFeeds() {
	s.feeds = map[int]*feed{}
	for _, c := range s.courses {
		for hop, at := range c.lanes {
			if hop == 0 {
				continue
			}
			if s.feeds[at] == nil {
				s.feeds[at] = &feed{ports: map[int]bool{}}
			}
			s.feeds[at].ports[c.path[hop-1]] = true
			s.feeds[at].flows++
		}
	}
}

// feeding is by how many ports and in how many flows a lane is fed; a host's own is fed by one.
func (s *solver) feeding(at int) (ports, flows int) {
	if f := s.feeds[at]; f != nil {
		return len(f.ports), f.flows
	}
	return 1, 1
}
