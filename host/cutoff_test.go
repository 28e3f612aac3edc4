package host_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/drivers/drivertest"
	"github.com/weirfabric/weir/drivers/sim"
	"github.com/weirfabric/weir/drivers/sim/linux"
	driver "github.com/weirfabric/weir/drivers/ssh"
	"github.com/weirfabric/weir/host"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/render"
	"github.com/weirfabric/weir/templates"
)

// TestAWriteThatIsCutOffLeavesNothing lets a change go wrong at each of its first commands, and undoes what is there.
func TestAWriteThatIsCutOffLeavesNothing(t *testing.T) {
	authority, err := sim.NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	pieces := 0 // that were left by the change itself
	for _, kind := range []sim.FaultKind{sim.DropBefore, sim.Drop, sim.Partial, sim.Reject} {
		for after := range 16 {
			t.Run(fmt.Sprintf("%s after %d", kind, after), func(t *testing.T) {
				drivertest.Bubble(t, func(t *testing.T) {
					pieces += cutOff(t, authority, sim.Fault{Kind: kind, Device: "gpu1", On: sim.Set, After: after})
				})
			})
		}
	}
	if pieces == 0 {
		t.Error("nothing was ever cut off: the faults do not meet the writing of files")
	}
}

// TestAProtocolErrorOfDCBIsReadAndTriedAgain has dcb fail with and without effect, a few times in a row.
func TestAProtocolErrorOfDCBIsReadAndTriedAgain(t *testing.T) {
	authority, err := sim.NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	for times := range 3 {
		drivertest.Bubble(t, func(t *testing.T) {
			cutOff(t, authority, sim.Fault{Kind: sim.Unsure, Device: "gpu1", On: sim.Set, After: 3 * times, Times: 1 + times})
		})
	}
}

// cutOff returns how many pieces of files the change left.
func cutOff(t *testing.T, a *sim.Authority, f sim.Fault) int {
	h := random(1)
	spec := sim.Spec{Name: h.Name, Platform: "linux", Host: true}
	for _, n := range h.NICs {
		spec.Ports = append(spec.Ports, sim.PortSpec{Name: n.Name, RDMA: n.RDMA, Speed: n.Speed})
	}
	network := sim.NewNetwork()
	lab, err := sim.New([]sim.Spec{spec}, sim.Options{
		Network: network, Authority: a, Personalities: map[string]func(sim.Hardware) sim.Personality{"linux": linux.New},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer lab.Close()
	if err := lab.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	_, address := lab.Endpoint(h.Name)
	user, password := lab.Credentials()
	target, err := driver.Dialer{Packs: templates.FS, DialContext: network.DialContext}.Dial(t.Context(), drivers.Endpoint{
		Device: h.Name, Platform: "linux", SSH: address, User: user, Password: drivers.Secret(password), HostKeys: lab.KnownHosts(),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	b := render.Bind[*fabric.Host](host.Language{}, h, h.Name, "linux", nil)
	look := func() plan.State {
		answers, err := target.Get(t.Context(), b.Queries())
		if err != nil {
			t.Fatal(err)
		}
		state, err := b.Read(answers)
		if err != nil {
			t.Fatal(err)
		}
		return state
	}
	send := func(s plan.Step) error {
		for _, c := range s.Chunks {
			if err := target.Set(t.Context(), c, plan.Pending{}); err != nil {
				return err
			}
		}
		return nil
	}
	config := func() string {
		text, err := lab.Config(h.Name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	before, was := look(), config()
	want, _ := b.Write()
	step, _ := b.Step(before, want)
	if err := lab.Inject(f); err != nil {
		t.Fatal(err)
	}
	err = send(step)
	if again := f.Kind == sim.Unsure; again != (err == nil) {
		t.Fatalf("the change ended with %v", err)
	}
	if err == nil {
		if again, _ := b.Step(look(), want); len(again.Changes) > 0 {
			t.Errorf("%d changes remain, the first of them %+v", len(again.Changes), again.Changes[0])
		}
	}
	left := strings.Count(config(), plan.Unfinished+"\n")
	have := look()
	undo, findings := b.Step(have, before.Owned)
	if findings.HasErrors() {
		t.Fatal(findings)
	}
	if err := send(undo); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before.Owned, look().Owned); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(was, config()); diff != "" {
		t.Errorf("the host (-before +after):\n%s", diff)
	}
	return left
}
