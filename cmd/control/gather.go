package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/drivers/gnmi"
	"github.com/weirfabric/weir/drivers/ssh"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/telemetry"
	"github.com/weirfabric/weir/telemetry/collect"
	subscribe "github.com/weirfabric/weir/telemetry/gnmi"
	"github.com/weirfabric/weir/telemetry/poll"
	"github.com/weirfabric/weir/templates/pack"
)

// gathering brings the counters of devices into a store until it is ended.
type gathering struct {
	store *collect.Store
	log   *slog.Logger
	stop  context.CancelFunc
	all   sync.WaitGroup
	repo  atomic.Pointer[Repo] // says how devices are reached, at each connection anew

	mu      sync.Mutex
	devices map[string]*collector
}

// collector is what brings the counters of one device.
type collector struct {
	counted telemetry.Device
	reached string // how, as far as a connection that stands would notice
	access  telemetry.Access
	stop    context.CancelFunc
}

// gather begins to collect from the devices: by subscription where a device has gNMI, and by asking for the rest. A device that cannot
// be reached, or not yet, is down; the others do not wait for it.
func (r *Repo) gather(ctx context.Context, names []string, log *slog.Logger) *gathering {
	ctx, stop := context.WithCancel(ctx)
	g := &gathering{store: collect.New(collect.Options{Log: log}), log: log, stop: stop, devices: map[string]*collector{}}
	g.all.Go(func() { g.store.Run(ctx) })
	g.follow(ctx, r, names)
	return g
}

// end stops collecting and waits until it has.
func (g *gathering) end() {
	g.stop()
	g.all.Wait()
}

// follow collects from the devices as the repo says now: what is as it was goes on, the others begin or end. Nothing lives
// longer than ctx.
func (g *gathering) follow(ctx context.Context, r *Repo, names []string) {
	g.repo.Store(r)
	g.mu.Lock()
	defer g.mu.Unlock()
	for name, s := range g.devices {
		if !slices.Contains(names, name) || s.reached != r.reached(name) || !reflect.DeepEqual(s.counted, r.counted(name)) {
			s.stop()
			delete(g.devices, name)
		}
	}
	for _, name := range names {
		if g.devices[name] == nil {
			g.devices[name] = g.begin(ctx, r, name)
		}
	}
}

// begin begins to collect from a device.
func (g *gathering) begin(ctx context.Context, r *Repo, name string) *collector {
	ctx, stop := context.WithCancel(ctx)
	s := &collector{counted: r.counted(name), reached: r.reached(name), stop: stop}
	var ports []string
	for _, p := range s.counted.Ports {
		ports = append(ports, p.Name)
	}
	g.store.Ports(name, ports)
	bindings, err := telemetry.ReadBindings(packs, r.Device(name).Platform.V)
	if err == nil {
		_, err = r.endpoint(ctx, name)
	}
	if err != nil {
		g.log.Error("counters do not come", "device", name, "err", err)
		s.access.Failed("endpoint", err)
	}
	streams := r.speaksGNMI(name) && len(bindings.Streams) > 0
	if streams {
		subscriber := subscribe.Subscriber{Device: s.counted, Bindings: bindings, Sink: g.store, Log: g.log, Scale: r.Scale(), Access: &s.access, Dial: func(ctx context.Context) (subscribe.Conn, error) {
			return dialled(ctx, g, s, name, g.repo.Load().subscription)
		}}
		g.all.Go(func() { g.dark(ctx, r, s, name, subscriber.Run(ctx)) })
	}
	if len(bindings.Polls) > 0 {
		poller := poll.Poller{Device: s.counted, Bindings: bindings, Sink: g.store, Streams: streams, Log: g.log, Scale: r.Scale(), Access: &s.access, Dial: func(ctx context.Context) (poll.Session, error) {
			return dialled(ctx, g, s, name, g.repo.Load().session)
		}}
		g.all.Go(func() { _ = poller.Run(ctx) }) // it ends with ctx alone
	}
	if !streams && len(bindings.Polls) == 0 {
		if err == nil {
			err = errors.New("its platform has no counters that weir can ask for")
		}
		g.all.Go(func() { g.dark(ctx, r, s, name, err) })
	}
	return s
}

// dialled opens a connection with what the repo, its files and its secrets say now.
func dialled[C any](ctx context.Context, g *gathering, s *collector, name string, dial func(context.Context, drivers.Endpoint) (C, error)) (conn C, err error) {
	e, err := g.repo.Load().endpoint(ctx, name)
	if err != nil {
		return conn, err
	}
	s.access.Works("endpoint")
	return dial(ctx, e)
}

// dark says that a device is down for as long as it is watched, when what brought its counters has ended for good.
func (g *gathering) dark(ctx context.Context, r *Repo, s *collector, name string, err error) {
	if err == nil || ctx.Err() != nil {
		return
	}
	g.log.Error("counters do not come", "device", name, "err", err)
	s.access.Failed("subscription", err)
	self := telemetry.NewSelf(name, g.store, r.Scale(), false)
	self.Part("subscription")
	self.Run(ctx)
}

// reasons are why counters do not come, by device, where a source said so.
func (g *gathering) reasons() map[string]string {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := map[string]string{}
	for name, s := range g.devices {
		if why := s.access.Why(); why != "" {
			out[name] = strings.TrimPrefix(why, name+": ")
		}
	}
	return out
}

// gatherable says why the counters of a device cannot be asked for.
func (r *Repo) gatherable(ctx context.Context, names []string) error {
	for _, name := range names {
		if _, err := telemetry.ReadBindings(packs, r.Device(name).Platform.V); err != nil {
			return err
		}
		if _, err := r.endpoint(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// speaksGNMI says whether a device has gNMI.
func (r *Repo) speaksGNMI(name string) bool {
	if r.lab != nil {
		return r.lab.Devices[name].GNMI != ""
	}
	d := r.Device(name)
	session, err := pack.ReadSession(packs, d.Platform.V)
	return err == nil && cmp.Or(d.Management.GNMI.V, session.GNMI.Port) != 0
}

// reached is how a device is reached, as a word that changes when its connections must be made anew.
func (r *Repo) reached(name string) string {
	d := r.Device(name)
	if d == nil {
		return ""
	}
	m := d.Management
	return fmt.Sprint(d.Platform.V, " ", m.Address.V, " ", m.GNMI.V, " ", m.SSH.V, " ", m.User.V, " ", m.Password.V, " ", m.Key.V, " ", m.CA.V, " ",
		m.Cert.V, " ", m.CertKey.V, " ", m.ServerName.V, " ", m.HostKeys.V, " ", m.TLS.V, " ", m.HostKey.V, " ", m.SSHAlgorithms.V)
}

// session opens the connection that a device is polled on.
func (r *Repo) session(ctx context.Context, e drivers.Endpoint) (poll.Session, error) {
	return ssh.Dialer{Packs: packs, DialContext: r.effects.Dial}.Dial(ctx, e)
}

// subscription opens the connection of a device's subscriptions, verified as for a change.
func (r *Repo) subscription(ctx context.Context, e drivers.Endpoint) (subscribe.Conn, error) {
	t, err := gnmi.Dialer{Packs: packs, DialContext: r.effects.Dial}.Dial(ctx, e)
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
	off := r.off(name)
	for _, p := range r.Device(name).Ports {
		d.Ports = append(d.Ports, telemetry.Port{Name: p.Name, RDMA: p.RDMA, Off: off[p.Name]})
	}
	return d
}

// off is what the intent leaves off on the ports of a device.
func (r *Repo) off(name string) map[string][]pack.Feature {
	out := map[string][]pack.Feature{}
	note := func(port string, paused qos.PrioritySet, watched bool) {
		if paused == 0 {
			out[port] = append(out[port], pack.FeaturePFC)
		}
		if paused == 0 || !watched {
			out[port] = append(out[port], pack.FeatureWatchdog)
		}
	}
	for _, s := range r.Fabric.Switches {
		if s.Name != name {
			continue
		}
		for _, p := range s.Ports {
			note(p.Name, p.PFC, p.Watchdog != nil)
		}
	}
	for _, h := range r.Fabric.Hosts {
		if h.Name != name {
			continue
		}
		for _, n := range h.NICs {
			note(n.Name, n.PFC, false)
		}
	}
	return out
}
