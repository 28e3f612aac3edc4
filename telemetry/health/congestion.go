package health

import (
	"fmt"
	"slices"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/telemetry"
)

// congestion is a switch that stops its neighbours while nothing stops it.
type congestion struct {
	ports  []addr.Addr // of the switch, that send PAUSE
	behind int
	worst  paused
}

func (c congestion) with(port addr.Addr, p paused, behind int) congestion {
	c.ports = append(c.ports, port)
	c.behind += behind + 1
	if p.share > c.worst.share {
		c.worst = p
	}
	return c
}

// congestion judges a switch where the waiting begins: one of its ports is overloaded, or its thresholds are too small.
func (j *judge) congestion(at node, c congestion) {
	if c.worst.share < j.policy.Major {
		return
	}
	ports := "1 port"
	if c.behind > 1 {
		ports = fmt.Sprintf("%d ports", c.behind)
	}
	stops := fmt.Sprintf("stops %s, for up to %s of the time", ports, percent(c.worst.share))
	egress, why := j.overloaded(at.port.Device, c.ports, at.priority)
	v := about(Congestion, egress, at.priority, diag.Note, fmt.Sprintf("the port %s, and the switch %s", why, stops))
	if why == "" {
		v = about(Congestion, c.ports[0], at.priority, diag.Warning,
			fmt.Sprintf("the switch %s, though nothing keeps it from sending: its PFC threshold may be too small", stops))
	} else if peer := j.topology.Ports[egress].Peer; peer != (addr.Addr{}) {
		v.Culprit = &peer
	}
	v.Estimate = c.worst.estimated
	j.add(v, c.worst.reading)
}

// overloaded is a port of the device, not one of those that send PAUSE, that sends as much as it can, or marks; why is empty
// where there is none.
func (j *judge) overloaded(device string, but []addr.Addr, p qos.Priority) (port addr.Addr, why string) {
	for _, a := range j.portsOf[device] {
		if slices.Contains(but, a) {
			continue
		}
		if used, ok := j.used(a); ok && used >= j.policy.Saturated {
			return a, fmt.Sprintf("sends at %s of its rate", percent(ofRate(used)))
		}
		for _, c := range j.topology.Ports[a].Classes {
			if r, ok := j.recent(telemetry.ECNMarked, a, digit(c.Queue)); ok && c.Priority == p && r.growth > 0 {
				return a, "is congested and marks"
			}
		}
	}
	return addr.Addr{}, ""
}
