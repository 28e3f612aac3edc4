package collect

import (
	"cmp"
	"slices"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/telemetry"
)

// View finds single series in a store, without copying the others. Its points share one piece of memory: what it gave is true until
// Reset. It is used by one goroutine.
type View struct {
	store  *Store
	points []telemetry.Point
}

// View looks into the store.
func (s *Store) View() *View { return &View{store: s} }

// Reset takes the memory of what was given for what will be.
func (v *View) Reset() { v.points = v.points[:0] }

// Of is the series of a metric on a port, by the number of its priority, queue or group where it has one; ok is false where it is not
// kept.
func (v *View) Of(m *telemetry.Metric, device, port, number string) (telemetry.Series, bool) {
	v.store.mu.RLock()
	d := v.store.devices[device]
	v.store.mu.RUnlock()
	if d == nil {
		return telemetry.Series{}, false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	ser := d.series[key{metric: m, port: port, name: number}]
	if ser == nil {
		return telemetry.Series{}, false
	}
	from := len(v.points)
	var out telemetry.Series
	out, v.points = ser.into(v.points)
	if len(v.points) > from {
		out.Points = v.points[from:len(v.points):len(v.points)]
	}
	return out, true
}

// Suspects are the series whose claims are not believed, in the order of their addresses.
func (v *View) Suspects() []telemetry.Series {
	var out []telemetry.Series
	for _, d := range v.store.all() {
		d.mu.Lock()
		from := len(out)
		for ser := range d.suspects {
			out = append(out, ser.snapshot())
		}
		d.mu.Unlock()
		slices.SortFunc(out[from:], func(a, b telemetry.Series) int {
			return cmp.Or(addr.Compare(a.Addr, b.Addr), cmp.Compare(a.Metric.Name, b.Metric.Name))
		})
	}
	return out
}
