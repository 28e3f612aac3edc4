package host

import (
	"fmt"
	"slices"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
)

// answerOf is the query that shows a part of a NIC. A part whose query the host cannot answer cannot be set either.
var answerOf = map[string]string{
	"mtu": "mtu", "flowcontrol": "pause", "dcbx": "dcbx", "pfc": "pfc", "ets": "ets", "dscp": "app", "dcqcn": "dcqcn",
}

// optional are the parts that a NIC can do without, and why that is no loss.
var optional = map[string]string{
	"flowcontrol": "A NIC without 802.3x has it off.",
	"dcqcn":       "Only the driver of MLNX_OFED has files for it; with the kernel's own driver DCQCN is a matter of the NIC's firmware (mlxconfig ROCE_CC_PRIO_MASK, CNP_DSCP, CNP_802P_PRIO).",
}

// possible leaves out what the host has nothing to set with, and says so once for each part of a NIC.
func possible(h *fabric.Host, have plan.State, deltas []plan.Delta) ([]plan.Delta, diag.List) {
	var findings diag.List
	said := map[string]bool{}
	kept := slices.Clone(deltas)
	kept = slices.DeleteFunc(kept, func(d plan.Delta) bool {
		if ofHost(d) {
			return false
		}
		port, part := d.Leaf.Path[0], d.Leaf.Path[1]
		if query, known := answerOf[part]; !known || have.Facts[port+"/"+query] != missing {
			return false
		}
		if said[port+part] {
			return true
		}
		said[port+part] = true
		f := diag.Diagnostic{
			Severity: diag.Error, Check: check, Addr: addr.Port(h.Name, port).Of(d.Leaf.Addr.Kind, ""), At: because(h, d.Leaf),
			Summary: fmt.Sprintf("the host has no %s of this NIC to set", part),
			Detail:  "Its driver has no such thing, or the tools (iproute2, ethtool) are not installed.",
		}
		if reason, can := optional[part]; can {
			f.Severity, f.Detail = diag.Note, reason
		}
		findings.Add(f)
		return true
	})
	return kept, findings
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
	for _, n := range managed(h) {
		if runs := have.Facts[n.Name+"/rdma"]; runs != "" && n.RDMA != "" && runs != n.RDMA {
			findings.Add(diag.Diagnostic{
				Severity: diag.Error, Check: check, Addr: addr.Port(h.Name, n.Name).Of(addr.RoCE, ""), At: []diag.Pos{h.Device.At},
				Summary: fmt.Sprintf("the inventory calls its RDMA device %s, the host calls it %s", n.RDMA, runs),
				Detail:  "Write the name that \"rdma link\" shows. Persistent names of rdma-core change it once.",
			})
		}
	}
	return findings
}
