package sonic_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc/codes"

	"github.com/weirfabric/weir/drivers/sim"
)

// stream is a subscription and its end.
type stream struct {
	gpb.GNMI_SubscribeClient
	t *testing.T
}

// subscribe begins a subscription that ends with the test, or after two minutes.
func (b *bench) subscribe(list *gpb.SubscriptionList) stream {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 2*time.Minute)
	b.t.Cleanup(cancel)
	s, err := b.gnmi.Subscribe(ctx)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := s.Send(&gpb.SubscribeRequest{Request: &gpb.SubscribeRequest_Subscribe{Subscribe: list}}); err != nil {
		b.t.Fatal(err)
	}
	return stream{s, b.t}
}

// streamOf is a subscription list of one path in a mode.
func streamOf(target, text string, mode gpb.SubscriptionMode, interval time.Duration) *gpb.SubscriptionList {
	return &gpb.SubscriptionList{Prefix: &gpb.Path{Target: target}, Subscription: []*gpb.Subscription{
		{Path: path(text), Mode: mode, SampleInterval: uint64(interval)}}}
}

// next is the next value, or "sync".
func (s stream) next() string {
	s.t.Helper()
	r, err := s.Recv()
	if err != nil {
		s.t.Fatal(err)
	}
	if r.GetSyncResponse() {
		return "sync"
	}
	if deleted := r.GetUpdate().GetDelete(); len(deleted) > 0 {
		return "deleted"
	}
	return string(r.GetUpdate().GetUpdate()[0].GetVal().GetJsonIetfVal())
}

func TestSamplesComeAtOnceThenSyncThenAgain(t *testing.T) {
	b := newBench(t, leaf(nil))
	s := b.subscribe(streamOf("COUNTERS_DB", "COUNTERS/Ethernet*", gpb.SubscriptionMode_SAMPLE, time.Second))
	if first, second, third := s.next(), s.next(), s.next(); !strings.Contains(first, "etp1") || second != "sync" || !strings.Contains(third, "etp1") {
		t.Errorf("got %.30q, %.30q, %.30q", first, second, third)
	}
}

func TestASampleIntervalBelowASecondIsRefused(t *testing.T) {
	b := newBench(t, leaf(nil))
	_, err := b.subscribe(streamOf("COUNTERS_DB", "COUNTERS/Ethernet*", gpb.SubscriptionMode_SAMPLE, 500*time.Millisecond)).Recv()
	wantCode(t, err, codes.InvalidArgument, "invalid interval: 500ms. It cannot be less than 1s")
}

func TestTargetDefinedIsRefused(t *testing.T) {
	b := newBench(t, leaf(nil))
	_, err := b.subscribe(streamOf("COUNTERS_DB", "COUNTERS/Ethernet*", gpb.SubscriptionMode_TARGET_DEFINED, 0)).Recv()
	wantCode(t, err, codes.InvalidArgument, "unsupported subscription mode")
}

func TestOnceBringsNothing(t *testing.T) {
	b := newBench(t, leaf(nil))
	list := streamOf("COUNTERS_DB", "COUNTERS/Ethernet*", gpb.SubscriptionMode_SAMPLE, 0)
	list.Mode = gpb.SubscriptionList_ONCE
	ctx, cancel := context.WithTimeout(b.ctx, 50*time.Millisecond) // ten seconds of the device
	defer cancel()
	s, err := b.gnmi.Subscribe(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Send(&gpb.SubscribeRequest{Request: &gpb.SubscribeRequest_Subscribe{Subscribe: list}}); err != nil {
		t.Fatal(err)
	}
	r, err := s.Recv()
	if r != nil {
		t.Errorf("got %v", r)
	}
	wantCode(t, err, codes.DeadlineExceeded, "")
}

func TestAPollIsAnsweredEachTime(t *testing.T) {
	b := newBench(t, leaf(nil))
	list := streamOf("COUNTERS_DB", "COUNTERS/Ethernet*", gpb.SubscriptionMode_SAMPLE, 0)
	list.Mode = gpb.SubscriptionList_POLL
	s := b.subscribe(list)
	for range 2 {
		if value, end := s.next(), s.next(); !strings.Contains(value, "etp2") || end != "sync" {
			t.Errorf("got %.30q, %.30q", value, end)
		}
		if err := s.Send(&gpb.SubscribeRequest{Request: &gpb.SubscribeRequest_Poll{Poll: &gpb.Poll{}}}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAnOnChangeSubscriptionTellsEveryChangeOfTheConfiguration(t *testing.T) {
	b := newBench(t, leaf(nil))
	s := b.subscribe(streamOf("CONFIG_DB", "SCHEDULER/scheduler.0", gpb.SubscriptionMode_ON_CHANGE, 0))
	if first, second := s.next(), s.next(); !strings.Contains(first, `"14"`) || second != "sync" {
		t.Fatalf("got %q, %q", first, second)
	}
	if _, err := b.set(update(config+"SCHEDULER/scheduler.0/weight", "40")); err != nil {
		t.Fatal(err)
	}
	if got := s.next(); !strings.Contains(got, `"40"`) {
		t.Errorf("got %q", got)
	}
	b.run("sudo sonic-db-cli CONFIG_DB DEL 'SCHEDULER|scheduler.0'", "")
	if got := s.next(); got != "deleted" {
		t.Errorf("got %q", got)
	}
}

func TestASubscriptionToAPortThatDoesNotExistBringsAnEmptyText(t *testing.T) {
	b := newBench(t, leaf(nil))
	s := b.subscribe(streamOf("COUNTERS_DB", "COUNTERS/Ethernet99", gpb.SubscriptionMode_SAMPLE, time.Second))
	for range 3 {
		r, err := s.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if r.GetSyncResponse() {
			continue
		}
		if text, ok := r.GetUpdate().GetUpdate()[0].GetVal().GetValue().(*gpb.TypedValue_StringVal); !ok || text.StringVal != "" {
			t.Errorf("got %v", r)
		}
	}
	_, err := b.subscribe(streamOf("NOSUCH_DB", "COUNTERS/Ethernet0", gpb.SubscriptionMode_SAMPLE, time.Second)).Recv()
	wantCode(t, err, codes.NotFound, "")
}

func TestTheSecondSubscriptionOfAConnectionSilencesTheFirst(t *testing.T) {
	b := newBench(t, leaf(nil))
	list := streamOf("COUNTERS_DB", "COUNTERS/Ethernet*", gpb.SubscriptionMode_SAMPLE, time.Second)
	first := b.subscribe(list)
	for got := ""; got != "sync"; {
		got = first.next()
	}
	second := b.subscribe(list)
	for range 5 {
		second.next()
	}
	silent := make(chan error, 1)
	go func() {
		var err error
		for err == nil { // what was on its way may still come
			_, err = first.Recv()
		}
		silent <- err
	}()
	for range 5 {
		second.next()
	}
	select {
	case err := <-silent:
		t.Errorf("the first one ended: %v", err)
	default:
	}
	b.gnmi = b.dial(&tls.Config{}) // another connection is another client
	third := b.subscribe(list)
	third.next()
	second.next()
}

func TestFaultsOfASubscription(t *testing.T) {
	b := newBench(t, leaf(nil))
	list := streamOf("COUNTERS_DB", "COUNTERS/Ethernet0", gpb.SubscriptionMode_SAMPLE, time.Second)
	b.inject(sim.Subscribe, sim.Reject)
	_, err := b.subscribe(list).Recv()
	wantCode(t, err, codes.InvalidArgument, "")
	b.inject(sim.Subscribe, sim.Drop)
	s := b.subscribe(list)
	for err = nil; err == nil; {
		_, err = s.Recv()
	}
	wantCode(t, err, codes.Unavailable, "")
	s = b.subscribe(list)
	if got := s.next(); got == "" {
		t.Error("the subscription after it is empty")
	}
	if err := s.CloseSend(); err != nil && !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}
