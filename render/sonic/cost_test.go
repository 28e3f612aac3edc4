package sonic

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/drivers/drivertest"
	"github.com/weirfabric/weir/drivers/gnmi"
	"github.com/weirfabric/weir/drivers/sim"
	simulated "github.com/weirfabric/weir/drivers/sim/sonic"
	"github.com/weirfabric/weir/drivers/ssh"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/render"
	"github.com/weirfabric/weir/templates"
)

// factor is within which a cost must be true.
const factor = 1.6

func within(got, low, high time.Duration) bool {
	return float64(got) >= float64(low)/factor && float64(got) <= float64(high)*factor
}

// times is a watchdog with other times than oneLeaf's.
func times(sw *fabric.Switch) {
	w := &qos.Watchdog{Detection: 300 * time.Millisecond, Restoration: 600 * time.Millisecond, Poll: 100 * time.Millisecond, Action: qos.Drop}
	sw.Watchdog = w
	for _, p := range sw.Ports {
		p.Watchdog = w
	}
}

// TestTheCostIsWhatARealSwitchTook holds the model against a 202511 that was watched in November 2026.
func TestTheCostIsWhatARealSwitchTook(t *testing.T) {
	for name, c := range map[string]struct {
		ports     int
		change    func(*fabric.Switch)
		more      string
		route     plan.Route
		low, high time.Duration
	}{
		"one leaf of 10 ports":             {10, func(sw *fabric.Switch) { sw.Ports[0].MTU = 4200 }, "", plan.GNMISet, 3300 * time.Millisecond, 3300 * time.Millisecond},
		"20 leaves of 10 ports":            {10, times, "", plan.GNMISet, 17200 * time.Millisecond, 17200 * time.Millisecond},
		"the watchdog's times of 64 ports": {64, times, "", plan.GNMISet, 150800 * time.Millisecond, 150800 * time.Millisecond},
		"a rollout of a thousand settings": {64, nil, "", plan.SSHBulk, 4400 * time.Millisecond, 7200 * time.Millisecond},
	} {
		sw := oneLeaf(t, sn4600c, c.ports)
		device := running(t, sw, ports(sn4600c, c.ports))
		if c.change == nil {
			device = []byte(ports(sn4600c, c.ports))
		} else {
			c.change(sw)
		}
		step, _, _ := planFrom(t, sw, device, c.route)
		if cost := step.Cost - validateCost; !within(cost, c.low, c.high) {
			t.Errorf("%s: %d changes are expected to take %v, a real switch took %v to %v", name, len(step.Changes), cost, c.low, c.high)
		}
	}
}

// authority is made once: keys are slow.
var authority = sync.OnceValues(sim.NewAuthority)

// inBubble is a switch of the lab on virtual time, with weir's transports to it.
func inBubble(t *testing.T, portCount int) (lab, func()) {
	t.Helper()
	a, err := authority()
	if err != nil {
		t.Fatal(err)
	}
	spec := sim.Spec{Name: "leaf1", Platform: "sonic", SKU: sn4600c}
	for i := range portCount {
		spec.Ports = append(spec.Ports, sim.PortSpec{Name: fmt.Sprintf("Ethernet%d", 4*i), Speed: 100e9, Cable: 40})
	}
	network := sim.NewNetwork()
	l, err := sim.New([]sim.Spec{spec}, sim.Options{Network: network, Authority: a, Personalities: map[string]func(sim.Hardware) sim.Personality{"sonic": simulated.New}})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	user, password := l.Credentials()
	e := drivers.Endpoint{Device: "leaf1", Platform: "sonic", User: user, Password: drivers.Secret(password), TLS: drivers.TLS{CA: l.CAFile()}, HostKeys: l.KnownHosts()}
	e.GNMI, e.SSH = l.Endpoint("leaf1")
	target, err := drivers.Routed{GNMI: gnmi.Dialer{Packs: templates.FS, DialContext: network.DialContext},
		SSH: ssh.Dialer{Packs: templates.FS, DialContext: network.DialContext}}.Dial(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	return lab{t, target, l}, func() { target.Close(); l.Close() }
}

// TestTheCostIsTrueInTheLaboratory measures what steps take there.
func TestTheCostIsTrueInTheLaboratory(t *testing.T) {
	drivertest.Bubble(t, func(t *testing.T) {
		l, end := inBubble(t, 16)
		defer end()
		sw := oneLeaf(t, sn4600c, 16)
		want, _ := Language{}.Write(sw)
		l.costs("the first rollout", sw, want, plan.SSHBulk)
		times(sw)
		l.costs("the watchdog's times", sw, nil, plan.GNMISet)
		sw.Ports[3].MTU = 4200
		l.costs("one leaf", sw, nil, plan.GNMISet)
		for _, p := range sw.Ports[:4] {
			p.Queues = slices.Clone(p.Queues)
			p.Queues[0].Scheduler = qos.Scheduler{Strict: true}
		}
		l.costs("queues of four ports", sw, nil, plan.GNMISet)
	})
}

// costs makes one step and compares.
func (l lab) costs(name string, sw *fabric.Switch, want plan.Document, route plan.Route) {
	l.t.Helper()
	if want == nil {
		want, _ = Language{}.Write(sw)
	}
	b := render.Bind(Language{}, sw, "leaf1", "sonic", ownsAll(want))
	began := time.Now()
	step := l.bring(b, want, route)
	if took := time.Since(began); !within(step.Cost, took, took) {
		l.t.Errorf("%s: %d changes were expected to take %v and took %v", name, len(step.Changes), step.Cost, took)
	}
}

func TestNothingStaysInTheTemporaryFolder(t *testing.T) {
	drivertest.Bubble(t, func(t *testing.T) {
		l, end := inBubble(t, 2)
		defer end()
		ask := func(command string) string {
			answers, err := l.target.Get(t.Context(), []plan.Query{{Name: "q", Ways: []plan.Way{{Via: plan.SSH, Text: command}}}})
			if err != nil {
				t.Fatal(err)
			}
			return string(answers[0].Body)
		}
		left := strings.TrimSpace(ask("mktemp -d /tmp/weir-scratch.XXXXXXXXXXXX")) // of a run that was killed
		sw := oneLeaf(t, sn4600c, 2)
		want, _ := Language{}.Write(sw)
		b := render.Bind(Language{}, sw, "leaf1", "sonic", ownsAll(want))
		l.bring(b, want, plan.SSHBulk)
		if got := ask("ls -d /tmp/weir-scratch.* || true"); got != "" {
			t.Errorf("there is %q, and %q was there before", got, left)
		}
		// A refusal leaves nothing either.
		chunk := plan.Chunk{Send: []plan.Message{{Op: plan.Write, Path: plan.Scratch + "/patch.json", Body: "[]"}, {Op: plan.Run, Body: "test -s " + plan.Scratch + "/other"}}}
		if err := l.target.Set(t.Context(), chunk, plan.Pending{Device: "leaf1", Name: "x", Route: plan.SSHBulk}); err == nil {
			t.Error("a command that failed was taken for one that worked")
		}
		if got := ask("ls -d /tmp/weir-scratch.* || true"); got != "" {
			t.Errorf("after a refusal there is %q", got)
		}
	})
}

func TestADryRunThatIsRefusedNamesNothingThatWasSent(t *testing.T) {
	drivertest.Bubble(t, func(t *testing.T) {
		l, end := inBubble(t, 2)
		defer end()
		sw := oneLeaf(t, sn4600c, 2)
		want, _ := Language{}.Write(sw)
		b := render.Bind(Language{}, sw, "leaf1", "sonic", ownsAll(want))
		step, _ := b.Step(l.read(b), want)
		if err := l.Inject(sim.Fault{Device: "leaf1", Kind: sim.ForeignEdit, Text: "sonic-db-cli CONFIG_DB HSET 'SCHEDULER|theirs' weight 900"}); err != nil {
			t.Fatal(err)
		}
		before, _ := l.Config("leaf1")
		err := l.target.Set(t.Context(), plan.Chunk{Send: step.Validate}, plan.Pending{Device: "leaf1", Name: "v", Route: plan.SSHBulk})
		if err == nil || !strings.Contains(err.Error(), "Data Loading Failed") {
			t.Errorf("got %v, want the device's refusal", err)
		}
		if after, _ := l.Config("leaf1"); string(after) != string(before) {
			t.Error("the dry run changed the configuration")
		}
	})
}
