package health

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/telemetry"
)

// judge is one judgement.
type judge struct {
	Window
	topology Topology
	policy   Policy
	series   map[seriesKey]telemetry.Series
	absent   map[seriesKey]bool     // was asked for and is not there
	ports    []addr.Addr            // of the topology, in order
	portsOf  map[string][]addr.Addr // the same by device
	silent   map[string]bool        // devices whose counters do not arrive
	verdicts []Verdict
}

type seriesKey struct {
	metric               *telemetry.Metric
	device, port, number string
}

func (j *judge) index() {
	j.series = make(map[seriesKey]telemetry.Series, len(j.Series))
	j.silent, j.absent = map[string]bool{}, map[seriesKey]bool{}
	j.ports = slices.SortedFunc(maps.Keys(j.topology.Ports), addr.Compare)
	j.portsOf = map[string][]addr.Addr{}
	for _, a := range j.ports {
		j.portsOf[a.Device] = append(j.portsOf[a.Device], a)
	}
	for _, s := range j.Series {
		j.series[seriesKey{s.Metric, s.Addr.Device, s.Addr.Port, s.Addr.Name}] = s
	}
}

func digit[T ~uint8](n T) string { return strconv.Itoa(int(n)) }

// reading is what a counter says over the window.
type reading struct {
	growth    float64
	over      time.Duration // time of the device
	since     time.Time     // the reading before which it had not grown yet
	seen      time.Time
	estimated bool
}

// find is the series of a metric, whatever it says. It is the same for the whole judgement.
func (j *judge) find(m *telemetry.Metric, device, port, number string) (telemetry.Series, bool) {
	k := seriesKey{m, device, port, number}
	s, ok := j.series[k]
	if ok || j.Source == nil || j.absent[k] {
		return s, ok
	}
	if s, ok = j.Source.Of(m, device, port, number); ok {
		j.series[k] = s
	} else {
		j.absent[k] = true
	}
	return s, ok
}

// at is the series of a metric, with ok false where it has no value or is stale.
func (j *judge) at(m *telemetry.Metric, a addr.Addr, number string) (telemetry.Series, bool) {
	s, ok := j.find(m, a.Device, a.Port, number)
	return s, ok && s.Status.Counts() && len(s.Points) > 0 && !s.Stale(j.Now, j.policy.Forgiven)
}

// growth is what a counter grew by over all its points; ok is false where it does not count.
func (j *judge) growth(m *telemetry.Metric, a addr.Addr, number string) (reading, bool) {
	s, ok := j.at(m, a, number)
	if !ok || len(s.Points) < 2 {
		return reading{}, false
	}
	return j.reading(s), true
}

// recent is the same over the last interval alone. Two points may come in a burst when a device or its stream was late: they say
// nothing of a rate, so that it goes back by at least half of the interval.
func (j *judge) recent(m *telemetry.Metric, a addr.Addr, number string) (reading, bool) {
	s, ok := j.at(m, a, number)
	from := len(s.Points) - 2
	for from > 0 && s.Last().At.Sub(s.Points[from].At) < s.Every/2 {
		from--
	}
	if !ok || from < 0 || s.Last().At.Sub(s.Points[from].At) < s.Every/2 {
		return reading{}, false
	}
	s.Points = s.Points[from:]
	return j.reading(s), true
}

func (j *judge) reading(s telemetry.Series) reading {
	r := reading{growth: s.Growth(), over: s.Over(j.policy.Scale), seen: s.Last().At, since: s.Last().At,
		estimated: s.Status == telemetry.Estimated}
	for i := 1; i < len(s.Points); i++ {
		if s.Points[i].Value != s.Points[i-1].Value {
			r.since = s.Points[i].At
			break
		}
	}
	return r
}

// rate is the growth in a second of the device.
func (r reading) rate() float64 {
	if r.over <= 0 {
		return 0
	}
	return r.growth / r.over.Seconds()
}

// add writes a verdict that rests on a reading.
func (j *judge) add(v Verdict, r reading) {
	v.Since, v.Seen = r.since, r.seen
	if v.State == "" {
		v.State = Bad
	}
	j.verdicts = append(j.verdicts, v)
}

// about is a verdict on a priority of a port.
func about(c Check, a addr.Addr, p qos.Priority, s diag.Severity, summary string) Verdict {
	return Verdict{Check: c, Device: a.Device, Port: a.Port, Priority: &p, Severity: s, Summary: summary}
}

// flapped says whether weir itself took the port, or the one at its other end, down a moment ago.
func (j *judge) flapped(a addr.Addr) bool {
	for _, end := range []addr.Addr{a, j.topology.Ports[a].Peer} {
		if at, ok := j.Flaps[end]; ok && float64(j.Now.Sub(at))*j.policy.Scale < float64(j.policy.Grace) {
			return true
		}
	}
	return false
}
