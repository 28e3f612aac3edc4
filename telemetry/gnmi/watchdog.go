package gnmi

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
)

// way is how one path of a stream is read: as a sample of the stream, or by a Get where the stream does not bring it in time. SONiC
// 202511 does not sample rows that change more often than the interval, and later releases do (sonic-gnmi, dbTableKeySubscribe);
// no release is assumed, the way is found while the device runs.
type way struct {
	path    string
	request *gpb.Path
	every   time.Duration
	held    bool
	starved bool // the stream does not sample it, a Get brings it
	asking  bool // a Get is on its way
	asked   time.Time
}

func newWay(s stream, sub *gpb.Subscription, scale float64) *way {
	w := &way{request: sub.GetPath()}
	for _, p := range s.paths {
		path, err := parsePath(wildcards(p.Path))
		if err == nil && path.String() == sub.GetPath().String() {
			w.path, w.every, w.held = p.Path, time.Duration(float64(p.Every)/scale), p.Change
			break
		}
	}
	return w
}

// due says whether the path is to be asked for: the stream is half an interval late with it, or is known not to bring it.
func (w *way) due(now, last time.Time) bool {
	late := w.every + w.every/2
	switch {
	case w.asking:
		return false
	case w.starved || w.held:
		late = w.every
	}
	return now.Sub(last) >= late && now.Sub(w.asked) >= w.every
}

// visit is one opening of the stream.
type visit struct {
	*feed
	conn      Conn
	began     time.Time
	responses chan *gpb.SubscribeResponse
	ended     chan error
	answers   chan answer
	asking    sync.WaitGroup
	synced    bool
	heard     time.Time     // when anything last came
	patience  time.Duration // without anything at all the peer is dead, or the device has forgotten the stream
	checked   time.Time
}

// answer is what a Get brought for a path.
type answer struct {
	way      *way
	response *gpb.GetResponse
	err      error
}

// check looks at every path: what is late is asked for, what stays away is told as missing. The error says that the stream is to
// be begun anew.
func (v *visit) check(ctx context.Context, now time.Time) error {
	if v.Bindings.Get && v.synced {
		for _, w := range v.ways {
			last := v.decoder.last(w.path)
			if last.Before(v.began) {
				last = v.began
			}
			if w.due(now, last) {
				w.asking, w.asked = true, now
				v.asking.Go(func() { v.answers <- v.ask(ctx, w) })
			}
		}
	}
	if now.Sub(v.heard) > v.patience {
		return errStopped
	}
	if now.Sub(v.checked) < v.self.Every() {
		return nil
	}
	v.checked = now
	v.Sink.Put(v.decoder.Missing(now, now.After(v.settled)))
	v.Sink.Put(v.decoder.Lost(now, forgivenSamples))
	v.warnSilent(now)
	if path := v.decoder.Stopped(now, forgivenSamples); path != "" {
		return fmt.Errorf("%s: %w", path, errStopped)
	}
	return nil
}

// ask gets a path.
func (v *visit) ask(ctx context.Context, w *way) answer {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	response, err := gpb.NewGNMIClient(v.conn).Get(ctx, &gpb.GetRequest{
		Prefix: &gpb.Path{Origin: v.stream.origin, Target: v.stream.target}, Path: []*gpb.Path{w.request}, Encoding: v.encoding(),
	})
	return answer{w, response, err}
}

// answered takes in what a Get brought.
func (v *visit) answered(a answer, now time.Time) {
	a.way.asking = false
	if a.err != nil {
		v.log.Debug("a path was asked for in vain", "path", a.way.path, "err", a.err)
		return
	}
	brought := 0
	for _, n := range a.response.GetNotification() {
		brought += v.put(n, now)
	}
	if brought == 0 {
		return
	}
	v.heard = now
	v.self.Up(v.stream.String())
	v.access.Works(v.stream.String())
	if !a.way.held && !a.way.starved {
		a.way.starved = true
		v.log.Warn("the device does not sample this path in time: it is asked for instead", "path", a.way.path, "every", a.way.every)
	}
}

// ticked notes that the stream samples a path after all.
func (v *visit) ticked(n *gpb.Notification) {
	for _, w := range v.ways {
		if !w.starved {
			continue
		}
		for _, u := range n.GetUpdate() {
			if names(n.GetPrefix(), u.GetPath()) == names(nil, w.request) {
				w.starved = false
				v.log.Info("the device samples this path again", "path", w.path)
			}
		}
	}
}

func names(prefix, path *gpb.Path) string {
	var out []string
	for _, p := range []*gpb.Path{prefix, path} {
		for _, e := range p.GetElem() {
			out = append(out, e.GetName())
		}
	}
	return strings.Join(out, "/")
}
