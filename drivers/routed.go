package drivers

import (
	"context"
	"errors"
	"fmt"

	"github.com/weirfabric/weir/intent/plan"
)

// Routed dials devices that have gNMI, SSH or both, as one target. A question takes the first of its ways whose transport
// the device has; a change takes the transport of its route. Dial connects over SSH, or over gNMI where there is no SSH, so
// that a wrong password shows there. The other transport is connected when it is first needed: a switch may have a gNMI
// server that nobody has set up, and be managed over SSH alone. Retry belongs around each of the two, not around Routed.
type Routed struct {
	GNMI Dialer
	SSH  Dialer
}

// Dial connects to the device.
func (r Routed) Dial(ctx context.Context, e Endpoint) (Target, error) {
	t := &routed{device: e.Device, legs: map[plan.Via]*leg{}}
	if e.GNMI != "" && r.GNMI != nil {
		t.legs[plan.GNMI] = &leg{dialer: r.GNMI, endpoint: e}
	}
	if e.SSH != "" && r.SSH != nil {
		t.legs[plan.SSH] = &leg{dialer: r.SSH, endpoint: e}
	}
	for _, via := range []plan.Via{plan.SSH, plan.GNMI} {
		if l, ok := t.legs[via]; ok {
			if _, err := l.open(ctx); err != nil {
				return nil, err
			}
			return t, nil
		}
	}
	return nil, &UnreachableError{Device: e.Device, Address: "any address", Err: errors.New("the inventory gives neither a gNMI nor an SSH address")}
}

// leg is one transport of a device, connected or not yet.
type leg struct {
	dialer   Dialer
	endpoint Endpoint
	target   Target
}

func (l *leg) open(ctx context.Context) (Target, error) {
	if l.target != nil {
		return l.target, nil
	}
	t, err := l.dialer.Dial(ctx, l.endpoint)
	if err != nil {
		return nil, err
	}
	l.target = t
	return t, nil
}

type routed struct {
	device string
	legs   map[plan.Via]*leg
}

func (t *routed) Get(ctx context.Context, qs []plan.Query) ([]plan.Answer, error) {
	asked := map[plan.Via][]plan.Query{}
	place := map[plan.Via][]int{}
	for i, q := range qs {
		via, err := t.way(q)
		if err != nil {
			return nil, err
		}
		asked[via] = append(asked[via], q)
		place[via] = append(place[via], i)
	}
	answers := make([]plan.Answer, len(qs))
	for _, via := range []plan.Via{plan.GNMI, plan.SSH} {
		if len(asked[via]) == 0 {
			continue
		}
		target, err := t.legs[via].open(ctx)
		if err != nil {
			return nil, err
		}
		got, err := target.Get(ctx, asked[via])
		if err != nil {
			return nil, err
		}
		for i, a := range got {
			answers[place[via][i]] = a
		}
	}
	return answers, nil
}

// way is the transport of the first way to ask that the device has.
func (t *routed) way(q plan.Query) (plan.Via, error) {
	for _, w := range q.Ways {
		if _, ok := t.legs[w.Via]; ok {
			return w.Via, nil
		}
	}
	return "", fmt.Errorf("%s: %s cannot be asked over any transport that the inventory gives the device", t.device, q.Name)
}

func (t *routed) Set(ctx context.Context, c plan.Chunk, p plan.Pending) error {
	target, err := t.route(ctx, p)
	if err != nil {
		return err
	}
	return target.Set(ctx, c, p)
}

func (t *routed) Confirm(ctx context.Context, p plan.Pending) error {
	target, err := t.route(ctx, p)
	if err != nil {
		return err
	}
	return target.Confirm(ctx, p)
}

func (t *routed) Cancel(ctx context.Context, p plan.Pending) error {
	target, err := t.route(ctx, p)
	if err != nil {
		return err
	}
	return target.Cancel(ctx, p)
}

func (t *routed) route(ctx context.Context, p plan.Pending) (Target, error) {
	via := plan.SSH
	if p.Route == plan.GNMISet {
		via = plan.GNMI
	}
	l, ok := t.legs[via]
	if !ok {
		return nil, NotSent(t.device, fmt.Errorf("route %s needs %s, and %w", p.Route, via, ErrNoTransport))
	}
	target, err := l.open(ctx)
	if err != nil {
		return nil, NotSent(t.device, err)
	}
	return target, nil
}

// Claim, Markers and Unclaim go over SSH, whatever the route of changes is.
func (t *routed) Claim(ctx context.Context, m Marker) ([]Marker, error) {
	k, err := t.marking(ctx)
	if err != nil {
		return nil, err
	}
	return k.Claim(ctx, m)
}

func (t *routed) Markers(ctx context.Context) ([]Marker, error) {
	k, err := t.marking(ctx)
	if err != nil {
		return nil, err
	}
	return k.Markers(ctx)
}

func (t *routed) Unclaim(ctx context.Context, m Marker) error {
	k, err := t.marking(ctx)
	if err != nil {
		return err
	}
	return k.Unclaim(ctx, m)
}

func (t *routed) marking(ctx context.Context) (Marking, error) {
	l, ok := t.legs[plan.SSH]
	if !ok {
		return nil, &NoMarkerError{t.device, "it is reached over gNMI alone"}
	}
	target, err := l.open(ctx)
	if err != nil {
		return nil, err
	}
	return markingOf(target, t.device)
}

// markingOf is a target as one whose device may hold markers.
func markingOf(t Target, device string) (Marking, error) {
	if k, ok := t.(Marking); ok {
		return k, nil
	}
	return nil, &NoMarkerError{device, "its transport has none"}
}

func (t *routed) Close() error {
	var errs []error
	for _, l := range t.legs {
		if l.target != nil {
			errs = append(errs, l.target.Close())
		}
	}
	return errors.Join(errs...)
}
