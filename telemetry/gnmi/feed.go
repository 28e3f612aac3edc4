package gnmi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/telemetry"
)

// feed is one stream and what reads it.
type feed struct {
	*running
	stream  stream
	decoder *Decoder
	request *gpb.SubscribeRequest
	ways    []*way // one for each path
	log     *slog.Logger
	settled time.Time // when what has not come is missing; zero: nothing was subscribed to yet
	silent  []string  // paths, as they were last told of
}

// run keeps the stream open until ctx ends or the device refuses it for good.
func (f *feed) run(ctx context.Context) error {
	pause := telemetry.Backoff(f.retry)
	for {
		began := time.Now()
		err := f.connected(ctx)
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
		f.access.Failed(f.stream.String(), err)
		pause.Worked(began)
		if !f.wait(ctx, pause, err) {
			return nil
		}
		f.self.Reconnect()
	}
}

// wait pauses after an error, long where the device refuses the login. It is false when ctx ended first.
func (f *feed) wait(ctx context.Context, pause *drivers.Backoff, err error) bool {
	if denied(err) {
		f.log.Error("the device refuses the login of the subscription", "err", err)
		return f.access.Refused(ctx, f.stream.String())
	}
	f.log.Warn("the stream ended; subscribing again", "err", err)
	return pause.Wait(ctx)
}

// connected opens the connection of the stream, learns the facts that its values need, and reads it until it ends.
func (f *feed) connected(ctx context.Context) error {
	dialling, cancel := context.WithTimeout(ctx, askTimeout)
	conn, err := f.Dial(dialling)
	cancel()
	if err != nil {
		return fmt.Errorf("no connection for telemetry: %w", err)
	}
	defer conn.Close()
	if err := f.learn(ctx, conn); err != nil {
		if !f.learned.Load() {
			return fmt.Errorf("the device does not tell its facts: %w", err)
		}
		f.log.Debug("facts were not read again", "err", err)
	}
	return f.once(ctx, conn)
}

// once opens the stream and reads it until it ends. What does not come in its time is asked for.
func (f *feed) once(ctx context.Context, conn Conn) error {
	ctx, cancel := context.WithCancel(ctx)
	v := visit{feed: f, conn: conn, began: time.Now(), answers: make(chan answer, len(f.ways)), responses: make(chan *gpb.SubscribeResponse), ended: make(chan error, 1)}
	defer v.asking.Wait()
	defer cancel()
	client, err := gpb.NewGNMIClient(conn).Subscribe(ctx)
	if err != nil {
		return err
	}
	if err := client.Send(f.request); err != nil {
		_, err = client.Recv() // holds the status
		return err
	}
	v.asking.Go(func() { v.ended <- v.receiving(ctx, client) })
	slowest := time.Duration(float64(f.stream.slowest()) / f.scale)
	v.heard = v.began
	if f.settled.IsZero() {
		f.settled = v.began.Add(settling * slowest)
	}
	v.patience = slowest*forgivenSamples + f.retry
	f.decoder.Resume(v.began)
	looks := time.NewTicker(f.look())
	defer looks.Stop()
	learns := time.NewTicker(time.Duration(float64(factsEvery) / f.scale))
	defer learns.Stop()
	for {
		select {
		case resp := <-v.responses:
			v.receive(resp, time.Now())
		case a := <-v.answers:
			v.answered(a, time.Now())
		case <-learns.C:
			v.asking.Go(func() {
				if err := f.learn(ctx, conn); err != nil && ctx.Err() == nil {
					f.log.Debug("facts were not read again", "err", err)
				}
			})
		case now := <-looks.C:
			if err := v.check(ctx, now); err != nil {
				return err
			}
		case err := <-v.ended:
			return err
		}
	}
}

// look is how often it is looked at what does not come: twice in the shortest interval.
func (f *feed) look() time.Duration {
	shortest := time.Duration(0)
	for _, w := range f.ways {
		if shortest == 0 || w.every < shortest {
			shortest = w.every
		}
	}
	return max(shortest/2, time.Millisecond)
}

// receiving hands over what the stream brings until it ends.
func (v *visit) receiving(ctx context.Context, client gpb.GNMI_SubscribeClient) error {
	for {
		resp, err := client.Recv()
		if err != nil {
			return err
		}
		select {
		case v.responses <- resp:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// receive takes in what the stream brought.
func (v *visit) receive(resp *gpb.SubscribeResponse, now time.Time) {
	v.heard = now
	v.self.Up(v.stream.String())
	v.access.Works(v.stream.String())
	switch r := resp.GetResponse().(type) {
	case *gpb.SubscribeResponse_SyncResponse:
		v.synced = true
		v.Sink.Put(v.decoder.Missing(now, false))
	case *gpb.SubscribeResponse_Update:
		v.put(r.Update, now)
		if v.synced {
			v.ticked(r.Update)
		}
	}
}

// put decodes a notification and puts what it says. It gives how many samples that were.
func (v *visit) put(n *gpb.Notification, now time.Time) int {
	samples, unmatched := v.decoder.Decode(n, now)
	v.Sink.Put(samples)
	v.self.Took(len(n.GetUpdate())+len(n.GetDelete()), unmatched, taken(n), now)
	return len(samples)
}

// warnSilent tells of paths that the device took and that bring nothing: a stream stays open on a path that does not exist. They
// are missing for whoever judges, and that is told as an error, since no verdict can rest on them.
func (v *visit) warnSilent(now time.Time) {
	silent := v.decoder.Silent(now, forgivenSamples, now.After(v.settled))
	if len(silent) > 0 && !slices.Equal(silent, v.silent) {
		v.log.Error("subscribed but silent: what these paths should bring is missing", "paths", silent)
	}
	v.feed.silent = silent
	v.self.Silent(v.stream.String(), len(silent))
}
