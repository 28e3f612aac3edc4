// Package nic is what a Linux host says of one netdev: MTU, 802.3x, and data centre bridging (PFC, ETS and the DSCP map) in
// the words of iproute2's dcb. The commands and their output are those of dcb 6.1 as Debian 12 has it.
//
// With the kernel's own mlx5 driver trust is not a setting: a netdev with any DSCP entry trusts the DSCP, one without trusts
// the PCP. So trust in the DSCP is all 64 entries, and trust in the PCP is none.
package nic

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/qos"
)

const check = "language"

// Vendor is dcb's word for a class that the driver schedules in its own way.
const Vendor = "vendor"

// Write is what the netdev must be set to.
func Write(host string, n *fabric.NIC) (plan.Document, diag.List) {
	port := addr.Port(host, n.Name)
	doc := plan.Document{
		leaf(port.Of(addr.MTU, ""), strconv.FormatInt(int64(n.MTU), 10), n.Name, "mtu"),
		leaf(port.Of(addr.FlowControl, "").With("rx"), onOff(n.FlowControl), n.Name, "flowcontrol", "rx"),
		leaf(port.Of(addr.FlowControl, "").With("tx"), onOff(n.FlowControl), n.Name, "flowcontrol", "tx"),
		// The host decides, not the NIC's firmware nor its neighbour.
		leaf(port.Of(addr.PFC, "").With("dcbx"), "host ieee", n.Name, "dcbx"),
		leaf(port.Of(addr.ETS, "").With("willing"), "off", n.Name, "ets", "willing"),
	}
	for p := range qos.Priority(8) {
		name := strconv.Itoa(int(p))
		doc = append(doc,
			leaf(port.Of(addr.PFC, name), onOff(n.PFC.Has(p)), n.Name, "pfc", name),
			leaf(port.Of(addr.Map, "priority-to-tc/"+name), strconv.Itoa(int(n.PriorityToTC[p])), n.Name, "ets", "prio-tc", name))
	}
	findings := writeETS(&doc, n, port)
	if n.Trust == qos.TrustDSCP {
		for d, p := range n.DSCPToPriority {
			name := strconv.Itoa(d)
			doc = append(doc, leaf(port.Of(addr.DSCP, name), strconv.Itoa(int(p)), n.Name, "dscp", name))
		}
	}
	return doc, findings
}

// writeETS adds the sharing of the netdev among its traffic classes. The kernel takes whole percents that add up to 100.
func writeETS(doc *plan.Document, n *fabric.NIC, port addr.Addr) diag.List {
	var findings diag.List
	sum := 0
	for tc, s := range n.ETS {
		name := strconv.Itoa(tc)
		a := port.Of(addr.ETS, name)
		if s.Strict { // it has no share: what drivers report of one means nothing
			*doc = append(*doc, leaf(a.With("algorithm"), "strict", n.Name, "ets", "tsa", name))
			continue
		}
		share := int(s.Weight + 0.5)
		if qos.Percent(share) != s.Weight {
			findings.Add(diag.Diagnostic{
				Severity: diag.Warning, Check: check, Addr: a.With("share"), At: classes(n),
				Summary: fmt.Sprintf("%s cannot be said exactly: it is rounded to %d%%", s.Weight, share), Detail: "ETS takes whole percents.",
			})
		}
		sum += share
		*doc = append(*doc, leaf(a.With("algorithm"), "ets", n.Name, "ets", "tsa", name), leaf(a.With("share"), strconv.Itoa(share), n.Name, "ets", "bw", name))
	}
	if sum != 100 {
		findings.Add(diag.Diagnostic{
			Severity: diag.Error, Check: check, Addr: port.Of(addr.ETS, ""), At: classes(n),
			Summary: fmt.Sprintf("the shares of the classes add up to %d%%, and ETS takes only 100%%", sum),
			Detail:  "Write shares of the classes that are not strict so that they add up to 100%.",
		})
	}
	return findings
}

func leaf(a addr.Addr, value string, path ...string) plan.Leaf {
	return plan.Leaf{Path: path, Value: value, Addr: a}
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// Impact of a change to a leaf. A change of PFC takes the port down and up: Linux,
// drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c, mlx5e_dcbnl_ieee_setpfc calls mlx5_toggle_port_link. No source says what
// the others do to traffic while they are made. MTU and 802.3x make drivers set up buffers anew, so weir takes it that they
// drain the NIC, and that the rest does nothing.
func Impact(l plan.Leaf) plan.Impact {
	switch l.Addr.Kind {
	case addr.PFC:
		if l.Path[1] == "pfc" {
			return plan.Flaps
		}
		return plan.Drains
	case addr.MTU, addr.FlowControl:
		return plan.Drains
	}
	return plan.None
}

// Because are the places in the repo that a leaf's value comes from.
func Because(n *fabric.NIC, l plan.Leaf) []diag.Pos {
	if n.Origin == nil {
		return n.At
	}
	switch l.Addr.Kind {
	case addr.MTU:
		return n.Origin.MTU
	case addr.FlowControl:
		return n.Origin.FlowControl
	case addr.PFC:
		return n.Origin.PFC
	}
	return classes(n)
}

// classes are the places of the NIC's classes, in the order of the repo.
func classes(n *fabric.NIC) []diag.Pos {
	var at []diag.Pos
	if n.Origin == nil {
		return n.At
	}
	for _, places := range n.Origin.Class {
		at = append(at, places...)
	}
	return sorted(at)
}

// command is one command line, of words that are written in the program or were quoted.
func command(words ...string) plan.Message {
	return plan.Message{Op: plan.Run, Body: strings.Join(words, " ")}
}
