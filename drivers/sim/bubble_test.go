package sim_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/drivers/drivertest"
	"github.com/weirfabric/weir/drivers/gnmi"
	"github.com/weirfabric/weir/drivers/sim"
	"github.com/weirfabric/weir/drivers/sim/eos"
	"github.com/weirfabric/weir/drivers/sim/linux"
	"github.com/weirfabric/weir/drivers/sim/sonic"
	"github.com/weirfabric/weir/drivers/ssh"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/telemetry"
	"github.com/weirfabric/weir/telemetry/collect"
	subscribe "github.com/weirfabric/weir/telemetry/gnmi"
	"github.com/weirfabric/weir/telemetry/poll"
	"github.com/weirfabric/weir/templates"
	"github.com/weirfabric/weir/templates/pack"
)

// pod is two leaves and two spines of both switch languages, with a host at each leaf.
func pod() []sim.Spec {
	specs := []sim.Spec{
		{Name: "leaf1", Platform: "sonic", SKU: "ACS-MSN4700"}, {Name: "leaf2", Platform: "eos", SKU: "DCS-7060X6-64PE"},
		{Name: "spine1", Platform: "eos", SKU: "DCS-7060X6-64PE"}, {Name: "spine2", Platform: "sonic", SKU: "ACS-MSN4700"},
		{Name: "host1", Platform: "linux", Host: true}, {Name: "host2", Platform: "linux", Host: true},
	}
	next := func(s *sim.Spec) string {
		switch n := len(s.Ports); s.Platform {
		case "sonic":
			return fmt.Sprintf("Ethernet%d", 4*n)
		case "eos":
			return fmt.Sprintf("Ethernet%d/1", n+1)
		default:
			return fmt.Sprintf("eth%d", n)
		}
	}
	for _, cable := range [][2]int{{0, 2}, {0, 3}, {1, 2}, {1, 3}, {0, 4}, {1, 5}} {
		a, b := &specs[cable[0]], &specs[cable[1]]
		an, bn := next(a), next(b)
		a.Ports = append(a.Ports, sim.PortSpec{Name: an, Speed: 100e9, Cable: 5, PeerDevice: b.Name, PeerPort: bn})
		b.Ports = append(b.Ports, sim.PortSpec{Name: bn, Speed: 100e9, Cable: 5, PeerDevice: a.Name, PeerPort: an, RDMA: "mlx5_0"})
	}
	return specs
}

// authority is made once for all tests: keys are slow.
var authority = sync.OnceValues(sim.NewAuthority)

// packs are decoded once for all tests.
var packs = pack.NewReader(templates.FS)

// virtual is a lab on an in-memory network, and the ways to its devices. It is made in a bubble.
type virtual struct {
	*sim.Lab
	t       *testing.T
	network *sim.Network
	specs   []sim.Spec
}

func startVirtual(t *testing.T, specs []sim.Spec) *virtual {
	t.Helper()
	return startRelease(t, specs, sonic.R202511)
}

// startRelease is startVirtual with a release of SONiC.
func startRelease(t *testing.T, specs []sim.Spec, release sonic.Release) *virtual {
	t.Helper()
	a, err := authority()
	if err != nil {
		t.Fatal(err)
	}
	v := &virtual{t: t, network: sim.NewNetwork(), specs: specs}
	v.Lab, err = sim.New(specs, sim.Options{
		Network: v.network, Authority: a,
		Personalities: map[string]func(sim.Hardware) sim.Personality{"sonic": sonic.Options{Release: release}.New, "eos": eos.New, "linux": linux.New},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	return v
}

func (v *virtual) close() {
	v.t.Helper()
	if err := v.Lab.Close(); err != nil {
		v.t.Error(err)
	}
}

func (v *virtual) endpoint(spec sim.Spec) drivers.Endpoint {
	overGNMI, overSSH := v.Endpoint(spec.Name)
	user, password := v.Credentials()
	return drivers.Endpoint{
		Device: spec.Name, Platform: spec.Platform, GNMI: overGNMI, SSH: overSSH, User: user, Password: drivers.Secret(password),
		TLS: drivers.TLS{CA: v.CAFile()}, HostKeys: v.KnownHosts(),
	}
}

func (v *virtual) overGNMI() gnmi.Dialer {
	return gnmi.Dialer{Packs: packs, DialContext: v.network.DialContext}
}

func (v *virtual) overSSH() ssh.Dialer {
	return ssh.Dialer{Packs: packs, DialContext: v.network.DialContext}
}

// dial opens a connection to a device by both transports, which the test closes.
func (v *virtual) dial(spec sim.Spec) drivers.Target {
	v.t.Helper()
	target, err := v.open(v.t.Context(), spec)
	if err != nil {
		v.t.Fatal(err)
	}
	return target
}

func (v *virtual) open(ctx context.Context, spec sim.Spec) (drivers.Target, error) {
	return drivers.Routed{GNMI: v.overGNMI(), SSH: v.overSSH()}.Dial(ctx, v.endpoint(spec))
}

// change is one setting of a device's first port, and the question that shows it.
type change struct {
	ask   plan.Query
	chunk plan.Chunk
	route plan.Route
}

func changeOf(spec sim.Spec, word string) change {
	port := spec.Ports[0].Name
	ask := func(via plan.Via, text string) plan.Query {
		return plan.Query{Name: "configuration", Ways: []plan.Way{{Via: via, Text: text}}}
	}
	send := func(ms ...plan.Message) plan.Chunk { return plan.Chunk{Send: ms} }
	switch spec.Platform {
	case "sonic":
		return change{ask(plan.GNMI, "sonic-db:/CONFIG_DB/localhost"),
			send(plan.Message{Op: plan.SetUpdate, Path: "sonic-db:/CONFIG_DB/localhost/PORT/" + port + "/description", Body: `"` + word + `"`}), plan.GNMISet}
	case "eos":
		return change{ask(plan.SSH, "show running-config"),
			send(plan.Message{Op: plan.Line, Body: "interface " + port}, plan.Message{Op: plan.Line, Body: "description " + word}), plan.SSHSession}
	default:
		return change{ask(plan.SSH, "cat /etc/modprobe.d/weir.conf"),
			send(plan.Message{Op: plan.Run, Body: "echo '# " + word + "' > /etc/modprobe.d/weir.conf"}), plan.SSHShell}
	}
}

func (c change) pending(spec sim.Spec) plan.Pending {
	return plan.Pending{Device: spec.Name, Name: "weir-1", Route: c.route}
}

// read is the configuration of a device as it shows it.
func (c change) read(ctx context.Context, target drivers.Target) (string, error) {
	answers, err := target.Get(ctx, []plan.Query{c.ask})
	if err != nil {
		return "", err
	}
	return string(answers[0].Body), nil
}

// gather collects the counters of all devices until it is told to stop.
func (v *virtual) gather() (store *collect.Store, stop func()) {
	v.t.Helper()
	ctx, cancel := context.WithCancel(v.t.Context())
	store = collect.New(collect.Options{})
	var all sync.WaitGroup
	for _, spec := range v.specs {
		bindings, err := telemetry.ReadBindings(packs, spec.Platform)
		if err != nil {
			v.t.Fatal(err)
		}
		e, device := v.endpoint(spec), telemetry.Device{Name: spec.Name, Watched: []string{"3"}}
		for _, p := range spec.Ports {
			device.Ports = append(device.Ports, telemetry.Port{Name: p.Name, RDMA: p.RDMA})
		}
		streams := e.GNMI != "" && len(bindings.Streams) > 0
		if streams {
			s := subscribe.Subscriber{Device: device, Bindings: bindings, Sink: store, Dial: func(ctx context.Context) (subscribe.Conn, error) {
				target, err := v.overGNMI().Dial(ctx, e)
				if err != nil {
					return nil, err
				}
				return target.(*gnmi.Target).Conn(), nil
			}}
			all.Go(func() {
				if err := s.Run(ctx); err != nil {
					v.t.Error(err)
				}
			})
		}
		p := poll.Poller{Device: device, Bindings: bindings, Sink: store, Streams: streams, Dial: func(ctx context.Context) (poll.Session, error) {
			return v.overSSH().Dial(ctx, e)
		}}
		all.Go(func() {
			if err := p.Run(ctx); err != nil {
				v.t.Error(err)
			}
		})
	}
	return store, func() { cancel(); all.Wait() }
}

// round is what the work of one run comes to: read every device, change it, read it again, and watch for a while.
func (v *virtual) round(watch time.Duration) *collect.Store {
	v.t.Helper()
	for _, spec := range v.specs {
		target, c := v.dial(spec), changeOf(spec, "changed")
		before, err := c.read(v.t.Context(), target)
		if err != nil {
			v.t.Fatal(err)
		}
		if err := target.Set(v.t.Context(), c.chunk, c.pending(spec)); err != nil {
			v.t.Fatal(err)
		}
		after, err := c.read(v.t.Context(), target)
		if err != nil {
			v.t.Fatal(err)
		}
		if strings.Contains(before, "changed") || !strings.Contains(after, "changed") {
			v.t.Errorf("%s: the change is not read back:\n%s", spec.Name, after)
		}
		if err := target.Close(); err != nil {
			v.t.Error(err)
		}
	}
	if err := v.SetTraffic(sim.Steady); err != nil {
		v.t.Fatal(err)
	}
	store, stop := v.gather()
	time.Sleep(watch)
	stop()
	return store
}

func TestAFabricLivesAMinuteOfVirtualTime(t *testing.T) {
	drivertest.Bubble(t, func(t *testing.T) {
		v := startVirtual(t, pod())
		defer v.close()
		began := time.Now()
		store := v.round(time.Minute)
		if took := time.Since(began); took < time.Minute || took > 2*time.Minute {
			t.Errorf("it took %v of virtual time", took)
		}
		for _, spec := range v.specs {
			moving := 0
			for _, s := range store.Series([]string{spec.Name}, telemetry.ReceivedBytes, telemetry.PriorityReceivedBytes, telemetry.OutOfSequence) {
				if s.Over(1) >= 30*time.Second {
					moving++
				}
			}
			if moving == 0 {
				t.Errorf("%s: what its ports receive was not seen over half a minute", spec.Name)
			}
		}
	})
}

// TestEveryReleaseOfSONiCIsReadWhileItsCountersChange watches counters that move every second, beside the state of the ports.
func TestEveryReleaseOfSONiCIsReadWhileItsCountersChange(t *testing.T) {
	for _, release := range []sonic.Release{sonic.R202511, sonic.Master} {
		t.Run(string(release), func(t *testing.T) {
			drivertest.Bubble(t, func(t *testing.T) {
				v := startRelease(t, pod(), release)
				defer v.close()
				if err := v.SetTraffic(sim.Steady); err != nil {
					t.Fatal(err)
				}
				store, stop := v.gather()
				time.Sleep(3 * time.Minute)
				stop()
				for _, m := range []*telemetry.Metric{telemetry.ReceivedBytes, telemetry.QueuePackets, telemetry.PortUp} {
					series := store.Series([]string{"leaf1"}, m)
					if len(series) == 0 {
						t.Fatalf("nothing of %s", m.Name)
					}
					for _, s := range series {
						if age := time.Since(s.Last().At); age > 3*s.Every/2 {
							t.Errorf("%s of %s is %v old", m.Name, s.Addr, age)
						}
					}
				}
				for _, m := range []*telemetry.Metric{telemetry.Reconnects, telemetry.SilentPaths} {
					for _, s := range store.Series([]string{"leaf1"}, m) {
						if s.Last().Value != 0 {
							t.Errorf("%s is %v", m.Name, s.Last().Value)
						}
					}
				}
			})
		})
	}
}

// TestWhatChangesOftenIsNotSampledOn202511 counts what different subscriptions to counters bring in a minute while they move every second.
func TestWhatChangesOftenIsNotSampledOn202511(t *testing.T) {
	for _, c := range []struct {
		release     sonic.Release
		mode        gpb.SubscriptionMode
		every       time.Duration
		least, most int // values after the first
	}{
		{sonic.R202511, gpb.SubscriptionMode_SAMPLE, 10 * time.Second, 0, 0},
		{sonic.R202511, gpb.SubscriptionMode_SAMPLE, 3 * time.Second, 0, 0},
		{sonic.R202511, gpb.SubscriptionMode_SAMPLE, time.Second, 50, 70},
		{sonic.R202511, gpb.SubscriptionMode_ON_CHANGE, 0, 50, 400},
		{sonic.Master, gpb.SubscriptionMode_SAMPLE, 10 * time.Second, 5, 7},
	} {
		drivertest.Bubble(t, func(t *testing.T) {
			v := startRelease(t, pod(), c.release)
			defer v.close()
			if err := v.SetTraffic(sim.Steady); err != nil {
				t.Fatal(err)
			}
			target, err := v.overGNMI().Dial(t.Context(), v.endpoint(v.specs[0]))
			if err != nil {
				t.Fatal(err)
			}
			defer target.Close()
			ctx, cancel := context.WithCancel(t.Context())
			defer time.AfterFunc(time.Minute, cancel).Stop()
			s, err := gpb.NewGNMIClient(target.(*gnmi.Target).Conn()).Subscribe(ctx)
			if err != nil {
				t.Fatal(err)
			}
			list := &gpb.SubscriptionList{Prefix: &gpb.Path{Target: "COUNTERS_DB"}, Encoding: gpb.Encoding_JSON_IETF, Subscription: []*gpb.Subscription{{
				Path: &gpb.Path{Elem: []*gpb.PathElem{{Name: "COUNTERS"}, {Name: "Ethernet*"}}}, Mode: c.mode, SampleInterval: uint64(c.every)}}}
			if err := s.Send(&gpb.SubscribeRequest{Request: &gpb.SubscribeRequest_Subscribe{Subscribe: list}}); err != nil {
				t.Fatal(err)
			}
			values := -1
			for {
				r, err := s.Recv()
				if err != nil {
					break
				}
				if r.GetUpdate() != nil {
					values++
				}
			}
			if values < c.least || values > c.most {
				t.Errorf("%q, %v each %v: got %d values, want %d to %d", c.release, c.mode, c.every, values, c.least, c.most)
			}
		})
	}
}
