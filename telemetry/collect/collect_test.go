package collect

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/telemetry"
)

var noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

// reading is a sample of a metric at leaf1/Ethernet0.
func reading(m *telemetry.Metric, number string, v float64, after time.Duration) telemetry.Sample {
	return telemetry.Sample{Metric: m, Addr: m.At("leaf1", "Ethernet0", number), Value: v, At: noon.Add(after), Every: 10 * time.Second}
}

func with(s telemetry.Sample, st telemetry.Status) telemetry.Sample {
	s.Status = st
	return s
}

// names of what a test compares: not what the store says of itself.
var names = []string{telemetry.PFCReceived.Name, telemetry.ECNMarked.Name, telemetry.QueueDropped.Name, telemetry.ReadingStatus.Name}

func TestWhatWasPutIsExported(t *testing.T) {
	marked := telemetry.ECNMarked
	for name, c := range map[string]struct {
		puts   [][]telemetry.Sample
		expire time.Duration
		want   string
	}{
		"values with the labels of the catalog": {
			puts: [][]telemetry.Sample{{reading(telemetry.PFCReceived, "3", 7, 0), reading(marked, "3", 12, 0)}},
			want: `
				# HELP weir_port_pfc_pause_frames_received_total PFC PAUSE frames of the priority that the port received: the neighbour asks it to stop.
				# TYPE weir_port_pfc_pause_frames_received_total counter
				weir_port_pfc_pause_frames_received_total{device="leaf1",port="Ethernet0",priority="3"} 7
				# HELP weir_queue_ecn_marked_packets_total Packets that the queue marked with ECN CE, or selected for it, as the device counts.
				# TYPE weir_queue_ecn_marked_packets_total counter
				weir_queue_ecn_marked_packets_total{device="leaf1",port="Ethernet0",queue="3"} 12
			`,
		},
		"what is not counted is no zero, and its status says why": {
			puts: [][]telemetry.Sample{{
				with(reading(marked, "3", 0, 0), telemetry.Disabled), with(reading(marked, "4", 0, 0), telemetry.Disabled),
				with(reading(telemetry.QueueDropped, "3", 0, 0), telemetry.Unsupported)}},
			want: `
				# HELP weir_reading_status Readings of the metric on the port whose value is not a true measurement, by why: estimated, unsupported, disabled, suspect, missing.
				# TYPE weir_reading_status gauge
				weir_reading_status{device="leaf1",metric="weir_queue_dropped_packets_total",port="Ethernet0",status="unsupported"} 1
				weir_reading_status{device="leaf1",metric="weir_queue_ecn_marked_packets_total",port="Ethernet0",status="disabled"} 2
			`,
		},
		"a counter that was switched on": {
			puts: [][]telemetry.Sample{
				{with(reading(marked, "3", 0, 0), telemetry.Disabled)},
				{reading(marked, "3", 5, 10*time.Second)}},
			want: `
				# HELP weir_queue_ecn_marked_packets_total Packets that the queue marked with ECN CE, or selected for it, as the device counts.
				# TYPE weir_queue_ecn_marked_packets_total counter
				weir_queue_ecn_marked_packets_total{device="leaf1",port="Ethernet0",queue="3"} 5
			`,
		},
		"a counter that was switched off is not exported any more": {
			puts: [][]telemetry.Sample{
				{reading(marked, "3", 5, 0), reading(telemetry.QueueDropped, "3", 1, 0)},
				{with(reading(marked, "3", 0, 10*time.Second), telemetry.Disabled)}},
			want: `
				# HELP weir_queue_dropped_packets_total Packets that the queue dropped.
				# TYPE weir_queue_dropped_packets_total counter
				weir_queue_dropped_packets_total{device="leaf1",port="Ethernet0",queue="3"} 1
				# HELP weir_reading_status Readings of the metric on the port whose value is not a true measurement, by why: estimated, unsupported, disabled, suspect, missing.
				# TYPE weir_reading_status gauge
				weir_reading_status{device="leaf1",metric="weir_queue_ecn_marked_packets_total",port="Ethernet0",status="disabled"} 1
			`,
		},
		"a series that missed more than three readings is forgotten, its neighbour is not": {
			puts: [][]telemetry.Sample{
				{reading(telemetry.QueueDropped, "3", 1, 0), with(reading(marked, "3", 0, 0), telemetry.Disabled)},
				{reading(telemetry.QueueDropped, "4", 1, 30*time.Second)}},
			expire: 41 * time.Second,
			want: `
				# HELP weir_queue_dropped_packets_total Packets that the queue dropped.
				# TYPE weir_queue_dropped_packets_total counter
				weir_queue_dropped_packets_total{device="leaf1",port="Ethernet0",queue="4"} 1
			`,
		},
		"a series that missed three readings stays": {
			puts:   [][]telemetry.Sample{{reading(telemetry.QueueDropped, "3", 1, 0)}},
			expire: 40 * time.Second,
			want: `
				# HELP weir_queue_dropped_packets_total Packets that the queue dropped.
				# TYPE weir_queue_dropped_packets_total counter
				weir_queue_dropped_packets_total{device="leaf1",port="Ethernet0",queue="3"} 1
			`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := New(Options{})
			for _, p := range c.puts {
				s.Put(p)
			}
			s.Expire(noon.Add(c.expire))
			if err := testutil.CollectAndCompare(s, strings.NewReader(c.want), names...); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestTheCatalogIsCleanForPromlint(t *testing.T) {
	s := New(Options{})
	for _, m := range telemetry.Catalog() {
		if m == telemetry.SeriesCount || m == telemetry.DroppedSamples {
			continue // the store makes them itself
		}
		s.Put([]telemetry.Sample{{Metric: m, Addr: addr.Addr{Device: "leaf1", Port: "Ethernet0", Name: "3", Leaf: "pfc-storm"}, Value: 1, At: noon}})
	}
	problems, err := testutil.CollectAndLint(s)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]promlint.Problem(nil), problems); diff != "" {
		t.Error(diff)
	}
	if got, want := testutil.CollectAndCount(s), len(telemetry.Catalog()); got != want {
		t.Errorf("got %d series, want one of each of the %d metrics", got, want)
	}
}

func TestADeviceHasItsOwnRoomAndTheAlarmAlwaysHasSome(t *testing.T) {
	var log bytes.Buffer
	s := New(Options{Each: 10, Log: slog.New(slog.NewTextHandler(&log, nil))})
	put := func(device string, at time.Time, ports int) {
		for i := range ports {
			s.Put([]telemetry.Sample{{Metric: telemetry.PortUp, Addr: addr.Port(device, fmt.Sprint("Ethernet", i)), Value: 1, At: at}})
		}
	}
	put("leaf1", noon, 100)
	put("leaf1", noon.Add(time.Second), 100)
	put("leaf2", noon, 5)
	want := `
		# HELP weir_target_dropped_samples_total Samples of the device that were dropped since the store is full.
		# TYPE weir_target_dropped_samples_total counter
		weir_target_dropped_samples_total{device="leaf1"} 92
		weir_target_dropped_samples_total{device="leaf2"} 0
		# HELP weir_target_series Series that are kept of the device.
		# TYPE weir_target_series gauge
		weir_target_series{device="leaf1"} 10
		weir_target_series{device="leaf2"} 1
	`
	if err := testutil.CollectAndCompare(s, strings.NewReader(want), telemetry.DroppedSamples.Name, telemetry.SeriesCount.Name); err != nil {
		t.Error(err)
	}
	if got := strings.Count(log.String(), "samples are dropped"); got != 1 || !strings.Contains(log.String(), "level=ERROR") {
		t.Errorf("told %d times within a minute, want once as an error:\n%s", got, log.String())
	}
	put("leaf1", noon.Add(2*time.Minute), 20)
	if got := strings.Count(log.String(), "samples are dropped"); got != 2 {
		t.Errorf("told %d times, want again while it goes on", got)
	}
	s.Expire(noon.Add(time.Hour))
	if got := testutil.CollectAndCount(s); got != 0 {
		t.Errorf("got %d series after an hour of silence, want none", got)
	}
	put("leaf1", noon.Add(time.Hour), 1)
	if got := testutil.CollectAndCount(s, telemetry.PortUp.Name); got != 1 {
		t.Errorf("got %d series, want the place that was freed to be taken", got)
	}
}

// TestADeviceThatInventsPortsTakesNoRoomOfOthers has a device that names ports without an end, and one with a name of a megabyte.
func TestADeviceThatInventsPortsTakesNoRoomOfOthers(t *testing.T) {
	s := New(Options{Each: 10})
	for i := range 50 {
		s.Put([]telemetry.Sample{{Metric: telemetry.PortUp, Addr: addr.Port("leaf1", fmt.Sprint("Ethernet", i)), Value: 1, At: noon}})
	}
	s.Put([]telemetry.Sample{{Metric: telemetry.PortUp, Addr: addr.Port("leaf2", strings.Repeat("x", 1<<20)), Value: 1, At: noon}})
	s.Put([]telemetry.Sample{{Metric: telemetry.PortUp, Addr: addr.Port("leaf2", "Ethernet0"), Value: 1, At: noon}})
	series := map[string]int{}
	for _, x := range s.Series(nil, telemetry.PortUp) {
		series[x.Addr.Device]++
	}
	if series["leaf1"] > 10 || series["leaf1"] == 0 || series["leaf2"] != 1 {
		t.Errorf("got %v series, want 10 at most of leaf1 and one of leaf2", series)
	}
}

func TestADoubtedReadingHasNoValueUntilItMoves(t *testing.T) {
	s := New(Options{})
	m := telemetry.ECNMarked
	status := func() telemetry.Series { return s.Series(nil, m)[0] }
	s.Put([]telemetry.Sample{reading(m, "3", 4, 0)})
	s.Doubt(telemetry.Reading{Metric: m, Addr: m.At("leaf1", "Ethernet0", "3")}, telemetry.Reading{Metric: m, Addr: m.At("leaf1", "Ethernet0", "5")})
	s.Put([]telemetry.Sample{reading(m, "3", 4, 10*time.Second)})
	if got := status(); got.Status != telemetry.Suspect || len(got.Points) != 0 {
		t.Errorf("while it stands still: got %+v, want suspect and no points", got)
	}
	if got := testutil.CollectAndCount(s, m.Name); got != 0 {
		t.Errorf("a suspect value is exported")
	}
	s.Expire(noon.Add(50 * time.Second))
	s.Put([]telemetry.Sample{reading(m, "3", 5, 20*time.Second)})
	if got := status(); got.Status != telemetry.Measured || got.Last().Value != 5 {
		t.Errorf("when it moved: got %+v, want it believed", got)
	}
}

func BenchmarkScrape(b *testing.B) {
	s := New(Options{})
	for d := range 10 {
		for p := range 64 {
			for q := range 8 {
				for _, m := range []*telemetry.Metric{telemetry.PFCReceived, telemetry.PFCTransmitted, telemetry.QueuePackets, telemetry.QueueBytes, telemetry.QueueDropped, telemetry.ECNMarked, telemetry.PFCSeconds} {
					s.Put([]telemetry.Sample{{Metric: m, Addr: m.At(fmt.Sprint("leaf", d), fmt.Sprint("Ethernet", p), fmt.Sprint(q)), Value: 12345, At: noon}})
				}
			}
		}
	}
	h := s.handler(0)
	for b.Loop() {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		if w.Code != http.StatusOK {
			b.Fatal(w.Code)
		}
	}
	b.ReportMetric(float64(testutil.CollectAndCount(s)), "series")
}

func TestSeriesHaveTheirLastPoints(t *testing.T) {
	s := New(Options{})
	for i := range history + 3 {
		s.Put([]telemetry.Sample{reading(telemetry.QueueDropped, "3", float64(i), time.Duration(i)*time.Second), reading(telemetry.ECNMarked, "3", 0, 0)})
	}
	want := []telemetry.Series{{Metric: telemetry.QueueDropped, Addr: telemetry.QueueDropped.At("leaf1", "Ethernet0", "3"), Every: 10 * time.Second}}
	for i := 3; i < history+3; i++ {
		want[0].Points = append(want[0].Points, telemetry.Point{At: noon.Add(time.Duration(i) * time.Second), Value: float64(i)})
	}
	same := cmp.Options{cmp.Comparer(func(a, b *telemetry.Metric) bool { return a == b })}
	if diff := cmp.Diff(s.Series([]string{"leaf1"}, telemetry.QueueDropped), want, same); diff != "" {
		t.Errorf("(-got +want)\n%s", diff)
	}
	if got := s.Series([]string{"leaf2"}, telemetry.QueueDropped); len(got) != 0 {
		t.Errorf("got %v of a device that is not there", got)
	}
}

func TestManySourcesAndScrapesAtOnce(t *testing.T) {
	s := New(Options{})
	var wg sync.WaitGroup
	for d := range 4 {
		wg.Go(func() {
			for i := range 200 {
				a := telemetry.PFCReceived.At(fmt.Sprint("leaf", d), "Ethernet0", fmt.Sprint(i%8))
				s.Put([]telemetry.Sample{{Metric: telemetry.PFCReceived, Addr: a, Value: float64(i), Status: telemetry.Status(i % 3), At: noon.Add(time.Duration(i) * time.Second), Every: time.Second}})
				s.Expire(noon.Add(time.Duration(i) * time.Second))
			}
		})
	}
	wg.Go(func() {
		for range 50 {
			testutil.CollectAndCount(s)
			s.Series(nil)
		}
	})
	wg.Wait()
	if got := s.Series([]string{"leaf0"}, telemetry.PFCReceived); len(got) == 0 {
		t.Error("nothing is left of what was put")
	}
}

func TestWhatADeviceInventsTakesNoRoomOfItsPorts(t *testing.T) {
	s := New(Options{})
	s.Ports("leaf1", []string{"Ethernet0"})
	up := func(port string) telemetry.Sample {
		return telemetry.Sample{Metric: telemetry.PortUp, Addr: addr.Port("leaf1", port), Value: 1, At: time.Now(), Every: time.Second}
	}
	var samples []telemetry.Sample
	for n := range 2 * mostStrange {
		samples = append(samples, up(fmt.Sprint("invented", n)))
	}
	for n := range 2 * perPort {
		samples = append(samples, telemetry.Sample{Metric: telemetry.QueuePackets, Addr: telemetry.QueuePackets.At("leaf1", "Ethernet0", fmt.Sprint(n)), At: time.Now(), Every: time.Second})
	}
	s.Put(samples)
	if got := len(s.Series([]string{"leaf1"}, telemetry.PortUp)); got != mostStrange {
		t.Errorf("%d series are kept of ports that the inventory has not, want %d", got, mostStrange)
	}
	if got := len(s.Series([]string{"leaf1"}, telemetry.QueuePackets)); got < perPort || got > 2*perPort {
		t.Errorf("%d series are kept of a port, want some %d", got, perPort)
	}
	s.Expire(time.Now().Add(time.Hour))
	s.Put([]telemetry.Sample{up("another"), up("Ethernet0")})
	if got := len(s.Series([]string{"leaf1"}, telemetry.PortUp)); got != 2 {
		t.Errorf("%d series after all were forgotten, want 2", got)
	}
}
