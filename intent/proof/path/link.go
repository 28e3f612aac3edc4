package path

import (
	"fmt"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
)

// link checks one cable in one direction. Either end may be missing, where the inventory ends. What is found depends on
// nothing but the packet, out(from) and in(to): that is what makes it right to check a cable once for all pairs whose
// packets pass it.
func (p *Prover) link(r *report, k *packet, from, to fabric.End) {
	x, y := out(from, k), p.in(to, k)
	l := &linkCheck{Prover: p, report: r, packet: k, from: from, to: to, out: x, in: y}
	if x.unread != (unread{}) || y.unread != (unread{}) {
		r.hidden = func(b *Break) bool {
			return !b.Unknown && (b.Way == Out && x.unread.hides(b) || b.Way == In && y.unread.hides(b))
		}
		defer func() { r.hidden = nil }()
	}
	l.others(from, Out, x.other)
	l.others(to, In, y.other)
	l.unknown(from, Out, x.unread)
	l.unknown(to, In, y.unread)
	if x.there {
		l.sender()
	}
	if y.there {
		l.receiver()
	}
	if x.there && y.there {
		l.both()
	}
}

// linkCheck is one cable while it is checked.
type linkCheck struct {
	*Prover
	*report
	*packet
	from, to fabric.End
	out      egress
	in       ingress
	// treatment leaves sizes out, and what loses no packet: see Cable.
	treatment bool
}

// at makes a break at one end of the cable.
func at(e fabric.End, way Way, kind addr.Kind, name string, what, why, change string) Break {
	return Break{At: e.Address().Of(kind, name), Port: e.Address(), Way: way, What: what, Why: why, Change: change}
}

// others says what is taken for granted, or not known, of a port of a switch that is not weir's.
func (l *linkCheck) others(e fabric.End, way Way, s standing) {
	switch s {
	case stated:
		l.assume(e.Address(), "the switch, which is unmanaged, holds what the intent states of it: weir neither writes nor reads it")
	case unstated:
		b := at(e, way, "", "", "the switch is unmanaged, and nothing is stated of it", "Whether it keeps the class lossless is unknown.",
			"Write an override that selects it and says what holds there.")
		b.Unknown = true
		l.add(b, []diag.Pos{e.Switch.At})
	}
}

// sender checks the port that the packet leaves by.
func (l *linkCheck) sender() {
	e, x := l.from, l.out
	l.classified(e, Out, x.tc)
	switch {
	case l.answer:
		l.answerQueue()
	case l.lossless():
		l.losslessQueue()
	}
	l.fits(e, Out, x.mtu)
	l.pausedWhole(e, Out, x.flowControl)
}

// losslessQueue checks that PAUSE stops the queue, and that it loses nothing in other ways.
func (l *linkCheck) losslessQueue() {
	e, x, c := l.from, l.out, l.class
	queue := fmt.Sprint(x.queue)
	switch {
	case x.nic:
		if !x.pfc {
			l.pfcOff(e, Out, qos.Priority(x.tc))
		}
	case x.tc != c.TC: // said by classified
	case !x.pfc:
		l.pfcOff(e, Out, c.Priority)
	case !x.lossless:
		l.add(at(e, Out, addr.Queue, queue, fmt.Sprintf("queue %s, which class %s leaves by, is lossy", queue, c.Name),
			"A queue that is full drops, though PAUSE would hold what comes next.", "Let a lossless class of its own use the queue."),
			e.Port.Origin.Class[c.Name], e.Switch.Maps.At)
	case x.obeys == 0:
		l.add(at(e, Out, addr.Queue, queue, fmt.Sprintf("no PAUSE stops queue %s, which class %s leaves by", queue, c.Name),
			"The next device asks to stop and is overrun.", "Map the priority of the class to the queue: write no queue, or the same for both."),
			[]diag.Pos{c.At}, e.Switch.Maps.At)
	}
	switch {
	case x.ecn == Dropping:
		l.add(at(e, Out, addr.Queue, queue, fmt.Sprintf("the curve of queue %s drops packets and marks none", queue),
			"It drops packets of a class that must not lose any.", "Let the curve mark (ecn), or switch it off: ecn: {off: true}."), e.Port.Origin.Class[c.Name])
	case x.ecn == Marking && l.ecn == qos.NotECT && l.version == 2:
		l.add(at(e, Out, addr.Queue, queue, fmt.Sprintf("queue %s marks, and the packets come without ECT", queue),
			"What cannot be marked is dropped.", "Send with ECT (congestionControl: dcqcn), or switch the class's ECN off."), e.Port.Origin.Class[c.Name])
	}
	if !x.watched {
		l.assume(e.Address(), "no PFC storm and no deadlock forms: the watchdog is off")
	}
}

// answerQueue checks that CNPs do not wait.
func (l *linkCheck) answerQueue() {
	e, x, c := l.from, l.out, l.class
	queue := fmt.Sprint(x.queue)
	what, why, change := "", "", ""
	switch {
	case !x.nic && x.tc != c.TC: // said by classified
	case x.nic && x.obeys != 0:
		what = fmt.Sprintf("CNPs leave with priority %d, which PFC pauses", x.tc)
	case !x.nic && (x.lossless || x.obeys != 0):
		what = fmt.Sprintf("CNPs leave by queue %s, which PFC pauses", queue)
	case !x.strict:
		what = fmt.Sprintf("CNPs leave by queue %s, which is not strict", queue)
		if x.nic {
			what = fmt.Sprintf("CNPs leave by traffic class %s, which is not strict", queue)
		}
		why, change = "They wait behind the traffic that causes the congestion, and senders slow down too late.", "Write strict: true in the class of the CNPs."
	}
	if what == "" {
		return
	}
	if why == "" {
		why, change = "PAUSE holds back what is to end the congestion.", "Give CNPs a lossy class with a priority and queue of its own."
	}
	kind := addr.Queue
	if x.nic {
		kind = addr.ETS
	}
	l.add(at(e, Out, kind, queue, what, why, change), e.Origin().Class[c.Name], []diag.Pos{c.At})
}

// receiver checks the port that the packet comes in by.
func (l *linkCheck) receiver() {
	e, y := l.to, l.in
	if l.trusted() {
		l.classified(e, In, y.tc)
		switch {
		case l.answer && y.lossless && !y.nic && y.tc == l.class.TC:
			l.add(at(e, In, addr.PG, fmt.Sprint(y.group), fmt.Sprintf("CNPs come in by priority group %d, which is lossless", y.group),
				"They fill the room that is kept for the lossless class.", "Give CNPs a lossy class."), []diag.Pos{l.class.At}, e.Origin().Class[l.class.Name])
		case l.lossless():
			l.losslessGroup()
		}
	}
	l.fits(e, In, y.mtu)
	l.pausedWhole(e, In, y.flowControl)
}

// losslessGroup checks that there is room for what comes after PAUSE, and that PAUSE is sent.
func (l *linkCheck) losslessGroup() {
	e, y, c := l.to, l.in, l.class
	if y.nic {
		if !y.pfc {
			l.pfcOff(e, In, qos.Priority(y.tc))
		}
		l.assume(e.Address(), "the NIC keeps enough room in its own receive buffer for what arrives after its PAUSE: weir does not set it")
		return
	}
	group := fmt.Sprint(y.group)
	o := e.Port.Origin
	switch {
	case y.tc != c.TC: // said by classified
	case !y.pfc:
		l.pfcOff(e, In, c.Priority)
	case !y.lossless:
		l.add(at(e, In, addr.PG, group, fmt.Sprintf("priority group %s, which class %s comes in by, is lossy", group, c.Name),
			"When it is full it drops: it has no headroom, and nobody is paused.", "Give the class the priority group of a lossless class."), o.Class[c.Name], e.Switch.Maps.At)
	case y.pauses == 0:
		l.add(at(e, In, addr.PG, group, fmt.Sprintf("no priority is paused when priority group %s fills", group),
			"The sender does not stop, and the group overflows.", "Map the priority of the class to its priority group."), []diag.Pos{c.At}, e.Switch.Maps.At)
	case l.treatment:
	case y.headroom == 0:
		b := at(e, In, addr.PG, group, fmt.Sprintf("priority group %s has no headroom that is known", group),
			"What is still on the cable when PAUSE is sent has no room.", "Write pfc.headroom in bytes, as the vendor gives it, or correct the cable's length.")
		b.Unknown = y.byDevice || y.other == stated
		l.add(b, o.Headroom, o.Cable)
	case y.headroom < y.needs:
		l.add(at(e, In, addr.PG, group, fmt.Sprintf("the headroom is %s, and %s may arrive after PAUSE", y.headroom, y.needs),
			"What has no room is dropped.", "Raise pfc.headroom, or write auto; weir explain shows the terms."), o.Headroom, o.Cable)
	default:
		l.bufferHolds()
	}
	l.grants()
}

// bufferHolds checks that the switch has the buffer that its ports are promised.
func (l *linkCheck) bufferHolds() {
	e, over, o := l.to, l.in.over, l.to.Port.Origin
	b := Break{At: e.Switch.Address(), Port: e.Address(), Way: In}
	if over.taken > 0 {
		b.What = fmt.Sprintf("headroom and guarantees take %s, and the buffer has %s", over.taken.Rounded(), over.buffer.Rounded())
		b.Why, b.Change = "Not every port gets the headroom that it is promised.", "Use fewer lossless classes, shorter cables or a shared pool (buffers.oversubscribe)."
		l.add(b, []diag.Pos{e.Switch.At})
	}
	if over.static > 0 {
		b.What = fmt.Sprintf("the static thresholds of all lossless groups make %s, and %s of the buffer are shared", over.static.Rounded(), over.shared.Rounded())
		b.Why, b.Change = "When many ports fill at once, the shared buffer is empty before each has sent PAUSE.", "Write a lower buffers.threshold, or buffers.alpha in its place."
		l.add(b, o.Alpha, []diag.Pos{e.Switch.At})
	}
	if over.most > 0 {
		b.What = fmt.Sprintf("the headroom pool holds %s, and a single port may need %s after PAUSE", over.pool.Rounded(), over.most.Rounded())
		b.Why, b.Change = "What has no room is dropped.", "Write a lower buffers.oversubscribe."
		l.add(b, e.Switch.Origin.Headroom)
	}
}

// grants notes what is taken for granted about headroom.
func (l *linkCheck) grants() {
	a, y := l.to.Address(), l.in
	if y.headroom == 0 || !y.lossless {
		return
	}
	switch {
	case y.byDevice:
		l.assume(a, "the switch works its headroom out by itself and reserves no less than weir reckons")
	case y.guess:
		l.assume(a, "the headroom, which is not published for this switch at this speed, is enough: it is reckoned on the safe side")
	case y.needs == 0:
		l.assume(a, "the headroom that is written in the repo is enough: how much this switch needs is not published")
	}
	if y.pool {
		l.assume(a, "not all ports need their headroom at once: it comes from a shared pool (buffers.oversubscribe)")
	}
}

// trusted checks that the port classifies by a field that the packet has.
func (l *linkCheck) trusted() bool {
	e, y := l.to, l.in
	routing := l.f.Intent.Routing
	between := e.NIC == nil && l.from.Switch != nil // from switch to switch
	b := at(e, In, addr.Trust, "", "", "", "")
	switch {
	case l.version == 1 && between && l.routed:
		b.What, b.Why, b.Change = "RoCE v1 comes to a router", "It is no IP packet, so no router forwards it.", "Send RoCE v2 (roce: {version: 2})."
	case l.version == 1 && y.trust == qos.TrustDSCP:
		b.What, b.Why = "the port classifies by DSCP, and RoCE v1 has none", "Every packet falls into the default class."
		b.Change = "Send RoCE v2 (roce: {version: 2})."
	case y.trust == qos.TrustDSCP:
		return true
	case between && l.routed:
		b.What, b.Change = "the port classifies by PCP, and the fabric is routed", "Write trust: dscp."
		b.Why = "The VLAN tag and its PCP end at the first router, so every packet falls into the default class."
	default:
		b.What = "the port classifies by PCP, and whether packets have a VLAN tag here is unknown"
		b.Why = "A packet without a tag has no PCP and falls into the default class. weir's model has no VLANs."
		b.Change, b.Unknown = "Write trust: dscp, and send RoCE v2.", true
	}
	l.add(b, e.Origin().Trust, []diag.Pos{routing.Routed.At})
	return false
}

// classified checks that a switch takes the packet for the class that it is of. NICs are checked by their priority.
func (l *linkCheck) classified(e fabric.End, way Way, tc qos.TrafficClass) {
	if e.NIC != nil || tc == l.class.TC || l.version != 2 {
		return
	}
	b := at(e, way, "", "", fmt.Sprintf("DSCP %d is traffic class %d here, and class %s is %d", l.dscp, tc, l.class.Name, l.class.TC),
		"The packets share queue and buffer with other traffic.", "List the DSCP in the class, and in no other.")
	b.At = e.Switch.Address().Of(addr.Map, fmt.Sprintf("dscp-to-tc/%d", l.dscp))
	l.add(b, []diag.Pos{l.class.At}, e.Switch.Maps.At)
}

func (l *linkCheck) pfcOff(e fabric.End, way Way, p qos.Priority) {
	l.add(at(e, way, addr.PFC, fmt.Sprint(p), fmt.Sprintf("PFC is off for priority %d", p),
		"A full buffer here cannot stop its sender, and what leaves here does not stop for a full buffer at the other end.",
		"Switch PFC on at both ends of the link, for the same priorities."), e.Origin().PFC, []diag.Pos{l.class.At})
}

// fits checks that the port passes the longest packets.
func (l *linkCheck) fits(e fabric.End, way Way, mtu qos.Bytes) {
	if l.mtu > mtu && !(l.treatment && way == In && e.NIC != nil) {
		l.add(at(e, way, addr.MTU, "", fmt.Sprintf("the port takes packets of up to %s, and the sender's have up to %s", mtu, l.mtu),
			"Longer packets are dropped.", "Raise the mtu of this port, or lower that of the sender."), e.Origin().MTU)
	}
}

// pausedWhole checks that IEEE 802.3x is off.
func (l *linkCheck) pausedWhole(e fabric.End, way Way, on bool) {
	if on && l.lossless() && !l.treatment {
		l.add(at(e, way, addr.FlowControl, "", "IEEE 802.3x flow control is on",
			"It pauses the whole link, with every class on it, where PFC pauses one priority.", "Write flowControl: false."), e.Origin().FlowControl)
	}
}

// both checks that the two ends understand each other.
func (l *linkCheck) both() {
	x, y := l.out, l.in
	var cable []diag.Pos
	if peer := peerOf(l.to); peer != nil {
		cable = []diag.Pos{peer.Link.At}
	}
	if x.speed != y.speed && x.speed > 0 && y.speed > 0 && !l.answer { // said of the data
		l.add(Break{
			At: l.to.Address(), Port: l.to.Address(), Way: In, What: fmt.Sprintf("the port runs at %s, and the other end of the cable at %s", y.speed, x.speed),
			Why: "Such a link does not come up, and headroom follows from the speed.", Change: "Correct the speed of one of the ports in the inventory.",
		}, cable)
	}
	l.paused(cable)
	if l.lossless() && y.pauses != 0 && y.cable.on {
		l.encrypted(cable)
	}
}

// paused checks that the PAUSE of one end stops the class at the other.
func (l *linkCheck) paused(cable []diag.Pos) {
	x, y := l.out, l.in
	if l.lossless() && x.obeys != 0 && y.pauses != 0 && x.obeys&y.pauses == 0 {
		l.add(at(l.to, In, addr.PFC, y.pauses.String(), fmt.Sprintf("it pauses priority %s, and the other end stops the class for priority %s alone", y.pauses, x.obeys),
			"PAUSE stops another class, and the sender overruns this port.", "Give the class one priority on both ends of the link."), []diag.Pos{l.class.At}, cable)
	}
}

// encrypted checks that both ends of a cable with MACsec do the same with PFC frames.
func (l *linkCheck) encrypted(cable []diag.Pos) {
	m := l.in.cable
	b := at(l.to, In, addr.PFC, "", fmt.Sprintf("MACsec: what is done with PFC frames is %s here and %s at the other end", m.here, m.there),
		"An end that does not take what the other sends does not stop, and overruns it.", "Set both ends to the same, and write it at the link: macsec: {pfc: bypass}, encrypt or strict.")
	switch {
	case m.here == "" || m.there == "":
		b.What, b.Unknown = "the link has MACsec, and nothing says what both ends do with PFC frames", true
	case m.here == m.there:
		return
	}
	l.add(b, cable)
}

func peerOf(e fabric.End) *fabric.Peer {
	switch {
	case e.NIC != nil:
		return e.NIC.Peer
	case e.Port != nil:
		return e.Port.Peer
	}
	return nil
}
