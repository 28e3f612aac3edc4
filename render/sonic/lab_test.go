package sonic

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/drivers"
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

// lab is a simulated switch that this language is spoken with over gNMI and SSH.
type lab struct {
	t      *testing.T
	target drivers.Target
	*sim.Lab
}

func newLab(t *testing.T, files map[string][]byte) lab {
	t.Helper()
	spec := sim.Spec{Name: "leaf1", Platform: "sonic", SKU: sn4600c, Files: files}
	for _, name := range []string{"Ethernet0", "Ethernet4", "Ethernet8"} {
		spec.Ports = append(spec.Ports, sim.PortSpec{Name: name, Alias: "etp" + name, Speed: 100e9, Cable: 40})
	}
	l, err := sim.New([]sim.Spec{spec}, sim.Options{
		Scale: 1000, Dir: t.TempDir(), Personalities: map[string]func(sim.Hardware) sim.Personality{"sonic": simulated.New},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	if err := l.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	user, password := l.Credentials()
	e := drivers.Endpoint{
		Device: "leaf1", Platform: "sonic", User: user, Password: drivers.Secret(password), TLS: drivers.TLS{CA: l.CAFile()}, HostKeys: l.KnownHosts(),
	}
	e.GNMI, e.SSH = l.Endpoint("leaf1")
	target, err := drivers.Routed{GNMI: gnmi.Dialer{Packs: templates.FS}, SSH: ssh.Dialer{Packs: templates.FS}}.Dial(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { target.Close() })
	return lab{t, target, l}
}

func (l lab) read(b render.Bound) plan.State {
	l.t.Helper()
	answers, err := l.target.Get(l.t.Context(), b.Queries())
	if err != nil {
		l.t.Fatal(err)
	}
	state, err := b.Read(answers)
	if err != nil {
		l.t.Fatal(err)
	}
	return state
}

// bring takes the switch to what is wanted and returns the step that did.
func (l lab) bring(b render.Bound, want plan.Document, route plan.Route) plan.Step {
	l.t.Helper()
	have := l.read(b)
	have.Route = route
	step, findings := b.Step(have, want)
	if findings.HasErrors() {
		l.t.Fatal(findings)
	}
	if len(step.Validate) > 0 {
		if err := l.target.Set(l.t.Context(), plan.Chunk{Send: step.Validate}, plan.Pending{Device: "leaf1", Name: "validate", Route: plan.SSHBulk}); err != nil {
			l.t.Fatalf("the dry run: %v", err)
		}
	}
	for i, c := range step.Chunks {
		if err := l.target.Set(l.t.Context(), c, plan.Pending{Device: "leaf1", Name: "test", Route: step.Route}); err != nil {
			l.t.Fatalf("chunk %d of %d: %v", i+1, len(step.Chunks), err)
		}
	}
	l.quiet(step)
	if again, _ := b.Step(l.read(b), want); len(again.Changes) > 0 {
		l.t.Errorf("a second plan has %d changes, the first %+v", len(again.Changes), again.Changes[0])
	}
	return step
}

// quiet waits until nothing on the switch changes it any more.
func (l lab) quiet(step plan.Step) {
	l.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; {
		answers, err := l.target.Get(l.t.Context(), step.Quiet)
		if err != nil {
			l.t.Fatal(err)
		}
		if slices.IndexFunc(answers, func(a plan.Answer) bool { return len(a.Body) > 0 }) < 0 {
			return
		}
		if time.Now().After(deadline) {
			l.t.Fatal("the updater does not end")
		}
	}
}

func TestASimulatedSwitchIsLedThereAndBackOverItsRealProtocols(t *testing.T) {
	for _, model := range []string{traditional, dynamic} {
		t.Run(model, func(t *testing.T) {
			l := newLab(t, nil)
			sw := oneLeaf(t, sn4600c, 3)
			want, _ := Language{}.Write(sw)
			b := render.Bind(Language{}, sw, "leaf1", "sonic", ownsAll(want))
			l.set("DEVICE_METADATA", "localhost", "buffer_model", model)
			before := l.read(b)
			if step := l.bring(b, want, ""); step.Route != plan.SSHBulk {
				t.Errorf("the rollout goes by %s", step.Route)
			}
			if c, _ := l.Counters("leaf1", "Ethernet0"); c.Flaps != 0 {
				t.Errorf("the bulk route flapped the port %d times", c.Flaps)
			}
			narrow := oneLeaf(t, sn4600c, 3)
			for _, p := range narrow.Ports {
				p.Queues = slices.Clone(p.Queues)
				p.Queues[3].WRED = &qos.WRED{Min: 200e3, Max: 900e3, Probability: 30, ECN: true}
			}
			narrow.Ports[0].Queues[0].Scheduler, narrow.Ports[0].MTU = qos.Scheduler{Strict: true}, 4200
			l.small(narrow)
			if c, _ := l.Counters("leaf1", "Ethernet0"); c.Flaps == 0 {
				t.Error("a queue of a port that is up changed over gNMI without a flap")
			}
			l.bring(b, before.Owned, plan.SSHBulk)
			if diff := cmp.Diff(lines(before.Owned), lines(l.read(b).Owned)); diff != "" {
				t.Errorf("the switch is not as before (-before +after):\n%s", diff)
			}
		})
	}
}

// small leads the switch over gNMI, as a few changes go.
func (l lab) small(sw *fabric.Switch) {
	l.t.Helper()
	want, _ := Language{}.Write(sw)
	b := render.Bind(Language{}, sw, "leaf1", "sonic", ownsAll(want))
	if step := l.bring(b, want, ""); step.Route != plan.GNMISet || step.Impact() != plan.Flaps {
		l.t.Errorf("a few changes go by %s with impact %s", step.Route, step.Impact())
	}
}

// set changes a value past weir.
func (l lab) set(table, key, field, value string) {
	l.t.Helper()
	merge := rows{}
	merge.set(table, key, field, value)
	err := l.target.Set(l.t.Context(), plan.Chunk{Send: []plan.Message{
		{Op: plan.Write, Path: "/tmp/other.json", Body: encode(merge)}, {Op: plan.Run, Body: "sudo config load -y /tmp/other.json"},
	}}, plan.Pending{Device: "leaf1", Name: "other", Route: plan.SSHBulk})
	if err != nil {
		l.t.Fatal(err)
	}
}

func ownsAll(doc plan.Document) plan.Manifest {
	m := plan.Manifest{}
	for _, l := range doc {
		if l.Object != "" && !m.Has("leaf1", l.Object) {
			m["leaf1"] = append(m["leaf1"], l.Object)
		}
	}
	return m
}
