package check

import (
	"fmt"
	"slices"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
)

// classAddr is the address of a class.
func classAddr(name string) addr.Addr { return addr.Addr{Kind: addr.Class, Name: name} }

// claim is one class's claim to something that only one class may have.
type claim struct {
	class string
	at    diag.Pos
}

// contested gives a finding for every value that a second class claims.
func contested[T comparable](l *diag.List, claims map[T][]claim, order []T, what func(T) string, detail string) {
	for _, v := range order {
		all := claims[v]
		for _, second := range all[1:] {
			summary := fmt.Sprintf("%s is in two classes: %s and %s", what(v), all[0].class, second.class)
			if second.class == all[0].class {
				summary = fmt.Sprintf("%s is in class %s twice", what(v), second.class)
			}
			d := finding(diag.Error, summary, detail, []diag.Pos{all[0].at, second.at})
			d.Addr = classAddr(second.class)
			l.Add(d)
		}
	}
}

// claimsOf collects claims and the order in which the values first appear.
type claimsOf[T comparable] struct {
	claims map[T][]claim
	order  []T
}

func (c *claimsOf[T]) add(v T, class string, at diag.Pos) {
	if c.claims == nil {
		c.claims = map[T][]claim{}
	}
	if len(c.claims[v]) == 0 {
		c.order = append(c.order, v)
	}
	c.claims[v] = append(c.claims[v], claim{class, at})
}

func classDSCP(f *fabric.Fabric) diag.List {
	var l diag.List
	var dscps claimsOf[qos.DSCP]
	for _, c := range f.Intent.Classes {
		for _, d := range c.DSCP {
			dscps.add(d.V, c.Name.V, d.At)
		}
	}
	contested(&l, dscps.claims, dscps.order, func(d qos.DSCP) string { return fmt.Sprintf("DSCP %d", d) },
		"A packet belongs to one class: leave the DSCP in one of them.")
	if !trustsDSCP(f) {
		return l
	}
	for _, c := range f.Classes {
		if len(c.DSCP) == 0 {
			d := finding(diag.Warning, fmt.Sprintf("no DSCP leads to class %s", c.Name),
				"Ports trust DSCP, so nothing is ever in this class: give it a dscp, or remove it.", []diag.Pos{c.At})
			d.Addr = classAddr(c.Name)
			l.Add(d)
		}
	}
	return l
}

// trustsDSCP says whether any port of a switch classifies by DSCP.
func trustsDSCP(f *fabric.Fabric) bool {
	return slices.ContainsFunc(f.Switches, func(sw *fabric.Switch) bool {
		return slices.ContainsFunc(sw.Ports, func(p *fabric.Port) bool { return p.Trust == qos.TrustDSCP })
	})
}

func classPriority(f *fabric.Fabric) diag.List {
	var l diag.List
	var priorities, pcps claimsOf[qos.Priority]
	for _, c := range f.Intent.Classes {
		place := c.Name.At
		if c.Priority.Set() {
			place = c.Priority.At
		}
		priorities.add(c.Priority.V, c.Name.V, place)
		for _, p := range c.PCP {
			pcps.add(p.V, c.Name.V, p.At)
		}
	}
	contested(&l, priorities.claims, priorities.order, func(p qos.Priority) string { return fmt.Sprintf("priority %d", p) },
		"PFC would pause both classes together, and they would share buffers: give each its own priority.")
	contested(&l, pcps.claims, pcps.order, func(p qos.Priority) string { return fmt.Sprintf("PCP %d", p) },
		"A frame belongs to one class: leave the PCP in one of them.")
	return l
}

func classQueue(f *fabric.Fabric) diag.List {
	var l diag.List
	for i, a := range f.Classes {
		for _, b := range f.Classes[i+1:] {
			if a.Queue != b.Queue || a.Priority == b.Priority {
				continue
			}
			severity, why := diag.Warning, "They share its scheduling and its drops."
			if a.Lossless || b.Lossless {
				severity, why = diag.Error, "PFC pauses a queue as a whole, and its marking curve is one."
			}
			d := finding(severity, fmt.Sprintf("classes %s and %s share queue %d", a.Name, b.Name, a.Queue),
				why+" Give each class its own queue.", []diag.Pos{a.At, b.At})
			d.Addr = classAddr(b.Name)
			l.Add(d)
		}
	}
	return l
}

func defaultClass(f *fabric.Fabric) diag.List {
	var l diag.List
	c := fabric.DefaultClass(f.Classes)
	if c == nil {
		named := 0
		var at []diag.Pos
		for _, class := range f.Classes {
			named += len(class.DSCP)
			at = append(at, class.At)
		}
		if len(at) == 0 {
			at = append(at, f.Intent.Name.At)
		}
		l.Add(finding(diag.Error, fmt.Sprintf("%d of the 64 DSCPs lead to no class", 64-named),
			"Add a class named default, or one of priority 0: it takes what no other class names.", at))
		return l
	}
	if c.Lossless {
		d := finding(diag.Error, fmt.Sprintf("class %s is lossless and takes every DSCP that no class names", c.Name),
			"Strangers' packets would fill a lossless queue. Add a lossy class named default.", []diag.Pos{c.At})
		d.Addr = classAddr(c.Name)
		l.Add(d)
	}
	return l
}
