package health

import (
	"fmt"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/telemetry"
)

// counters judges the counters themselves. Some devices claim a counter that never moves (sonic-buildimage issues 5540 and
// 25174): what one end of a cable says that it sent, the other end must have received.
func (j *judge) counters() {
	suspects := j.Series
	if j.Source != nil {
		suspects = j.Source.Suspects()
	}
	for _, s := range suspects {
		if s.Status == telemetry.Suspect {
			j.add(Verdict{Check: Counters, Device: s.Addr.Device, Port: s.Addr.Port, Severity: diag.Warning, State: Unknown,
				Summary: fmt.Sprintf("%s of %s claims a value that cannot be, and has not moved since", s.Metric.Name, s.Addr)}, reading{since: j.Now, seen: j.Now})
		}
	}
	for _, a := range j.ports {
		port := j.topology.Ports[a]
		for _, c := range port.Classes {
			sent, ok := j.sentBefore(port.Peer, c)
			received, counted := j.growth(telemetry.PFCReceived, a, digit(c.Priority))
			if !ok || !counted || sent.growth == 0 || received.growth > 0 || received.over < sent.over {
				continue
			}
			v := about(Counters, a, c.Priority, diag.Warning, fmt.Sprintf(
				"%s sent %.0f PAUSE frames and none was counted here: the counter claims zero, or PFC is off on the device", port.Peer, sent.growth))
			v.Doubts = []telemetry.Reading{{Metric: telemetry.PFCReceived, Addr: telemetry.PFCReceived.At(a.Device, a.Port, digit(c.Priority))}}
			j.add(v, received)
		}
	}
}

// sentBefore is what a port sent before its last reading: what it sent since may not be in the readings of its peer yet.
func (j *judge) sentBefore(a addr.Addr, c Class) (reading, bool) {
	s, ok := j.at(telemetry.PFCTransmitted, a, digit(c.Priority))
	if !ok || len(s.Points) < 3 {
		return reading{}, false
	}
	s.Points = s.Points[:len(s.Points)-1]
	return j.reading(s), true
}
