package check

import (
	"fmt"
	"slices"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
)

func roceClass(f *fabric.Fabric) diag.List {
	var l diag.List
	nics(f, func(h *fabric.Host, n *fabric.NIC) {
		var d diag.Diagnostic
		c := f.Class(n.Class)
		switch {
		case n.Class == "":
			d = finding(diag.Error, "nothing says which class RoCE is sent in here",
				"There is no lossless class, or more than one: name it in roce.class.", n.At)
		case c != nil && isDefault(f, c):
			d = finding(diag.Error, fmt.Sprintf("RoCE is sent in class %s, which takes every DSCP that no class names", c.Name),
				"Give it a class of its own.", n.At, []diag.Pos{c.At})
		case c != nil && !c.Lossless:
			d = finding(diag.Warning, fmt.Sprintf("RoCE is sent in class %s, which is lossy", c.Name),
				"A lost packet makes the NIC send again from there. Make the class lossless, or accept this finding where the NICs are meant to do without.", n.At, []diag.Pos{c.At})
		default:
			return
		}
		d.Addr = nicAddr(h, n)
		l.Add(d)
	})
	return l
}

// version is the first NIC of a class that sends one version of RoCE.
type version struct {
	host *fabric.Host
	nic  *fabric.NIC
}

func roceVersion(f *fabric.Fabric) diag.List {
	var l diag.List
	first := map[string]version{}
	nics(f, func(h *fabric.Host, n *fabric.NIC) {
		if m := n.Model; m != nil && len(m.RoCE) > 0 && !slices.Contains(m.RoCE, n.RoCE) {
			d := finding(diag.Error, fmt.Sprintf("RoCE v%d is wanted and %s has none", n.RoCE, m.Name),
				"Set roce.version to one that the NIC knows ("+m.Source+").", n.At)
			d.Addr = nicAddr(h, n)
			l.Add(d)
		}
		other, ok := first[n.Class]
		if !ok {
			first[n.Class] = version{h, n}
			return
		}
		if other.nic.RoCE != n.RoCE {
			d := finding(diag.Error, fmt.Sprintf("RoCE v%d here and v%d at %s/%s, both in class %s", n.RoCE, other.nic.RoCE, other.host.Name, other.nic.Name, n.Class),
				"The two do not understand each other: set one roce.version for all hosts of the class.", n.At, other.nic.At)
			d.Addr, d.Devices = nicAddr(h, n), []string{h.Name, other.host.Name}
			l.Add(d)
		}
	})
	return l
}

func trust(f *fabric.Fabric) diag.List {
	var l diag.List
	routed := f.Intent.Routing.Routed
	if routed.V {
		ports(f, func(sw *fabric.Switch, p *fabric.Port) {
			if p.Trust == qos.TrustPCP && p.PFC != 0 {
				d := finding(diag.Error, "the port classifies by PCP only, and the fabric is routed",
					"The VLAN tag and its PCP end at the first router: trust dscp.", p.Origin.Trust, []diag.Pos{routed.At})
				d.Addr = portAddr(sw, p).Of(addr.Trust, "")
				l.Add(d)
			}
		})
	}
	for _, link := range f.Links {
		trustAt(&l, link.A, link.B)
		trustAt(&l, link.B, link.A)
	}
	return l
}

// trustAt checks a switch port against the NIC at the other end.
func trustAt(l *diag.List, sw, host fabric.End) {
	if sw.Switch == nil || host.Host == nil || host.NIC.RoCE == 0 {
		return
	}
	n, p := host.NIC, sw.Port
	var d diag.Diagnostic
	switch {
	case n.RoCE == 1 && p.Trust == qos.TrustDSCP:
		d = finding(diag.Error, fmt.Sprintf("the port classifies by DSCP only, and %s/%s sends RoCE v1, which has no DSCP", host.Host.Name, n.Name),
			"Every packet would fall into the default class: trust pcp, or send RoCE v2.", p.Origin.Trust, n.At)
	case n.Trust != p.Trust:
		d = finding(diag.Error, fmt.Sprintf("the port classifies by %s, and %s/%s by %s", p.Trust, host.Host.Name, n.Name, n.Trust),
			"A packet would be in one class here and in another there: trust the same field on both ends.", p.Origin.Trust, n.Origin.Trust)
	default:
		return
	}
	d.Addr, d.Devices = sw.Address().Of(addr.Trust, ""), ends(sw, host)
	l.Add(d)
}

func ect(f *fabric.Fabric) diag.List {
	var l diag.List
	marks := marking(f)
	nics(f, func(h *fabric.Host, n *fabric.NIC) {
		c := f.Class(n.Class)
		if c == nil || n.RoCE != 2 || qos.ECN(n.TOS&3) != qos.NotECT || !marks[c.Name] {
			return
		}
		d := finding(diag.Error, fmt.Sprintf("the NIC sends class %s without ECT, and switches mark that class", c.Name),
			"A packet without ECT cannot be marked, so WRED drops it, in a class that must not lose any. Use congestionControl: dcqcn, or switch the class's ECN off.", n.At, []diag.Pos{c.At})
		d.Addr = nicAddr(h, n)
		l.Add(d)
	})
	return l
}

// marking are the classes that some switch marks.
func marking(f *fabric.Fabric) map[string]bool {
	marks := map[string]bool{}
	seen := map[*fabric.Queue]bool{}
	ports(f, func(_ *fabric.Switch, p *fabric.Port) {
		if seen[&p.Queues[0]] {
			return
		}
		seen[&p.Queues[0]] = true
		for i := range p.Queues {
			if q := &p.Queues[i]; q.WRED != nil && q.WRED.ECN {
				marks[q.Class] = true
			}
		}
	})
	return marks
}
