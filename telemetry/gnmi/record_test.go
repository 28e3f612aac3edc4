package gnmi_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/protobuf/proto"

	"github.com/weirfabric/weir/drivers/sim"
	"github.com/weirfabric/weir/drivers/sim/eos"
	"github.com/weirfabric/weir/drivers/sim/sonic"
	"github.com/weirfabric/weir/telemetry"
	"github.com/weirfabric/weir/telemetry/collect"
	"github.com/weirfabric/weir/telemetry/gnmi"
	"github.com/weirfabric/weir/templates"
	"github.com/weirfabric/weir/templates/pack"
)

const (
	streamPorts    = 64 // of each switch that is recorded
	recordingScale = 50
	recordingTime  = 2 * time.Second // long enough for every path to come many times at that scale
)

// recording is what one switch answered.
type recording struct {
	Platform        string
	Answers         map[string][]byte // to Get, by request
	Streams         []*recorded
	PerNotification float64 // counters that weir reads, on average, once the streams are in their stride
	Series          int     // of ports, that came
	Warm            int64   // notifications after which each has come
}

// recorded is one stream: what came until the first sync, and what came after it.
type recorded struct {
	Request       []byte
	First, Repeat [][]byte
	synced        bool
}

// record lets weir subscribe to a simulated switch, and keeps what passes.
func record(b *testing.B, platform string) *recording {
	b.Helper()
	lab := twoSwitches(b)
	defer lab.Close()
	roots := x509.NewCertPool()
	pem, err := os.ReadFile(lab.CAFile())
	if err != nil || !roots.AppendCertsFromPEM(pem) {
		b.Fatal("the lab's certificate authority: ", err)
	}
	address, _ := lab.Endpoint(platform)
	r := &recording{Platform: platform, Answers: map[string][]byte{}}
	var mu sync.Mutex
	asked := map[grpc.ClientStream]*recorded{}
	streams := grpc.WithStreamInterceptor(watched(func(s grpc.ClientStream, m any) {
		mu.Lock()
		defer mu.Unlock()
		switch m := m.(type) {
		case *gpb.SubscribeRequest:
			asked[s] = &recorded{Request: encode(b, m)}
			r.Streams = append(r.Streams, asked[s])
		case *gpb.SubscribeResponse:
			asked[s].record(b, m)
		}
	}))
	gets := grpc.WithUnaryInterceptor(func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, call grpc.UnaryInvoker, o ...grpc.CallOption) error {
		err := call(ctx, method, req, reply, cc, o...)
		mu.Lock()
		defer mu.Unlock()
		if err == nil {
			r.Answers[string(encode(b, req.(proto.Message)))] = encode(b, reply.(proto.Message))
		}
		return err
	})
	store := collect.New(collect.Options{})
	run := r.subscriber(b, recordingScale, store, func(grpc.DialOption) (gnmi.Conn, error) {
		return grpc.NewClient("passthrough:///"+address, streams, gets, grpc.WithPerRPCCredentials(login{}),
			grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: roots})))
	})
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	defer time.AfterFunc(recordingTime, cancel).Stop()
	if err := run(ctx, nil); err != nil {
		b.Fatal(err)
	}
	for _, s := range store.Series(nil) {
		if s.Status.Counts() && s.Addr.Port != "" && s.Metric != telemetry.ReadingStatus {
			r.Series++
		}
	}
	r.count(b)
	return r
}

func (s *recorded) record(b *testing.B, m *gpb.SubscribeResponse) {
	if s.synced {
		s.Repeat = append(s.Repeat, encode(b, m))
	} else {
		s.First = append(s.First, encode(b, m))
	}
	s.synced = s.synced || m.GetSyncResponse()
}

// subscriber is weir, as it watches the switch.
func (r *recording) subscriber(b *testing.B, scale float64, sink telemetry.Sink, dial func(grpc.DialOption) (gnmi.Conn, error)) func(context.Context, grpc.DialOption) error {
	return func(ctx context.Context, option grpc.DialOption) error {
		s := gnmi.Subscriber{Scale: scale, Bindings: r.bindings(b), Sink: sink, Device: r.device(),
			Dial: func(context.Context) (gnmi.Conn, error) { return dial(option) }}
		return s.Run(ctx)
	}
}

func (r *recording) bindings(b *testing.B) pack.Counters {
	bindings, err := telemetry.ReadBindings(templates.FS, r.Platform)
	if err != nil {
		b.Fatal(err)
	}
	return bindings
}

func (r *recording) device() telemetry.Device {
	d := telemetry.Device{Name: r.Platform, Watched: []string{"3", "4"}}
	for i := range streamPorts {
		d.Ports = append(d.Ports, telemetry.Port{Name: portName(r.Platform, i)})
	}
	return d
}

// count works out how many counters weir reads in a notification that is repeated.
func (r *recording) count(b *testing.B) {
	notifications, counters := 0, 0
	for _, s := range r.Streams {
		var req gpb.SubscribeRequest
		decode(b, s.Request, &req)
		var paths []pack.Path
		for _, p := range r.bindings(b).Streams {
			if prefix := req.GetSubscribe().GetPrefix(); p.Origin == prefix.GetOrigin() && p.Target == prefix.GetTarget() {
				paths = append(paths, p)
			}
		}
		d, err := gnmi.NewDecoder(r.device(), paths, 1)
		if err != nil {
			b.Fatal(err)
		}
		if !sampled(&req) {
			s.Repeat = nil
		}
		r.Warm += int64(len(s.First) + 4*len(s.Repeat))
		for _, body := range s.Repeat {
			var m gpb.SubscribeResponse
			decode(b, body, &m)
			if m.GetUpdate() != nil {
				samples, _ := d.Decode(m.GetUpdate(), time.Now())
				notifications, counters = notifications+1, counters+len(samples)
			}
		}
	}
	if counters == 0 {
		b.Fatal("nothing was recorded")
	}
	r.PerNotification = float64(counters) / float64(notifications)
	b.Logf("%s: %d notifications of %.1f counters", r.Platform, notifications, r.PerNotification)
}

// sampled says whether anything is sent at an interval. What comes on change only is not repeated.
func sampled(req *gpb.SubscribeRequest) bool {
	for _, s := range req.GetSubscribe().GetSubscription() {
		if s.GetMode() == gpb.SubscriptionMode_SAMPLE {
			return true
		}
	}
	return false
}

// twoSwitches is a running lab with a switch of each language, named as the language is, and all their ports cabled to each other.
func twoSwitches(b *testing.B) *sim.Lab {
	b.Helper()
	sn := sim.Spec{Name: "sonic", Platform: "sonic", SKU: "Mellanox-SN4600C-C64"}
	ar := sim.Spec{Name: "eos", Platform: "eos", SKU: "DCS-7260CX3-64"}
	for i := range streamPorts {
		left, right := portName("sonic", i), portName("eos", i)
		sn.Ports = append(sn.Ports, sim.PortSpec{Name: left, Alias: fmt.Sprintf("etp%d", i+1), Speed: 100e9, Cable: 5, PeerDevice: "eos", PeerPort: right})
		ar.Ports = append(ar.Ports, sim.PortSpec{Name: right, Speed: 100e9, Cable: 5, PeerDevice: "sonic", PeerPort: left})
	}
	lab, err := sim.New([]sim.Spec{sn, ar}, sim.Options{Scale: recordingScale, Dir: b.TempDir(),
		Personalities: map[string]func(sim.Hardware) sim.Personality{"sonic": sonic.New, "eos": eos.New}})
	if err != nil {
		b.Fatal(err)
	}
	if err := lab.Start(b.Context()); err != nil {
		lab.Close()
		b.Fatal(err)
	}
	return lab
}

func portName(platform string, i int) string {
	if platform == "eos" {
		return fmt.Sprintf("Ethernet%d/1", i+1)
	}
	return fmt.Sprintf("Ethernet%d", 4*i)
}

// watched shows f each message of a stream, sent or received.
func watched(f func(s grpc.ClientStream, m any)) grpc.StreamClientInterceptor {
	return func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer, o ...grpc.CallOption) (grpc.ClientStream, error) {
		s, err := open(ctx, desc, cc, method, o...)
		return &stream{s, f}, err
	}
}

type stream struct {
	grpc.ClientStream
	f func(grpc.ClientStream, any)
}

func (s *stream) SendMsg(m any) error {
	s.f(s, m)
	return s.ClientStream.SendMsg(m)
}

func (s *stream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	if err == nil {
		s.f(s, m)
	}
	return err
}

func encode(b *testing.B, m proto.Message) []byte {
	body, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		b.Fatal(err)
	}
	return body
}

func decode(b *testing.B, body []byte, m proto.Message) {
	if err := proto.Unmarshal(body, m); err != nil {
		b.Fatal(err)
	}
}
