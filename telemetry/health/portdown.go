package health

import (
	"fmt"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/telemetry"
)

// portDown judges cabled ports of lossless classes, but for those that weir itself took down a moment ago.
func (j *judge) portDown(a addr.Addr, p Port) {
	s, ok := j.at(telemetry.PortUp, a, "")
	if !ok || s.Last().Value != 0 || p.Peer == (addr.Addr{}) || len(p.Classes) == 0 || j.flapped(a) {
		return
	}
	since := s.Last().At
	for i := len(s.Points) - 1; i >= 0 && s.Points[i].Value == 0; i-- {
		since = s.Points[i].At
	}
	j.add(Verdict{Check: PortDown, Device: a.Device, Port: a.Port, Severity: diag.Error,
		Summary: fmt.Sprintf("the port is down; it is cabled to %s", p.Peer)}, reading{since: since, seen: s.Last().At})
}
