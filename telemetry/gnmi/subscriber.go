package gnmi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/telemetry"
	"github.com/weirfabric/weir/templates/pack"
)

// Conn is a connection, as grpc.ClientConn is one. It connects again by itself.
type Conn interface {
	grpc.ClientConnInterface
	Close() error
}

// Subscriber keeps the streams of one device alive.
type Subscriber struct {
	Device   telemetry.Device
	Bindings pack.Counters
	// Dial opens the one connection to the device. Its keepalive should not be under 30 s: servers take more for an attack. An
	// error of kind *drivers.AuthError is one for an operator.
	Dial  func(ctx context.Context) (Conn, error)
	Sink  telemetry.Sink
	Log   *slog.Logger  // nil: none
	Scale float64       // seconds of the device in one of ours; 0: 1. Only in a laboratory is it another.
	Retry time.Duration // the first pause before something is tried again; it grows to 60 times that. 0: 1 s
}

const (
	forgivenSamples = 3                // that a path may miss before its stream is begun anew
	settling        = 2                // intervals after which what has not come is missing
	askTimeout      = 30 * time.Second // of a connection, and of a question
	factsEvery      = 60 * time.Second // how often facts are asked for again
)

// errStopped says that samples do not come any more while the stream stays open.
var errStopped = errors.New("a path that was sampled is silent")

// Run subscribes until ctx ends, which is no error. What may pass by itself is tried again without end. What an operator must
// change, as a path that the device does not take, stops its stream and is told in the error once no stream is left.
func (s *Subscriber) Run(ctx context.Context) error {
	run := s.start()
	conn, err := run.dial(ctx)
	if err != nil {
		return quiet(ctx, err)
	}
	defer conn.Close()
	if err := run.prepare(); err != nil {
		return fmt.Errorf("%s: %w", s.Device.Name, err)
	}
	if err := run.learn(ctx, conn, true); err != nil {
		return quiet(ctx, err)
	}
	side, stop := context.WithCancel(ctx)
	var beside, streams sync.WaitGroup
	beside.Go(func() { run.self.Run(side) })
	beside.Go(func() { run.relearn(side, conn) })
	errs := make([]error, len(run.feeds))
	for i, f := range run.feeds {
		streams.Go(func() { errs[i] = f.run(ctx, conn) })
	}
	streams.Wait()
	stop()
	beside.Wait()
	return quiet(ctx, errors.Join(errs...))
}

// quiet drops the error of a run that was told to end.
func quiet(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil //nolint:nilerr // this is what it is for
	}
	return err
}

// running is a Subscriber at work.
type running struct {
	*Subscriber
	log   *slog.Logger
	scale float64
	retry time.Duration
	feeds []*feed
	self  *telemetry.Self
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
		r.feeds = append(r.feeds, &feed{running: r, stream: st, decoder: decoder, request: request,
			log: r.log.With("stream", st.String())})
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

// dial opens the connection, and tries again until ctx ends or the error is one for an operator.
func (r *running) dial(ctx context.Context) (conn Conn, err error) {
	for pause := telemetry.Backoff(r.retry); ; {
		dialling, cancel := context.WithTimeout(ctx, askTimeout)
		conn, err = r.Dial(dialling)
		cancel()
		if err == nil || lasting(err) {
			return conn, err
		}
		r.self.Unreachable()
		if refused, ok := errors.AsType[*drivers.AuthError](err); ok {
			r.log.Error("the device refuses the login of the subscription", "err", refused)
		} else {
			r.log.Warn("no connection for telemetry", "err", err)
		}
		if !pause.Wait(ctx) {
			return nil, ctx.Err()
		}
	}
}

// relearn asks for the facts again now and then: a rollout may switch counters on, or rename ports.
func (r *running) relearn(ctx context.Context, conn Conn) {
	every := time.NewTicker(time.Duration(float64(factsEvery) / r.scale))
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
			if err := r.learn(ctx, conn, false); err != nil && ctx.Err() == nil {
				r.log.Debug("facts were not read again", "err", err)
			}
		}
	}
}
