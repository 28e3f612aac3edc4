package path

import (
	"cmp"
	"math"
	"slices"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/fabric"
)

// Passage is a fabric on its way from one state to another, device by device. Each device is as it was until its wave, and as it will
// be after it; while a wave is sent, each of its devices is the one or the other.
type Passage struct {
	Before, After *fabric.Fabric // of one inventory: their links are the same, in the same order
	Wave          map[string]int // of the devices that change, from 0; what does not change is as After says
}

// Unsafe is something that holds in a state in between and takes from a sender what it relies on.
type Unsafe struct {
	Break
	From, To addr.Addr // the ends of the cable, in the direction of the packets
	Sender   addr.Addr // the first of those that send so; empty: the inventory has no host that says so
	Stream   Stream    // what it sends then
	Was, Is  Stream    // what it sends before the first wave and in the end; Stream where it sends nothing, or that is not known
	Senders  int
	Since    int  // the state stands from this wave on
	Until    int  // until this one is done; the same where it stands within a wave
	Known    bool // the cable loses nothing of it before the first wave; otherwise that is not known
}

// never is the wave of what does not change.
const never = math.MaxInt

// Judge goes over the states of a passage, and finds what breaks in one of them and holds before the first wave: for what each sender
// sends before its wave and after it, over each cable in both directions, with each pair of states that its ends can have meanwhile.
// What is broken before is nobody's loss, and what the last state breaks is what the intent wants.
func (w Passage) Judge() []Unsafe {
	j := &judge{Passage: w, prover: New(w.After)}
	groups := w.sendings()
	for _, g := range groups {
		slices.SortStableFunc(g.hosts, func(a, b changing) int { return cmp.Compare(a.wave, b.wave) })
	}
	for i := range w.After.Links {
		a, b := w.After.Links[i].A, w.After.Links[i].B
		if w.wave(device(a)) == never && w.wave(device(b)) == never {
			continue
		}
		for _, g := range groups {
			j.cable(g, i, false)
			j.cable(g, i, true)
		}
	}
	return j.found
}

func (w Passage) wave(device string) int {
	if n, changes := w.Wave[device]; changes {
		return n
	}
	return never
}

// device is the name of the one that an end is of.
func device(e fabric.End) string { return e.Address().Device }

// judge is the work on a passage.
type judge struct {
	Passage
	prover *Prover
	found  []Unsafe
}

// end is one end of a link before or after.
func (j *judge) end(link int, second, after bool) fabric.End {
	f := j.Before
	l := j.After.Links[link]
	e := l.A
	if second {
		e = l.B
	}
	if after || j.wave(device(e)) == never {
		return e
	}
	if l = f.Links[link]; second {
		return l.B
	}
	return l.A
}

// cable judges one link in one direction for one kind of senders.
func (j *judge) cable(g *sending, link int, back bool) {
	at := func(after bool) (fabric.End, fabric.End) { return j.end(link, back, after), j.end(link, !back, after) }
	from, to := at(true)
	sends := g.nics[from.Address()]
	first, last, others := g.others(device(to)) // a host does not send to itself
	switch {
	case from.NIC != nil && !sends || !others:
		return
	case sends:
		first, last = j.wave(device(from)), j.wave(device(from))
	}
	x, y := at(false)
	known := true
	if g.before != nil {
		switch lost, unknown := split(j.prover.Cable(x, y, *g.before)); {
		case len(lost) > 0:
			return // before the first wave it is lost: nobody relies on it
		case len(unknown) > 0:
			known = false
		}
	} else if !g.unknown {
		return // nothing is sent before
	} else {
		known = false
	}
	unwanted := g.after == nil
	if !unwanted {
		lost, _ := split(j.prover.Cable(from, to, *g.after))
		unwanted = len(lost) > 0
	}
	for _, s := range j.states(device(from), device(to), first, last, sends) {
		stream := g.before
		if s.sender {
			stream = g.after
		}
		if stream == nil || s.sender && unwanted || unwanted && (s.from && from.NIC != nil || s.to && to.NIC != nil) {
			continue // it is to be so
		}
		lost, unknown := split(j.prover.Cable(j.end(link, back, s.from), j.end(link, !back, s.to), *stream))
		if len(lost) == 0 && len(unknown) == 0 {
			continue
		}
		u := Unsafe{
			From: from.Address(), To: to.Address(), Sender: g.sender, Stream: *stream, Senders: max(1, len(g.nics)), Since: s.since, Until: s.until, Known: known && len(lost) > 0,
		}
		u.Was, u.Is = *cmp.Or(g.before, stream), *cmp.Or(g.after, stream)
		for _, b := range slices.Concat(lost, unknown)[:1] {
			u.Break = b
			j.found = append(j.found, u)
		}
	}
}

// split parts what is broken from what is not known.
func split(breaks []Break) (lost, unknown []Break) {
	for _, b := range breaks {
		if b.Unknown {
			unknown = append(unknown, b)
		} else {
			lost = append(lost, b)
		}
	}
	return lost, unknown
}

// state is which of a sender and the two ends of a cable have changed, and while which waves that stands.
type state struct {
	sender, from, to bool
	since, until     int
}

// states are those in between that can be: what has changed did so in no later wave than what has not. Of several senders the first
// to change stands for those that have, and the last for those that have not. A sender that is tied is the end that the packets leave.
func (j *judge) states(from, to string, first, last int, tied bool) []state {
	var out []state
	for n := range 8 {
		s := state{sender: n&1 != 0, from: n&2 != 0, to: n&4 != 0, since: -1, until: never}
		possible := !tied || s.sender == s.from
		note := func(changed bool, until, since int) {
			switch {
			case changed && since == never:
				possible = false // it never does
			case changed:
				s.since = max(s.since, since)
			default:
				s.until = min(s.until, until)
			}
		}
		note(s.sender, last, first)
		note(s.from, j.wave(from), j.wave(from))
		note(s.to, j.wave(to), j.wave(to))
		if between := s.since >= 0 && s.until < never; possible && between && s.since <= s.until {
			out = append(out, s)
		}
	}
	return out
}
