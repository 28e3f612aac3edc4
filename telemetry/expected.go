package telemetry

import (
	"cmp"
	"slices"
	"time"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/templates/pack"
)

// Device is what a source knows of the device that it reads.
type Device struct {
	Name    string
	Ports   []Port
	Watched []string // the numbers of the lossless priorities, queues and groups: "3"
}

// Port is a port that counters are expected of.
type Port struct {
	Name string
	RDMA string // RDMA device of a host's port
	// Off is what the intent leaves off there: what counts only where that is on is disabled, and not missed.
	Off []pack.Feature
}

// Expected is what a source was asked for and has not brought yet. It tells what is not counted from what is zero. It is used
// by one goroutine at a time.
type Expected struct {
	device Device
	wants  map[want]*wanted
	leaves map[*Leaf]*wanted // that have not come for every port
}

// want is a reading that some leaf should bring; two leaves may bring the same.
type want struct{ metric, number string }

type wanted struct {
	leaf  *Leaf
	every time.Duration
	ports map[string]bool // that it has not come for; true: it should
}

// NewExpected expects nothing yet.
func NewExpected(d Device) *Expected {
	return &Expected{device: d, wants: map[want]*wanted{}, leaves: map[*Leaf]*wanted{}}
}

// Needed says whether any port has on what a source needs: without one nothing needs to come of it.
func (d Device) Needed(f pack.Feature) bool {
	return f == "" || len(d.Ports) == 0 || slices.ContainsFunc(d.Ports, func(p Port) bool { return !slices.Contains(p.Off, f) })
}

// Add expects the leaf of every port that has on what its source needs. Leaves of numbers that nobody watches are not missed.
func (e *Expected) Add(l *Leaf, every time.Duration, needs pack.Feature) {
	if l.Number != "" && !slices.Contains(e.device.Watched, l.Number) {
		return
	}
	key := want{l.Metric.Name, l.Number}
	w, ok := e.wants[key]
	if !ok {
		w = &wanted{leaf: l, every: every, ports: make(map[string]bool, len(e.device.Ports))}
		for _, p := range e.device.Ports {
			w.ports[p.Name] = needs == "" || !slices.Contains(p.Off, needs)
		}
		e.wants[key] = w
	}
	e.leaves[l] = w
}

// Saw notes that the leaf came for a port.
func (e *Expected) Saw(l *Leaf, port string) {
	w, ok := e.leaves[l]
	if !ok {
		return
	}
	if delete(w.ports, port); len(w.ports) == 0 {
		delete(e.leaves, l)
	}
}

// Missing are samples for what has not come: zero, disabled or unsupported, as the binding says. A group of counters that is
// off is disabled; what silent holds of was to come from where nothing comes at all, and is missing. Before the source has had
// its time only the zeros are known.
func (e *Expected) Missing(at time.Time, off map[string]bool, settled bool, silent func(*Leaf) bool) []Sample {
	var out []Sample
	for _, w := range e.wants {
		l := w.leaf
		if !settled && l.Absent != pack.AbsentZero {
			continue
		}
		for port, on := range w.ports {
			for _, number := range e.numbers(l) {
				s := Sample{Metric: l.Metric, Addr: l.Metric.At(e.device.Name, port, number), Status: Unsupported, At: at, Every: w.every}
				switch {
				case !on:
					s.Status = Disabled
				case l.Absent == pack.AbsentZero:
					s.Status = l.Status
				case l.Absent == pack.AbsentDisabled || off[l.Switch]:
					s.Status = Disabled
				case silent != nil && silent(l):
					s.Status = Missing
				}
				out = append(out, s)
			}
		}
	}
	inOrder(out)
	return out
}

// Lost are samples that say of what has come, and stopped holds of, that it is missing.
func (e *Expected) Lost(at time.Time, stopped func(*Leaf) bool) []Sample {
	var out []Sample
	for _, w := range e.wants {
		if !stopped(w.leaf) {
			continue
		}
		for _, p := range e.device.Ports {
			if w.ports[p.Name] {
				continue
			}
			for _, number := range e.numbers(w.leaf) {
				out = append(out, Sample{Metric: w.leaf.Metric, Addr: w.leaf.Metric.At(e.device.Name, p.Name, number), Status: Missing, At: at, Every: w.every})
			}
		}
	}
	inOrder(out)
	return out
}

func inOrder(samples []Sample) {
	slices.SortFunc(samples, func(a, b Sample) int {
		return cmp.Or(cmp.Compare(a.Metric.Name, b.Metric.Name), addr.Compare(a.Addr, b.Addr))
	})
}

func (e *Expected) numbers(l *Leaf) []string {
	switch {
	case l.Number != "":
		return []string{l.Number}
	case l.Metric.Numbered():
		return e.device.Watched
	}
	return []string{""}
}
