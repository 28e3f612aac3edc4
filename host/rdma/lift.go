package rdma

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/qos"
)

// Survey asks what Lift reads: what Queries do, for every priority and whatever the NIC's model.
func Survey(n *fabric.NIC) []plan.Query {
	any := &fabric.NIC{Name: n.Name, RDMA: n.RDMA, PFC: 0xff, CNP: "cnp"}
	out := Queries(&fabric.NIC{Name: n.Name, RDMA: n.RDMA})
	var words []string
	for _, s := range dcqcn(any) {
		words = append(words, ecnDir(n.Name)+s.file)
	}
	return append(out, plan.Query{
		Name: n.Name + "/dcqcn", Ways: []plan.Way{{Via: plan.SSH, Text: plan.Command("grep -H .", words...)}}, Optional: true,
	})
}

// Lift puts how the NIC's RDMA device sends into the model. Without the module or the device's directory it is not known, nor is
// DCQCN where the driver has no files of it.
func Lift(host string, n *fabric.NIC, answers map[string]string, g *fabric.Gaps) {
	a := addr.Port(host, n.Name).Of(addr.RoCE, "")
	if mode, ok := answers[n.Name+"/roce-mode"]; !ok {
		g.Unset(a.With("mode"))
	} else if n.RoCE = modeOf(strings.TrimSpace(mode)); n.RoCE == 0 {
		g.Strange("default_roce_mode: "+diag.Excerpt(mode), a.With("mode"))
	}
	if tos, ok := answers[n.Name+"/roce-tos"]; !ok {
		g.Unset(a.With("tos"))
	} else if byte, err := strconv.ParseUint(strings.TrimSpace(tos), 10, 8); err != nil {
		g.Strange("default_roce_tos: "+diag.Excerpt(tos), a.With("tos"))
	} else {
		n.TOS, n.DSCP = uint8(byte), qos.DSCP(byte>>2)
	}
	files := filesOf(n, answers)
	liftDCQCN(n, files, a, g)
	liftCNP(n, files, a, g)
}

// modeOf is the version that a mode says; 0 for another text.
func modeOf(mode string) int {
	for version, name := range modes {
		if name == mode {
			return version
		}
	}
	return 0
}

// liftDCQCN lifts whether the NIC slows down when it is marked, and tells who marks it: both points, for the priorities with PFC.
// Without PFC those of the DSCP that it sends count.
func liftDCQCN(n *fabric.NIC, files map[string]string, a addr.Addr, g *fabric.Gaps) {
	priorities := n.PFC
	if priorities == 0 {
		priorities = qos.Priorities(n.DSCPToPriority[n.DSCP])
	}
	said := map[string]string{}
	for _, p := range priorities.All() {
		for _, point := range []string{"roce_np", "roce_rp"} {
			file := fmt.Sprintf("%s/enable/%d", point, p)
			value, ok := files[file]
			if !ok {
				g.Unset(a.With("dcqcn"))
				return
			}
			said[value] = file
		}
	}
	_, on := said["1"]
	_, off := said["0"]
	if len(said) > 1 || !on && !off {
		for _, value := range slices.Sorted(maps.Keys(said)) {
			g.Strange(said[value]+": "+diag.Excerpt(value), a.With("dcqcn"))
		}
	}
	n.DCQCN = on && !off
}

func liftCNP(n *fabric.NIC, files map[string]string, a addr.Addr, g *fabric.Gaps) {
	for _, f := range []struct {
		file, leaf string
		most       uint64
		set        func(uint64)
	}{
		{"roce_np/cnp_dscp", "cnp-dscp", 63, func(v uint64) { n.CNPDSCP = qos.DSCP(v) }},
		{"roce_np/cnp_802p_prio", "cnp-priority", 7, func(v uint64) { n.CNPPriority = qos.Priority(v) }},
	} {
		text, ok := files[f.file]
		value, err := strconv.ParseUint(text, 10, 8)
		switch {
		case !ok:
			g.Unset(a.With(f.leaf))
		case err != nil || value > f.most:
			g.Strange(f.file+": "+diag.Excerpt(text), a.With(f.leaf))
		default:
			f.set(value)
		}
	}
}
