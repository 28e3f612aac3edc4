package path

import (
	"fmt"
	"slices"

	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/inventory"
)

// packet is what is sent, as far as ports treat it. Packets that are equal are treated alike everywhere.
type packet struct {
	class   *fabric.Class
	version int // of RoCE
	dscp    qos.DSCP
	ecn     qos.ECN
	mtu     qos.Bytes // 0: not known, or small
	answer  bool      // a CNP
}

// lossless says whether the packet must never be dropped.
func (k *packet) lossless() bool { return !k.answer && k.class.Lossless }

// public is the packet for people.
func (k *packet) public() Packet {
	return Packet{RoCE: k.version, DSCP: int(k.dscp), ECT: k.ecn != qos.NotECT, TrafficClass: int(k.dscp.TrafficClassByte(k.ecn)), MTU: k.mtu}
}

// egress is what matters of a port by which a packet leaves: everything that is checked of it, and nothing else.
type egress struct {
	there, nic, flowControl bool // there: it is known: a port, or a NIC with a host profile
	speed                   qos.Rate
	mtu                     qos.Bytes
	tc                      qos.TrafficClass // of a NIC: the priority
	queue                   qos.Queue        // of a NIC: the traffic class
	lossless, strict        bool
	ecn                     Marks
	pfc                     bool            // is on for the packet's priority
	obeys                   qos.PrioritySet // whose PAUSE stops the queue
	watched                 bool            // a watchdog ends storms, where there is one
	other                   standing
	unread                  unread
}

// ingress is what matters of a port by which a packet comes in.
type ingress struct {
	there, nic, flowControl bool
	speed                   qos.Rate
	mtu                     qos.Bytes
	trust                   qos.Trust
	tc                      qos.TrafficClass // of a NIC: the priority
	group                   qos.PriorityGroup
	lossless                bool
	pfc                     bool
	pauses                  qos.PrioritySet // who is paused when the packet's buffer fills
	headroom, needs         qos.Bytes       // needs 0: not known
	byDevice, guess, pool   bool            // the headroom: worked out by the switch; estimated; shared
	over                    overfull        // of the whole switch
	cable                   macsec
	other                   standing
	unread                  unread
}

// standing is how much is known of a port.
type standing int

// A port of weir's own holds what the intent says. Of a switch that is not weir's is known what is stated, or nothing.
const (
	ours standing = iota
	stated
	unstated
)

func standingOf(sw *fabric.Switch, p *fabric.Port) standing {
	switch {
	case p.Unstated:
		return unstated
	case sw.State == inventory.Unmanaged:
		return stated
	}
	return ours
}

// out is what a port does to a packet that leaves by it.
func out(e fabric.End, k *packet) egress {
	switch {
	case e.NIC != nil:
		x := nicOut(e.NIC, k)
		x.unread = restsNIC(e, k, Out)
		return x
	case e.Port != nil:
		x := portOut(e.Switch, e.Port, k)
		if x.there {
			x.unread = restsOut(e, k, &x)
		}
		return x
	}
	return egress{}
}

func nicOut(n *fabric.NIC, k *packet) egress {
	p := nicPriority(n, k)
	if k.answer {
		p = n.CNPPriority // which the NIC is told beside the DSCP
	}
	x := egress{
		there: n.RoCE != 0, nic: true, flowControl: n.FlowControl, speed: n.Speed, mtu: n.MTU, tc: qos.TrafficClass(p),
		queue: qos.Queue(n.PriorityToTC[p]), lossless: true, ecn: Unmarked, pfc: n.PFC.Has(p), watched: true,
	}
	x.strict = n.ETS[x.queue&7].Strict
	if x.pfc {
		x.obeys = qos.Priorities(p)
	}
	for _, other := range n.PFC.All() {
		if k.answer && n.PriorityToTC[other] == n.PriorityToTC[p] {
			x.obeys |= qos.Priorities(other) // what shares the traffic class waits with it
		}
	}
	return x
}

// nicPriority is the priority that a NIC gives the packet. RoCE v1 has no DSCP: its priority stands in the VLAN tag.
func nicPriority(n *fabric.NIC, k *packet) qos.Priority {
	if k.version == 1 {
		return k.class.Priority & 7
	}
	return n.DSCPToPriority[k.dscp] & 7
}

// classOf is the traffic class that a switch gives the packet, by the field that the packet has.
func classOf(sw *fabric.Switch, k *packet) qos.TrafficClass {
	if k.version == 1 {
		return sw.Maps.PCPToTC[k.class.Priority&7] & 7
	}
	return sw.Maps.DSCPToTC[k.dscp] & 7
}

func portOut(sw *fabric.Switch, p *fabric.Port, k *packet) egress {
	if p.Unstated {
		return egress{other: unstated, speed: p.Speed}
	}
	tc := classOf(sw, k)
	queue := sw.Maps.TCToQueue[tc]
	q := &p.Queues[queue]
	x := egress{
		there: true, flowControl: p.FlowControl, speed: p.Speed, mtu: p.MTU, tc: tc, queue: queue, lossless: q.Lossless,
		strict: q.Scheduler.Strict, ecn: marks(q), pfc: p.PFC.Has(k.class.Priority), watched: p.Watchdog != nil,
		other: standingOf(sw, p),
	}
	for _, pr := range p.PFC.All() {
		if sw.Maps.PriorityToQueue[pr] == queue {
			x.obeys |= qos.Priorities(pr)
		}
	}
	return x
}

// marks is what becomes of packets in a queue that grows.
func marks(q *fabric.Queue) Marks {
	switch {
	case q.WRED == nil:
		return Unmarked
	case q.WRED.ECN:
		return Marking
	}
	return Dropping
}

// in is what a port does to a packet that comes in by it.
func (p *Prover) in(e fabric.End, k *packet) ingress {
	switch {
	case e.NIC != nil:
		x := nicIn(e.NIC, k)
		x.cable, x.unread = macsecOf(e), restsNIC(e, k, In)
		return x
	case e.Port != nil:
		x := p.portIn(e.Switch, e.Port, k)
		if x.cable = macsecOf(e); x.there {
			x.unread = restsIn(e, k, &x)
		}
		return x
	}
	return ingress{}
}

// macsec is what the ends of a cable with MACsec do with PFC frames; empty where the inventory does not say.
type macsec struct {
	on          bool
	here, there string // here receives
}

func macsecOf(e fabric.End) macsec {
	peer := peerOf(e)
	if peer == nil || peer.Link == nil || !peer.Link.MACsec.Enabled() {
		return macsec{}
	}
	a, b := peer.Link.MACsec.Modes()
	if peer.Link.A.Address() != e.Address() {
		a, b = b, a
	}
	return macsec{true, a.V, b.V}
}

func nicIn(n *fabric.NIC, k *packet) ingress {
	p := nicPriority(n, k)
	x := ingress{
		there: n.RoCE != 0, nic: true, flowControl: n.FlowControl, speed: n.Speed, mtu: n.MTU, trust: n.Trust, tc: qos.TrafficClass(p),
		group: qos.PriorityGroup(p), lossless: n.PFC.Has(p), pfc: n.PFC.Has(p),
	}
	if x.pfc {
		x.pauses = qos.Priorities(p)
	}
	return x
}

func (p *Prover) portIn(sw *fabric.Switch, port *fabric.Port, k *packet) ingress {
	if port.Unstated {
		return ingress{other: unstated, speed: port.Speed}
	}
	tc := classOf(sw, k)
	group := sw.Maps.TCToGroup[tc]
	g := &port.Groups[group]
	x := ingress{
		there: true, flowControl: port.FlowControl, speed: port.Speed, mtu: port.MTU, trust: port.Trust, tc: tc, group: group,
		lossless: g.Lossless, pfc: port.PFC.Has(k.class.Priority), headroom: g.Headroom, other: standingOf(sw, port),
	}
	if !g.Lossless {
		return x
	}
	for _, pr := range port.PFC.All() {
		if sw.Maps.PriorityToGroup[pr] == group {
			x.pauses |= qos.Priorities(pr)
		}
	}
	need := p.headroom(sw, port)
	x.needs, x.guess = need.bytes, need.guess && g.Headroom == need.bytes
	x.byDevice, x.pool = g.ByDevice, sw.Oversubscribe > 0
	x.over = p.overfull(sw)
	return x
}

// need is the headroom that a port must have; 0 bytes where nobody knows.
type need struct {
	bytes qos.Bytes
	guess bool // estimated or the standard's, and neither published nor that of the chip
}

// needKey is what headroom follows from. Ports whose groups are one value have one intent.
type needKey struct {
	groups *fabric.Group
	sku    string
	speed  qos.Rate
	cable  qos.Metres
	mtu    qos.Bytes
	lanes  int
}

// headroom works it out once for all ports that are alike.
func (p *Prover) headroom(sw *fabric.Switch, port *fabric.Port) need {
	key := needKey{&port.Groups[0], sw.SKU, port.Speed, port.Cable, port.MTU, port.Lanes}
	n, ok := p.needs[key]
	if !ok {
		r := fabric.HeadroomOf(sw, port)
		n = need{r.Headroom, r.Estimated || r.Generic}
		p.needs[key] = n
	}
	return n
}

// overfull is what a switch promises of its buffer and does not have. Sizes that suffice are 0.
type overfull struct {
	taken, buffer  qos.Bytes // headroom and guarantees, and the buffer that is less
	static, shared qos.Bytes // the static thresholds of all lossless groups, and what is shared, which is less
	most, pool     qos.Bytes // the headroom of one port, and the pool that is less
}

func (p *Prover) overfull(sw *fabric.Switch) overfull {
	o, ok := p.full[sw]
	if ok {
		return o
	}
	if taken, known := sw.TakenBuffer(); known && sw.ASIC != nil && sw.ASIC.Buffer > 0 && taken > sw.ASIC.Buffer {
		o.taken, o.buffer = taken, sw.ASIC.Buffer
	}
	if shared, known := sw.SharedBuffer(); known && sw.StaticThresholds() > shared {
		o.static, o.shared = sw.StaticThresholds(), shared
	}
	if sw.Oversubscribe > 0 {
		if needs, pool := sw.HeadroomPool(sw.Oversubscribe); len(needs) > 0 && slices.Max(needs) > pool {
			o.most, o.pool = slices.Max(needs), pool
		}
	}
	p.full[sw] = o
	return o
}

// hopOut describes the port by which a packet leaves.
func hopOut(e fabric.End, k *packet) Hop {
	x := out(e, k)
	h := Hop{
		Address: e.Address(), Way: Out, NIC: x.nic, Speed: x.speed, MTU: x.mtu, FlowControl: x.flowControl, PFC: numbers(x.obeys),
		Class: int(x.tc), Buffer: int(x.queue), Lossless: x.lossless && x.obeys != 0, Strict: x.strict, ECN: x.ecn,
	}
	if e.Port == nil || e.Port.Unstated {
		return h
	}
	if q := &e.Port.Queues[x.queue]; x.ecn == Marking {
		h.MarkFrom = q.WRED.Min
	}
	h.Watchdog = "off"
	if w := e.Port.Watchdog; w != nil {
		h.Watchdog = fmt.Sprintf("%s %s", w.Detection, w.Action)
	}
	return h
}

// hopIn describes the port by which a packet comes in.
func (p *Prover) hopIn(e fabric.End, k *packet) Hop {
	x := p.in(e, k)
	return Hop{
		Address: e.Address(), Way: In, NIC: x.nic, Speed: x.speed, MTU: x.mtu, FlowControl: x.flowControl, PFC: numbers(x.pauses),
		Trust: x.trust, Class: int(x.tc), Buffer: int(x.group), Lossless: x.lossless && x.pauses != 0, Headroom: x.headroom,
	}
}

func numbers(s qos.PrioritySet) []int {
	out := []int{}
	for _, p := range s.All() {
		out = append(out, int(p))
	}
	return out
}
