package check

import (
	"fmt"
	"math"
	"strconv"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/lossless"
	"github.com/weirfabric/weir/intent/qos"
)

// marked is all that the balance of DCQCN depends on. Ports that have it in common are worked out once.
type marked struct {
	speed qos.Rate
	mtu   qos.Bytes
	curve qos.WRED
	flows int
}

// dcqcnMarking asks, where the intent says how many flows marking must hold, whether it can.
func dcqcnMarking(f *fabric.Fabric) diag.List {
	var l diag.List
	senders := dcqcnClasses(f)
	known := map[marked]*diag.Diagnostic{}
	ports(f, func(sw *fabric.Switch, p *fabric.Port) {
		for i := range p.Queues {
			q := &p.Queues[i]
			if q.WRED == nil || q.Marking == nil || q.Marking.Flows == 0 || !senders[q.Class] {
				continue
			}
			key := marked{p.Speed, fabric.RoCEMTU(p.MTU), sw.Rounded(*q.WRED), q.Marking.Flows}
			d, done := known[key]
			if !done {
				d = tooManyFlows(key)
				known[key] = d
			}
			if d != nil {
				at := *d
				at.Summary = "class " + q.Class + ": " + d.Summary
				at.At = p.Origin.Class[q.Class]
				at.Addr = portAddr(sw, p).Of(addr.Queue, fmt.Sprint(i))
				l.Add(at)
			}
		}
	})
	return l
}

// dcqcnClasses are the classes that any NIC with DCQCN sends RDMA in.
func dcqcnClasses(f *fabric.Fabric) map[string]bool {
	classes := map[string]bool{}
	for _, h := range f.Hosts {
		for _, n := range h.NICs {
			if n.RoCE > 0 && n.DCQCN {
				classes[n.Class] = true
			}
		}
	}
	return classes
}

// tooManyFlows is the finding for flows that the curve cannot hold below its Max; nil where it can.
func tooManyFlows(m marked) *diag.Diagnostic {
	model := lossless.PaperDCQCN(m.speed, m.mtu, m.curve)
	needed, _, ok := model.FixedPoint(m.flows)
	if ok || m.curve.Probability == 0 {
		return nil
	}
	most := model.MostFlows()
	remedy := "Write fewer flows"
	if would := qos.Percent(math.Ceil(needed * 100)); would <= 100 {
		enough := model
		enough.Curve.Probability = would
		if _, _, ok := enough.FixedPoint(m.flows); ok {
			remedy = fmt.Sprintf("Write ecn.probability: %s, or fewer flows", would)
		}
	}
	d := finding(diag.Warning, fmt.Sprintf("marking cannot hold %d flows below ecn.max: with a probability of %s it holds %d", m.flows, m.curve.Probability, most),
		fmt.Sprintf("DCQCN senders settle where marks and their own increases balance. For %d flows on %s that takes %s of marked packets, and the curve ends at %s: "+
			"the queue then rises to ecn.max, above which everything is marked and rates swing. %s.\n"+
			"NOT VERIFIED: the equations of the model are recalled from a paper (Zhu et al., CoNEXT 2016) and re-derived, and the senders are taken to have the settings of the DCQCN paper. Take it as advice.",
			m.flows, m.speed, shareOf(needed), m.curve.Probability, remedy))
	return &d
}

// shareOf writes a share of 1 with two digits, without powers of ten.
func shareOf(share float64) string {
	percent := share * 100
	digits := max(0, 1-int(math.Floor(math.Log10(percent))))
	return strconv.FormatFloat(percent, 'f', digits, 64) + " %"
}
