package path

import (
	"fmt"
	"slices"

	"github.com/weirfabric/weir/intent/depend"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
)

// leg is one direction: the data there, or the CNPs back.
type leg struct {
	from, to      End
	first, last   fabric.End // the ports that the ends are cabled to
	packet        *packet
	walk          walk
	direct        bool // the ends are cabled to each other
	joined, found bool // there are cables; there is a route
}

// Joined says whether cables of the inventory join two ends.
func (p *Prover) Joined(a, b End) bool {
	x, y := p.first(a), p.first(b)
	if x.NIC != nil || y.NIC != nil {
		return x.NIC != nil && x.NIC == b.NIC
	}
	return x.Switch != nil && y.Switch != nil && p.island[p.index[x.Switch]] == p.island[p.index[y.Switch]]
}

// Prove proves one class from one end to another, over every route that the policy allows. An empty class is the one that
// the sender sends in.
func (p *Prover) Prove(from, to End, class string) Path {
	if class == "" {
		class = p.ClassOf(from)
	}
	r := &report{arc: none}
	out := Path{From: from.Address(), To: to.Address(), Class: class, Hops: []Hop{}, Breaks: []Break{}, Others: []Route{}, Assumes: []Assumption{}}
	k := p.sends(r, from, class)
	if k == nil {
		return r.finish(out)
	}
	out.Packet = k.public()
	there := p.leg(r, from, to, k)
	p.run(r, &there)
	p.receives(r, from, to, k)
	legs := []leg{there}
	if cnp := p.answers(r, from, to, k); cnp != nil && there.joined {
		r.answers = true
		back := p.leg(r, to, from, cnp)
		p.run(r, &back)
		legs = append(legs, back)
	}
	out = r.finish(out)
	p.show(&out, legs, r.breaks)
	return out
}

// finish copies what was found.
func (r *report) finish(out Path) Path {
	for _, b := range r.breaks {
		out.Breaks = append(out.Breaks, b.Break)
	}
	out.Assumes = append(out.Assumes, r.assumes...)
	out.Lossless = len(out.Breaks) == 0
	return out
}

// leg finds the routes of one direction.
func (p *Prover) leg(r *report, from, to End, k *packet) leg {
	l := leg{from: from, to: to, first: p.first(from), last: p.first(to), packet: k}
	l.direct = l.first.NIC != nil && l.first.NIC == to.NIC
	if l.direct {
		l.joined, l.found = true, true
		return l
	}
	for _, e := range []End{from, to} {
		if x := p.first(e); x.Switch == nil && x.NIC == nil {
			r.add(loose(e), e.written())
			return l
		}
	}
	if !p.Joined(from, to) {
		b := endBreak(from, Out, "", fmt.Sprintf("no cables of the inventory lead to %s", to.Address()),
			"Without a way there is nothing to prove.", "Name two NICs of one network, or add the missing links to the inventory.")
		b.Unknown = true
		r.add(b, from.written(), to.written())
		return l
	}
	p.blocked(r)
	l.joined = true
	s, t := p.index[l.first.Switch], p.index[l.last.Switch]
	l.walk = p.walk(s, t)
	if l.found = s == t || len(l.walk.arcs) > 0; !l.found {
		r.add(p.astray(l.first.Switch), []diag.Pos{p.f.Intent.Routing.Policy.At})
	}
	return l
}

// loose is the break of an end without a cable.
func loose(e End) Break {
	b := endBreak(e, "", "", "the inventory has no cable here", "Where packets go is unknown.", "Add the link to the inventory.")
	b.Unknown = true
	return b
}

// run checks every cable of a leg in its direction.
func (p *Prover) run(r *report, l *leg) {
	if !l.joined {
		return
	}
	if l.direct {
		p.link(r, l.packet, l.from.End, l.to.End)
		return
	}
	p.begin(r, l.packet, l.from)
	for _, a := range l.walk.arcs {
		r.arc = a
		p.link(r, l.packet, p.tail(a), p.head(a))
	}
	r.arc = none
	p.end(r, l.packet, l.to)
}

// begin checks the first cable of a path, end the last. Of an end that is a port of a switch, the other end of the cable
// is not in the inventory.
func (p *Prover) begin(r *report, k *packet, e End) {
	if e.NIC != nil {
		p.link(r, k, e.End, p.first(e))
	} else {
		p.link(r, k, fabric.End{}, e.End)
	}
}

func (p *Prover) end(r *report, k *packet, e End) {
	if e.NIC != nil {
		p.link(r, k, p.first(e), e.End)
	} else {
		p.link(r, k, e.End, fabric.End{})
	}
}

// show fills in the hops: the first route of each leg, and a route for each kind of break that those do not show.
func (p *Prover) show(out *Path, legs []leg, breaks []found) {
	if !legs[0].found {
		return
	}
	switches, seen := map[int]bool{}, []Break{}
	for i := range legs {
		l, answers := &legs[i], i == 1
		if !l.found {
			continue
		}
		route := p.route(l, none)
		if hops := p.hops(l, route, breaks, answers); answers {
			out.Answers = &Answers{Class: l.packet.class.Name, DSCP: int(l.packet.dscp), Hops: hops}
		} else {
			out.Hops = hops
			out.Links = p.cables(l)
			for _, sw := range p.passed(l) {
				switches[sw] = true
			}
		}
		for _, b := range breaks {
			if b.answers == answers && (b.arc == none || slices.Contains(route, b.arc)) {
				seen = append(seen, b.Break)
			}
		}
	}
	out.Switches = len(switches)
	for _, b := range breaks {
		same := func(s Break) bool { return s.words() == b.words() }
		if b.arc == none || slices.ContainsFunc(seen, same) {
			continue
		}
		seen = append(seen, b.Break)
		l := &legs[0]
		if b.answers {
			l = &legs[1]
		}
		out.Others = append(out.Others, Route{Answers: b.answers, Hops: p.hops(l, p.route(l, b.arc), breaks, b.answers)})
	}
}

// cables counts those on any route, the first and the last included.
func (p *Prover) cables(l *leg) int {
	if l.direct {
		return 1
	}
	n := len(l.walk.arcs)
	for _, e := range []End{l.from, l.to} {
		if e.NIC != nil {
			n++
		}
	}
	return n
}

// route is one route between the switches of a leg.
func (p *Prover) route(l *leg, a depend.Arc) []depend.Arc {
	if l.direct {
		return nil
	}
	return p.through(l.walk, a)
}

// passed are the switches on any route.
func (p *Prover) passed(l *leg) []int {
	if l.direct {
		return nil
	}
	out := []int{l.walk.from}
	for sw := range l.walk.by {
		out = append(out, sw)
	}
	return out
}

// hops describes the ports of a route, and marks those at which a break lies.
func (p *Prover) hops(l *leg, route []depend.Arc, breaks []found, answers bool) []Hop {
	k := l.packet
	var hops []Hop
	if l.from.NIC != nil {
		hops = append(hops, hopOut(l.from.End, k))
	}
	if !l.direct && l.first.Port != nil {
		hops = append(hops, p.hopIn(l.first, k))
	}
	for _, a := range route {
		hops = append(hops, hopOut(p.tail(a), k), p.hopIn(p.head(a), k))
	}
	if !l.direct && l.last.Port != nil {
		hops = append(hops, hopOut(l.last, k))
	}
	if l.to.NIC != nil {
		hops = append(hops, p.hopIn(l.to.End, k))
	}
	for i := range hops {
		hops[i].Broken = slices.ContainsFunc(breaks, func(b found) bool {
			return b.answers == answers && b.Port == hops[i].Address && b.Way == hops[i].Way
		})
	}
	return hops
}
