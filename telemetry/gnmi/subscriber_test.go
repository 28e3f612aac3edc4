package gnmi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/telemetry"
	"github.com/weirfabric/weir/templates"
	"github.com/weirfabric/weir/templates/pack"
)

// server is a small device. Subscribe calls stream with the number of the call, from 0, for the target asked for.
type server struct {
	gpb.UnimplementedGNMIServer
	stream func(call int, target string, s gpb.GNMI_SubscribeServer) error
	get    func(path string) (string, error)

	mu    sync.Mutex
	calls map[string]int
}

func (s *server) Subscribe(stream gpb.GNMI_SubscribeServer) error {
	req, err := stream.Recv()
	if err != nil {
		return err
	}
	target := req.GetSubscribe().GetPrefix().GetTarget()
	s.mu.Lock()
	n := s.calls[target]
	s.calls[target]++
	s.mu.Unlock()
	return s.stream(n, target, stream)
}

// subscribed is how often the target was subscribed to.
func (s *server) subscribed(target string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[target]
}

func (s *server) Get(_ context.Context, req *gpb.GetRequest) (*gpb.GetResponse, error) {
	body, err := s.get(req.GetPath()[0].GetElem()[0].GetName())
	if err != nil {
		return nil, err
	}
	n := update("", req.GetPath()[0].GetElem()[0].GetName(), object(body))
	n.Update[0].Path = req.GetPath()[0]
	return &gpb.GetResponse{Notification: []*gpb.Notification{n}}, nil
}

// heard keeps what a source puts.
type heard struct {
	mu   sync.Mutex
	last map[string]telemetry.Sample
	all  []telemetry.Sample
	log  bytes.Buffer // what the source logged; to be read when it has ended
}

func bindings(t *testing.T, platform string) pack.Counters {
	t.Helper()
	b, err := telemetry.ReadBindings(templates.FS, platform)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (h *heard) Put(samples []telemetry.Sample) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range samples {
		h.last[s.Metric.Name+" "+s.Addr.String()] = s
	}
	h.all = append(h.all, samples...)
}

func (h *heard) value(t *testing.T, name string) float64 {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	s, ok := h.last[name]
	if !ok {
		t.Errorf("nothing was put for %s", name)
	}
	return s.Value
}

// watch runs a subscriber against the server inside the bubble of a synctest, for the time given.
func watch(t *testing.T, platform string, s *server, d telemetry.Device, during time.Duration) (*heard, error) {
	t.Helper()
	s.calls = map[string]int{}
	if s.get == nil {
		s.get = func(string) (string, error) { return "{}", nil }
	}
	listener := bufconn.Listen(1 << 20)
	g := grpc.NewServer()
	gpb.RegisterGNMIServer(g, s)
	go func() { _ = g.Serve(listener) }() // it ends with Stop
	defer g.Stop()
	h := &heard{last: map[string]telemetry.Sample{}}
	sub := &Subscriber{Device: d, Bindings: bindings(t, platform), Sink: h, Log: slog.New(slog.NewTextHandler(&h.log, nil)), Dial: func(context.Context) (Conn, error) {
		return grpc.NewClient("passthrough:///device", grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	}}
	// A deadline would travel to the server, which could end the stream before it is ours to end.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	defer time.AfterFunc(during, cancel).Stop()
	err := sub.Run(ctx)
	return h, err
}

func send(s gpb.GNMI_SubscribeServer, n *gpb.Notification) error {
	return s.Send(&gpb.SubscribeResponse{Response: &gpb.SubscribeResponse_Update{Update: n}})
}

func sync1(s gpb.GNMI_SubscribeServer) error {
	return s.Send(&gpb.SubscribeResponse{Response: &gpb.SubscribeResponse_SyncResponse{SyncResponse: true}})
}

// every sends what make gives each interval, until the stream ends.
func every(s gpb.GNMI_SubscribeServer, interval time.Duration, make func() *gpb.Notification) error {
	for {
		if err := send(s, make()); err != nil {
			return err
		}
		select {
		case <-s.Context().Done():
			return s.Context().Err()
		case <-time.After(interval):
		}
	}
}

func pfcwd() *gpb.Notification {
	return update("", "COUNTERS/Ethernet*/Pfcwd", object(`{"etp1:3":{"PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED":"2"}}`))
}

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

func TestARefusedLoginIsTriedAgainRarelyAndTheDeviceStaysDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{stream: func(int, string, gpb.GNMI_SubscribeServer) error {
			return status.Error(codes.Unauthenticated, "who are you")
		}}
		h, err := watch(t, "eos", s, port0, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.subscribed(""); got < 3 || got > 20 {
			t.Errorf("got %d logins in an hour", got)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		up := h.last["weir_target_up leaf1"]
		if age := time.Since(up.At); up.Value != 0 || age > time.Minute {
			t.Errorf("weir_target_up is %v, told %v ago, want 0 without end", up.Value, age)
		}
	})
}

func TestWhatAnOperatorMustChangeStopsTheSubscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{stream: func(int, string, gpb.GNMI_SubscribeServer) error {
			return status.Error(codes.InvalidArgument, "unsupported path")
		}}
		began := time.Now()
		h, err := watch(t, "eos", s, telemetry.Device{Name: "leaf1"}, time.Hour)
		want := "leaf1: subscribe to openconfig: rpc error: code = InvalidArgument desc = unsupported path"
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		if got := s.subscribed(""); got != 1 {
			t.Errorf("got %d subscriptions, want one: it is not tried again", got)
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("it was told after %s", took)
		}
		if got := h.value(t, "weir_target_up leaf1"); got != 0 {
			t.Errorf("weir_target_up is %v", got)
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

func TestADeviceThatCannotBeReachedIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tries int
		h := &heard{last: map[string]telemetry.Sample{}}
		s := &Subscriber{Device: telemetry.Device{Name: "leaf1"}, Bindings: bindings(t, "eos"), Sink: h, Dial: func(context.Context) (Conn, error) {
			tries++
			return nil, status.Error(codes.Unavailable, "connection refused")
		}}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		if err := s.Run(ctx); err != nil {
			t.Error(err)
		}
		if tries < 8 || tries > 60 {
			t.Errorf("got %d tries in ten minutes", tries)
		}
		if got := h.value(t, "weir_target_up leaf1"); got != 0 {
			t.Errorf("weir_target_up is %v", got)
		}
	})
}

func TestARefusedLoginIsKnownByItsKindHoweverItIsWrapped(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"the device away": {&drivers.UnreachableError{Device: "leaf1", Address: "a:1", Err: errors.New("no route")}, "no connection for telemetry"},
		"a wrong password": {fmt.Errorf("dial: %w", &drivers.AuthError{Device: "leaf1", Err: errors.New("denied"), Hint: "check the password"}),
			"the device refuses the login of the subscription"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var logged bytes.Buffer
			s := &Subscriber{Device: telemetry.Device{Name: "leaf1"}, Bindings: bindings(t, "eos"), Sink: &heard{last: map[string]telemetry.Sample{}},
				Log: slog.New(slog.NewTextHandler(&logged, nil)), Dial: func(context.Context) (Conn, error) { return nil, c.err }}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := s.Run(ctx); err != nil {
				t.Error(err)
			}
			if !strings.Contains(logged.String(), c.want) {
				t.Errorf("%s: got %s, want %q", name, logged.String(), c.want)
			}
		})
	}
}

func TestScanningIsAsGoodAsDecoding(t *testing.T) {
	for _, body := range seeds() {
		compare(t, []byte(body))
	}
}

func FuzzRows(f *testing.F) {
	for _, s := range seeds() {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) { compare(t, body) })
}

func seeds() []string {
	return []string{`{}`, `{"a":{}}`, `{"a":{"b":"1"},"c":{"d":2,"e":null,"f":true}}`, ` { "a" : { "b" : [1,{"x":"}"}] , "c" : "2" } } `,
		`{"a":1}`, `{"a":{"b":"1"}`, `{"a":{"b":}}`, `[]`, `{"a\u0062":{"c":"\n"}}`, `{"skip":{"x":{"y":[{}]}},"a":{"b":"1"}}`}
}

// compare holds the scanner against encoding/json: what is one object of objects is read the same, and nothing makes it panic.
func compare(t *testing.T, body []byte) {
	t.Helper()
	if !utf8.Valid(body) {
		return // encoding/json replaces what is no UTF-8
	}
	read := func(scan func([]byte, func([]byte) bool, func(name, value []byte)) error) (map[string]string, error) {
		out := map[string]string{}
		var row string
		err := scan(body, func(name []byte) bool { row = string(name); return !strings.HasPrefix(row, "skip") },
			func(name, value []byte) { out[row+"/"+string(name)] = string(value) })
		return out, err
	}
	want, err := read(scanSlowly)
	if err != nil {
		_, _ = read(scanRows) // may say anything but must end
		return
	}
	got, err := read(scanRows)
	if err != nil {
		t.Errorf("%s: %v", body, err)
		return
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("%s (-got +want)\n%s", body, diff)
	}
}
