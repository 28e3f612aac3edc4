package collect

import (
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"

	"github.com/weirfabric/weir/telemetry"
)

// descs are the descriptions of the catalog's metrics.
type descs map[*telemetry.Metric]*prometheus.Desc

func newDescs() descs {
	out := descs{}
	for _, m := range telemetry.Catalog() {
		out[m] = prometheus.NewDesc(m.Name, m.Help, append([]string{"device"}, m.Labels...), nil)
	}
	return out
}

// Describe is of prometheus.Collector.
func (s *Store) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range s.descs {
		ch <- d
	}
}

// Collect is of prometheus.Collector. It copies pointers and computes nothing.
func (s *Store) Collect(ch chan<- prometheus.Metric) {
	var batch []*series
	for _, d := range s.all() {
		d.mu.Lock()
		batch = append(batch[:0], d.exported...)
		d.mu.Unlock()
		for _, ser := range batch {
			ch <- ser
		}
	}
}

// Scrapes are bounded, so that a client that does not read costs the others nothing.
const (
	fresh      = time.Second      // scrapes within it share what was gathered
	maxScrapes = 64               // at once; more are told to come again
	stalled    = 10 * time.Second // after which a client that takes nothing is cut off
	longest    = time.Minute      // of one scrape, however it is read
)

// Handler answers scrapes. What they are given is gathered once for all that come within a second, and none waits for another to
// read it.
func (s *Store) Handler() http.Handler { return s.handler(fresh) }

func (s *Store) handler(fresh time.Duration) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(s)
	answer := promhttp.HandlerFor(&shared{from: registry, fresh: fresh}, promhttp.HandlerOpts{MaxRequestsInFlight: maxScrapes})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer.ServeHTTP(&patient{ResponseWriter: w, until: time.Now().Add(longest)}, r)
	})
}

// shared gathers for many at once. What it gives is read by all of them and changed by none.
type shared struct {
	from  prometheus.Gatherer
	fresh time.Duration // for which what was gathered serves

	mu       sync.Mutex
	at       time.Time
	families []*dto.MetricFamily
}

// Gather is of prometheus.Gatherer.
func (g *shared) Gather() ([]*dto.MetricFamily, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.families != nil && time.Since(g.at) < g.fresh {
		return g.families, nil
	}
	families, err := g.from.Gather()
	if err != nil {
		return families, err
	}
	g.families, g.at = families, time.Now()
	return families, nil
}

// patient writes to a client for as long as it takes something now and then. Where the connection knows no deadlines that of its server
// holds.
type patient struct {
	http.ResponseWriter
	until time.Time
}

// Unwrap is for http.ResponseController.
func (p *patient) Unwrap() http.ResponseWriter { return p.ResponseWriter }

func (p *patient) Write(piece []byte) (int, error) {
	deadline := time.Now().Add(stalled)
	if deadline.After(p.until) {
		deadline = p.until
	}
	_ = http.NewResponseController(p.ResponseWriter).SetWriteDeadline(deadline) // the server has its own
	return p.ResponseWriter.Write(piece)
}
