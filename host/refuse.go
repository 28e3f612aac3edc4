package host

import (
	"fmt"
	"slices"

	"github.com/weirfabric/weir/host/bond"
	"github.com/weirfabric/weir/host/memlock"
	"github.com/weirfabric/weir/host/nic"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
)

// answerOf is the query that shows a part of a NIC that it can do without. Where the host cannot answer it, it cannot be set either.
var answerOf = map[string]string{"flowcontrol": "pause", "dcqcn": "dcqcn"}

// optional are these parts, and why that is no loss.
var optional = map[string]string{
	"flowcontrol": "A NIC without 802.3x has it off.",
	"dcqcn":       "Only the driver of MLNX_OFED has files for it; with the kernel's own driver DCQCN is a matter of the NIC's firmware (mlxconfig ROCE_CC_PRIO_MASK, CNP_DSCP, CNP_802P_PRIO).",
}

// possible leaves out what the host has nothing to set with, and says so once for each part of a NIC.
func possible(h *fabric.Host, have plan.State, deltas []plan.Delta) ([]plan.Delta, diag.List) {
	bonds := where(deltas, func(d plan.Delta) bool { return d.Leaf.Path[0] == bond.Part })
	findings := bond.Refused(h, have.Owned, have.Facts, bonds)
	unbound := len(findings) > 0
	if !unbound {
		findings = bond.Untried(h, have.Facts, bonds)
	}
	findings = append(findings, memlock.Refused(h, have.Facts)...)
	said := map[string]bool{}
	kept := slices.Clone(deltas)
	kept = slices.DeleteFunc(kept, func(d plan.Delta) bool {
		if ofHost(d) {
			return false
		}
		if d.Leaf.Path[0] == bond.Part {
			return unbound
		}
		if d.Leaf.Path[0] == memlock.Part {
			return !memlock.Possible(have.Facts, d)
		}
		port, part := d.Leaf.Path[0], d.Leaf.Path[1]
		if query, known := answerOf[part]; !known || have.Facts[port+"/"+query] != missing {
			return false
		}
		if said[port+part] {
			return true
		}
		said[port+part] = true
		findings.Add(diag.Diagnostic{
			Severity: diag.Note, Check: check, Addr: addr.Port(h.Name, port).Of(d.Leaf.Addr.Kind, ""), At: because(h, d.Leaf),
			Summary: fmt.Sprintf("the host has no %s of this NIC to set", part), Detail: optional[part],
		})
		return true
	})
	return kept, findings
}

// untried notes the NICs whose scheduling was the driver's own and is changed: the way back is known from sources alone.
func untried(h *fabric.Host, deltas []plan.Delta) diag.List {
	var findings diag.List
	for _, n := range managed(h) {
		changes := slices.ContainsFunc(deltas, func(d plan.Delta) bool {
			return d.Before == nic.Vendor && d.Leaf.Path[0] == n.Name && d.Leaf.Path[1] == "ets"
		})
		if !changes {
			continue
		}
		findings.Add(diag.Diagnostic{
			Severity: diag.Note, Check: check, Addr: addr.Port(h.Name, n.Name).Of(addr.ETS, ""), At: h.At,
			Summary: "the driver's own scheduling (vendor) stands in this NIC's classes, and no card was seen to take it back",
			Detail: "dcb and the mlx5 driver take \"vendor\" with shares of 0, by their sources. Should a run have to undo this and the NIC refuse, " +
				"the run stays open: reload the driver, then end the run with weir runs --abandon RUN --reason TEXT.",
		})
	}
	return findings
}

// spoiled is what on the host would undo weir's settings, or is not as the inventory says.
func spoiled(h *fabric.Host, have plan.State) diag.List {
	var findings diag.List
	if have.Facts[lldpadQuery] == "active" {
		findings.Add(diag.Diagnostic{
			Severity: diag.Warning, Check: check, Addr: h.Address(), At: h.At,
			Summary: "lldpad runs and overwrites PFC, ETS and the DSCP map", Detail: "Stop it: systemctl disable --now lldpad.",
		})
	}
	findings = append(findings, memlock.Older(h, have.Facts)...)
	for _, n := range managed(h) {
		runs := have.Facts[n.Name+"/rdma"]
		if h.Bond(n.Name) != nil || inBond(have.Owned, n.Name) { // its ports have their own devices while it is not, and the bond's while it is
			continue
		}
		if runs != "" && n.RDMA != "" && runs != n.RDMA {
			findings.Add(diag.Diagnostic{
				Severity: diag.Error, Check: check, Addr: addr.Port(h.Name, n.Name).Of(addr.RoCE, ""), At: []diag.Pos{h.Device.At},
				Summary: fmt.Sprintf("the inventory calls its RDMA device %s, the host calls it %s", n.RDMA, runs),
				Detail:  "Write the name that \"rdma link\" shows. Persistent names of rdma-core change it once.",
			})
		}
	}
	return findings
}

// inBond says whether a NIC is a port of a bond that runs.
func inBond(doc plan.Document, nic string) bool {
	return slices.ContainsFunc(doc, func(l plan.Leaf) bool { return l.Path[0] == bond.Part && bond.Has(l, nic) })
}
