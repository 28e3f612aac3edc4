package host_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/weirfabric/weir/host"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/inventory/catalog"
	"github.com/weirfabric/weir/render"
)

var update = flag.Bool("update", false, "write the goldens anew")

// gpu1 is the usual host: DSCP 26 is lossless priority 3, DSCP 48 are CNPs, the rest is the default class.
func gpu1(model string) *fabric.Host {
	at := func(file string, line int) []diag.Pos { return []diag.Pos{{File: file, Line: line, Column: 1}} }
	profile := at("intent/hosts.yaml", 2)
	n := &fabric.NIC{
		Name: "eth0", RDMA: "mlx5_0", Model: catalog.Builtin().ByNIC(model), Speed: 400e9, MTU: 9000, Trust: qos.TrustDSCP, PFC: qos.Priorities(3),
		RoCE: 2, DSCP: 26, TOS: 106, CNPDSCP: 48, CNPPriority: 6, DCQCN: true, Class: "rdma", CNP: "cnp", At: profile,
		Origin: &fabric.Origin{
			MTU: at("intent/fabric.yaml", 10), FlowControl: at("intent/fabric.yaml", 12), PFC: at("intent/fabric.yaml", 13),
			Class: map[string][]diag.Pos{"rdma": at("intent/fabric.yaml", 4), "default": at("intent/fabric.yaml", 3), "cnp": at("intent/fabric.yaml", 5)},
		},
	}
	n.DSCPToPriority[26], n.DSCPToPriority[48], n.PriorityToTC[3], n.PriorityToTC[6] = 3, 6, 3, 6
	n.ETS[0], n.ETS[3], n.ETS[6] = qos.Scheduler{Weight: 50}, qos.Scheduler{Weight: 50}, qos.Scheduler{Strict: true}
	h := &fabric.Host{Device: fabric.Device{Name: "gpu1", Platform: "linux"}, Memlock: "64GiB", NICs: []*fabric.NIC{n}, At: profile}
	for _, name := range []string{"ib_uverbs", "rdma_cm", "rdma_ucm"} {
		h.Modules = append(h.Modules, fabric.Module{Name: name, At: profile})
	}
	return h
}

func TestGoldens(t *testing.T) {
	for name, h := range map[string]*fabric.Host{"fresh": gpu1("ConnectX-7"), "drifted": gpu1("ConnectX-7")} {
		t.Run(name, func(t *testing.T) { golden(t, h, "testdata/"+name+".txtar") })
	}
}

// golden plans the host against the answers in the golden, which lie in answers/, and compares what comes out.
func golden(t *testing.T, h *fabric.Host, path string) {
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	said := map[string][]byte{}
	for _, f := range archive.Files {
		if name, is := strings.CutPrefix(f.Name, "answers/"); is {
			said[name] = f.Data
		}
	}
	b := render.Bind[*fabric.Host](host.Language{}, h, h.Name, "linux", nil)
	var answers []plan.Answer
	for _, q := range b.Queries() {
		body, ok := said[q.Name]
		answers = append(answers, plan.Answer{Name: q.Name, Body: body, Missing: !ok})
		delete(said, q.Name)
	}
	for name := range said {
		t.Errorf("nothing asks for %s", name)
	}
	want, findings := b.Write()
	state, err := b.Read(answers)
	if err != nil {
		t.Fatal(err)
	}
	step, more := b.Step(state, want)
	out := map[string]string{"findings": append(findings, more...).String()}
	for _, f := range b.Print(want) {
		out["files/"+f.Name] = string(f.Body)
	}
	for _, c := range step.Chunks {
		out["send"] += "# chunk, impact " + c.Impact.String() + "\n" + text(c.Send)
		out["undo"] += "# chunk\n" + text(c.Undo)
	}
	for _, c := range step.Changes {
		if c.Addr.Kind != "dscp" {
			out["changes"] += strings.Join([]string{string(c.Action), c.Addr.String(), "[" + c.Before + "]", "[" + c.After + "]", c.Impact.String(), c.Because[0].String()}, " ") + "\n"
		}
	}
	for i, f := range archive.Files {
		got, ours := out[f.Name]
		if !ours {
			continue
		}
		if diff := cmp.Diff(string(f.Data), got); diff != "" && !*update {
			t.Errorf("%s (-want +got):\n%s", f.Name, diff)
		}
		archive.Files[i].Data = []byte(got)
	}
	if *update {
		if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// text is a message a line; of a file only its name.
func text(messages []plan.Message) string {
	var b strings.Builder
	for _, m := range messages {
		switch {
		case m.Op == plan.Run:
			b.WriteString(m.Body + "\n")
		case strings.Contains(m.Body, "\n") || m.Op == plan.Remove:
			b.WriteString(string(m.Op) + " " + m.Path + "\n")
		default:
			b.WriteString(string(m.Op) + " " + m.Path + " = " + m.Body + "\n")
		}
	}
	return b.String()
}
