package gnmi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/weirfabric/weir/telemetry"
	"github.com/weirfabric/weir/templates/pack"
)

// feed is one stream and what reads it.
type feed struct {
	*running
	stream  stream
	decoder *Decoder
	request *gpb.SubscribeRequest
	log     *slog.Logger
	silent  int // paths, as they were last told of
}

// run keeps the stream open until ctx ends or the device refuses it for good.
func (f *feed) run(ctx context.Context, conn Conn) error {
	pause := telemetry.Backoff(f.retry)
	for {
		began := time.Now()
		err := f.once(ctx, conn)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // it was told to end
		}
		switch {
		case errors.Is(err, errStopped) && f.stream.held():
			// Nothing changed, and the device knows no heartbeat: its first answer serves as one.
			continue
		case lasting(err):
			f.self.Down(f.stream.String())
			f.self.Gone(f.stream.String(), len(f.stream.paths))
			f.log.Error("the device refuses the subscription; it is not tried again", "err", err)
			return fmt.Errorf("%s: subscribe to %s: %w", f.Device.Name, f.stream, err)
		}
		f.self.Down(f.stream.String())
		f.log.Warn("the stream ended; subscribing again", "err", err)
		pause.Worked(began)
		if !pause.Wait(ctx) {
			return nil
		}
		f.self.Reconnect()
		// What the device calls its ports may have changed with a restart.
		if err := f.learn(ctx, conn, false); err != nil {
			f.log.Debug("facts were not read again", "err", err)
		}
	}
}

// once opens the stream and reads it until it ends.
func (f *feed) once(ctx context.Context, conn Conn) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	client, err := gpb.NewGNMIClient(conn).Subscribe(ctx)
	if err != nil {
		return err
	}
	if err := client.Send(f.request); err != nil {
		_, err = client.Recv() // holds the status
		return err
	}
	// Nothing at all for so long means that the peer is dead or the device has forgotten the stream.
	patience := time.Duration(float64(f.stream.slowest())/f.scale)*forgivenSamples + f.retry
	watchdog := time.AfterFunc(patience, func() { cancel(errStopped) })
	defer watchdog.Stop()
	began := time.Now()
	f.decoder.Resume(began)
	v := visit{feed: f, settled: began.Add(settling * time.Duration(float64(f.stream.slowest())/f.scale))}
	for {
		resp, err := client.Recv()
		if err != nil {
			if errors.Is(context.Cause(ctx), errStopped) {
				return errStopped
			}
			return err
		}
		watchdog.Reset(patience)
		if err := v.receive(resp, time.Now()); err != nil {
			return err
		}
	}
}

// visit is one opening of the stream.
type visit struct {
	*feed
	synced  bool
	settled time.Time // when what has not come is missing
	checked time.Time
}

func (v *visit) receive(resp *gpb.SubscribeResponse, now time.Time) error {
	v.self.Up(v.stream.String())
	switch r := resp.GetResponse().(type) {
	case *gpb.SubscribeResponse_SyncResponse:
		v.synced = true
		v.Sink.Put(v.decoder.Missing(now, false))
	case *gpb.SubscribeResponse_Update:
		samples, unmatched := v.decoder.Decode(r.Update, now)
		v.Sink.Put(samples)
		v.self.Took(len(r.Update.GetUpdate())+len(r.Update.GetDelete()), unmatched, taken(r.Update), now)
	}
	if now.Before(v.settled) || now.Sub(v.checked) < v.self.Every() {
		return nil
	}
	v.checked = now
	v.Sink.Put(v.decoder.Missing(now, true))
	v.warnSilent()
	if path := v.decoder.Stopped(now, forgivenSamples); path != "" {
		return fmt.Errorf("%s: %w", path, errStopped)
	}
	return nil
}

// warnSilent warns of paths that the device took and sends nothing for: a stream stays open on a path that does not exist.
func (v *visit) warnSilent() {
	silent := v.decoder.Silent()
	if len(silent) != v.silent {
		v.log.Warn("subscribed but silent", "paths", silent)
	}
	v.silent = len(silent)
	v.self.Silent(v.stream.String(), len(silent))
}

// lasting says whether an error stays until an operator changes something: the device does not know what is asked for, or does
// not accept who asks.
func lasting(err error) bool {
	switch status.Code(err) {
	case codes.InvalidArgument, codes.Unimplemented, codes.PermissionDenied, codes.Unauthenticated:
		return true
	}
	return false
}

// learn asks the device for its facts. Insist: what may pass by itself is tried again until ctx ends.
func (r *running) learn(ctx context.Context, conn Conn, insist bool) error {
	for pause := telemetry.Backoff(r.retry); ; {
		ports, err := r.table(ctx, conn, r.Bindings.Facts.Aliases)
		switches, err2 := r.table(ctx, conn, r.Bindings.Facts.Switches)
		err = errors.Join(err, err2)
		if err == nil {
			r.apply(ports, switches)
			return nil
		}
		if !insist || lasting(err) {
			return err
		}
		r.self.Unreachable()
		r.log.Warn("the device does not tell its facts", "err", err)
		if !pause.Wait(ctx) {
			return ctx.Err()
		}
	}
}

// apply gives the facts to the decoders: aliases turned to port names, and the groups of counters that are not on.
func (r *running) apply(aliases, switches map[string]string) {
	ports := make(map[string]string, len(aliases))
	for port, alias := range aliases {
		ports[alias] = port
	}
	off := map[string]bool{}
	if fact := r.Bindings.Facts.Switches; fact.Path != "" {
		for _, p := range r.Bindings.Streams {
			for _, l := range p.Fields {
				if l.Switch != "" && switches[l.Switch] != fact.On {
					off[l.Switch] = true
				}
			}
		}
	}
	for _, f := range r.feeds {
		f.decoder.Learn(ports, off)
	}
}

// table asks for one fact: the field of each row. A device that does not have the table has no such rows.
func (r *running) table(ctx context.Context, conn Conn, fact pack.Fact) (map[string]string, error) {
	out := map[string]string{}
	if fact.Path == "" {
		return out, nil
	}
	path, err := parsePath(fact.Path)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	resp, err := gpb.NewGNMIClient(conn).Get(ctx, &gpb.GetRequest{Prefix: &gpb.Path{Target: fact.Target},
		Path: []*gpb.Path{path}, Encoding: r.encoding()})
	if status.Code(err) == codes.NotFound {
		return out, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: ask for %s: %w", r.Device.Name, fact.Path, err)
	}
	for _, n := range resp.GetNotification() {
		for _, u := range n.GetUpdate() {
			var row string
			err = errors.Join(err, scanRows(u.GetVal().GetJsonIetfVal(), func(name []byte) bool { row = string(name); return true },
				func(name, value []byte) {
					if string(name) == fact.Field {
						out[row] = string(value)
					}
				}))
		}
	}
	return out, err
}
