// Package rdma is what a Linux host says of its RDMA devices: kernel modules, how RDMA-CM marks what it sends, and where
// the driver lets them be set, DCQCN and its CNPs.
package rdma

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
)

const check = "language"

// configfs is where RDMA-CM's defaults are, once its module is loaded. A directory made there for a device has them.
const configfs = "/sys/kernel/config/rdma_cm/"

// modes are what default_roce_mode takes, exactly.
var modes = map[int]string{1: "IB/RoCE v1", 2: "RoCE v2"}

// Write is how a NIC's RDMA device must send.
func Write(host string, n *fabric.NIC) (plan.Document, diag.List) {
	a := addr.Port(host, n.Name).Of(addr.RoCE, "")
	var findings diag.List
	if n.RDMA == "" {
		findings.Add(diag.Diagnostic{
			Severity: diag.Error, Check: check, Addr: a, At: n.At,
			Summary: "the name of its RDMA device is not in the inventory, so how it sends cannot be set",
			Detail:  "\"rdma link\" on the host names it, for example mlx5_0. Write it as rdma of the NIC.",
		})
		return nil, findings
	}
	if n.Model != nil && len(n.Model.RoCE) > 0 && !slices.Contains(n.Model.RoCE, n.RoCE) {
		findings.Errorf(check, a.With("mode"), n.At, "a %s cannot send RoCE v%d", n.Model.Name, n.RoCE)
	}
	doc := plan.Document{
		{Path: []string{n.Name, "roce", "mode"}, Value: modes[n.RoCE], Addr: a.With("mode")},
		{Path: []string{n.Name, "roce", "tos"}, Value: strconv.Itoa(int(n.TOS)), Addr: a.With("tos")},
	}
	if !hasDCQCN(n) {
		if n.DCQCN {
			findings.Add(diag.Diagnostic{
				Severity: diag.Note, Check: check, Addr: a.With("dcqcn"), At: n.At,
				Summary: "DCQCN of this NIC is not set by weir: how is known of mlx5 only", Detail: "Set it with the vendor's own tool.",
			})
		}
		return doc, findings
	}
	for _, s := range dcqcn(n) {
		doc = append(doc, plan.Leaf{Path: []string{n.Name, "dcqcn", s.file}, Value: s.value, Addr: a.With(s.name)})
	}
	return doc, findings
}

// hasDCQCN says whether the NIC is one whose driver may have the files of DCQCN: those of mlx5.
func hasDCQCN(n *fabric.NIC) bool {
	return n.Model != nil && strings.HasPrefix(n.Model.Name, "ConnectX")
}

// setting is a file below /sys/class/net/NIC/ecn/, as the mlx5 driver of MLNX_OFED has them (its en_sysfs.c). The kernel's
// own driver has none: there DCQCN is a matter of firmware.
type setting struct{ file, name, value string }

// dcqcn are the NIC's: both points of DCQCN per priority, and how CNPs are marked.
func dcqcn(n *fabric.NIC) []setting {
	var out []setting
	for _, p := range n.PFC.All() {
		value := "0"
		if n.DCQCN {
			value = "1"
		}
		out = append(out, setting{fmt.Sprintf("roce_np/enable/%d", p), fmt.Sprintf("np-%d", p), value},
			setting{fmt.Sprintf("roce_rp/enable/%d", p), fmt.Sprintf("rp-%d", p), value})
	}
	if n.CNP != "" {
		out = append(out, setting{"roce_np/cnp_dscp", "cnp-dscp", strconv.Itoa(int(n.CNPDSCP))},
			setting{"roce_np/cnp_802p_prio", "cnp-priority", strconv.Itoa(int(n.CNPPriority))})
	}
	return out
}

func ecnDir(nic string) string { return "/sys/class/net/" + nic + "/ecn/" }

func cmDir(n *fabric.NIC) string { return configfs + n.RDMA }

// Queries ask for all that Write states. A device's directory is not there before somebody makes it, and files of DCQCN are only
// with some drivers.
func Queries(n *fabric.NIC) []plan.Query {
	ask := func(name, command string) plan.Query {
		return plan.Query{Name: n.Name + "/" + name, Ways: []plan.Way{{Via: plan.SSH, Text: command}}, Optional: true}
	}
	var out []plan.Query
	if n.RDMA != "" {
		out = append(out, ask("roce-mode", plan.Command("cat", cmDir(n)+"/ports/1/default_roce_mode")), ask("roce-tos", plan.Command("cat", cmDir(n)+"/ports/1/default_roce_tos")))
	}
	if !hasDCQCN(n) {
		return out
	}
	var words []string
	for _, s := range dcqcn(n) {
		words = append(words, ecnDir(n.Name)+s.file)
	}
	if len(words) > 0 {
		out = append(out, ask("dcqcn", plan.Command("grep -H .", words...)))
	}
	return out
}

// Read is how the NIC's RDMA device sends. Without the module or the device's directory there are no leaves.
func Read(host string, n *fabric.NIC, answers map[string]string) plan.Document {
	a := addr.Port(host, n.Name).Of(addr.RoCE, "")
	var doc plan.Document
	for _, name := range []string{"mode", "tos"} {
		if text, ok := answers[n.Name+"/roce-"+name]; ok {
			doc = append(doc, plan.Leaf{Path: []string{n.Name, "roce", name}, Value: strings.TrimSpace(text), Addr: a.With(name)})
		}
	}
	said := filesOf(n, answers)
	for _, s := range dcqcn(n) {
		if value, ok := said[s.file]; ok {
			doc = append(doc, plan.Leaf{Path: []string{n.Name, "dcqcn", s.file}, Value: value, Addr: a.With(s.name)})
		}
	}
	return doc
}

// filesOf are the files of DCQCN and what stands in them, by their names below the NIC's directory.
func filesOf(n *fabric.NIC, answers map[string]string) map[string]string {
	said := map[string]string{}
	for line := range strings.Lines(answers[n.Name+"/dcqcn"]) {
		file, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		said[strings.TrimPrefix(file, ecnDir(n.Name))] = value
	}
	return said
}

// Messages make the deltas of one NIC happen: DCQCN first, the mark of what is sent last. Backwards the order is the
// opposite; a device's directory that weir made goes again, after the mark is taken back, since the kernel keeps the
// mark when the directory goes.
func Messages(n *fabric.NIC, deltas []plan.Delta, backwards bool) []plan.Message {
	var dcqcn, mark []plan.Message
	made, gone := false, false
	for _, d := range deltas {
		if d.Leaf.Path[1] == "dcqcn" {
			dcqcn = append(dcqcn, plan.Message{Op: plan.Write, Path: ecnDir(n.Name) + d.Leaf.Path[2], Body: d.Leaf.Value})
			continue
		}
		m := plan.Message{Op: plan.Write, Path: cmDir(n) + "/ports/1/default_roce_" + d.Leaf.Path[2], Body: d.Leaf.Value}
		made = made || d.Action == plan.Create
		if d.Action == plan.Delete {
			if gone = true; d.Leaf.Path[2] != "tos" {
				continue
			}
			m.Body = "0"
		}
		mark = append(mark, m)
	}
	if made {
		mark = append([]plan.Message{{Op: plan.Run, Body: plan.Command("mkdir -p", cmDir(n))}}, mark...)
	}
	if gone {
		mark = append(mark, plan.Message{Op: plan.Run, Body: plan.Command("rmdir", cmDir(n))})
	}
	if backwards {
		return append(mark, dcqcn...)
	}
	return append(dcqcn, mark...)
}

// Owns says whether a leaf of a NIC is this package's.
func Owns(l plan.Leaf) bool { return l.Path[1] == "roce" || l.Path[1] == "dcqcn" }

// Optional says whether a file is one that only some drivers have.
func Optional(path string) bool { return strings.Contains(path, "/ecn/roce_") }
