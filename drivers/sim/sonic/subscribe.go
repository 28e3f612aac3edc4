package sonic

import (
	"context"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/weirfabric/weir/drivers/sim"
)

const (
	minSample = time.Second            // shortest sample interval, in device time
	fieldPoll = 200 * time.Millisecond // how often a field of COUNTERS_DB is looked at for ON_CHANGE, in device time
	minGap    = 20 * time.Millisecond  // shortest wall time between two samples of one path, whatever the lab's scale
)

// Subscribe serves STREAM with SAMPLE and ON_CHANGE, and POLL. ONCE is taken and nothing comes, as was observed. A second
// subscription of the same client silences the first, without a word to it.
func (s *server) Subscribe(stream gpb.GNMI_SubscribeServer) error {
	ctx := stream.Context()
	client, leave := s.clients.enter(ctx)
	defer leave()
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	list := first.GetSubscribe()
	if list == nil {
		return status.Error(codes.InvalidArgument, "first message must be SubscriptionList")
	}
	fault := s.hw.Fault(sim.Subscribe).Kind
	switch fault {
	case sim.Reject:
		return status.Error(codes.InvalidArgument, "connection limit reached")
	case sim.Hang, sim.Reboot:
		<-ctx.Done()
		return ctx.Err()
	case sim.DropBefore:
		return s.drop(ctx)
	}
	if err := s.resolvable(list); err != nil {
		return err
	}
	switch list.GetMode() {
	case gpb.SubscriptionList_ONCE:
		<-ctx.Done()
		return ctx.Err()
	case gpb.SubscriptionList_POLL:
		return s.polls(stream, list)
	}
	return s.streams(ctx, stream, client, list, fault)
}

// resolvable checks origin, target and modes of all subscriptions.
func (s *server) resolvable(list *gpb.SubscriptionList) error {
	var paths []*gpb.Path
	for _, sub := range list.GetSubscription() {
		paths = append(paths, sub.GetPath())
	}
	if len(paths) == 0 {
		return status.Error(codes.NotFound, "Invalid subscription path: No Subscription")
	}
	origin, err := originOf(list.GetPrefix(), paths)
	switch {
	case err != nil:
		return err
	case list.GetPrefix().GetTarget() == "SHOW":
		return status.Error(codes.Unimplemented, "SHOW does not support subscribe operations")
	case origin == "" && list.GetPrefix().GetTarget() == "":
		return status.Error(codes.Unimplemented, "Empty target data not supported")
	case origin == "" && !slices.Contains(targets, list.GetPrefix().GetTarget()):
		return status.Errorf(codes.NotFound, "Invalid target %s", list.GetPrefix().GetTarget())
	case list.GetMode() != gpb.SubscriptionList_STREAM:
		return nil
	}
	for _, sub := range list.GetSubscription() {
		switch interval := time.Duration(sub.GetSampleInterval()); {
		case sub.GetMode() == gpb.SubscriptionMode_TARGET_DEFINED:
			return status.Errorf(codes.InvalidArgument, "unsupported subscription mode, %v", sub.GetMode())
		case sub.GetMode() == gpb.SubscriptionMode_SAMPLE && interval != 0 && interval < minSample:
			return status.Errorf(codes.InvalidArgument, "invalid interval: %v. It cannot be less than %v", interval, minSample)
		}
	}
	return nil
}

// targets are the databases that can be subscribed to.
var targets = []string{"CONFIG_DB", "COUNTERS_DB", "APPL_DB", "STATE_DB"}

// notification is one value of a path; nil where there is nothing now. A port that does not exist has an empty text for a value.
func (s *server) notification(prefix, path *gpb.Path) *gpb.Notification {
	value, err := s.read(prefix, path, true)
	if status.Code(err) == codes.NotFound && strings.Contains(err.Error(), notAPort) {
		value, err = &gpb.TypedValue{Value: &gpb.TypedValue_StringVal{}}, nil
	}
	if err != nil || value == nil || s.isConfig(prefix, path) && string(value.GetJsonIetfVal()) == "{}" {
		return nil
	}
	return &gpb.Notification{
		Timestamp: s.hw.Now().UnixNano(), Prefix: prefix, Update: []*gpb.Update{{Path: path, Val: value}},
	}
}

// polls sends everything at the start and whenever it is asked to.
func (s *server) polls(stream gpb.GNMI_SubscribeServer, list *gpb.SubscriptionList) error {
	for {
		for _, sub := range list.GetSubscription() {
			if n := s.notification(list.GetPrefix(), sub.GetPath()); n != nil {
				if err := send(stream, n); err != nil {
					return err
				}
			}
		}
		if err := inSync(stream); err != nil {
			return err
		}
		req, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if req.GetPoll() == nil {
			return status.Error(codes.InvalidArgument, "only Poll may follow")
		}
	}
}

func send(stream gpb.GNMI_SubscribeServer, n *gpb.Notification) error {
	return stream.Send(&gpb.SubscribeResponse{Response: &gpb.SubscribeResponse_Update{Update: n}})
}

func inSync(stream gpb.GNMI_SubscribeServer) error {
	return stream.Send(&gpb.SubscribeResponse{Response: &gpb.SubscribeResponse_SyncResponse{SyncResponse: true}})
}

// streams sends each subscription's value, says sync, and goes on by its mode until the client leaves.
func (s *server) streams(ctx context.Context, stream gpb.GNMI_SubscribeServer, client *client, list *gpb.SubscriptionList, fault sim.FaultKind) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	updates := make(chan *gpb.Notification)
	ended := make(chan struct{})
	subs := list.GetSubscription()
	last := make([]*gpb.Notification, len(subs))
	for i, sub := range subs {
		last[i] = s.notification(list.GetPrefix(), sub.GetPath())
		if last[i] == nil || list.GetUpdatesOnly() {
			continue
		}
		if err := send(stream, last[i]); err != nil {
			return err
		}
	}
	if err := inSync(stream); err != nil {
		return err
	}
	switch fault {
	case sim.Drop:
		return s.drop(ctx)
	case sim.Partial: // it stays subscribed and says no more
		<-ctx.Done()
		return ctx.Err()
	}
	for i, sub := range subs {
		go func() {
			s.follow(ctx, list.GetPrefix(), sub, last[i], updates)
			ended <- struct{}{}
		}()
	}
	defer func() {
		cancel()
		for range subs {
			<-ended
		}
	}()
	for {
		select {
		case n := <-updates:
			if client.silenced() {
				continue
			}
			if err := send(stream, n); err != nil {
				return err
			}
		case <-ctx.Done():
			return status.FromContextError(ctx.Err()).Err()
		}
	}
}

// follow hands over a subscription's updates until ctx ends.
func (s *server) follow(ctx context.Context, prefix *gpb.Path, sub *gpb.Subscription, last *gpb.Notification, updates chan<- *gpb.Notification) {
	if sub.GetMode() == gpb.SubscriptionMode_ON_CHANGE {
		s.followChanges(ctx, prefix, sub, last, updates)
		return
	}
	t := ticking{server: s, prefix: prefix, path: sub.GetPath(), every: max(time.Duration(sub.GetSampleInterval()), minSample)}
	t.seen = t.look()
	for {
		n, ok := t.next(ctx)
		if !ok {
			return
		}
		if sub.GetSuppressRedundant() {
			n = changedOnly(last, n)
		}
		if n != nil && !hand(ctx, updates, n) {
			return
		}
		if n != nil {
			last = n
		}
	}
}

// followChanges hands over what is new.
func (s *server) followChanges(ctx context.Context, prefix *gpb.Path, sub *gpb.Subscription, last *gpb.Notification, updates chan<- *gpb.Notification) {
	for {
		_, changed := s.snapshot()
		if n := changedOnly(last, s.notification(prefix, sub.GetPath())); n != nil {
			last = n
			if !hand(ctx, updates, n) {
				return
			}
		}
		if !s.awaitChange(ctx, s.isConfig(prefix, sub.GetPath()), changed, fieldPoll) {
			return
		}
	}
}

func hand(ctx context.Context, updates chan<- *gpb.Notification, n *gpb.Notification) bool {
	select {
	case updates <- n:
		return true
	case <-ctx.Done():
		return false
	}
}

// ticking is the sampling of one path.
type ticking struct {
	*server
	prefix, path *gpb.Path
	seen         glance // as it was last looked at
	every        time.Duration
}

// glance is what stands at a path, to be compared: rows of counters are looked at every second, and mostly nobody is sent them.
type glance struct {
	rows  any             // of COUNTERS_DB
	value *gpb.TypedValue // of any other database; nil where nothing is there
}

func (g glance) equal(other glance) bool {
	return reflect.DeepEqual(g.rows, other.rows) && proto.Equal(g.value, other.value)
}

// look is what stands at the path now.
func (t *ticking) look() glance {
	if origin, err := originOf(t.prefix, []*gpb.Path{t.path}); err == nil && origin == "" && t.prefix.GetTarget() == "COUNTERS_DB" {
		rows, err := t.counterValue(elements(t.prefix, t.path))
		if err != nil {
			return glance{rows: err.Error()}
		}
		return glance{rows: rows}
	}
	if n := t.notification(t.prefix, t.path); n != nil {
		return glance{value: n.GetUpdate()[0].GetVal()}
	}
	return glance{}
}

// next waits for the interval and gives the sample. In 202511 the timer is armed anew at every change of the rows, so that a path
// whose rows change more often than the interval has no samples at all (sonic-gnmi, dbTableKeySubscribe; observed).
func (t *ticking) next(ctx context.Context) (*gpb.Notification, bool) {
	if t.options.Release != R202511 || t.isConfig(t.prefix, t.path) {
		if !t.rest(ctx, t.every) {
			return nil, false
		}
		return t.notification(t.prefix, t.path), true
	}
	for due := t.hw.Now().Add(t.every); ; {
		left := due.Sub(t.hw.Now())
		if left <= 0 {
			break
		}
		if !t.rest(ctx, min(left, minSample)) {
			return nil, false
		}
		now := t.look()
		if !now.equal(t.seen) && t.hw.Now().Before(due) {
			due = t.hw.Now().Add(t.every)
		}
		t.seen = now
	}
	return t.notification(t.prefix, t.path), true
}

// awaitChange waits for the next change of CONFIG_DB, or for the next look at a counter. It returns whether to go on.
func (s *server) awaitChange(ctx context.Context, config bool, changed <-chan struct{}, interval time.Duration) bool {
	if !config {
		return s.rest(ctx, interval)
	}
	select {
	case <-changed:
		return true
	case <-ctx.Done():
		return false
	}
}

// isConfig says whether a path is one of CONFIG_DB.
func (s *server) isConfig(prefix, path *gpb.Path) bool {
	if prefix.GetTarget() == "CONFIG_DB" {
		return true
	}
	names := elements(prefix, path)
	return len(names) > 0 && names[0] == "CONFIG_DB"
}

// changedOnly is the newer notification where it says something else; where the value has gone it says that.
func changedOnly(last, now *gpb.Notification) *gpb.Notification {
	was := last.GetUpdate()
	switch {
	case now == nil && len(was) > 0:
		return &gpb.Notification{Timestamp: last.GetTimestamp() + 1, Prefix: last.GetPrefix(), Delete: []*gpb.Path{was[0].GetPath()}}
	case now == nil || len(was) > 0 && proto.Equal(was[0].GetVal(), now.GetUpdate()[0].GetVal()):
		return nil
	}
	return now
}

// rest waits for a device time, and at least for minGap. It returns whether to go on.
func (s *server) rest(ctx context.Context, d time.Duration) bool {
	begun := time.Now()
	if s.hw.Sleep(ctx, d) != nil {
		return false
	}
	left := minGap - time.Since(begun)
	if left <= 0 {
		return true
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
