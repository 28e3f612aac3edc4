package eos

import (
	"context"
	"errors"
	"io"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/weirfabric/weir/drivers/sim"
)

// How often the device looks, in device time, and how close two looks may be in wall time, whatever the lab's scale.
const (
	fastest   = time.Second      // a sample interval of 0, and what is sent on change
	leisurely = 10 * time.Second // counters whose interval the device chooses
	minGap    = 20 * time.Millisecond
)

// Subscribe serves ONCE, POLL and STREAM with SAMPLE, ON_CHANGE and TARGET_DEFINED, as the gNMI specification says. A path
// that has nothing is silent.
func (s *server) Subscribe(stream gpb.GNMI_SubscribeServer) error {
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	list := first.GetSubscribe()
	if list == nil {
		return status.Error(codes.InvalidArgument, "the first message must be a subscription")
	}
	fault := s.d.hw.Fault(sim.Subscribe).Kind
	switch fault {
	case sim.Reject:
		return status.Error(codes.Aborted, "subscribe is refused")
	case sim.Hang, sim.Reboot:
		<-stream.Context().Done()
		return stream.Context().Err()
	case sim.DropBefore:
		return s.cut(stream.Context())
	}
	if err := checkEncoding(list.GetEncoding()); err != nil {
		return err
	}
	out := &outlet{stream: stream, list: list, prefix: echo(list.GetPrefix()), turn: make(chan struct{}, 1)}
	for _, sub := range list.GetSubscription() {
		elems, origin, err := join(list.GetPrefix(), sub.GetPath())
		if err == nil && origin == "cli" {
			err = status.Error(codes.Unimplemented, "origin cli can be asked with Get only")
		}
		if err != nil {
			return err
		}
		out.watches = append(out.watches, newWatch(out, s.d.selectLeaves(elems), sub))
	}
	if fault == sim.Drop || fault == sim.Partial {
		if err := out.all(true); err != nil || fault == sim.Drop {
			return s.cut(stream.Context())
		}
		<-stream.Context().Done()
		return stream.Context().Err()
	}
	switch list.GetMode() {
	case gpb.SubscriptionList_ONCE:
		return out.all(true)
	case gpb.SubscriptionList_POLL:
		return out.polls()
	}
	return out.streams()
}

// outlet is where the answers of one call go.
type outlet struct {
	stream  gpb.GNMI_SubscribeServer
	list    *gpb.SubscriptionList
	prefix  *gpb.Path
	watches []*watch
	turn    chan struct{} // a stream takes one message at a time; a lock would stop virtual time while the stream waits
}

func (o *outlet) send(ns ...*gpb.Notification) error {
	o.turn <- struct{}{}
	defer func() { <-o.turn }()
	for _, n := range ns {
		if err := o.stream.Send(&gpb.SubscribeResponse{Response: &gpb.SubscribeResponse_Update{Update: n}}); err != nil {
			return err
		}
	}
	return nil
}

// all sends every value, if they are wanted, and then that it did.
func (o *outlet) all(values bool) error {
	for _, w := range o.watches {
		if err := w.begin(values); err != nil {
			return err
		}
	}
	o.turn <- struct{}{}
	defer func() { <-o.turn }()
	return o.stream.Send(&gpb.SubscribeResponse{Response: &gpb.SubscribeResponse_SyncResponse{SyncResponse: true}})
}

// polls sends everything, and again whenever it is asked to.
func (o *outlet) polls() error {
	values := !o.list.GetUpdatesOnly()
	for {
		if err := o.all(values); err != nil {
			return err
		}
		values = true
		req, err := o.stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if req.GetPoll() == nil {
			return status.Error(codes.InvalidArgument, "only polls may follow a subscription to poll")
		}
	}
}

// streams sends everything, and then each subscription in its manner until the client has enough.
func (o *outlet) streams() error {
	if err := o.all(!o.list.GetUpdatesOnly()); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(o.stream.Context())
	for _, w := range o.watches {
		group.Go(func() error { return w.run(ctx) })
	}
	received := make(chan error, 1)
	go func() { // ends with the call, and so with the stream that it waits for
		_, err := o.stream.Recv()
		if err == nil {
			err = status.Error(codes.InvalidArgument, "a call takes one subscription")
		}
		received <- err
	}()
	group.Go(func() error {
		select {
		case err := <-received:
			if errors.Is(err, io.EOF) { // the client only says that it has nothing more to say
				<-ctx.Done()
				return ctx.Err()
			}
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	return group.Wait()
}

// watch is one subscription.
type watch struct {
	*selection
	out       *outlet
	every     time.Duration // how often it is looked at
	heartbeat time.Duration // after which what did not change is sent all the same; 0: never
	changes   bool          // only what changed is sent
	deletes   bool          // what has ceased to exist is sent
	last      []any         // values as they were sent
	sent      time.Time     // when everything was sent
}

func newWatch(o *outlet, s *selection, sub *gpb.Subscription) *watch {
	w := &watch{selection: s, out: o, every: fastest, heartbeat: time.Duration(sub.GetHeartbeatInterval())}
	switch sub.GetMode() {
	case gpb.SubscriptionMode_SAMPLE:
		if interval := time.Duration(sub.GetSampleInterval()); interval > 0 {
			w.every = interval
		}
		w.changes = sub.GetSuppressRedundant()
	case gpb.SubscriptionMode_ON_CHANGE:
		w.changes, w.deletes = true, true
	default: // the device chooses
		w.every, w.changes, w.deletes = leisurely, true, true
	}
	return w
}

// begin sends the values of now, or only remembers them.
func (w *watch) begin(values bool) error {
	w.last, w.sent = w.values(), w.d.hw.Now()
	if !values {
		return nil
	}
	return w.out.send(w.notifications(w.out.prefix, w.out.list.GetEncoding(), w.last, func(int) bool { return true })...)
}

// run looks and sends until ctx ends.
func (w *watch) run(ctx context.Context) error {
	for {
		if err := w.pause(ctx); err != nil {
			return err
		}
		now, values := w.d.hw.Now(), w.values()
		everything := !w.changes || w.heartbeat > 0 && now.Sub(w.sent) >= w.heartbeat
		if everything {
			w.sent = now
		}
		ns := w.notifications(w.out.prefix, w.out.list.GetEncoding(), values, func(i int) bool {
			return everything || values[i] != w.last[i]
		})
		if gone := w.gone(values); len(gone) > 0 {
			ns = append(ns, &gpb.Notification{Timestamp: now.UnixNano(), Prefix: w.out.prefix, Delete: gone})
		}
		w.last = values
		if err := w.out.send(ns...); err != nil {
			return err
		}
	}
}

// gone is the paths of what has ceased to exist.
func (w *watch) gone(values []any) []*gpb.Path {
	var out []*gpb.Path
	for i := range values {
		if w.deletes && values[i] == nil && w.last[i] != nil {
			out = append(out, w.leaves[i].path)
		}
	}
	return out
}

// pause waits for the next look.
func (w *watch) pause(ctx context.Context) error {
	began := time.Now()
	if err := w.d.hw.Sleep(ctx, w.every); err != nil {
		return err
	}
	rest := time.NewTimer(minGap - time.Since(began))
	defer rest.Stop()
	select {
	case <-rest.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
