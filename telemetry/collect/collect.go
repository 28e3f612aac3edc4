// Package collect keeps the last readings of every series, within bounds, and exports them to Prometheus. What is exported is
// built when a series is first seen; a scrape only reads values.
package collect

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/telemetry"
)

// Options of a store. Zero values take the default that is named.
type Options struct {
	Each     int           // series of one device; 100,000: a chassis of 1,024 ports has 72,000. What comes beyond is dropped, counted and told, and no other device loses by it
	Forgiven int           // readings that a series may miss before it is forgotten; 3
	Lifetime time.Duration // of a series whose source has no known interval; 5 minutes
	Log      *slog.Logger  // nil: none
}

// history is how many points are kept of a series: enough for a window of a few intervals.
const history = 8

// sweepEvery is how often forgotten series are looked for.
const sweepEvery = time.Second

// Store holds series. Its methods may be called from many goroutines at once. It is a telemetry.Sink.
type Store struct {
	options Options
	descs   descs

	mu      sync.RWMutex
	devices map[string]*device
}

// New makes a store.
func New(o Options) *Store {
	if o.Each == 0 {
		o.Each = 100_000
	}
	if o.Forgiven == 0 {
		o.Forgiven = 3
	}
	if o.Lifetime == 0 {
		o.Lifetime = 5 * time.Minute
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Store{options: o, descs: newDescs(), devices: map[string]*device{}}
}

// Put takes samples.
func (s *Store) Put(samples []telemetry.Sample) {
	for len(samples) > 0 {
		name := samples[0].Addr.Device
		n := 1
		for n < len(samples) && samples[n].Addr.Device == name {
			n++
		}
		s.device(name).put(s, samples[:n])
		samples = samples[n:]
	}
}

// Ports says which ports a device has in the inventory. What it tells of others has little room, and takes none of theirs.
func (s *Store) Ports(device string, names []string) {
	d := s.device(device)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ports = map[string]bool{}
	for _, name := range names {
		d.ports[name] = true
	}
	d.strangers = 0
	for k := range d.series {
		if d.strange(k.port) {
			d.strangers++
		}
	}
}

// device is the part of the store that holds the device.
func (s *Store) device(name string) *device {
	s.mu.RLock()
	d, ok := s.devices[name]
	s.mu.RUnlock()
	if ok {
		return d
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if d, ok = s.devices[name]; !ok {
		name = strings.Clone(name)
		d = &device{name: name, series: map[key]*series{}, suspects: map[*series]bool{}}
		s.devices[name] = d
	}
	return d
}

// Doubt marks readings that claim a value while others say that it cannot be: they are suspect, and have no value, until they
// move.
func (s *Store) Doubt(readings ...telemetry.Reading) {
	for _, r := range readings {
		d := s.device(r.Addr.Device)
		d.mu.Lock()
		if ser, ok := d.series[key{r.Metric, r.Addr.Port, r.Addr.Name, r.Addr.Leaf}]; ok && ser.status.Counts() {
			ser.doubt = true
			d.turn(s, ser, &telemetry.Sample{Status: telemetry.Suspect, At: ser.at})
		}
		d.mu.Unlock()
	}
}

// Run forgets what does not come any more, until ctx ends.
func (s *Store) Run(ctx context.Context) {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			s.Expire(now)
		}
	}
}

// Expire forgets the series that have missed more readings than are forgiven. Devices bring a different part of their ports at
// each interval, so each series has its own age.
func (s *Store) Expire(now time.Time) {
	for _, d := range s.all() {
		d.mu.Lock()
		for _, ser := range d.series {
			if ser.metric != telemetry.ReadingStatus && now.Sub(ser.at) > s.lifetime(ser) {
				d.recount(s, ser, ser.status, -1, now)
				d.drop(ser)
			}
		}
		d.mu.Unlock()
	}
}

func (s *Store) lifetime(ser *series) time.Duration {
	if ser.every == 0 {
		return s.options.Lifetime
	}
	return time.Duration(s.options.Forgiven+1) * ser.every
}

// Series are the series of the metrics, with their last points, in the order of their addresses; without metrics all of them.
// Devices limits them where it is not empty.
func (s *Store) Series(devices []string, metrics ...*telemetry.Metric) []telemetry.Series {
	var out []telemetry.Series
	for _, d := range s.all() {
		if len(devices) > 0 && !slices.Contains(devices, d.name) {
			continue
		}
		d.mu.Lock()
		for _, ser := range d.sorted() {
			if len(metrics) == 0 || slices.Contains(metrics, ser.metric) {
				out = append(out, ser.snapshot())
			}
		}
		d.mu.Unlock()
	}
	return out
}

// all is the devices in the order of their names.
func (s *Store) all() []*device {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := make([]*device, 0, len(s.devices))
	for _, d := range s.devices {
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b *device) int { return addr.Natural(a.name, b.name) })
	return out
}
