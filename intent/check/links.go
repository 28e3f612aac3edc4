package check

import (
	"fmt"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
)

// statedFirst are the ends of a link, a switch before a host, and last the end of which nothing is known.
func statedFirst(l *fabric.Link) (a, b fabric.End) {
	if l.A.Switch == nil || l.A.Unstated() && l.B.Switch != nil {
		return l.B, l.A
	}
	return l.A, l.B
}

// ends are the devices at both ends of a link, which a finding about the link concerns.
func ends(a, b fabric.End) []string { return []string{a.Address().Device, b.Address().Device} }

func linkPriorities(f *fabric.Fabric) diag.List {
	var l diag.List
	for _, link := range f.Links {
		a, b := statedFirst(link)
		var d diag.Diagnostic
		switch {
		case a.Unstated() || a.PFC() == b.PFC() && !b.Unstated() || a.PFC() == 0 && b.Unstated():
			continue
		case b.Unstated() && b.Switch != nil:
			d = finding(diag.Warning, fmt.Sprintf("PFC is on for priority %s, and nothing is stated of %s, which is unmanaged", a.PFC(), b.Address()),
				"Whether it pauses and obeys PAUSE is not known. Write an override that selects it and says what holds there, or switch PFC off on this port.", []diag.Pos{link.At})
		case b.Unstated():
			d = finding(diag.Warning, fmt.Sprintf("PFC is on for priority %s, and no host profile sets it at the other end", a.PFC()),
				"weir leaves that host as it is. Select it in a document of kind Hosts, or switch PFC off on this port.", []diag.Pos{link.At})
		default:
			d = finding(diag.Error, fmt.Sprintf("PFC is on for %s here and for %s at %s", orNone(a.PFC()), orNone(b.PFC()), b.Address()),
				"Where only one end pauses, the other overruns it. Both ends of a link need the same lossless priorities.",
				a.Origin().PFC, b.Origin().PFC, []diag.Pos{link.At})
		}
		d.Addr, d.Devices = a.Address().Of(addr.PFC, ""), ends(a, b)
		l.Add(d)
	}
	return l
}

// cables finds NICs of host profiles that no cable leads to.
func cables(f *fabric.Fabric) diag.List {
	var l diag.List
	for _, h := range f.Hosts {
		for _, n := range h.NICs {
			if n.RoCE == 0 || n.Peer != nil {
				continue
			}
			d := finding(diag.Warning, "the inventory has no cable of this NIC",
				"Where its packets go is unknown, and nothing is checked or proven of their way. Add the link to the inventory, or take the NIC out of it.", []diag.Pos{h.Device.At})
			d.Addr = addr.Port(h.Name, n.Name)
			l.Add(d)
		}
	}
	return l
}

// orNone writes a set of priorities, and the empty one as words.
func orNone(s qos.PrioritySet) string {
	if s == 0 {
		return "no priority"
	}
	return "priority " + s.String()
}

func linkMTU(f *fabric.Fabric) diag.List {
	var l diag.List
	for _, link := range f.Links {
		a, b := statedFirst(link)
		var d diag.Diagnostic
		switch {
		case a.Unstated() || b.Unstated() || a.MTU() == b.MTU() || (b.NIC != nil && a.MTU() > b.MTU()):
			continue
		case b.NIC != nil:
			d = finding(diag.Error, fmt.Sprintf("the port takes packets of %s, and %s sends up to %s", a.MTU(), b.Address(), b.MTU()),
				"Longer packets are dropped: raise the port's mtu, or lower the host's.", a.Origin().MTU, b.Origin().MTU)
		default:
			d = finding(diag.Error, fmt.Sprintf("the MTU is %s here and %s at %s", a.MTU(), b.MTU(), b.Address()),
				"Packets that one end sends, the other drops: both need the same mtu.", a.Origin().MTU, b.Origin().MTU)
		}
		d.Addr, d.Devices = a.Address().Of(addr.MTU, ""), ends(a, b)
		l.Add(d)
	}
	return l
}

func flowControl(f *fabric.Fabric) diag.List {
	var l diag.List
	add := func(a addr.Addr, o *fabric.Origin) {
		d := finding(diag.Error, "IEEE 802.3x flow control is on for a port with PFC",
			"It pauses every class at once, and spreads congestion to all of them: write flowControl: false.", o.FlowControl)
		d.Addr = a.Of(addr.FlowControl, "")
		l.Add(d)
	}
	ports(f, func(sw *fabric.Switch, p *fabric.Port) {
		if p.FlowControl && p.PFC != 0 {
			add(portAddr(sw, p), p.Origin)
		}
	})
	nics(f, func(h *fabric.Host, n *fabric.NIC) {
		if n.FlowControl && n.PFC != 0 {
			add(addr.Port(h.Name, n.Name), n.Origin)
		}
	})
	return l
}
