package check

import (
	"fmt"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
)

// nics calls visit for every NIC that a host profile selects.
func nics(f *fabric.Fabric, visit func(*fabric.Host, *fabric.NIC)) {
	for _, h := range f.Hosts {
		for _, n := range h.NICs {
			if n.RoCE != 0 {
				visit(h, n)
			}
		}
	}
}

// nicAddr is the address of how a NIC sends.
func nicAddr(h *fabric.Host, n *fabric.NIC) addr.Addr {
	return addr.Port(h.Name, n.Name).Of(addr.RoCE, "")
}

func cnpClass(f *fabric.Fabric) diag.List {
	var l diag.List
	seen := map[[2]string]bool{}
	nics(f, func(h *fabric.Host, n *fabric.NIC) {
		if !n.DCQCN || n.RoCE != 2 {
			return
		}
		if n.CNP == "" {
			d := finding(diag.Error, "DCQCN runs here and no class carries its CNPs",
				"A CNP that waits or is lost lets senders go on too fast. Add a class named cnp with its own dscp and priority and strict: true, or name it in roce.cnp.", n.At)
			d.Addr = nicAddr(h, n)
			l.Add(d)
			return
		}
		if cnp := f.Class(n.CNP); cnp != nil && !seen[[2]string{n.Class, n.CNP}] {
			seen[[2]string{n.Class, n.CNP}] = true
			protected(&l, f, f.Class(n.Class), cnp, n.At)
		}
	})
	return l
}

// protected checks the class of CNPs against the class that they answer.
func protected(l *diag.List, f *fabric.Fabric, data, cnp *fabric.Class, profiles []diag.Pos) {
	at := []diag.Pos{cnp.At}
	add := func(severity diag.Severity, summary, detail string) {
		d := finding(severity, summary, detail, at, profiles)
		d.Addr = classAddr(cnp.Name)
		l.Add(d)
	}
	if data != nil {
		at = append(at, data.At)
	}
	switch {
	case data != nil && data.Name == cnp.Name:
		add(diag.Error, fmt.Sprintf("CNPs are sent in class %s, whose congestion they report", cnp.Name),
			"They would wait in the queue that they are to relieve. Give them a class of their own.")
		return
	case isDefault(f, cnp):
		add(diag.Error, fmt.Sprintf("CNPs are sent in class %s, which takes every DSCP that no class names", cnp.Name),
			"Give them a class of their own, with its own dscp and priority and strict: true.")
		return
	case len(cnp.DSCP) == 0:
		add(diag.Error, fmt.Sprintf("class %s carries CNPs and has no DSCP", cnp.Name), "Give it a dscp, usually 48.")
	}
	if cnp.Lossless {
		add(diag.Error, fmt.Sprintf("class %s carries CNPs and is lossless", cnp.Name),
			"PAUSE would hold back what is to end the congestion. Make it lossy and strict.")
	}
	lax(l, f, cnp)
}

// lax reports ports on which the CNP class is not strict.
func lax(l *diag.List, f *fabric.Fabric, cnp *fabric.Class) {
	ports(f, func(sw *fabric.Switch, p *fabric.Port) {
		if p.Queues[cnp.Queue].Scheduler.Strict || p.Queues[cnp.Queue].Class != cnp.Name {
			return
		}
		d := finding(diag.Error, fmt.Sprintf("class %s carries CNPs and its queue is not strict", cnp.Name),
			"CNPs would wait behind the traffic that causes the congestion: write strict: true.", p.Origin.Class[cnp.Name])
		d.Addr = portAddr(sw, p).Of(addr.Queue, fmt.Sprint(cnp.Queue))
		l.Add(d)
	})
}

// ports calls visit for every port of every switch.
func ports(f *fabric.Fabric, visit func(*fabric.Switch, *fabric.Port)) {
	for _, sw := range f.Switches {
		for _, p := range sw.Ports {
			visit(sw, p)
		}
	}
}

func portAddr(sw *fabric.Switch, p *fabric.Port) addr.Addr { return addr.Port(sw.Name, p.Name) }

// isDefault says whether the class takes what no class names.
func isDefault(f *fabric.Fabric, c *fabric.Class) bool {
	d := fabric.DefaultClass(f.Classes)
	return d != nil && d.Name == c.Name
}
