package cli

import (
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/inventory/catalog"
	"github.com/weirfabric/weir/render"
)

var update = flag.Bool("update", false, "write the goldens anew")

const goldens = "../../templates/eos/_golden/"

// leaf is the usual intent: DSCP 26 is lossless priority 3, DSCP 48 are CNPs, the rest is the default class.
func leaf(sku string, ports ...string) *fabric.Switch {
	watchdog := &qos.Watchdog{Detection: 200 * time.Millisecond, Restoration: 400 * time.Millisecond, Poll: 100 * time.Millisecond, Action: qos.Drop}
	at := func(line int) []diag.Pos { return []diag.Pos{{File: "intent/fabric.yaml", Line: line, Column: 1}} }
	sw := &fabric.Switch{
		Device: fabric.Device{Name: "leaf1", Platform: "eos", SKU: sku, At: diag.Pos{File: "inventory/devices.yaml", Line: 2, Column: 3}},
		ASIC:   catalog.Builtin().BySKU(sku), Watchdog: watchdog, Trust: qos.TrustDSCP, LossyAlpha: 3,
	}
	sw.Maps.At = at(2)
	for i := range 8 {
		sw.Maps.TCToQueue[i] = qos.Queue(i)
	}
	sw.Maps.DSCPToTC[26], sw.Maps.DSCPToTC[48], sw.Maps.PCPToTC[3], sw.Maps.PCPToTC[6] = 3, 6, 3, 6
	queues, groups := make([]fabric.Queue, 8), make([]fabric.Group, 8)
	for i := range 8 {
		queues[i], groups[i] = fabric.Queue{ID: qos.Queue(i), Alpha: 3}, fabric.Group{ID: qos.PriorityGroup(i), Alpha: 3}
	}
	queues[0].Class, queues[0].Scheduler = "default", qos.Scheduler{Weight: 50}
	queues[3].Class, queues[3].Scheduler, queues[3].Lossless = "rdma", qos.Scheduler{Weight: 50}, true
	queues[3].WRED, queues[3].Guaranteed = &qos.WRED{Min: 150e3, Max: 1500e3, Probability: 20, ECN: true}, 10
	queues[6].Class, queues[6].Scheduler = "cnp", qos.Scheduler{Strict: true}
	groups[3] = fabric.Group{ID: 3, Lossless: true, Priorities: qos.Priorities(3), Reserved: 78_000, XON: 18_000, Headroom: 60_000}
	origin := &fabric.Origin{
		MTU: at(10), Trust: at(11), FlowControl: at(12), PFC: at(13), Watchdog: at(14), Headroom: at(15),
		Class: map[string][]diag.Pos{"default": at(3), "rdma": at(4), "cnp": at(5)},
	}
	for _, name := range ports {
		sw.Ports = append(sw.Ports, &fabric.Port{
			Name: name, Speed: 100e9, MTU: 9000, Trust: qos.TrustDSCP, PFC: qos.Priorities(3), Watchdog: watchdog,
			Queues: queues, Groups: groups, Origin: origin,
		})
	}
	return sw
}

func TestGoldens(t *testing.T) {
	alert := leaf("DCS-7280CR3-32P4", "Ethernet1/1", "Ethernet2/1")
	own := *alert.Watchdog
	own.Action, own.Detection = qos.Alert, 500*time.Millisecond
	alert.Ports[1].Watchdog = &own
	alert.Ports[1].PFC |= qos.Priorities(4)
	for name, sw := range map[string]*fabric.Switch{
		"strata-fresh":   leaf("DCS-7060CX-32S", "Ethernet1/1", "Ethernet2/1"),
		"strata-adopted": leaf("DCS-7060CX-32S", "Ethernet1/1", "Ethernet2/1"),
		"sand-two-kinds": alert,
	} {
		t.Run(name, func(t *testing.T) { golden(t, eos(t), sw, goldens+name+".txtar") })
	}
}

// golden plans the switch against the running configuration in the golden and compares what comes out.
func golden(t *testing.T, l *Language, sw *fabric.Switch, path string) {
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var answers []plan.Answer
	for _, f := range archive.Files {
		if f.Name == "running-config" || f.Name == "qos-maps" {
			answers = append(answers, plan.Answer{Name: f.Name, Body: f.Data})
		}
	}
	b := render.Bind(l, sw, "leaf1", "eos", nil)
	want, findings := b.Write()
	state, err := b.Read(answers)
	if err != nil {
		t.Fatal(err)
	}
	step, more := b.Step(state, want)
	out := map[string]string{
		"startup-config": string(l.Print(want)[0].Body), "findings": append(findings, more...).String(),
		"changes": changes(step), "foreign": leaves(state.Foreign),
	}
	for _, c := range step.Chunks {
		out["send"], out["undo"] = out["send"]+bodies(c.Send), out["undo"]+bodies(c.Undo)
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

func bodies(messages []plan.Message) string {
	var b strings.Builder
	for _, m := range messages {
		b.WriteString(m.Body + "\n")
	}
	return b.String()
}

func changes(s plan.Step) string {
	var b strings.Builder
	for _, c := range s.Changes {
		adopt := ""
		if c.Adopt {
			adopt = " adopt"
		}
		b.WriteString(strings.Join([]string{string(c.Action), c.Addr.String(), "[" + c.Before + "]", "[" + c.After + "]", c.Impact.String() + adopt, c.Because[0].String()}, " ") + "\n")
	}
	return b.String()
}

func leaves(doc plan.Document) string {
	var b strings.Builder
	for _, l := range doc {
		b.WriteString(strings.Join(l.Path, " / ") + " = " + l.Value + " (" + l.Addr.String() + ")\n")
	}
	return b.String()
}
