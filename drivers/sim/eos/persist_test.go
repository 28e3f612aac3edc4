package eos

import (
	"context"
	"strings"
	"testing"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/drivers/apply"
	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/drivers/sim"
	"github.com/weirfabric/weir/drivers/ssh"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/render"
	lines "github.com/weirfabric/weir/render/cli"
	"github.com/weirfabric/weir/templates"
)

// TestWhatIsAppliedOutlivesARestart carries a plan out in the language of EOS, over SSH. What was confirmed is in the
// startup configuration then.
func TestWhatIsAppliedOutlivesARestart(t *testing.T) {
	language, err := lines.New(templates.FS, "eos")
	if err != nil {
		t.Fatal(err)
	}
	sw := random(1)
	lab, err := sim.New([]sim.Spec{{Name: "leaf1", Platform: "eos", SKU: sw.SKU, Ports: []sim.PortSpec{
		{Name: "Ethernet1/1", Speed: 100e9}, {Name: "Ethernet2/1", Speed: 100e9},
	}}}, sim.Options{Scale: 100, Dir: t.TempDir(), Personalities: map[string]func(sim.Hardware) sim.Personality{"eos": New}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := lab.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := lab.Start(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	user, password := lab.Credentials()
	_, address := lab.Endpoint("leaf1")
	dial := func(ctx context.Context, _ string) (drivers.Target, error) {
		return ssh.Dialer{Packs: templates.FS}.Dial(ctx, drivers.Endpoint{
			Device: "leaf1", Platform: "eos", SSH: address, User: user, Password: drivers.Secret(password), HostKeys: lab.KnownHosts(),
		})
	}
	target, err := dial(t.Context(), "leaf1")
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	bound := render.Bind(language, sw, "leaf1", "eos", nil)
	want, findings := bound.Write()
	if findings.HasErrors() {
		t.Fatal(findings)
	}
	answers, err := target.Get(t.Context(), bound.Queries())
	if err != nil {
		t.Fatal(err)
	}
	have, err := bound.Read(answers)
	if err != nil {
		t.Fatal(err)
	}
	step, findings := bound.Step(have, want)
	if findings.HasErrors() || step.Confirm == 0 {
		t.Fatalf("a step with the timer %s and findings %s", step.Confirm, findings)
	}
	store := journal.Store{Dir: t.TempDir()}
	config := apply.Config{Store: store, Devices: map[string]apply.Device{"leaf1": bound}, Dial: dial, Scale: lab.Scale()}
	p := plan.Plan{ID: "plan-1", Waves: [][]plan.Step{{step}}}
	result, err := config.Apply(t.Context(), p, map[string]plan.Document{"leaf1": want})
	if err != nil || result.Outcome != journal.Applied {
		t.Fatalf("got %+v, %v", result, err)
	}
	saved := over(t, lab, "leaf1", "enable\nshow startup-config")
	for _, line := range []string{"\nqos profile WEIR-", "\n   service-profile WEIR-"} {
		if !strings.Contains(saved, line) {
			t.Errorf("the startup configuration has no %q:\n%s", line, saved)
		}
	}
	if sessions := over(t, lab, "leaf1", "enable\nshow configuration sessions"); strings.Contains(sessions, "-save ") {
		t.Errorf("saving took a configuration session of its own:\n%s", sessions)
	}
}
