package collect

import (
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/telemetry"
)

// series is one series. Its value may be read at any time; the rest belongs to its device's lock. It is a prometheus.Metric.
type series struct {
	metric *telemetry.Metric
	addr   addr.Addr
	desc   *prometheus.Desc
	labels []*dto.LabelPair
	bits   atomic.Uint64 // of the value

	known  bool // a sample has come
	status telemetry.Status
	doubt  bool // its value is not believed until it moves
	every  time.Duration
	at     time.Time // of the last sample
	place  int       // among the exported, from 1; 0: not exported
	pushed int       // points, since the series has a value
	points [history]point
}

// point is a value at a time, in Unix nanoseconds by our clock and the device's; 0: it does not say.
type point struct {
	at, taken int64
	value     float64
}

func newSeries(m *telemetry.Metric, a addr.Addr, desc *prometheus.Desc) *series {
	return &series{metric: m, addr: a, desc: desc, labels: labels(m, a)}
}

// labels are the label pairs of a reading, in the order of their names.
func labels(m *telemetry.Metric, a addr.Addr) []*dto.LabelPair {
	names := append([]string{"device"}, m.Labels...)
	values := m.Values(a)
	out := make([]*dto.LabelPair, len(names))
	for i := range names {
		out[i] = &dto.LabelPair{Name: &names[i], Value: &values[i]}
	}
	slices.SortFunc(out, func(a, b *dto.LabelPair) int { return strings.Compare(a.GetName(), b.GetName()) })
	return out
}

func (s *series) set(v float64)  { s.bits.Store(math.Float64bits(v)) }
func (s *series) value() float64 { return math.Float64frombits(s.bits.Load()) }

// push keeps a point, and lets the oldest go.
func (s *series) push(at, taken time.Time, v float64) {
	p := point{at: at.UnixNano(), value: v}
	if !taken.IsZero() {
		p.taken = taken.UnixNano()
	}
	s.points[s.pushed%history] = p
	s.pushed++
}

// snapshot is the series as a value.
func (s *series) snapshot() telemetry.Series {
	out, points := s.into(nil)
	out.Points = points
	return out
}

// into is the series as a value without its points, and the given points with them behind.
func (s *series) into(points []telemetry.Point) (telemetry.Series, []telemetry.Point) {
	for i := max(0, s.pushed-history); i < s.pushed; i++ {
		p := s.points[i%history]
		x := telemetry.Point{At: time.Unix(0, p.at), Value: p.value}
		if p.taken != 0 {
			x.Taken = time.Unix(0, p.taken)
		}
		points = append(points, x)
	}
	return telemetry.Series{Metric: s.metric, Addr: s.addr, Status: s.status, Every: s.every}, points
}

// Desc is the description that all series of the metric share.
func (s *series) Desc() *prometheus.Desc { return s.desc }

// Write gives the value, with labels that were made before.
func (s *series) Write(out *dto.Metric) error {
	v := s.value()
	out.Label = s.labels
	if s.metric.Counter {
		out.Counter = &dto.Counter{Value: &v}
	} else {
		out.Gauge = &dto.Gauge{Value: &v}
	}
	return nil
}
