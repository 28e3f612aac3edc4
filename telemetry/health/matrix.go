package health

import (
	"slices"
	"time"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/telemetry"
)

// unknown is the value of weir_verdict that is neither well nor bad.
const unknown = -1

// Matrix is the verdicts as metrics: one of each check for each device, one for each port that is not well, and for each port where it
// is cabled to, so that an alert can name who is at fault. Of a device
// whose counters do not arrive nothing is known. Every is how often the judge judges.
func Matrix(vs []Verdict, t Topology, now time.Time, every time.Duration) []telemetry.Sample {
	type cell struct {
		device string
		check  Check
	}
	cells := map[cell]float64{}
	silent := map[string]bool{}
	var out []telemetry.Sample
	for _, v := range vs {
		if v.Check == StaleTarget && v.State == Unknown && v.Severity == diag.Error {
			silent[v.Device] = true
		}
		c := cell{v.Device, v.Check}
		cells[c] = worse(cells[c], value(v))
		if v.Port != "" {
			a := v.At()
			out = append(out, telemetry.Sample{Metric: telemetry.PortVerdict, Addr: a.With(string(v.Check)), Value: value(v), At: now, Every: every})
		}
	}
	for _, d := range t.Devices {
		for _, c := range Checks() {
			v := cells[cell{d.Name, c.Name}]
			if silent[d.Name] && v == 0 {
				v = unknown
			}
			out = append(out, telemetry.Sample{Metric: telemetry.Verdict, Addr: addr.Device(d.Name).With(string(c.Name)), Value: v, At: now, Every: every})
		}
	}
	for a, p := range t.Ports {
		if p.Peer.Device != "" {
			a.Name, a.Leaf = p.Peer.Device, p.Peer.Port
			out = append(out, telemetry.Sample{Metric: telemetry.PortPeer, Addr: a, Value: 1, At: now, Every: every})
		}
	}
	slices.SortStableFunc(out, func(a, b telemetry.Sample) int { return addr.Natural(a.Addr.Device, b.Addr.Device) })
	return out
}

func value(v Verdict) float64 {
	if v.State == Unknown {
		return unknown
	}
	return float64(v.Severity)
}

// worse is the graver of two values: what is bad before what is unknown, what is unknown before what is well.
func worse(a, b float64) float64 {
	if a == 0 || b > 0 && b > a {
		return b
	}
	if b == 0 || a > 0 {
		return a
	}
	return min(a, b)
}
