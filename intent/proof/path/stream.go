package path

import (
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
)

// Stream is packets on a cable whose ends need not agree on the numbers of a class: those of a fabric that is on its way from one state
// to another. Equal streams are treated alike.
type Stream struct {
	Class  string // what findings call it
	RoCE   int    // version
	DSCP   qos.DSCP
	ECN    qos.ECN
	MTU    qos.Bytes // no packet is longer; 0: not known, or small
	Answer bool      // CNPs, which may wait for nothing; otherwise data, which must not be lost
}

// Cable checks that the two ends of a cable, in one direction, lose nothing of a stream: each by the numbers that it has itself, and both
// by the priority that stands on the wire. Of sizes, speeds and IEEE 802.3x it says nothing: no packet is lost because two ends differ
// in them. Nor does it of the longest packet that a NIC takes, since RDMA connections agree on one that both of their ends take.
func (p *Prover) Cable(from, to fabric.End, s Stream) []Break {
	r := &report{arc: none}
	k, m := s.packet(outNumbers(from, s)), s.packet(inNumbers(to, s))
	x, y := out(from, k), p.in(to, m)
	sending := &linkCheck{Prover: p, report: r, packet: k, from: from, to: to, out: x, in: y, treatment: true}
	sending.side(Out, from, x.other, x.unread, x.there)
	receiving := &linkCheck{Prover: p, report: r, packet: m, from: from, to: to, out: x, in: y, treatment: true}
	receiving.side(In, to, y.other, y.unread, y.there)
	if x.there && y.there {
		receiving.paused(nil)
	}
	var found []Break
	for _, b := range r.breaks {
		if b.Unknown && b.At.Kind == addr.RoCE {
			continue // how a NIC sends is what the stream says
		}
		found = append(found, b.Break)
	}
	return found
}

// side checks one end, as far as it is known.
func (l *linkCheck) side(way Way, e fabric.End, s standing, u unread, there bool) {
	if u != (unread{}) {
		l.hidden = func(b *Break) bool { return !b.Unknown && b.Way == way && u.hides(b) }
		defer func() { l.hidden = nil }()
	}
	l.others(e, way, s)
	l.unknown(e, way, u)
	switch {
	case !there:
	case way == Out:
		l.sender()
	default:
		l.receiver()
	}
}

// packet is one of the stream, where its class has these numbers.
func (s Stream) packet(c *fabric.Class) *packet {
	return &packet{class: c, version: s.RoCE, dscp: s.DSCP, ecn: s.ECN, mtu: s.MTU, answer: s.Answer}
}

// class is that of the stream at an end, and the maps that say the rest of its numbers; nil: it is a NIC, which has a priority alone.
func (s Stream) class(e fabric.End) (*fabric.Class, *fabric.Maps) {
	c := &fabric.Class{Name: s.Class, Lossless: !s.Answer, DSCP: []qos.DSCP{s.DSCP}}
	switch {
	case e.NIC != nil:
		c.Priority = e.NIC.DSCPToPriority[s.DSCP&63] & 7
		c.TC = qos.TrafficClass(c.Priority)
	case e.Switch != nil && e.Port != nil:
		c.TC = e.Switch.Maps.DSCPToTC[s.DSCP&63] & 7
		return c, &e.Switch.Maps
	}
	return c, nil
}

// outNumbers are those of the class at the end that sends: the priority is one whose PAUSE stops the queue, or would.
func outNumbers(e fabric.End, s Stream) *fabric.Class {
	c, m := s.class(e)
	if m != nil {
		c.Queue = m.TCToQueue[c.TC] & 7
		c.Priority = priorityOf(e.Port.PFC, c.TC, func(p qos.Priority) bool { return m.PriorityToQueue[p] == c.Queue })
	}
	return c
}

// inNumbers are those of the class at the end that receives: the priority is one that is paused when the group fills, or would be.
func inNumbers(e fabric.End, s Stream) *fabric.Class {
	c, m := s.class(e)
	if m != nil {
		c.Group = m.TCToGroup[c.TC] & 7
		c.Priority = priorityOf(e.Port.PFC, c.TC, func(p qos.Priority) bool { return m.PriorityToGroup[p] == c.Group })
	}
	return c
}

// priorityOf is the first priority with PFC on whose PAUSE concerns a buffer, or else the first at all, that of the number of the
// traffic class before others.
func priorityOf(on qos.PrioritySet, tc qos.TrafficClass, concerns func(qos.Priority) bool) qos.Priority {
	usual := qos.Priority(tc)
	if on.Has(usual) && concerns(usual) {
		return usual
	}
	for _, p := range on.All() {
		if concerns(p) {
			return p
		}
	}
	return usual
}
