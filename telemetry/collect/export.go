package collect

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

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

// Handler answers scrapes.
func (s *Store) Handler() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(s)
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}
