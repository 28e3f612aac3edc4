package path

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/intent/source"
)

// End is where packets begin or end: a NIC, or where the inventory has no host a port of a switch, or the switch itself.
type End struct {
	fabric.End
}

// Address is that of the NIC, the port or the switch.
func (e End) Address() addr.Addr {
	if e.Switch != nil && e.Port == nil {
		return e.Switch.Address()
	}
	return e.End.Address()
}

// written is where the end stands in the inventory.
func (e End) written() []diag.Pos {
	if e.Host != nil {
		return []diag.Pos{e.Host.Device.At}
	}
	return []diag.Pos{e.Switch.At}
}

// Ends finds what a person named: gpu1/eth0 a NIC; gpu1 the NICs of a host that send RoCE, or else its only one; a port of a
// switch; or a switch. The error says what was probably meant.
func Ends(f *fabric.Fabric, name string) ([]End, error) {
	a, err := addr.Parse(name)
	if err != nil {
		return nil, err
	}
	var known []string
	for _, h := range f.Hosts {
		if known = append(known, h.Name); h.Name == a.Device {
			return nicsOf(h, a.Port)
		}
	}
	for _, sw := range f.Switches {
		if known = append(known, sw.Name); sw.Name == a.Device {
			return portsOf(sw, a.Port)
		}
	}
	return nil, fmt.Errorf("%s: the inventory has no device %s%s", name, a.Device, source.DidYouMean(a.Device, known))
}

func nicsOf(h *fabric.Host, name string) ([]End, error) {
	var named, sending, all []End
	var known []string
	for _, n := range h.NICs {
		e := End{fabric.End{Host: h, NIC: n}}
		all, known = append(all, e), append(known, n.Name)
		if n.Name == name {
			named = append(named, e)
		}
		if n.RoCE != 0 {
			sending = append(sending, e)
		}
	}
	switch {
	case name != "" && named == nil:
		return nil, fmt.Errorf("%s/%s: the host has no such NIC in the inventory%s", h.Name, name, source.DidYouMean(name, known))
	case name != "":
		return named, nil
	case len(sending) > 0:
		return sending, nil
	case len(all) == 1:
		return all, nil
	}
	return nil, fmt.Errorf("%s: no host profile makes a NIC of the host send RoCE: name one of its %d NICs", h.Name, len(all))
}

func portsOf(sw *fabric.Switch, name string) ([]End, error) {
	if name == "" {
		return []End{{fabric.End{Switch: sw}}}, nil
	}
	var known []string
	for _, p := range sw.Ports {
		if known = append(known, p.Name); p.Name == name {
			return []End{{fabric.End{Switch: sw, Port: p}}}, nil
		}
	}
	return nil, fmt.Errorf("%s/%s: the switch has no such port in the inventory%s", sw.Name, name, source.DidYouMean(name, known))
}

// HasClass is an error where the intent has no class of that name. It says which was probably meant.
func HasClass(f *fabric.Fabric, name string) error {
	var known []string
	for _, c := range f.Classes {
		if known = append(known, c.Name); c.Name == name {
			return nil
		}
	}
	return fmt.Errorf("the intent has no such class%s", source.DidYouMean(name, known))
}

// first is the port of the fabric that the end is cabled to: a port of a switch, or another NIC. It is zero where the
// inventory has no cable.
func (p *Prover) first(e End) fabric.End {
	if e.NIC == nil {
		return e.End
	}
	if e.NIC.Peer == nil {
		return fabric.End{}
	}
	l := e.NIC.Peer.Link
	if l.A.NIC == e.NIC {
		return l.B
	}
	return l.A
}

// ClassOf is the name of the class that an end sends in: what its profile says, or else the only lossless one.
func (p *Prover) ClassOf(e End) string {
	if e.NIC != nil && e.NIC.Class != "" {
		return e.NIC.Class
	}
	return p.f.OnlyLossless()
}

// endBreak is a break at an end itself.
func endBreak(e End, way Way, kind addr.Kind, what, why, change string) Break {
	a := e.Address()
	return Break{At: a.Of(kind, ""), Port: a, Way: way, What: what, Why: why, Change: change}
}

// unmanaged is the break of a NIC of which nothing is known.
func unmanaged(e End, way Way) Break {
	b := endBreak(e, way, addr.RoCE, "no host profile selects this NIC",
		"How it sends and whether it obeys PFC is unknown: weir leaves such a host alone.", "Select it in a document of kind Hosts.")
	b.Unknown = true
	return b
}

// sends is what the end puts on the wire in a class; nil where there is no such class.
func (p *Prover) sends(r *report, e End, class string) *packet {
	c := p.f.Class(class)
	if c == nil {
		r.add(endBreak(e, Out, addr.RoCE, "nothing says which class is sent", "Without a class there is nothing to prove.",
			"Name it in roce.class of the host profile, or with --class."), profiles(e))
		return nil
	}
	k := &packet{class: c, version: 2, ecn: qos.ECT0}
	if len(c.DSCP) > 0 {
		k.dscp = c.DSCP[0]
	}
	switch n := e.NIC; {
	case n == nil:
		if e.Port != nil {
			k.mtu = e.Port.MTU
		}
	case n.RoCE == 0:
		k.mtu = n.MTU
		r.add(unmanaged(e, Out), e.written())
	case n.Class == c.Name && e.unread("tos"): // which is said of the NIC; what the class is marked with is followed
		k.version, k.mtu = n.RoCE, n.MTU
	case n.Class == c.Name:
		k.version, k.mtu, k.dscp, k.ecn = n.RoCE, n.MTU, qos.DSCP(n.TOS>>2), qos.ECN(n.TOS&3)
	default:
		k.version, k.mtu = n.RoCE, n.MTU
		if !n.DCQCN {
			k.ecn = qos.NotECT
		}
	}
	if k.version == 1 {
		k.dscp, k.ecn = 0, qos.NotECT
	}
	p.told(r, e, k)
	return k
}

// told notes who has to write the traffic class into the packets.
func (p *Prover) told(r *report, e End, k *packet) {
	a, c := e.Address(), k.class
	if !c.Lossless {
		r.add(Break{
			At: addr.Addr{Kind: addr.Class, Name: c.Name}, Port: a, Way: Out, What: fmt.Sprintf("class %s is lossy", c.Name),
			Why: "A full buffer drops its packets, on every hop.", Change: "Write lossless: true in the class, or send in one that is.",
		}, []diag.Pos{c.At})
	}
	ect := map[qos.ECN]string{qos.NotECT: "without ECT", qos.ECT0: "ECT(0)", qos.ECT1: "ECT(1)", qos.CE: "CE"}[k.ecn]
	tos := k.dscp.TrafficClassByte(k.ecn)
	switch n := e.NIC; {
	case k.version == 1:
	case n == nil:
		r.assume(a, fmt.Sprintf("the hosts there, which the proof leaves out, send with traffic class %d (DSCP %d, %s)", tos, k.dscp, ect))
	case n.RoCE == 0:
	case n.Class == c.Name:
		// RDMA-CM's default was on the wire of its own connections (Linux 6.1); other programs hand the byte to verbs.
		r.assume(a, fmt.Sprintf("applications that do not use RDMA-CM set traffic class %d (DSCP %d, %s) themselves, "+
			"in ah_attr.grh.traffic_class: weir sets the default of RDMA-CM, which binds no others", tos, k.dscp, ect))
	default:
		r.assume(a, fmt.Sprintf("applications set traffic class %d (DSCP %d, %s) themselves: the NIC's own class is %s", tos, k.dscp, ect, cmp.Or(n.Class, "none")))
	}
}

func profiles(e End) []diag.Pos {
	if e.NIC == nil {
		return nil
	}
	return e.NIC.At
}

// receives checks the receiver against what the sender does.
func (p *Prover) receives(r *report, from, to End, k *packet) {
	a, b := from.NIC, to.NIC
	if b != nil && b.RoCE == 0 {
		r.add(unmanaged(to, In), to.written())
	}
	for _, e := range []End{from, to} {
		if n := e.NIC; n != nil && n.RoCE != 0 && n.Model != nil && len(n.Model.RoCE) > 0 && !slices.Contains(n.Model.RoCE, n.RoCE) {
			way := In
			if e == from {
				way = Out
			}
			r.add(endBreak(e, way, addr.RoCE, fmt.Sprintf("RoCE v%d is wanted, and %s has none", n.RoCE, n.Model.Name),
				"It does not send what the others understand.", "Set roce.version to one that the NIC knows."), n.At)
		}
	}
	if a == nil || b == nil || a.RoCE == 0 || b.RoCE == 0 {
		return
	}
	if a.RoCE != b.RoCE && !from.unread("mode") && !to.unread("mode") {
		r.add(endBreak(to, In, addr.RoCE, fmt.Sprintf("RoCE v%d here, and v%d at the sender", b.RoCE, a.RoCE),
			"The two do not understand each other.", "Set one roce.version for both hosts."), b.At, a.At)
	}
	if k.ecn == qos.NotECT {
		return
	}
	if !b.DCQCN && !to.unread("dcqcn") {
		r.add(endBreak(to, In, addr.RoCE, "it does not answer marked packets with CNPs",
			"The sender is never told to slow down, and PFC alone holds it.", "Use congestionControl: dcqcn on both hosts, or on neither."), b.At)
	}
	if !a.DCQCN && !from.unread("dcqcn") {
		r.add(endBreak(from, Out, addr.RoCE, "it does not slow down when CNPs come",
			"Its packets are marked for nothing, and PFC alone holds it.", "Use congestionControl: dcqcn on both hosts, or on neither."), a.At)
	}
}

// unread says whether a setting of how the NIC at this end sends is not known.
func (e End) unread(setting string) bool {
	_, not := e.Host.Unread(e.Address().Of(addr.RoCE, "").With(setting))
	return not
}

// usualCNP is the class of CNPs where no host says which.
const usualCNP = "cnp"

// cnpOf is the CNP that an end sends; nil where it sends none, or where nothing says in which class.
func (p *Prover) cnpOf(e End) *packet {
	k := &packet{version: 2, answer: true}
	if n := e.NIC; n != nil {
		if !n.DCQCN || n.RoCE != 2 {
			return nil
		}
		k.class, k.dscp = p.f.Class(n.CNP), n.CNPDSCP
	} else if k.class = p.f.Class(usualCNP); k.class != nil && len(k.class.DSCP) > 0 {
		k.dscp = k.class.DSCP[0]
	}
	if k.class == nil {
		return nil
	}
	return k
}

// answers is the CNP that the receiver sends back to the sender of k; nil where none is sent.
func (p *Prover) answers(r *report, from, to End, k *packet) *packet {
	if k.ecn == qos.NotECT || k.version != 2 || from.NIC != nil && !from.NIC.DCQCN {
		return nil
	}
	cnp := p.cnpOf(to)
	if b := to.NIC; cnp == nil && b != nil && b.DCQCN && b.RoCE == 2 {
		r.add(endBreak(to, In, addr.RoCE, "nothing says which class carries its CNPs", "A CNP that waits or is lost lets senders go on too fast.",
			"Add a class named cnp with its own dscp and priority and strict: true, or name it in roce.cnp."), b.At)
	}
	return cnp
}
