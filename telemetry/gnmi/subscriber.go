package gnmi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/telemetry"
	"github.com/weirfabric/weir/templates/pack"
)

// Conn is a connection, as grpc.ClientConn is one.
type Conn interface {
	grpc.ClientConnInterface
	Close() error
}

// Subscriber keeps the streams of one device alive, each on a connection of its own: SONiC's server tells its clients apart by the
// address of the connection, and lets the second stream of one silence the first (sonic-gnmi, gnmi_server/server.go).
type Subscriber struct {
	Device   telemetry.Device
	Bindings pack.Counters
	// Dial opens a connection to the device. It is called for each stream, and again whenever a stream has ended, so that what
	// proves who is who may be read anew. Keepalive should not be under 30 s: servers take more for an attack. An error of kind
	// *drivers.AuthError is one for an operator. It may be called from several goroutines at once.
	Dial  func(ctx context.Context) (Conn, error)
	Sink  telemetry.Sink
	Log   *slog.Logger  // nil: none
	Scale float64       // seconds of the device in one of ours; 0: 1. Only in a laboratory is it another.
	Retry time.Duration // the first pause before something is tried again; it grows to 60 times that. 0: 1 s
	// Access is what the sources of the device share: streams that are refused pause together. Nil: it has no other source.
	Access *telemetry.Access
}

const (
	forgivenSamples = 3                // that a path may miss before it is missing and its stream is begun anew
	settling        = 2                // intervals after which what has not come is missing
	askTimeout      = 30 * time.Second // of a connection, and of a question
	factsEvery      = 60 * time.Second // how often facts are asked for again
	deniedFirst     = 30               // first pauses that a login that was refused waits at first
	deniedLongest   = 600              // and at last: more would lock an account and not help
)

// errStopped says that samples do not come any more while the stream stays open.
var errStopped = errors.New("a path that was sampled is silent")

// Run subscribes until ctx ends, which is no error. What may pass by itself is tried again without end, and so is a refused login,
// with long pauses. A path that the device does not take stops its stream and is told in the error once no stream is left.
func (s *Subscriber) Run(ctx context.Context) error {
	run := s.start()
	if err := run.prepare(); err != nil {
		return fmt.Errorf("%s: %w", s.Device.Name, err)
	}
	side, stop := context.WithCancel(ctx)
	var beside, streams sync.WaitGroup
	beside.Go(func() { run.self.Run(side) })
	errs := make([]error, len(run.feeds))
	for i, f := range run.feeds {
		streams.Go(func() { errs[i] = f.run(ctx) })
	}
	streams.Wait()
	stop()
	beside.Wait()
	if ctx.Err() != nil {
		return nil //nolint:nilerr // it was told to end
	}
	return errors.Join(errs...)
}

// running is a Subscriber at work.
type running struct {
	*Subscriber
	log     *slog.Logger
	scale   float64
	retry   time.Duration
	feeds   []*feed
	self    *telemetry.Self
	access  *telemetry.Access
	learned atomic.Bool // the facts are known
}

func (s *Subscriber) start() *running {
	r := &running{Subscriber: s, log: s.Log, scale: s.Scale, retry: s.Retry}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	r.log = r.log.With("device", s.Device.Name)
	if r.scale == 0 {
		r.scale = 1
	}
	if r.retry == 0 {
		r.retry = time.Second
	}
	if r.access = s.Access; r.access == nil {
		r.access = &telemetry.Access{First: deniedFirst * r.retry, Longest: deniedLongest * r.retry}
	}
	r.self = telemetry.NewSelf(s.Device.Name, s.Sink, r.scale, false)
	return r
}

// prepare compiles the bindings.
func (r *running) prepare() error {
	for _, st := range streams(r.Bindings.Streams) {
		decoder, err := NewDecoder(r.Device, st.paths, r.scale)
		if err != nil {
			return err
		}
		request, err := st.request(r.encoding())
		if err != nil {
			return err
		}
		f := &feed{running: r, stream: st, decoder: decoder, request: request, log: r.log.With("stream", st.String())}
		for _, sub := range request.GetSubscribe().GetSubscription() {
			f.ways = append(f.ways, newWay(st, sub, r.scale))
		}
		r.feeds = append(r.feeds, f)
		r.self.Part(st.String())
	}
	return nil
}

// encoding is what the platform's pack names; every server must have JSON_IETF or say so there.
func (r *running) encoding() gpb.Encoding {
	if e, ok := gpb.Encoding_value[r.Bindings.Encoding]; ok {
		return gpb.Encoding(e)
	}
	return gpb.Encoding_JSON_IETF
}

// denied says whether the device does not accept who asks, or weir does not accept the device.
func denied(err error) bool {
	if _, refused := errors.AsType[*drivers.AuthError](err); refused {
		return true
	}
	code := status.Code(err)
	return code == codes.Unauthenticated || code == codes.PermissionDenied
}

// lasting says whether an error stays until an operator changes something: the device does not know what is asked for.
func lasting(err error) bool {
	code := status.Code(err)
	return code == codes.InvalidArgument || code == codes.Unimplemented
}
