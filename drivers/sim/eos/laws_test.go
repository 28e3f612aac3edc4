package eos

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/drivers/sim"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/inventory/catalog"
	"github.com/weirfabric/weir/render"
	lines "github.com/weirfabric/weir/render/cli"
	"github.com/weirfabric/weir/render/dialecttest"
	"github.com/weirfabric/weir/templates"
)

// others is what others configured. Ethernet9/1 is in no inventory.
const others = `hostname leaf1
!
qos profile OTHER
   qos trust cos
!
interface Ethernet1/1
   description to gpu1
   no switchport
   ip address 198.51.100.0/31
!
interface Ethernet9/1
   mtu 1400
   priority-flow-control on
   service-profile OTHER
!
ip route 0.0.0.0/0 192.0.2.254
!
router bgp 65001
   router-id 192.0.2.1
   neighbor 192.0.2.2 remote-as 65002
`

// typed is a device as a language sees it: commands and their answers.
type typed struct {
	t *testing.T
	*Device
	sent  *int          // how often something was
	owned plan.Manifest // what it holds of weir's
}

// run types lines into a terminal of its own. What the device says is the answer.
func (d typed) run(typing ...string) string {
	d.t.Helper()
	var out bytes.Buffer
	shell := d.shell(nil)
	defer shell.Close()
	for _, l := range append([]string{"enable"}, typing...) {
		if err := shell.Line(context.Background(), l, &out); err != nil {
			d.t.Fatalf("%s: %v", l, err)
		}
	}
	return out.String()
}

func (d typed) Answers(queries []plan.Query) []plan.Answer {
	var out []plan.Answer
	for _, q := range queries {
		out = append(out, plan.Answer{Name: q.Name, Body: []byte(d.run(q.Ways[0].Text))})
	}
	return out
}

// apply sends messages in one session.
func (d typed) apply(messages []plan.Message) {
	d.t.Helper()
	*d.sent++
	typing := []string{fmt.Sprintf("configure session weir-%d", *d.sent)}
	for _, m := range messages {
		if m.Op != plan.Line {
			d.t.Fatalf("a message of kind %s", m.Op)
		}
		typing = append(typing, m.Body)
	}
	if said := d.run(append(typing, "commit")...); said != "" {
		d.t.Fatal(said)
	}
}

// Foreign is the lines that others has, by the sections that they stand in.
func (d typed) Foreign() []byte {
	section, out := "", ""
	for l := range strings.Lines(string(d.Config())) {
		if !strings.HasPrefix(l, " ") {
			section = l
		}
		if l != "!\n" && strings.Contains(others, section) && strings.Contains(others, l) {
			out += section + l
		}
	}
	return []byte(out)
}

// random is a switch of a model with everything about its lossless classes at random.
func random(seed uint64) *fabric.Switch {
	sw := dialecttest.RandomSwitch(seed, "eos", "Ethernet1/1", "Ethernet2/1")
	sw.SKU = "DCS-7050CX3-32S"
	sw.ASIC = catalog.Builtin().BySKU(sw.SKU)
	return sw
}

// TestALanguageLeadsTheDeviceThereAndBack types what the language of EOS says: to a switch, to another one, and back by the
// chunks' own undo. A second plan is empty, what was there is there again, and what others configured is never touched.
func TestALanguageLeadsTheDeviceThereAndBack(t *testing.T) {
	language, err := lines.New(templates.FS, "eos")
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(12) {
		b := newBench(others)
		b.spec.SKU = "DCS-7050CX3-32S"
		b.spec.Ports = append(b.spec.Ports, sim.PortSpec{Name: "Ethernet9/1", Speed: 100e9})
		d := typed{t, New(b).(*Device), new(int), plan.Manifest{}}
		first, second := random(seed), random(seed+100)
		start, foreign := string(d.Config()), string(d.Foreign())
		there := d.bring(language, first)
		middle := string(d.Config())
		d.bring(language, second)
		d.back(d.bring(language, first))
		if diff := cmp.Diff(string(d.Foreign()), foreign); diff != "" {
			t.Errorf("seed %d: what others configured changed: got -, want +:\n%s", seed, diff)
		}
		d.bring(language, first)
		if diff := cmp.Diff(string(d.Config()), middle); diff != "" {
			t.Errorf("seed %d: the same switch is another configuration: got -, want +:\n%s", seed, diff)
		}
		d.back(there)
		if diff := cmp.Diff(string(d.Config()), start); diff != "" {
			t.Errorf("seed %d: after the undo: got -, want +:\n%s", seed, diff)
		}
	}
}

// bring makes the device what is wanted and returns what was done. Then nothing remains to be done.
func (d typed) bring(language *lines.Language, sw *fabric.Switch) plan.Step {
	d.t.Helper()
	bound := render.Bind(language, sw, "leaf1", "eos", nil)
	want, findings := bound.Write()
	if findings.HasErrors() {
		d.t.Fatal(findings)
	}
	for _, l := range want {
		d.owned["leaf1"] = append(d.owned["leaf1"], l.Object)
	}
	bound = render.Bind(language, sw, "leaf1", "eos", d.owned)
	var step plan.Step
	for _, again := range []bool{false, true} {
		have, err := bound.Read(d.Answers(bound.Queries()))
		if err != nil {
			d.t.Fatal(err)
		}
		next, findings := bound.Step(have, want)
		if findings.HasErrors() {
			d.t.Fatal(findings)
		}
		if again && len(next.Changes) > 0 {
			d.t.Fatalf("a second plan has %d changes, the first of them %+v", len(next.Changes), next.Changes[0])
		}
		if !again {
			step = next
		}
		for _, c := range next.Chunks {
			d.apply(c.Send)
		}
	}
	return step
}

// back undoes a step.
func (d typed) back(step plan.Step) {
	d.t.Helper()
	for _, c := range slices.Backward(step.Chunks) {
		d.apply(c.Undo)
	}
}
