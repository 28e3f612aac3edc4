package health

import (
	"fmt"
	"time"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/telemetry"
)

// stoppedByHost judges a node that waits for a host, where the waiting begins: PAUSE without end is a storm, and from a share of
// the time on the host is a slow receiver.
func (j *judge) stoppedByHost(n node, p paused, behind int) {
	host := j.topology.Ports[n.port].Peer
	span := p.over.Round(time.Second)
	v := about(SlowReceiver, n.port, n.priority, diag.Warning, fmt.Sprintf(
		"host %s (%s) receives too slowly: it stopped the port for %s of the last %s", host.Device, host.Port, percent(p.share), span))
	switch {
	case j.storm(n, p):
		v.Check, v.Severity = PFCStorm, diag.Error
		v.Summary = fmt.Sprintf("host %s (%s) sends PAUSE without end: ", host.Device, host.Port)
		if p.share >= j.policy.Storm {
			v.Summary += fmt.Sprintf("the port was stopped for %s of the last %s", percent(p.share), span)
		} else {
			v.Summary += "the watchdog of the switch holds the queue in storm"
		}
	case p.share < j.policy.Major:
		return
	}
	if behind > 0 {
		v.Summary += fmt.Sprintf("; %d more wait behind it", behind)
	}
	v.Culprit, v.Estimate = &host, p.estimated
	j.add(v, p.reading)
}

// storm says whether a node that waits for a host is stopped for good. Where the time is only estimated the queue must have
// stood still as well.
func (j *judge) storm(n node, p paused) bool {
	for _, c := range j.topology.Ports[n.port].Classes {
		if c.Priority != n.priority {
			continue
		}
		if now, _ := j.inStorm(n.port, c); now {
			return true
		}
		if p.share < j.policy.Storm {
			return false
		}
		moved, counted := j.recent(telemetry.QueuePackets, n.port, digit(c.Queue))
		return !p.estimated || counted && moved.growth == 0
	}
	return false
}
