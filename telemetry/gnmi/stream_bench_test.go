package gnmi_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/weirfabric/weir/telemetry/collect"
	"github.com/weirfabric/weir/telemetry/gnmi"
)

// BenchmarkStream measures what a counter costs in processor time on its way from gRPC over TLS to an exported series, beside
// a bare client that receives and decodes the same stream: protobuf, and for a value that is JSON the JSON. The simulated
// switches send 50 samples a second at most, so their streams are recorded once, as the subscriber asks for them, and a process
// of its own sends them again as fast as they are taken. Only the process of the client is measured. Goal: 0.5 of the bare
// client.
func BenchmarkStream(b *testing.B) {
	for _, platform := range []string{"sonic", "eos"} {
		r := record(b, platform)
		address := replay(b, r)
		var bare float64
		b.Run(platform+"/bare", func(b *testing.B) {
			bare = measure(b, r, func(ctx context.Context, counted grpc.DialOption) error {
				conn, err := dial(address, counted)
				if err != nil {
					return err
				}
				defer conn.Close()
				return receive(ctx, conn, r)
			}, nil)
		})
		b.Run(platform+"/weir", func(b *testing.B) {
			store := collect.New(collect.Options{})
			s := r.subscriber(b, 1, store, func(counted grpc.DialOption) (gnmi.Conn, error) { return dial(address, counted) })
			weir := measure(b, r, s, func() {
				answer := httptest.NewRecorder()
				store.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
				if n := strings.Count(answer.Body.String(), `,port="`); n < r.Series {
					b.Fatalf("%d series of ports in a scrape, want at least %d", n, r.Series)
				}
			})
			if bare > 0 {
				b.ReportMetric(weir/bare, "of-bare")
			}
		})
	}
}

// measure runs a client for b.N notifications, once it has had each of them before, and gives the counters for each second of
// processor time. At the end of it, and within the measurement, is last.
func measure(b *testing.B, r *recording, client func(context.Context, grpc.DialOption) error, last func()) float64 {
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	ended := make(chan error, 1)
	warm, enough := make(chan struct{}), make(chan struct{})
	var had atomic.Int64
	go func() {
		ended <- client(ctx, grpc.WithStreamInterceptor(watched(func(_ grpc.ClientStream, m any) {
			if m, ok := m.(*gpb.SubscribeResponse); !ok || m.GetUpdate() == nil {
				return
			}
			switch had.Add(1) {
			case r.Warm:
				close(warm)
			case r.Warm + int64(b.N):
				close(enough)
			}
		})))
	}()
	wait := func(c chan struct{}) {
		select {
		case <-c:
		case err := <-ended:
			b.Fatal("the stream ended: ", err)
		}
	}
	wait(warm)
	before, start := had.Load(), cpuTime(b)
	b.ResetTimer()
	wait(enough)
	if last != nil {
		last()
	}
	n, cpu := had.Load()-before, cpuTime(b)-start
	b.StopTimer()
	cancel()
	<-ended
	counters := max(1, float64(n)) * r.PerNotification
	b.ReportMetric(counters/cpu.Seconds(), "counters/cpu-s")
	b.ReportMetric(float64(cpu.Nanoseconds())/counters, "cpu-ns/counter")
	return counters / cpu.Seconds()
}

func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// receive is the bare client: it asks what weir asks, and decodes what comes.
func receive(ctx context.Context, conn grpc.ClientConnInterface, r *recording) error {
	errs := make([]error, len(r.Streams))
	var all sync.WaitGroup
	for i, s := range r.Streams {
		all.Go(func() { errs[i] = receiveOne(ctx, conn, s.Request) })
	}
	all.Wait()
	return errors.Join(errs...)
}

func receiveOne(ctx context.Context, conn grpc.ClientConnInterface, request []byte) error {
	var req gpb.SubscribeRequest
	if err := proto.Unmarshal(request, &req); err != nil {
		return err
	}
	stream, err := gpb.NewGNMIClient(conn).Subscribe(ctx)
	if err != nil {
		return err
	}
	if err := stream.Send(&req); err != nil {
		return err
	}
	for {
		resp, err := stream.Recv()
		if err != nil {
			return err
		}
		for _, u := range resp.GetUpdate().GetUpdate() {
			if body := u.GetVal().GetJsonIetfVal(); body != nil {
				if err := decodeJSON(body); err != nil {
					return err
				}
			}
		}
	}
}

// decodeJSON takes a value apart: the rows of a SONiC table, or a single number or word.
func decodeJSON(body []byte) error {
	if body[0] != '{' {
		var v any
		return json.Unmarshal(body, &v)
	}
	var rows map[string]map[string]string
	return json.Unmarshal(body, &rows)
}
