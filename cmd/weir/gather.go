package main

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/drivers/gnmi"
	"github.com/weirfabric/weir/drivers/ssh"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/telemetry"
	"github.com/weirfabric/weir/telemetry/collect"
	subscribe "github.com/weirfabric/weir/telemetry/gnmi"
	"github.com/weirfabric/weir/telemetry/health"
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
func (r *repo) gather(ctx context.Context, names []string, log *slog.Logger) (*gathering, error) {
	ctx, stop := context.WithCancel(ctx)
	g := &gathering{store: collect.New(collect.Options{Log: log}), stop: stop}
	g.all.Go(func() { g.store.Run(ctx) })
	for _, name := range names {
		d := r.device(name)
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
			s := subscribe.Subscriber{Device: counted, Bindings: bindings, Sink: g.store, Log: log, Scale: r.scale(), Dial: func(ctx context.Context) (subscribe.Conn, error) {
				return connect(ctx, e)
			}}
			g.all.Go(func() { report(log, name, s.Run(ctx)) })
		}
		p := poll.Poller{Device: counted, Bindings: bindings, Sink: g.store, Streams: streams, Log: log, Scale: r.scale(), Dial: func(ctx context.Context) (poll.Session, error) {
			return ssh.Dialer{Packs: templates.FS}.Dial(ctx, e)
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

// connect opens the connection of a device's subscriptions, verified as for a change.
func connect(ctx context.Context, e drivers.Endpoint) (subscribe.Conn, error) {
	t, err := gnmi.Dialer{Packs: templates.FS}.Dial(ctx, e)
	if err != nil {
		return nil, err
	}
	target, ok := t.(*gnmi.Target)
	if !ok {
		return nil, errors.Join(errors.New("the gNMI driver gave no gNMI connection"), t.Close())
	}
	return target.Conn(), nil
}

// scale is how many seconds of the devices pass in one of ours: 1, but in a lab.
func (r *repo) scale() float64 {
	if r.lab != nil {
		return r.lab.Scale
	}
	return 1
}

// counted is what the sources of a device's counters must know of it.
func (r *repo) counted(name string) telemetry.Device {
	d := telemetry.Device{Name: name}
	for _, c := range r.fabric.Classes {
		if c.Lossless {
			d.Watched = append(d.Watched, strconv.Itoa(int(c.Priority)))
		}
	}
	for _, p := range r.device(name).Ports {
		d.Ports = append(d.Ports, telemetry.Port{Name: p.Name, RDMA: p.RDMA})
	}
	return d
}

// topologyOf is the fabric as the judge of its health sees it.
func topologyOf(f *fabric.Fabric) health.Topology {
	t := health.Topology{Ports: map[addr.Addr]health.Port{}}
	kept := keptLossless(f)
	for _, s := range f.Switches {
		t.Devices = append(t.Devices, health.Device{Name: s.Name})
		for _, p := range s.Ports {
			port := health.Port{Rate: p.Speed, Classes: losslessOn(f, kept, p.Queues)}
			if p.Peer != nil {
				port.Peer, port.PeerHost = addr.Port(p.Peer.Device, p.Peer.Port), p.Peer.Host
			}
			t.Ports[addr.Port(s.Name, p.Name)] = port
		}
	}
	for _, h := range f.Hosts {
		t.Devices = append(t.Devices, health.Device{Name: h.Name, Host: true})
		for _, n := range h.NICs {
			port := health.Port{Host: true, Rate: n.Speed, Classes: losslessOn(f, kept, nil)}
			if n.Peer != nil {
				port.Peer = addr.Port(n.Peer.Device, n.Peer.Port)
			}
			t.Ports[addr.Port(h.Name, n.Name)] = port
		}
	}
	return t
}

// losslessOn are the lossless classes of a port. A class that any port keeps lossless counts on all of them: where one does
// not, its drops are what must be seen. A host's port has no queues, and marks nothing.
func losslessOn(f *fabric.Fabric, kept qos.PrioritySet, queues []fabric.Queue) []health.Class {
	var out []health.Class
	for _, c := range f.Classes {
		if !c.Lossless || !kept.Has(c.Priority) {
			continue
		}
		class := health.Class{Priority: c.Priority, Queue: c.Queue, Group: c.Group}
		if int(c.Queue) < len(queues) {
			class.ECN = queues[c.Queue].WRED != nil
		}
		out = append(out, class)
	}
	return out
}

// keptLossless are the priorities that some port of the fabric has PFC for.
func keptLossless(f *fabric.Fabric) qos.PrioritySet {
	var kept qos.PrioritySet
	for _, s := range f.Switches {
		for _, p := range s.Ports {
			kept |= p.PFC
		}
	}
	return kept
}

// inWall turns device time into our own.
func (r *repo) inWall(d time.Duration) time.Duration { return time.Duration(float64(d) / r.scale()) }
