package fabric

import (
	"fmt"
	"slices"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/inventory"
)

// linkCheck is the name under which findings about links are reported.
const linkCheck = "link-ends"

// originKey is a port's settings together with where its link's length was written.
type originKey struct {
	settings *Origin
	length   diag.Pos
}

// join makes the links. A link one end of which does not exist or is taken is a finding and is left out.
func (r *resolver) join(links []*inventory.Link) {
	for _, l := range links {
		a, aOK := r.attach(l, l.A)
		b, bOK := r.attach(l, l.B)
		if !aOK || !bOK {
			continue
		}
		link := &Link{A: a.End, B: b.End, Length: l.Length.V, MACsec: l.MACsec, At: l.At}
		if !l.Length.Set() {
			link.Length = max(a.set.cable, b.set.cable)
		}
		r.out.Links = append(r.out.Links, link)
		r.connect(a, b.End, link, l)
		r.connect(b, a.End, link, l)
	}
}

// attach finds an end of a link and marks it as used by it.
func (r *resolver) attach(l *inventory.Link, e inventory.End) (end, bool) {
	a := addr.Port(e.Device, e.Port)
	found, ok := r.ends[a]
	if !ok {
		r.findings.Add(diag.Diagnostic{
			Severity: diag.Error, Check: linkCheck, Summary: "a link ends here, but the inventory has no such port",
			Detail: "Correct the link, or add the port to the device.", Addr: a, At: []diag.Pos{e.At},
		})
		return end{}, false
	}
	if found.link != nil {
		r.findings.Add(diag.Diagnostic{
			Severity: diag.Error, Check: linkCheck, Summary: "two links end at this port",
			Detail: "A port has one cable: remove one of the links.", Addr: a, At: []diag.Pos{found.link.At, l.At},
		})
		return end{}, false
	}
	found.link = l
	r.ends[a] = found
	return found, true
}

// connect tells a port or NIC what is at the other end, and how long the cable is.
func (r *resolver) connect(e end, other End, link *Link, l *inventory.Link) {
	peer := &Peer{Link: link, Host: other.Host != nil}
	if peer.Host {
		peer.Device, peer.Port = other.Host.Name, other.NIC.Name
	} else {
		peer.Device, peer.Port = other.Switch.Name, other.Port.Name
	}
	origin := r.originWith(e.set.origin, l)
	if e.Port != nil {
		e.Port.Peer, e.Port.Cable, e.Port.Origin = peer, link.Length, origin
		return
	}
	e.NIC.Peer, e.NIC.Cable, e.NIC.Origin = peer, link.Length, origin
}

// originWith is a port's origin with the place of its link's length, where the link has one.
func (r *resolver) originWith(o *Origin, l *inventory.Link) *Origin {
	if !l.Length.Set() {
		return o
	}
	key := originKey{o, l.Length.At}
	with, ok := r.origins[key]
	if !ok {
		copied := *o
		copied.Cable = []diag.Pos{l.Length.At}
		with = &copied
		r.origins[key] = with
	}
	return with
}

// String names both ends: leaf1/Ethernet0 - spine1/Ethernet4.
func (l *Link) String() string { return fmt.Sprintf("%s - %s", l.A.Address(), l.B.Address()) }

// Hosts are the names of those that are cabled to the switch, each once, in the order of its ports.
func (s *Switch) Hosts() []string {
	var out []string
	for _, p := range s.Ports {
		if p.Peer != nil && p.Peer.Host && !slices.Contains(out, p.Peer.Device) {
			out = append(out, p.Peer.Device)
		}
	}
	return out
}

// PFC is the lossless priorities at this end.
func (e End) PFC() qos.PrioritySet {
	if e.Switch != nil {
		return e.Port.PFC
	}
	return e.NIC.PFC
}

// MTU is the IP MTU at this end.
func (e End) MTU() qos.Bytes {
	if e.Switch != nil {
		return e.Port.MTU
	}
	return e.NIC.MTU
}

// Origin is where the settings at this end were written.
func (e End) Origin() *Origin {
	if e.Switch != nil {
		return e.Port.Origin
	}
	return e.NIC.Origin
}
