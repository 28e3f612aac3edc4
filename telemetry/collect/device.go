package collect

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/telemetry"
)

// device is what is kept of one device.
type device struct {
	name string

	mu        sync.Mutex
	ports     map[string]bool // of the inventory; nil: not said, and every port is one
	strangers int             // series of other ports
	series    map[key]*series
	order     []*series // by address and metric; nil when it must be sorted anew
	suspects  map[*series]bool
	exported  []*series // those with a value, in no order; each knows its place
	dropped   uint64
	told      time.Time // when it was last told that samples are dropped
	accounted time.Time
}

// key names a series within its device.
type key struct {
	metric           *telemetry.Metric
	port, name, leaf string
}

func (d *device) put(s *Store, samples []telemetry.Sample) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range samples {
		x := &samples[i]
		if ser := d.at(s, x.Metric, x.Addr); ser != nil {
			d.store(s, ser, x)
		} else {
			d.drops(s, x.At)
		}
	}
	d.account(s, samples[len(samples)-1].At)
}

// toldEvery is how often it is told that samples are dropped, for as long as they are.
const toldEvery = time.Minute

// drops counts a sample that found no room. It is told as an error: a verdict may want what is lost here.
func (d *device) drops(s *Store, at time.Time) {
	d.dropped++
	if at.Sub(d.told) >= toldEvery {
		d.told = at
		s.options.Log.Error("no room for more series of this device: samples are dropped", "device", d.name, "limit", s.options.Each, "of ports that the inventory has not", mostStrange, "dropped", d.dropped)
	}
}

// Series that a device may have by its ports: one has some 70.
const (
	perPort     = 256  // of the inventory
	mostStrange = 4000 // of all others: what a device invents does not take the place of what it was asked for
)

// strange says whether the inventory has no such port.
func (d *device) strange(port string) bool { return d.ports != nil && port != "" && !d.ports[port] }

// full says whether there is no room for another series of a port.
func (d *device) full(s *Store, stranger bool) bool {
	switch {
	case d.ports == nil:
		return len(d.series) >= s.options.Each
	case stranger:
		return d.strangers >= mostStrange
	}
	return len(d.series)-d.strangers >= min(perPort*(1+len(d.ports)), s.options.Each)
}

// longestName is how many bytes the name of a port, and of what is counted there, have: twice what an inventory takes of a port.
const longestName = 512

// at is the series of a reading, made where it is new; nil where there is no room for more of the device. What is known of the
// device as a whole, as that samples are dropped, always has room: that is one series a metric.
func (d *device) at(s *Store, m *telemetry.Metric, a addr.Addr) *series {
	k := key{m, a.Port, a.Name, a.Leaf}
	if ser, ok := d.series[k]; ok {
		return ser
	}
	stranger := d.strange(k.port)
	if (k.port != "" || k.name != "" || k.leaf != "") && d.full(s, stranger) || len(a.Port)+len(a.Name)+len(a.Leaf) > longestName {
		return nil
	}
	// The sample's strings may be parts of a whole message.
	a = addr.Addr{Device: d.name, Port: strings.Clone(a.Port), Kind: a.Kind, Name: strings.Clone(a.Name), Leaf: strings.Clone(a.Leaf)}
	ser := newSeries(m, a, s.descs[m])
	if stranger {
		d.strangers++
	}
	d.series[key{m, a.Port, a.Name, a.Leaf}], d.order = ser, nil
	return ser
}

// sorted is the series in order. Who watches a settle window looks at all of them many times, while hardly any is new.
func (d *device) sorted() []*series {
	if d.order == nil {
		d.order = slices.SortedFunc(maps.Values(d.series), func(a, b *series) int {
			return cmp.Or(addr.Compare(a.addr, b.addr), cmp.Compare(a.metric.Name, b.metric.Name))
		})
	}
	return d.order
}

// store puts a sample into its series.
func (d *device) store(s *Store, ser *series, x *telemetry.Sample) {
	if ser.doubt && x.Status.Counts() {
		if ser.doubt = x.Value == ser.value(); ser.doubt {
			ser.every, ser.at = x.Every, x.At
			return
		}
	}
	if x.Status != ser.status || !ser.known {
		d.turn(s, ser, x)
	}
	ser.every, ser.at = x.Every, x.At
	if !x.Status.Counts() {
		return
	}
	ser.push(x.At, x.Taken, x.Value)
	ser.set(x.Value)
}

// turn changes the status of a series: whether it is exported, and among which it is counted.
func (d *device) turn(s *Store, ser *series, x *telemetry.Sample) {
	if ser.known {
		d.recount(s, ser, ser.status, -1, x.At)
	}
	ser.known, ser.status = true, x.Status
	if delete(d.suspects, ser); x.Status == telemetry.Suspect {
		d.suspects[ser] = true
	}
	d.recount(s, ser, x.Status, 1, x.At)
	if x.Status.Counts() {
		ser.set(x.Value)
		d.show(ser)
		return
	}
	ser.pushed = 0
	d.hide(ser)
}

// recount keeps weir_reading_status: how many readings of a metric on a port are not true measurements, and why.
func (d *device) recount(s *Store, ser *series, status telemetry.Status, by float64, at time.Time) {
	if status == telemetry.Measured || ser.metric == telemetry.ReadingStatus {
		return
	}
	a := addr.Addr{Device: d.name, Port: ser.addr.Port, Name: ser.metric.Name, Leaf: status.String()}
	n := d.at(s, telemetry.ReadingStatus, a)
	if n == nil {
		return
	}
	n.known, n.at = true, at
	if n.set(n.value() + by); n.value() > 0 {
		d.show(n)
	} else {
		d.drop(n)
	}
}

// accountEvery is how often the store tells of itself.
const accountEvery = time.Second

// account keeps what the store knows of the device itself.
func (d *device) account(s *Store, at time.Time) {
	if at.Sub(d.accounted) < accountEvery {
		return
	}
	d.accounted = at
	d.report(s, telemetry.SeriesCount, float64(len(d.series)), at)
	d.report(s, telemetry.DroppedSamples, float64(d.dropped), at)
}

func (d *device) report(s *Store, m *telemetry.Metric, v float64, at time.Time) {
	if ser := d.at(s, m, addr.Device(d.name)); ser != nil {
		d.store(s, ser, &telemetry.Sample{Metric: m, Addr: ser.addr, Value: v, At: at})
	}
}

// show and hide put a series into what is exported, and take it out.
func (d *device) show(ser *series) {
	if ser.place == 0 {
		d.exported = append(d.exported, ser)
		ser.place = len(d.exported)
	}
}

func (d *device) hide(ser *series) {
	if ser.place == 0 {
		return
	}
	last := d.exported[len(d.exported)-1]
	d.exported[ser.place-1], last.place = last, ser.place
	d.exported = d.exported[:len(d.exported)-1]
	ser.place = 0
}

// drop forgets a series.
func (d *device) drop(ser *series) {
	d.hide(ser)
	if d.strange(ser.addr.Port) {
		d.strangers--
	}
	d.order = nil
	delete(d.suspects, ser)
	delete(d.series, key{ser.metric, ser.addr.Port, ser.addr.Name, ser.addr.Leaf})
}
