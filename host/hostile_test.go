package host_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/weirfabric/weir/host"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
)

// TestAHostileNameIsOneWord gives names that no inventory takes to the language itself, and lets the shell of the machine run all
// that would be asked, sent and run at boot, in a folder where no command of a host is found. Had one of them been taken apart, a
// file would stand there.
func TestAHostileNameIsOneWord(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell")
	}
	const evil = "eth0;>owned;$(>owned)`>owned`' >owned\n>owned #"
	h := change(random(1), func(n *fabric.NIC) { n.Name, n.RDMA, n.RoCE = evil, "mlx5;>owned;\n>owned", 2 })
	h.Modules = append(h.Modules, fabric.Module{Name: "m;>owned;$(>owned)"})
	doc, _ := host.Language{}.Write(h)
	var scripts []string
	for _, q := range (host.Language{}).Queries(h) {
		scripts = append(scripts, q.Ways[0].Text)
	}
	for _, f := range (host.Language{}).Print(doc) {
		if strings.HasSuffix(f.Name, "weir-host") {
			// Redirections go to files of the kernel, which are no files here.
			body := strings.Replace(string(f.Body), "\n\t[ -e \"$1\" ]\n", "\n\ttrue\n", 1) // the NIC is there, whatever it is called
			if body == string(f.Body) {
				t.Fatal("the script does not wait for NICs as it did")
			}
			scripts = append(scripts, body)
		}
	}
	var all []plan.Delta
	for _, l := range doc {
		all = append(all, plan.Delta{Leaf: l, Action: plan.Create}, plan.Delta{Leaf: l, Action: plan.Delete, Before: l.Value + ";>owned"})
	}
	step, _ := host.Language{}.Script(h, plan.State{Facts: map[string]string{}}, all)
	for _, c := range step.Chunks {
		for _, m := range append(c.Send, c.Undo...) {
			if m.Op == plan.Run {
				scripts = append(scripts, m.Body)
			}
		}
	}
	if len(scripts) < 20 {
		t.Fatalf("only %d commands", len(scripts))
	}
	for _, text := range scripts {
		dir := t.TempDir()
		command := exec.Command(sh, "-c", text)
		command.Dir, command.Env = dir, []string{"PATH=" + dir}
		_ = command.Run() // nothing is found; what matters is what stands there afterwards
		out, err := exec.Command("ls", dir).Output()
		if err != nil || len(out) > 0 {
			t.Errorf("%q left %s", text, out)
		}
	}
}
