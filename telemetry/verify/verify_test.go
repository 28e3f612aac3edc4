package verify

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/telemetry"
	"github.com/weirfabric/weir/telemetry/collect"
	"github.com/weirfabric/weir/telemetry/health"
)

var (
	rdma  = health.Class{Priority: 3, Queue: 3, Group: 3}
	ports = []Port{{addr.Port("leaf1", "e1"), []health.Class{rdma}}, {addr.Port("leaf1", "e2"), []health.Class{rdma}}}
)

const interval = 10 * time.Second

// device is what a leaf counts: each counter begins at 1000 and grows by its step with each reading, from the wave on by the
// second step. A negative step is a counter that stops to arrive.
type device map[string][2]float64

func quiet() device {
	return device{
		"weir_queue_transmitted_packets_total e1": {50, 50}, "weir_queue_transmitted_packets_total e2": {0, 0},
		"weir_queue_dropped_packets_total e1": {0, 0}, "weir_queue_dropped_packets_total e2": {0, 0},
		"weir_port_pfc_pause_seconds_total e1": {1, 1}, "weir_queue_watchdog_detected_total e1": {0, 0},
	}
}

func (d device) with(name string, before, after float64) device {
	d[name] = [2]float64{before, after}
	return d
}

// settle takes readings for a minute, begins a wave, and watches.
func settle(t *testing.T, d device, flags map[string][2]float64, o Options) Result {
	t.Helper()
	store := collect.New(collect.Options{})
	values := map[string]float64{}
	put := func(after int) {
		var batch []telemetry.Sample
		add := func(name string, v float64) {
			var metric, port string
			if _, err := fmt.Sscan(name, &metric, &port); err != nil {
				t.Fatal(err)
			}
			m := telemetry.Find(metric)
			number := "3"
			if !m.Numbered() {
				number = ""
			}
			batch = append(batch, telemetry.Sample{Metric: m, Addr: m.At("leaf1", port, number), Value: v, At: time.Now(), Every: interval})
		}
		for name, step := range d {
			if step[after] >= 0 {
				values[name] += step[after]
				add(name, 1000+values[name])
			}
		}
		for name, v := range flags {
			add(name, v[after])
		}
		store.Put(batch)
	}
	for range 6 {
		put(0)
		time.Sleep(interval)
	}
	before := Take(store, ports)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		time.Sleep(3 * time.Second) // the readings are not in step with the wave
		for ctx.Err() == nil {
			put(1)
			select {
			case <-ctx.Done():
			case <-time.After(interval):
			}
		}
	}()
	r, err := Window(ctx, store, before, o)
	if err != nil {
		t.Error(err)
	}
	cancel()
	<-done
	return r
}

func TestWindows(t *testing.T) {
	for name, c := range map[string]struct {
		device device
		flags  map[string][2]float64
		want   Verdict
		says   []string
	}{
		"the class passes and nothing is lost": {device: quiet(), want: Pass},
		"lossless packets are dropped that were not before": {
			device: quiet().with("weir_queue_dropped_packets_total e2", 0, 7), want: Worse,
			says: []string{"bad leaf1/e2/pfc/3: 14 packets of a lossless class were dropped in 20s (weir_queue_dropped_packets_total)"},
		},
		"drops that were there before are not blamed on the wave": {
			device: quiet().with("weir_queue_dropped_packets_total e2", 7, 7), want: Pass,
		},
		"drops that are much faster than before are": {
			device: quiet().with("weir_queue_dropped_packets_total e2", 7, 70), want: Worse,
			says: []string{"bad leaf1/e2/pfc/3: 140 packets of a lossless class were dropped in 20s (weir_queue_dropped_packets_total)"},
		},
		"headroom overrun": {
			device: quiet().with("weir_priority_group_dropped_packets_total e1", 0, 1), want: Worse,
			says: []string{"bad leaf1/e1/pfc/3: 2 packets of a lossless class were dropped in 20s (weir_priority_group_dropped_packets_total)"},
		},
		"a storm": {
			device: quiet().with("weir_port_pfc_pause_seconds_total e1", 1, 10), want: Worse,
			says: []string{"bad leaf1/e1/pfc/3: PAUSE stopped the port for 100 % of the window"},
		},
		"a storm that was there before": {device: quiet().with("weir_port_pfc_pause_seconds_total e1", 10, 10), want: Pass},
		"the watchdog": {
			device: quiet().with("weir_queue_watchdog_detected_total e1", 0, 1), flags: map[string][2]float64{"weir_queue_watchdog_stormed e1": {0, 1}}, want: Worse,
			says: []string{"bad leaf1/e1/pfc/3: the watchdog saw 2 storms", "bad leaf1/e1/pfc/3: the watchdog holds the queue in storm"},
		},
		"a port that went down": {
			device: quiet(), flags: map[string][2]float64{"weir_port_up e2": {1, 0}}, want: Worse,
			says: []string{"bad leaf1/e2: the port is down, and was up before"},
		},
		"a port that was down before": {device: quiet(), flags: map[string][2]float64{"weir_port_up e2": {0, 0}}, want: Pass},
		"no traffic of the class proves nothing": {
			device: quiet().with("weir_queue_transmitted_packets_total e1", 50, 0), want: Inconclusive,
			says: []string{"inconclusive leaf1/pfc/3: no traffic of the class passed in the window: nothing is proven"},
		},
		"no traffic does not hide what is bad": {
			device: quiet().with("weir_queue_transmitted_packets_total e1", 50, 0).with("weir_queue_dropped_packets_total e2", 0, 7), want: Worse,
			says: []string{
				"bad leaf1/e2/pfc/3: 14 packets of a lossless class were dropped in 20s (weir_queue_dropped_packets_total)",
				"inconclusive leaf1/pfc/3: no traffic of the class passed in the window: nothing is proven"},
		},
		"counters that do not arrive any more": {
			device: quiet().with("weir_queue_dropped_packets_total e2", 0, -1), want: Inconclusive,
			says: []string{"inconclusive leaf1/e2/pfc/3: the counter of dropped packets does not arrive any more (weir_queue_dropped_packets_total)"},
		},
		"a device that nobody counts on": {
			device: device{}, want: Inconclusive,
			says: []string{"inconclusive leaf1/pfc/3: no counter of dropped packets arrived in the window"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				// The watchdog's row grows twice in the window; the first reading behind the wave is where it starts.
				r := settle(t, c.device, c.flags, Options{Settle: 25 * time.Second})
				var says []string
				for _, f := range r.Findings {
					says = append(says, fmt.Sprintf("%s %s: %s", f.Verdict, f.Addr, f.Summary))
				}
				if r.Verdict != c.want {
					t.Errorf("got %s, want %s", r.Verdict, c.want)
				}
				if diff := cmp.Diff(says, c.says); diff != "" {
					t.Errorf("(-got +want)\n%s", diff)
				}
			})
		})
	}
}

func TestAWindowIsTwiceTheSlowestIntervalAtLeast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if r := settle(t, quiet(), nil, Options{Settle: time.Second}); r.Waited < 20*time.Second || r.Waited > 25*time.Second {
			t.Errorf("waited %s, want twice the interval of 10 s", r.Waited)
		}
	})
}

// A change that takes PFC off ends some counters as well: their absence must not hold up what is known to be bad.
func TestABadWindowDoesNotWaitForWhatIsMissing(t *testing.T) {
	for name, c := range map[string]struct {
		lost         float64
		least, below time.Duration
	}{
		"bad":     {lost: 7, least: 25 * time.Second, below: 30 * time.Second},
		"unknown": {lost: 0, least: 50 * time.Second, below: 55 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := quiet().with("weir_queue_dropped_packets_total e2", 0, c.lost).with("weir_port_pfc_pause_seconds_total e1", 0, -1)
				if r := settle(t, d, nil, Options{Settle: 25 * time.Second}); r.Waited < c.least || r.Waited > c.below {
					t.Errorf("%s after %s, want it after %s to %s", r.Verdict, r.Waited, c.least, c.below)
				}
			})
		})
	}
}

func TestAWindowEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		store := collect.New(collect.Options{})
		if _, err := Window(ctx, store, Take(store, ports), Options{Settle: time.Minute}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}
