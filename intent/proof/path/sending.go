package path

import (
	"slices"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
)

// sending is what NICs send before and after; nil: nothing, or nothing that is known. All of them change, or none.
type sending struct {
	sender        addr.Addr
	before, after *Stream
	unknown       bool // what is sent before was not read
	nics          map[addr.Addr]bool
	hosts         []changing // of the NICs, in the order of their waves
}

// changing is a device and its wave.
type changing struct {
	device string
	wave   int
}

// others are the waves in which the first and the last host change, but for one; false where there is no other.
func (s *sending) others(but string) (first, last int, some bool) {
	other := func(h changing) bool { return h.device != but }
	i := slices.IndexFunc(s.hosts, other)
	if i < 0 {
		return 0, 0, false
	}
	last = len(s.hosts) - 1
	for !other(s.hosts[last]) {
		last--
	}
	return s.hosts[i].wave, s.hosts[last].wave, true
}

// sendings are the kinds of senders: those that are equal send the same before and after.
func (w Passage) sendings() []*sending {
	type kind struct {
		before, after    Stream
		unknown, changes bool
	}
	var out []*sending
	byKind := map[kind]*sending{}
	add := func(at addr.Addr, before, after *Stream, unknown bool) {
		if before == nil && after == nil && !unknown {
			return
		}
		k := kind{unknown: unknown, changes: w.wave(at.Device) != never}
		if before != nil {
			k.before = *before
		}
		if after != nil {
			k.after = *after
		}
		g := byKind[k]
		if g == nil {
			g = &sending{sender: at, before: before, after: after, unknown: unknown, nics: map[addr.Addr]bool{}}
			byKind[k] = g
			out = append(out, g)
		}
		if g.nics[at] = true; !slices.Contains(g.hosts[max(0, len(g.hosts)-1):], changing{at.Device, w.wave(at.Device)}) {
			g.hosts = append(g.hosts, changing{at.Device, w.wave(at.Device)})
		}
	}
	mute := map[addr.Addr]bool{}
	for _, a := range w.Unheard() {
		mute[a] = true
	}
	strangers := len(w.After.Hosts) == 0
	for i, h := range w.After.Hosts {
		for m, n := range h.NICs {
			at := addr.Port(h.Name, n.Name)
			was, from, silent := n, w.After, false
			if w.wave(h.Name) != never {
				from, was, silent = w.Before, w.Before.Hosts[i].NICs[m], w.Before.Unread(markedWith(at))
			}
			strangers = strangers || n.RoCE == 0
			if silent {
				add(at, nil, data(w.After, n), mute[at])
				continue
			}
			add(at, data(from, was), data(w.After, n), false)
			add(at, answers(was), answers(n), false)
		}
	}
	if !strangers {
		return out
	}
	for _, c := range w.After.Classes { // which hosts that weir does not know may send in
		for _, d := range c.DSCP {
			if c.Lossless {
				s := &Stream{Class: c.Name, RoCE: usualVersion, DSCP: d, ECN: qos.ECT0}
				add(addr.Addr{}, s, s, false)
			}
		}
	}
	return out
}

// markedWith is the address of what a NIC marks RoCE with.
func markedWith(nic addr.Addr) addr.Addr { return nic.Of(addr.RoCE, "").With("tos") }

// Unheard are the NICs that change, that may send something lossless now, and of which it is not known what. One without PFC sends
// nothing that is lossless, whatever it marks.
func (w Passage) Unheard() []addr.Addr {
	var out []addr.Addr
	for _, h := range w.Before.Hosts {
		if w.wave(h.Name) == never {
			continue
		}
		for _, n := range h.NICs {
			at := addr.Port(h.Name, n.Name)
			if w.Before.Unread(markedWith(at)) && (n.PFC != 0 || w.Before.Unread(at.Of(addr.PFC, ""))) {
				out = append(out, at)
			}
		}
	}
	return out
}

// usualVersion of RoCE is what senders that are not known are taken to use.
const usualVersion = 2

// data is what a NIC sends in its class; nil where it sends none, where that may be lost.
func data(f *fabric.Fabric, n *fabric.NIC) *Stream {
	c := f.Class(n.Class)
	if n.RoCE == 0 || c == nil || !c.Lossless {
		return nil
	}
	return &Stream{Class: c.Name, RoCE: n.RoCE, DSCP: n.DSCP, ECN: qos.ECN(n.TOS & 3), MTU: n.MTU}
}

// answers are the CNPs that a NIC sends.
func answers(n *fabric.NIC) *Stream {
	if n.RoCE != usualVersion || !n.DCQCN || n.CNP == "" {
		return nil
	}
	return &Stream{Class: n.CNP, RoCE: n.RoCE, DSCP: n.CNPDSCP, Answer: true}
}
