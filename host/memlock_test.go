package host_test

import (
	"strings"
	"testing"

	"github.com/weirfabric/weir/host"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/render"
)

func TestAServiceKeepsWhatItWasStartedWithUntilItIsStartedAgain(t *testing.T) {
	h := random(1)
	h.Memlock, h.MemlockServices = "64GiB", []string{"slurmd"}
	d := start(t, h, nil)
	for _, c := range []struct {
		before string // that somebody does
		warns  bool
	}{{"true", false}, {"", true}, {"systemctl restart slurmd", false}} {
		if c.before == "" {
			converge(t, h, d)
		} else if err := d.Apply([]plan.Message{{Op: plan.Run, Body: c.before}}); err != nil {
			t.Fatal(err)
		}
		step, findings := stepOf(t, h, d)
		if warns := strings.Contains(findings.String(), "warning: gpu1/memlock/slurmd: the service runs with a limit of 8388608 that it was started with"); warns != c.warns {
			t.Errorf("after %q: %q", c.before, findings)
		}
		if c.before != "true" && len(step.Changes) > 0 {
			t.Errorf("after %q there are changes left: %+v", c.before, step.Changes)
		}
	}
}

func TestAServiceThatTheHostHasNotIsNamed(t *testing.T) {
	h := random(1)
	h.Memlock, h.MemlockServices = "unlimited", []string{"slurmdd"}
	b := render.Bind[*fabric.Host](host.Language{}, h, h.Name, "linux", nil)
	state, err := b.Read(start(t, h, nil).Answers(b.Queries()))
	if err != nil {
		t.Fatal(err)
	}
	want, _ := b.Write()
	step, findings := b.Step(state, want)
	if !strings.Contains(findings.String(), "error: gpu1/memlock/slurmdd: the host has no service of this name") {
		t.Errorf("got %q", findings)
	}
	for _, c := range step.Changes {
		if c.Addr.Kind == "memlock" {
			t.Errorf("%s changes all the same", c.Addr)
		}
	}
}
