package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/telemetry"
	"github.com/weirfabric/weir/telemetry/collect"
	"github.com/weirfabric/weir/telemetry/health"
)

var (
	rdma  = health.Class{Priority: 3, Queue: 3, Group: 3}
	ports = []Port{{Addr: addr.Port("leaf1", "e1"), Classes: []health.Class{rdma}}, {Addr: addr.Port("leaf1", "e2"), Classes: []health.Class{rdma}}}
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
		"weir_port_up e1": {0, 0}, "weir_port_up e2": {0, 0}, // always more than 0: up
	}
}

func (d device) with(name string, before, after float64) device {
	d[name] = [2]float64{before, after}
	return d
}

// none is the value of a reading that the device says not to have.
const none = -2

// settle takes readings for a minute, begins a wave, and watches.
func settle(t *testing.T, d device, flags map[string][2]float64, o Options) Result {
	t.Helper()
	return settleAt(t, d, flags, ports, o)
}

func settleAt(t *testing.T, d device, flags map[string][2]float64, ports []Port, o Options) Result {
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
			port, number, other := strings.Cut(port, "/")
			switch {
			case !m.Numbered():
				number = ""
			case !other:
				number = "3"
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
			switch {
			case v[after] == none:
				add(name, 0)
				batch[len(batch)-1].Status = telemetry.Unsupported
			case v[after] >= 0:
				add(name, v[after])
			}
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
			device: quiet().with("weir_priority_group_dropped_packets_total e1", 0, 1).with("weir_priority_group_dropped_packets_total e2", 0, 0), want: Worse,
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
			device: quiet().with("weir_port_up e2", -1, -1), flags: map[string][2]float64{"weir_port_up e2": {1, 0}}, want: Worse,
			says: []string{"bad leaf1/e2: the port is down, and was up before"},
		},
		"a port that was down before": {device: quiet().with("weir_port_up e2", -1, -1), flags: map[string][2]float64{"weir_port_up e2": {0, 0}}, want: Pass},
		"a port that was busy and is idle now": {
			device: quiet().with("weir_queue_transmitted_packets_total e1", 50, 0), want: Worse,
			says: []string{"bad leaf1/e1/pfc/3: the class passed here before the wave, and does not any more (weir_queue_transmitted_packets_total)"},
		},
		"a port that somebody pings through is idle too": {
			device: quiet().with("weir_queue_transmitted_packets_total e1", 50000, 100), want: Worse,
			says: []string{"bad leaf1/e1/pfc/3: the class passed here before the wave, and does not any more (weir_queue_transmitted_packets_total)"},
		},
		"a port that carries less than before":     {device: quiet().with("weir_queue_transmitted_packets_total e1", 5000, 500), want: Pass},
		"a port that begins to carry the class":    {device: quiet().with("weir_queue_transmitted_packets_total e1", 0, 50), want: Pass},
		"a packet now and then that comes no more": {device: quiet().with("weir_queue_transmitted_packets_total e2", 2, 0), want: Pass},
		"nothing carries anything, before or after it": {
			device: quiet().with("weir_queue_transmitted_packets_total e1", 0, 0), want: Idle,
			says: []string{"idle leaf1: no lossless class carried anything before the wave or since: nothing is proven"},
		},
		"no traffic does not hide what is bad": {
			device: quiet().with("weir_queue_transmitted_packets_total e1", 0, 0).with("weir_queue_dropped_packets_total e2", 0, 7), want: Worse,
			says: []string{
				"bad leaf1/e2/pfc/3: 14 packets of a lossless class were dropped in 20s (weir_queue_dropped_packets_total)",
				"idle leaf1: no lossless class carried anything before the wave or since: nothing is proven"},
		},
		"counters that do not arrive any more": {
			device: quiet().with("weir_queue_dropped_packets_total e2", 0, -1), want: Unseen,
			says: []string{"unseen leaf1/e2/pfc/3: could not see whether packets of the class are dropped: weir_queue_dropped_packets_total does not arrive"},
		},
		"traffic that cannot be seen any more is not idle": {
			device: quiet().with("weir_queue_transmitted_packets_total e1", 50, -1), want: Unseen,
			says: []string{"unseen leaf1/e1/pfc/3: could not see the traffic of the class: weir_queue_transmitted_packets_total does not arrive"},
		},
		"a counter that the switch says not to have any more": {
			device: quiet().with("weir_queue_transmitted_packets_total e1", 50, -1), flags: map[string][2]float64{"weir_queue_transmitted_packets_total e1": {-1, none}}, want: Unseen,
			says: []string{"unseen leaf1/e1/pfc/3: could not see the traffic of the class: weir_queue_transmitted_packets_total does not arrive"},
		},
		"traffic that never could be seen on a port": {
			device: quiet().with("weir_queue_transmitted_packets_total e2", -1, -1), want: Unseen,
			says: []string{"unseen leaf1/e2/pfc/3: could not see the traffic of the class: weir_queue_transmitted_packets_total does not arrive"},
		},
		"what was not seen before the wave is not known to have been idle": {
			device: quiet().with("weir_queue_transmitted_packets_total e2", -1, 0), want: Unseen,
			says: []string{"unseen leaf1/e2/pfc/3: could not see whether the class passed before the wave: weir_queue_transmitted_packets_total did not arrive"},
		},
		"what was not seen before the wave and carries the class now": {device: quiet().with("weir_queue_transmitted_packets_total e2", -1, 50), want: Pass},
		"a port of which nobody says whether it is up": {
			device: quiet().with("weir_port_up e2", -1, -1), want: Unseen,
			says: []string{"unseen leaf1/e2: could not see whether the port is up: weir_port_up does not arrive"},
		},
		"a port that was down and is down has no counters": {
			device: quiet().with("weir_queue_transmitted_packets_total e2", -1, -1).with("weir_port_up e2", -1, -1),
			flags:  map[string][2]float64{"weir_port_up e2": {0, 0}}, want: Pass,
		},
		"a device that nobody counts on": {
			device: device{}, want: Unseen,
			says: []string{
				"unseen leaf1/e1: could not see whether the port is up: weir_port_up does not arrive",
				"unseen leaf1/e1/pfc/3: could not see whether packets of the class are dropped: no counter of it arrives",
				"unseen leaf1/e1/pfc/3: could not see the traffic of the class: no counter of it arrives",
				"unseen leaf1/e2: could not see whether the port is up: weir_port_up does not arrive",
				"unseen leaf1/e2/pfc/3: could not see whether packets of the class are dropped: no counter of it arrives",
				"unseen leaf1/e2/pfc/3: could not see the traffic of the class: no counter of it arrives",
				"idle leaf1: no lossless class carried anything before the wave or since: nothing is proven"},
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

// A wave on spines that carry nothing is held up by nothing where the leaves that they serve carry traffic.
func TestAWitnessTellsThatThereIsTraffic(t *testing.T) {
	spine := []Port{{Addr: addr.Port("leaf1", "e2"), Classes: []health.Class{rdma}}}
	witness := Port{Addr: addr.Port("leaf1", "e1"), Classes: []health.Class{rdma}, Witness: true}
	for name, c := range map[string]struct {
		device device
		ports  []Port
		want   Verdict
	}{
		"nothing is seen but the idle port":       {quiet(), spine, Idle},
		"a port below carries traffic":            {quiet(), append(spine, witness), Pass},
		"what ends there is not the wave's fault": {quiet().with("weir_queue_transmitted_packets_total e1", 50, 0), append(spine, witness), Pass},
		"nor are its drops":                       {quiet().with("weir_queue_dropped_packets_total e1", 0, 9), append(spine, witness), Pass},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if r := settleAt(t, c.device, nil, c.ports, Options{Settle: 25 * time.Second}); r.Verdict != c.want || r.Ports != 1 || r.Quiet != 1 {
					t.Errorf("got %+v, want %s, and 1 quiet port of 1", r, c.want)
				}
			})
		})
	}
}

func TestAHostNeedNotCountWhatItSaysNotToHave(t *testing.T) {
	nic := []Port{{Addr: addr.Port("leaf1", "e2"), Classes: []health.Class{rdma}, Host: true}}
	says := map[string][2]float64{"weir_priority_received_bytes_total e2": {none, none}, "weir_priority_dropped_packets_total e2": {none, none}}
	synctest.Test(t, func(t *testing.T) {
		alone := device{"weir_port_up e2": {0, 0}}
		if r := settleAt(t, alone, says, nic, Options{Settle: 25 * time.Second}); r.Verdict != Idle {
			t.Errorf("got %+v, want nothing missed", r)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		if r := settleAt(t, device{"weir_port_up e2": {0, 0}}, nil, nic, Options{Settle: 25 * time.Second}); r.Verdict != Unseen {
			t.Errorf("got %+v of a host that is silent", r)
		}
	})
}

// The plan said that the step takes e2 down and up. It may for a minute after its own step, and not longer.
func TestWeirsOwnFlapHasItsGrace(t *testing.T) {
	down, up := 0.0, 1.0
	for name, c := range map[string]struct {
		down, up time.Duration // after the wave: when e2 goes down and comes up; 0: never
		flaps    bool
		want     Verdict
		says     string
		least    time.Duration
	}{
		"it comes up within the grace":           {down: -time.Second, up: 50 * time.Second, flaps: true, want: Pass, least: 50 * time.Second},
		"it does not":                            {down: -time.Second, up: 80 * time.Second, flaps: true, want: Worse, says: "the change takes the port down and up, and it did not come up within 1m0s", least: 55 * time.Second},
		"it goes down again after the grace":     {down: 62 * time.Second, flaps: true, want: Worse, says: "the port is down, and was up before"},
		"nobody said so":                         {down: -time.Second, up: 10 * time.Second, want: Worse, says: "the port went down and came up again"},
		"nobody said so, and it stays down":      {down: -time.Second, want: Worse, says: "the port is down, and was up before"},
		"it came up before anybody looked twice": {down: -time.Second, up: time.Second, flaps: true, want: Pass},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := collect.New(collect.Options{})
				e2 := []Port{ports[1]}
				put := func(v float64) {
					m := telemetry.PortUp
					store.Put([]telemetry.Sample{{Metric: m, Addr: m.At("leaf1", "e2", ""), Value: v, At: time.Now(), Every: time.Minute}})
				}
				var n float64
				count := func() {
					n += 1000
					for _, m := range []*telemetry.Metric{telemetry.QueuePackets, telemetry.QueueDropped} {
						v := n
						if m == telemetry.QueueDropped {
							v = 0
						}
						store.Put([]telemetry.Sample{{Metric: m, Addr: m.At("leaf1", "e2", "3"), Value: v, At: time.Now(), Every: 10 * time.Second}})
					}
				}
				ctx, cancel := context.WithCancel(t.Context())
				put(up)
				count()
				for range 5 {
					time.Sleep(10 * time.Second)
					count()
				}
				before := Take(store, e2)
				time.Sleep(5 * time.Second)
				if c.down < 0 {
					put(down)
				}
				time.Sleep(time.Second)
				sent := time.Now()
				var counting sync.WaitGroup
				counting.Go(func() {
					for {
						select {
						case <-ctx.Done():
							return
						case <-time.After(10 * time.Second):
							count()
						}
					}
				})
				defer counting.Wait()
				defer cancel()
				for at, v := range map[time.Duration]float64{c.down: down, c.up: up} {
					if at > 0 {
						time.AfterFunc(at, func() { put(v) })
					}
				}
				o := Options{Settle: 25 * time.Second}
				if c.flaps {
					o.Flaps = map[addr.Addr]time.Time{e2[0].Addr: sent}
				}
				if c.down > 0 {
					o.Settle = 90 * time.Second
				}
				r, err := Window(ctx, store, before, o)
				if err != nil || r.Verdict != c.want || r.Waited < c.least {
					t.Fatalf("got %+v, %v, want %s after %s at least", r, err, c.want, c.least)
				}
				if c.says != "" && r.Findings[0].Summary != c.says {
					t.Errorf("got %q, want %q", r.Findings[0].Summary, c.says)
				}
			})
		})
	}
}

func TestBusyPortsAreKnownBeforeAWave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := collect.New(collect.Options{})
		for i := range 4 {
			for port, v := range map[string]int{"e1": 1000 * i, "e2": 1000 * min(i, 1)} {
				m := telemetry.QueuePackets
				store.Put([]telemetry.Sample{{Metric: m, Addr: m.At("leaf1", port, "3"), Value: float64(v), At: time.Now(), Every: interval}})
			}
			time.Sleep(interval)
		}
		if got := Take(store, ports).Busy(1); len(got) != 1 || got[0].Port != "e1" {
			t.Errorf("got %v, want e1 alone: e2 had stopped", got)
		}
		time.Sleep(4 * interval)
		if got := Take(store, ports).Busy(1); len(got) != 0 {
			t.Errorf("got %v from counters that come no more", got)
		}
	})
}

// TestAClassThatIsTakenAwayMovesIntoOthers has the class leave queue 3 of a port on purpose.
func TestAClassThatIsTakenAwayMovesIntoOthers(t *testing.T) {
	stopped := func() device { return quiet().with("weir_queue_transmitted_packets_total e1", 50, 0) }
	for name, c := range map[string]struct {
		device device
		taken  qos.PrioritySet
		want   Verdict
		says   []string
	}{
		"its traffic goes on in queue 0":  {device: stopped().with("weir_queue_transmitted_packets_total e1/0", 1, 41), taken: 1 << 3, want: Pass},
		"its traffic goes on more slowly": {device: stopped().with("weir_queue_transmitted_packets_total e1/0", 1, 7), taken: 1 << 3, want: Pass},
		"it has vanished": {
			device: stopped().with("weir_queue_transmitted_packets_total e1/0", 1, 2), taken: 1 << 3, want: Worse,
			says: []string{"bad leaf1/e1/pfc/3: the change takes the class away here, and its traffic does not pass in any other either (weir_queue_transmitted_packets_total)"},
		},
		"nobody sees the other queues": {
			device: stopped(), taken: 1 << 3, want: Worse,
			says: []string{"bad leaf1/e1/pfc/3: the change takes the class away here, and its traffic does not pass in any other either (weir_queue_transmitted_packets_total)"},
		},
		"another class is taken away": {
			device: stopped().with("weir_queue_transmitted_packets_total e1/0", 1, 41), taken: 1 << 4, want: Worse,
			says: []string{"bad leaf1/e1/pfc/3: the class passed here before the wave, and does not any more (weir_queue_transmitted_packets_total)"},
		},
		"nothing carried it, and nothing is to": {device: quiet().with("weir_queue_transmitted_packets_total e1", 0, 0), taken: 1 << 3, want: Pass},
		"what is dropped meanwhile is dropped": {
			device: stopped().with("weir_queue_transmitted_packets_total e1/0", 1, 41).with("weir_queue_dropped_packets_total e2", 0, 7), taken: 1 << 3, want: Worse,
			says: []string{"bad leaf1/e2/pfc/3: 14 packets of a lossless class were dropped in 20s (weir_queue_dropped_packets_total)"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				taken := slices.Clone(ports)
				for i := range taken {
					taken[i].Withdrawn = c.taken
				}
				r := settleAt(t, c.device, nil, taken, Options{Settle: 25 * time.Second})
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
