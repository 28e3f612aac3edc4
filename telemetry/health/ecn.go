package health

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/telemetry"
)

// marking is what a device's ECN counters of one priority say, summed over its ports.
type marking struct {
	marked   float64
	counted  int // queues whose marks are counted
	disabled int
	ports    int // with the class and ECN
	since    time.Time
	seen     time.Time
}

// marks judges ECN beside PFC (theory 5.3): a switch that sends PAUSE of a class with ECN must have marked before.
func (j *judge) marks() {
	all := sync.OnceValue(j.allMarked)
	for _, d := range j.topology.Devices {
		if d.Host || j.silent[d.Name] {
			continue
		}
		for p := range qos.Priority(8) {
			m := j.marking(d.Name, p)
			if m.ports == 0 {
				continue
			}
			j.withoutECN(d, p, m)
			j.silentECN(d, p, m, all)
		}
	}
}

// marking sums what the device's queues of the priority marked.
func (j *judge) marking(device string, p qos.Priority) marking {
	var m marking
	for _, a := range j.portsOf[device] {
		for _, c := range j.topology.Ports[a].Classes {
			if c.Priority != p || !c.ECN {
				continue
			}
			m.ports++
			if s, _ := j.find(telemetry.ECNMarked, a.Device, a.Port, digit(c.Queue)); s.Status == telemetry.Disabled {
				m.disabled++
			}
			if r, ok := j.growth(telemetry.ECNMarked, a, digit(c.Queue)); ok {
				m.counted++
				m.marked += r.growth
				m.since, m.seen = r.since, r.seen
			}
		}
	}
	return m
}

// withoutECN tells of a switch that sends PAUSE and marks nothing. While one of its own ports is stopped it may have nothing to
// mark, since marked packets are those that leave.
func (j *judge) withoutECN(d Device, p qos.Priority, m marking) {
	if m.counted == 0 || m.counted < m.ports || m.marked > 0 {
		return
	}
	var worst addr.Addr
	var sent reading
	for _, a := range j.portsOf[d.Name] {
		for _, c := range j.topology.Ports[a].Classes {
			if c.Priority != p {
				continue
			}
			if stopped, ok := j.pausedShare(a, c); ok && stopped.share >= j.policy.Paused {
				return
			}
			if r, ok := j.growth(telemetry.PFCTransmitted, a, digit(p)); ok && r.growth > sent.growth {
				worst, sent = a, r
			}
		}
	}
	if sent.growth == 0 {
		return
	}
	j.add(about(PFCWithoutECN, worst, p, diag.Warning, fmt.Sprintf(
		"%.0f PAUSE frames were sent in %s and no packet was marked: PFC comes before ECN, or ECN is off", sent.growth, sent.over.Round(time.Second))), sent)
}

// silentECN tells of marks that cannot be seen, or that are seen in one place and not in the next. All is what all switches
// marked.
func (j *judge) silentECN(d Device, p qos.Priority, m marking, all func() float64) {
	device := func(format string, args ...any) Verdict {
		return Verdict{Check: ECNSilent, Device: d.Name, Priority: &p, Severity: diag.Warning, Summary: fmt.Sprintf(format, args...)}
	}
	if m.disabled > 0 {
		v := device("the device's ECN counters are switched off on %d of %d ports: marking cannot be seen", m.disabled, m.ports)
		v.State = Unknown
		j.add(v, reading{since: j.Now, seen: j.Now})
	}
	for _, a := range j.portsOf[d.Name] {
		port := j.topology.Ports[a]
		i := slices.IndexFunc(port.Classes, func(c Class) bool { return c.Priority == p && c.ECN })
		if i < 0 || !port.PeerHost {
			continue
		}
		arrived, ok := j.growth(telemetry.CEReceived, port.Peer, "")
		if !ok {
			continue
		}
		queue := digit(port.Classes[i].Queue)
		switch marked, counted := j.growth(telemetry.ECNMarked, a, queue); {
		case arrived.growth > 0 && counted && all() == 0:
			v := about(Counters, a, p, diag.Warning, fmt.Sprintf(
				"%.0f marked packets arrived at %s and no switch counts a mark: the counter of marks claims zero", arrived.growth, port.Peer))
			v.Doubts = []telemetry.Reading{{Metric: telemetry.ECNMarked, Addr: telemetry.ECNMarked.At(a.Device, a.Port, queue)}}
			j.add(v, arrived)
		case counted && marked.growth > 0 && arrived.growth == 0 && j.carries(port.Peer, p):
			v := about(ECNSilent, a, p, diag.Warning, fmt.Sprintf(
				"%.0f packets were marked on the way to %s and none arrived with a mark: what is sent has no ECT, or the DSCP is classified differently", marked.growth, port.Peer))
			j.add(v, marked)
		}
	}
}

// allMarked is what all switches marked, in whatever queue.
func (j *judge) allMarked() float64 {
	var sum float64
	for _, a := range j.ports {
		for q := range qos.Queue(8) {
			if r, ok := j.growth(telemetry.ECNMarked, a, digit(q)); ok {
				sum += r.growth
			}
		}
	}
	return sum
}

// carries says whether the NIC counts traffic of the class, so that a zero of its other counters means something.
func (j *judge) carries(nic addr.Addr, p qos.Priority) bool {
	r, ok := j.growth(telemetry.PriorityReceivedBytes, nic, digit(p))
	return ok && r.growth > 0
}
