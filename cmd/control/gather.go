package control

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"sync"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/drivers/gnmi"
	"github.com/weirfabric/weir/drivers/ssh"
	"github.com/weirfabric/weir/telemetry"
	"github.com/weirfabric/weir/telemetry/collect"
	subscribe "github.com/weirfabric/weir/telemetry/gnmi"
	"github.com/weirfabric/weir/telemetry/poll"
	"github.com/weirfabric/weir/templates"
)

// gathering brings the counters of devices into a store until it is ended.
type gathering struct {
	store *collect.Store
	stop  context.CancelFunc
	all   sync.WaitGroup
}

// gather begins to collect from the devices: by subscription where a device has gNMI, and by asking for the rest.
func (r *Repo) gather(ctx context.Context, names []string, log *slog.Logger) (*gathering, error) {
	ctx, stop := context.WithCancel(ctx)
	g := &gathering{store: collect.New(collect.Options{Log: log}), stop: stop}
	g.all.Go(func() { g.store.Run(ctx) })
	for _, name := range names {
		d := r.Device(name)
		bindings, err := telemetry.ReadBindings(templates.FS, d.Platform.V)
		if err != nil {
			g.end()
			return nil, err
		}
		e, err := r.endpoint(ctx, name)
		if err != nil {
			g.end()
			return nil, err
		}
		counted := r.counted(name)
		streams := e.GNMI != "" && len(bindings.Streams) > 0
		if streams {
			s := subscribe.Subscriber{Device: counted, Bindings: bindings, Sink: g.store, Log: log, Scale: r.Scale(), Dial: func(ctx context.Context) (subscribe.Conn, error) {
				e, err := r.endpoint(ctx, name) // secrets are read anew: they may have been changed
				if err != nil {
					return nil, err
				}
				return r.subscription(ctx, e)
			}}
			g.all.Go(func() { report(log, name, s.Run(ctx)) })
		}
		p := poll.Poller{Device: counted, Bindings: bindings, Sink: g.store, Streams: streams, Log: log, Scale: r.Scale(), Dial: func(ctx context.Context) (poll.Session, error) {
			return ssh.Dialer{Packs: templates.FS, DialContext: r.effects.Dial}.Dial(ctx, e)
		}}
		g.all.Go(func() { report(log, name, p.Run(ctx)) })
	}
	return g, nil
}

func report(log *slog.Logger, device string, err error) {
	if err != nil {
		log.Error("counters do not come", "device", device, "err", err)
	}
}

// end stops collecting and waits until it has.
func (g *gathering) end() {
	g.stop()
	g.all.Wait()
}

// subscription opens the connection of a device's subscriptions, verified as for a change.
func (r *Repo) subscription(ctx context.Context, e drivers.Endpoint) (subscribe.Conn, error) {
	t, err := gnmi.Dialer{Packs: templates.FS, DialContext: r.effects.Dial}.Dial(ctx, e)
	if err != nil {
		return nil, err
	}
	target, ok := t.(*gnmi.Target)
	if !ok {
		return nil, errors.Join(errors.New("the gNMI driver gave no gNMI connection"), t.Close())
	}
	return target.Conn(), nil
}

// counted is what the sources of a device's counters must know of it.
func (r *Repo) counted(name string) telemetry.Device {
	d := telemetry.Device{Name: name}
	for _, p := range r.Fabric.LosslessPriorities().All() {
		d.Watched = append(d.Watched, strconv.Itoa(int(p)))
	}
	for _, p := range r.Device(name).Ports {
		d.Ports = append(d.Ports, telemetry.Port{Name: p.Name, RDMA: p.RDMA})
	}
	return d
}
