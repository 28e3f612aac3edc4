package health

import (
	"fmt"
	"strings"
	"time"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/telemetry"
)

var noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

const interval = 10 * time.Second

// bench is a small fabric and its counters: gpu1 - leaf1 - spine1 - leaf2 - gpu2, and gpu3 on leaf2, all at 100G with priority 3
// lossless and marked.
type bench struct {
	topology Topology
	window   Window
}

func fabric() *bench {
	b := &bench{topology: Topology{Ports: map[addr.Addr]Port{}}, window: Window{Now: noon}}
	for _, d := range []string{"gpu1", "gpu2", "gpu3", "leaf1", "leaf2", "spine1"} {
		host := strings.HasPrefix(d, "gpu")
		b.topology.Devices = append(b.topology.Devices, Device{Name: d, Host: host})
		b.gauge(telemetry.TargetUp, d, "", 1)
	}
	for _, l := range [][2]string{{"gpu1/eth0", "leaf1/e1"}, {"leaf1/e2", "spine1/e1"}, {"leaf2/e1", "spine1/e2"}, {"gpu2/eth0", "leaf2/e2"}, {"gpu3/eth0", "leaf2/e3"}} {
		b.cable(l[0], l[1])
		b.cable(l[1], l[0])
	}
	return b
}

func at(text string) addr.Addr {
	device, port, _ := strings.Cut(text, "/")
	return addr.Port(device, port)
}

func (b *bench) cable(from, to string) {
	b.topology.Ports[at(from)] = Port{Host: strings.HasPrefix(from, "gpu"), PeerHost: strings.HasPrefix(to, "gpu"), Peer: at(to), Rate: 100e9,
		Classes: []Class{{Priority: 3, Queue: 3, Group: 3, ECN: true}}}
	b.counter(telemetry.PFCTransmitted, from, 100, 100)
}

// set puts a series, in place of one that is there.
func (b *bench) set(s telemetry.Series) {
	for i, old := range b.window.Series {
		if old.Metric == s.Metric && old.Addr == s.Addr {
			b.window.Series[i] = s
			return
		}
	}
	b.window.Series = append(b.window.Series, s)
}

// counter is the last values of a counter of priority, queue or group 3 of a port, one each interval until now.
func (b *bench) counter(m *telemetry.Metric, port string, values ...float64) {
	a := at(port)
	s := telemetry.Series{Metric: m, Addr: m.At(a.Device, a.Port, "3"), Every: interval}
	if !m.Numbered() {
		s.Addr = a
	}
	for i, v := range values {
		s.Points = append(s.Points, telemetry.Point{At: noon.Add(-time.Duration(len(values)-1-i) * interval), Value: v})
	}
	b.set(s)
}

// late has all but the last reading of a counter come so much later than they should have.
func (b *bench) late(m *telemetry.Metric, port string, by time.Duration) {
	for _, s := range b.window.Series {
		if s.Metric == m && s.Addr.Device+"/"+s.Addr.Port == port {
			for i := range len(s.Points) - 1 {
				s.Points[i].At = s.Points[i].At.Add(by)
			}
		}
	}
}

func (b *bench) gauge(m *telemetry.Metric, device, number string, v float64) {
	a := at(device)
	b.set(telemetry.Series{Metric: m, Addr: m.At(a.Device, a.Port, number), Every: interval, Points: []telemetry.Point{{At: noon, Value: v}}})
}

func (b *bench) status(m *telemetry.Metric, port string, s telemetry.Status) {
	a := at(port)
	b.set(telemetry.Series{Metric: m, Addr: m.At(a.Device, a.Port, "3"), Every: interval, Status: s})
}

// meeting is a port that sends at 99 % of its rate, and what its queue sent and marked in the last interval.
func (b *bench) meeting(port string, packets, marked float64) {
	b.counter(telemetry.TransmittedBytes, port, 0, 124e9)
	b.counter(telemetry.QueuePackets, port, 0, packets)
	b.counter(telemetry.ECNMarked, port, 0, marked)
}

// lines writes verdicts as one line each.
func lines(vs []Verdict) []string {
	var out []string
	for _, v := range vs {
		line := fmt.Sprintf("%s %s %s %s: %s", v.Severity, v.State, v.Check, v.At(), v.Summary)
		if v.Culprit != nil {
			line += fmt.Sprintf(" [%s]", v.Culprit)
		}
		if v.Estimate {
			line += " (estimate)"
		}
		out = append(out, line)
	}
	return out
}
