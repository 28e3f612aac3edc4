package health

import (
	"fmt"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/telemetry"
)

// cnps judges the answer to marks: the notification points send CNPs, and the reaction points get them.
func (j *judge) cnps() {
	var sent, handled reading
	var sending, handling int
	for _, a := range j.ports {
		if !j.topology.Ports[a].Host {
			continue
		}
		marked, ok := j.growth(telemetry.CEReceived, a, "")
		s, ok2 := j.growth(telemetry.CNPSent, a, "")
		if ok && ok2 && marked.growth > 0 && s.growth == 0 {
			j.add(Verdict{Check: CNPSilent, Device: a.Device, Port: a.Port, Severity: diag.Warning, Summary: fmt.Sprintf(
				"%.0f marked packets arrived and no CNP was sent: the notification point is off for the priority", marked.growth)}, marked)
		}
		if inner, ok := j.within(telemetry.CNPSent, a); ok {
			sending++
			sent.growth += inner.growth
			sent.since, sent.seen = inner.since, inner.seen
		}
		if h, ok := j.growth(telemetry.CNPHandled, a, ""); ok {
			handling++
			handled.growth += h.growth
		}
	}
	// Only where every NIC is counted do the sums have to agree. NICs are not read at one time: what some sent in the first and the
	// last interval may be handled before the others' first reading, or after their last one.
	if sending == 0 || sending != handling || sending != j.nics() || sent.growth <= handled.growth*(1+j.policy.Lost) {
		return
	}
	j.add(Verdict{Check: CNPSilent, Severity: diag.Warning, Summary: fmt.Sprintf(
		"%.0f CNPs were sent and %.0f handled in the fabric: they are lost, or travel in the wrong class", sent.growth, handled.growth)}, sent)
}

// within is what a counter of a port grew by between its first interval and its last one.
func (j *judge) within(m *telemetry.Metric, a addr.Addr) (reading, bool) {
	s, ok := j.at(m, a, "")
	if !ok || len(s.Points) < 4 {
		return reading{}, false
	}
	seen := s.Last().At
	s.Points = s.Points[1 : len(s.Points)-1]
	r := j.reading(s)
	r.seen = seen
	return r, true
}

// nics is how many ports of hosts there are.
func (j *judge) nics() int {
	n := 0
	for _, p := range j.topology.Ports {
		if p.Host {
			n++
		}
	}
	return n
}
