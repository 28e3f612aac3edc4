package gnmi

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/weirfabric/weir/telemetry"
)

func TestCountersArriveUnderTheNamesOfPorts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{
			get: func(path string) (string, error) {
				if path == "PORT" {
					return `{"Ethernet0":{"alias":"etp1","speed":"100000"}}`, nil
				}
				return "", status.Error(codes.NotFound, "no such table")
			},
			stream: func(_ int, target string, s gpb.GNMI_SubscribeServer) error {
				if target == "APPL_DB" {
					if err := send(s, update("", "PORT_TABLE", object(`{"Ethernet0":{"oper_status":"up"}}`))); err != nil {
						return err
					}
					if err := sync1(s); err != nil {
						return err
					}
					<-s.Context().Done() // SONiC has no heartbeat on change
					return nil
				}
				return every(s, 2*time.Second, pfcwd)
			},
		}
		h, err := watch(t, "sonic", s, telemetry.Device{Name: "leaf1", Ports: []telemetry.Port{{Name: "Ethernet0"}}, Watched: []string{"3"}}, 5*time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]float64{
			"weir_queue_watchdog_detected_total leaf1/Ethernet0/queue/3": 2,
			"weir_port_up leaf1/Ethernet0":                               1,
			"weir_target_up leaf1":                                       1,
			"weir_target_reconnects_total leaf1":                         0,
			"weir_target_silent_paths leaf1":                             4, // of five in two streams, only Pfcwd and PORT_TABLE bring something; Queues is bound twice
		} {
			if got := h.value(t, name); got != want {
				t.Errorf("%s: got %v, want %v", name, got, want)
			}
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		marked := h.last["weir_queue_ecn_marked_packets_total leaf1/Ethernet0/queue/3"]
		if marked.Status != telemetry.Disabled {
			t.Errorf("ECN counters whose group is not on: got %s, want disabled", marked.Status)
		}
		if s.subscribed("APPL_DB") < 2 {
			t.Error("state that never changed was not asked for again: its series would be forgotten")
		}
	})
}

func TestAStreamIsOpenedAgainWithoutEnd(t *testing.T) {
	for name, end := range map[string]func(s gpb.GNMI_SubscribeServer) error{
		"the device restarts": func(gpb.GNMI_SubscribeServer) error { return status.Error(codes.Unavailable, "going down") },
		"the stream falls silent": func(s gpb.GNMI_SubscribeServer) error { // sonic-buildimage issue 22201, pygnmi issue 45
			<-s.Context().Done()
			return nil
		},
		"the server ends it": func(gpb.GNMI_SubscribeServer) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &server{stream: func(_ int, _ string, s gpb.GNMI_SubscribeServer) error {
					if err := send(s, update("", "/interfaces/interface[name=Ethernet1]/state/counters/in-octets", number(1))); err != nil {
						return err
					}
					return end(s)
				}}
				h, err := watch(t, "eos", s, telemetry.Device{Name: "leaf1"}, time.Hour)
				if err != nil {
					t.Fatal(err)
				}
				// The pause grows to a minute and no further: an hour holds at least 30 more subscriptions with the jitter.
				if got := s.subscribed(""); got < 15 || got > 400 {
					t.Errorf("got %d subscriptions in an hour, want it neither given up nor hammered", got)
				}
				if got := h.value(t, "weir_target_reconnects_total leaf1"); got < 10 {
					t.Errorf("got %v reconnects counted", got)
				}
				h.mu.Lock()
				defer h.mu.Unlock()
				down := slices.ContainsFunc(h.all, func(s telemetry.Sample) bool { return s.Metric == telemetry.TargetUp && s.Value == 0 })
				if !down {
					t.Error("weir_target_up never was 0")
				}
			})
		})
	}
}

func TestOnePathThatStopsBeginsTheStreamAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{stream: func(_ int, target string, s gpb.GNMI_SubscribeServer) error {
			if target == "APPL_DB" {
				<-s.Context().Done()
				return nil
			}
			if err := send(s, update("", "COUNTERS/Ethernet*", object(`{"Ethernet0":{"SAI_PORT_STAT_PFC_3_RX_PKTS":"1"}}`))); err != nil {
				return err
			}
			return every(s, 2*time.Second, pfcwd)
		}}
		if _, err := watch(t, "sonic", s, telemetry.Device{Name: "leaf1"}, 10*time.Minute); err != nil {
			t.Fatal(err)
		}
		if got := s.subscribed("COUNTERS_DB"); got < 3 {
			t.Errorf("got %d subscriptions: COUNTERS/Ethernet* stopped and the others went on, want it begun anew", got)
		}
	})
}

// port0 has one port and watches one priority.
var port0 = telemetry.Device{Name: "leaf1", Ports: []telemetry.Port{{Name: "Ethernet0"}}, Watched: []string{"3"}}

func TestWhatIsNotSampledIsAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int64
		s := &server{
			get: func(path string) (string, error) {
				if path != "COUNTERS" {
					return "", status.Error(codes.NotFound, "no such table")
				}
				return fmt.Sprintf(`{"Ethernet0":{"SAI_PORT_STAT_IF_IN_OCTETS":"%d"}}`, n.Add(1)), nil
			},
			stream: func(_ int, target string, s gpb.GNMI_SubscribeServer) error {
				if target == "COUNTERS_DB" {
					if err := send(s, update("", "COUNTERS/Ethernet*", object(`{"Ethernet0":{"SAI_PORT_STAT_IF_IN_OCTETS":"0"}}`))); err != nil {
						return err
					}
				}
				if err := sync1(s); err != nil {
					return err
				}
				<-s.Context().Done()
				return nil
			}}
		h, err := watch(t, "sonic", s, port0, 2*time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if got := h.value(t, "weir_port_received_bytes_total leaf1/Ethernet0"); got < 9 {
			t.Errorf("got %v readings in two minutes, want about eleven", got)
		}
		if got := s.subscribed("COUNTERS_DB"); got != 1 {
			t.Errorf("got %d subscriptions: what a Get brings is no reason to begin anew", got)
		}
		if !strings.Contains(h.log.String(), "does not sample this path in time") {
			t.Errorf("nothing was said: %s", h.log.String())
		}
	})
}

func TestAPathThatStopsIsNamedAndMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{stream: func(call int, target string, s gpb.GNMI_SubscribeServer) error {
			if target == "COUNTERS_DB" && call == 0 {
				if err := send(s, update("", "COUNTERS/Ethernet*", object(`{"Ethernet0":{"SAI_PORT_STAT_IF_IN_OCTETS":"7"}}`))); err != nil {
					return err
				}
			}
			if err := sync1(s); err != nil {
				return err
			}
			return every(s, 2*time.Second, pfcwd)
		}}
		h, err := watch(t, "sonic", s, port0, 5*time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		if got := h.last["weir_port_received_bytes_total leaf1/Ethernet0"].Status; got != telemetry.Missing {
			t.Errorf("what came once and stopped is %s, want missing", got)
		}
		if got := h.last["weir_queue_transmitted_packets_total leaf1/Ethernet0/queue/3"].Status; got != telemetry.Missing {
			t.Errorf("what never came is %s, want missing", got)
		}
		if log := h.log.String(); !strings.Contains(log, "level=ERROR") || !strings.Contains(log, "COUNTERS/Ethernet*") {
			t.Errorf("the path is not named as an error: %s", log)
		}
		if s.subscribed("COUNTERS_DB") < 2 {
			t.Error("it was not subscribed to again")
		}
	})
}

func TestOneRefusedStreamDoesNotStopTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{stream: func(_ int, target string, s gpb.GNMI_SubscribeServer) error {
			if target == "APPL_DB" {
				return status.Error(codes.Unimplemented, "no such database")
			}
			return every(s, 2*time.Second, pfcwd)
		}}
		h, err := watch(t, "sonic", s, telemetry.Device{Name: "leaf1"}, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if got := h.value(t, "weir_target_up leaf1"); got != 1 {
			t.Errorf("weir_target_up is %v, want 1: the counters arrive", got)
		}
		if got := s.subscribed("APPL_DB"); got != 1 {
			t.Errorf("got %d subscriptions to what was refused, want one", got)
		}
	})
}
