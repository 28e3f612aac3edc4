package gnmi

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

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
