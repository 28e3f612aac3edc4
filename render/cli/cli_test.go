package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/inventory/catalog"
	"github.com/weirfabric/weir/render"
	"github.com/weirfabric/weir/render/dialecttest"
)

func eos(t testing.TB) *Language {
	t.Helper()
	l, err := New(os.DirFS("../../templates"), "eos")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// random is a switch of a SKU that the language knows.
func random(seed uint64, sku string, ports ...string) *fabric.Switch {
	sw := dialecttest.RandomSwitch(seed, "eos", ports...)
	sw.SKU, sw.ASIC = sku, catalog.Builtin().BySKU(sku)
	return sw
}

func TestTheLawsOfALanguage(t *testing.T) {
	var devs []*fabric.Switch
	for seed := range uint64(12) {
		devs = append(devs, random(seed, "DCS-7050CX3-32S", "Ethernet1/1", "Ethernet2/1", "Ethernet3/1", "Ethernet10"))
	}
	dialecttest.Run(t, eos(t), devs, dialecttest.Options[*fabric.Switch]{
		Identity: render.IdentityOfSwitch, Settings: (*fabric.Switch).Settings,
		Name: func(sw *fabric.Switch) string { return sw.Name }, Platform: "eos", Start: start,
		Unsayable: map[string]*fabric.Switch{
			"a chip that is not known": random(1, "ACME-1", "Ethernet1/1"),
			"an MTU that is too large": change(random(1, "DCS-7050CX3-32S", "Ethernet1/1"), func(p *fabric.Port) { p.MTU = 9500 }),
			"flow control":             change(random(1, "DCS-7050CX3-32S", "Ethernet1/1"), func(p *fabric.Port) { p.FlowControl = true }),
			"half a percent":           change(random(1, "DCS-7050CX3-32S", "Ethernet1/1"), func(p *fabric.Port) { p.Queues[0].Scheduler = qos.Scheduler{Weight: 0.5} }),
		},
	})
}

func change(sw *fabric.Switch, how func(*fabric.Port)) *fabric.Switch {
	for _, p := range sw.Ports {
		how(p)
	}
	return sw
}

// planned is the step from the running configuration of one switch to another.
func planned(t *testing.T, from, to *fabric.Switch, m plan.Manifest, foreign string) (plan.Step, diag.List) {
	t.Helper()
	l := eos(t)
	have, _ := l.Write(from)
	b := render.Bind[*fabric.Switch](l, to, to.Name, "eos", m)
	want, _ := b.Write()
	state, err := b.Read([]plan.Answer{{Name: "running-config", Body: append(l.Print(have)[0].Body, foreign+"end\n"...)}})
	if err != nil {
		t.Fatal(err)
	}
	return b.Step(state, want)
}

func TestANumberThatChangesIsOneUpdate(t *testing.T) {
	from, to := leaf("DCS-7060CX-32S", "Ethernet1/1", "Ethernet2/1"), leaf("DCS-7060CX-32S", "Ethernet1/1", "Ethernet2/1")
	to.Ports[0].Queues[3].WRED = &qos.WRED{Min: 200e3, Max: 1500e3, Probability: 20, ECN: true}
	to.Maps.DSCPToTC[27], to.Maps.DSCPToTC[28] = 3, 3
	step, findings := planned(t, from, to, nil, "")
	if len(findings) > 0 {
		t.Error(findings)
	}
	want := []string{
		"update leaf1/map/dscp-to-tc/27 [0] [3] none adopt intent/fabric.yaml:2:1",
		"update leaf1/map/dscp-to-tc/28 [0] [3] none adopt intent/fabric.yaml:2:1",
		"update leaf1/profile/WEIR-100G:queue 3 ecn [minimum-threshold 150 kbytes maximum-threshold 1500 kbytes max-mark-probability 20 weight 0] " +
			"[minimum-threshold 200 kbytes maximum-threshold 1500 kbytes max-mark-probability 20 weight 0] none adopt intent/fabric.yaml:4:1",
	}
	if diff := cmp.Diff(want, strings.Split(strings.TrimSpace(changes(step)), "\n")); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	lines := func(class, low string) string {
		return "qos map dscp 27 28 to traffic-class " + class + "\nqos profile WEIR-100G\nuc-tx-queue 3\nrandom-detect ecn minimum-threshold " + low +
			" kbytes maximum-threshold 1500 kbytes max-mark-probability 20 weight 0\nexit\nexit\n"
	}
	if diff := cmp.Diff(lines("3", "200"), bodies(step.Chunks[0].Send)); diff != "" {
		t.Errorf("send (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(lines("0", "150"), bodies(step.Chunks[0].Undo)); diff != "" {
		t.Errorf("undo (-want +got):\n%s", diff)
	}
	if step.Route != plan.SSHSession || step.Confirm == 0 || step.Chunks[0].Impact != plan.None {
		t.Errorf("got route %s, timer %s, impact %s", step.Route, step.Confirm, step.Chunks[0].Impact)
	}
	// A line would be typed into a configuration session, where nothing can be saved.
	if diff := cmp.Diff([]plan.Message{{Op: plan.Run, Body: "write memory"}}, step.Persist); diff != "" {
		t.Errorf("what makes it last (-want +got):\n%s", diff)
	}
}

func TestAProfileThatAForeignPortUsesIsLeftAlone(t *testing.T) {
	from, to := leaf("DCS-7060CX-32S", "Ethernet1/1"), leaf("DCS-7060CX-32S", "Ethernet1/1")
	to.Ports[0].PFC = 0
	step, findings := planned(t, from, to, nil, "interface Ethernet9/1\n   service-profile WEIR-100G\n")
	want := "qos profile WEIR-100G must change, but interface Ethernet9/1, which weir does not manage, also uses it"
	if len(findings) != 1 || findings[0].Summary != want {
		t.Errorf("got %v, want %q", findings, want)
	}
	if strings.Contains(changes(step), "profile/WEIR-100G") {
		t.Errorf("the profile is changed:\n%s", changes(step))
	}
}

func TestAProfileThatIsNoLongerUsedGoesAfterItsPortsHaveLeftIt(t *testing.T) {
	from, to := leaf("DCS-7060CX-32S", "Ethernet1/1", "Ethernet2/1"), leaf("DCS-7060CX-32S", "Ethernet1/1", "Ethernet2/1")
	from.Ports[1].PFC |= qos.Priorities(4)
	step, _ := planned(t, from, to, plan.Manifest{"leaf1": {"qos profile WEIR-100G-Ethernet2-1"}}, "")
	want := "interface Ethernet2/1\nservice-profile WEIR-100G\nexit\nno qos profile WEIR-100G-Ethernet2-1\n"
	if diff := cmp.Diff(want, bodies(step.Chunks[0].Send)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	undo := bodies(step.Chunks[0].Undo)
	if defined, used := strings.Index(undo, "qos profile WEIR-100G-Ethernet2-1\n"), strings.Index(undo, "service-profile WEIR-100G-Ethernet2-1\n"); defined < 0 || used < defined {
		t.Errorf("the undo uses the profile before it is there:\n%s", undo)
	}
}

func TestWhatCannotBeSaidIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		how  func(*fabric.Switch)
		want string
	}{
		"the chip": {func(sw *fabric.Switch) { sw.SKU, sw.ASIC = "ACME-1", nil },
			`error: leaf1: the chip of SKU "ACME-1" is not known`},
		"the queue of control traffic": {func(sw *fabric.Switch) { sw.Maps.TCToQueue[7] = 0 },
			"error: leaf1/map/tc-to-queue/7: traffic class 7 cannot go to queue 0"},
		"fractions of a timer's step": {func(sw *fabric.Switch) { sw.Watchdog.Detection = 205 * time.Millisecond },
			"warning: leaf1/watchdog:detection: 205ms cannot be said exactly: it is rounded to 210ms"},
		"an action of one port": {func(sw *fabric.Switch) {
			own := *sw.Watchdog
			own.Action = qos.Forward
			sw.Ports[0].Watchdog = &own
		}, `error: leaf1/Ethernet1/1/watchdog:action: watchdog action "forward" cannot be said for one port`},
		"headroom that differs": {func(sw *fabric.Switch) {
			groups := slices.Clone(sw.Ports[1].Groups)
			groups[3].Headroom = 90_000
			sw.Ports[1].Groups = groups
		}, "note: leaf1/pg/3:headroom: ports need 60kB to 90kB of headroom, and the limit of all is 90kB"},
		"lossless thresholds that differ": {func(sw *fabric.Switch) {
			groups := slices.Clone(sw.Ports[1].Groups)
			groups[3].Alpha = -3
			sw.Ports[1].Groups = groups
		}, "warning: leaf1/pg/3:alpha: ports want lossless thresholds of 1/8 to 1, and all get 1/8"},
		"a static threshold": {func(sw *fabric.Switch) {
			groups := slices.Clone(sw.Ports[1].Groups)
			groups[3].Static = 96_000
			sw.Ports[1].Groups = groups
		}, "error: leaf1/Ethernet2/1/pg/3: a static XOFF threshold of 96kB cannot be said"},
		"a threshold that is too large": {func(sw *fabric.Switch) {
			for i := range sw.Ports[0].Queues { // the ports share them
				sw.Ports[0].Queues[i].Alpha = 7
			}
		}, "note: leaf1: buffer thresholds that cannot be said become others: queue 0 gets 8 instead of 128, queue 1 gets"},
		"headroom that is not known": {func(sw *fabric.Switch) { sw.Ports[0].Groups[3].Headroom = 0 },
			"warning: leaf1/Ethernet1/1/pg/3: buffers are left as they are, since the headroom is not known"},
		"buffers of the other family": {func(sw *fabric.Switch) { sw.SKU, sw.ASIC = "DCS-7280CR3-32P4", nil },
			"warning: leaf1: headroom and thresholds cannot be said for this chip"},
	} {
		sw := leaf("DCS-7060CX-32S", "Ethernet1/1", "Ethernet2/1")
		c.how(sw)
		if _, findings := eos(t).Write(sw); !strings.Contains(findings.String(), c.want) {
			t.Errorf("%s: got\n%s\nwant %q", name, findings, c.want)
		}
	}
}

func TestThresholdsAreExactInBytesWhereKbytesAreNot(t *testing.T) {
	sw := leaf("DCS-7060CX-32S", "Ethernet1/1")
	sw.Ports[0].Queues[3].WRED = &qos.WRED{Min: 153_600, Max: 1500e3, Probability: 20, ECN: true}
	doc, findings := eos(t).Write(sw)
	want := "minimum-threshold 153600 bytes maximum-threshold 1500000 bytes max-mark-probability 20 weight 0"
	if !slices.ContainsFunc(doc, func(l plan.Leaf) bool { return l.Value == want }) || findings.HasErrors() {
		t.Errorf("no leaf has %q, findings %s", want, findings)
	}
}

func TestAnAnswerThatIsMissingIsAnError(t *testing.T) {
	sw := leaf("DCS-7060CX-32S", "Ethernet1/1")
	for _, answers := range [][]plan.Answer{nil, {{Name: "running-config", Missing: true}}, {{Name: "qos-maps"}}} {
		if _, err := eos(t).Read(sw, answers); err == nil {
			t.Errorf("%v was read", answers)
		}
	}
}

func TestAPackWithAMistakeIsRefused(t *testing.T) {
	good, err := os.ReadFile("../../templates/eos/pack.yaml")
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(good), "  leave: exit")
	for name, c := range map[string]struct{ old, new, want string }{
		"an unknown key":       {"  leave: exit", "  leaf: exit", fmt.Sprintf("section language: line %d: unknown key leaf", 1+strings.Count(before, "\n"))},
		"an unknown section":   {"\nlanguage:", "\nlanguages:", "unknown key languages"},
		"a missing key":        {"  file: startup-config", "  file: ''", "file is missing"},
		"an unknown set":       {"include: queue}", "include: queues}", `no set "queues"`},
		"an unsaid impact":     {"      object: qos map cos\n      impact: none", "      object: qos map cos", "impact is not said"},
		"half a hole":          {"qos trust | {field}", "qos trust | {field", "half a hole"},
		"an unknown impact":    {"object: qos map cos\n      impact: none", "object: qos map cos\n      impact: mild", `impact "mild"`},
		"a template not there": {"buffers.tmpl,", "buffer.tmpl,", "buffer.tmpl"},
	} {
		text := strings.Replace(string(good), c.old, c.new, 1)
		if text == string(good) {
			t.Errorf("%s: %q is not in the pack", name, c.old)
		}
		files := fstest.MapFS{"eos/pack.yaml": {Data: []byte(text)}}
		for _, layout := range []string{"buffers", "watchdog", "maps", "profiles", "ports"} {
			files["eos/"+layout+".tmpl"] = &fstest.MapFile{Data: []byte("x")}
		}
		if _, err := New(files, "eos"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// values are the leaves whose last element of the path is the key, by the block they stand in.
func values(doc plan.Document, key string) map[string]string {
	out := map[string]string{}
	for _, l := range doc {
		if last := len(l.Path) - 1; l.Path[last] == key {
			out[strings.Join(l.Path[:last], " ")] = l.Value
		}
	}
	return out
}

func TestTheProfileOfMostPortsIsNamedAfterTheSpeed(t *testing.T) {
	sw := leaf("DCS-7060CX-32S", "Ethernet1/1", "Ethernet2/1", "Ethernet3/1", "Ethernet4/1")
	sw.Ports[0].PFC = 0 // an override of one port, which is the first
	sw.Ports[3].Speed = 25e9
	doc, _ := eos(t).Write(sw)
	want := map[string]string{
		"interface Ethernet1/1": "WEIR-100G-Ethernet1-1", "interface Ethernet2/1": "WEIR-100G",
		"interface Ethernet3/1": "WEIR-100G", "interface Ethernet4/1": "WEIR-25G",
	}
	if diff := cmp.Diff(want, values(doc, "service-profile")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTheHeadroomPoolIsTheSumThatTheIntentDivides(t *testing.T) {
	for ratio, want := range map[int]string{0: "120000", 1: "120000", 4: "30000"} {
		sw := leaf("DCS-7060CX-32S", "Ethernet1/1", "Ethernet2/1") // 60,000 bytes each
		sw.Oversubscribe = ratio
		doc, _ := eos(t).Write(sw)
		if got := values(doc, "platform trident mmu headroom-pool limit bytes")[""]; got != want {
			t.Errorf("oversubscribed by %d: got %s bytes, want %s", ratio, got, want)
		}
	}
}

func TestTheHeadroomIsNoPartOfWhatIsReserved(t *testing.T) {
	for ratio, reserved := range map[int]qos.Bytes{0: 78_000, 4: 18_000} { // as the model says it: with a shared pool without headroom
		sw := leaf("DCS-7060CX-32S", "Ethernet1/1", "Ethernet2/1")
		sw.Oversubscribe = ratio
		sw.Ports[0].Groups[3].Reserved = reserved
		doc, _ := eos(t).Write(sw)
		const block = "platform trident mmu queue profile WEIR"
		if got := values(doc, "ingress priority-group 3 reserved bytes")[block]; got != "18000" {
			t.Errorf("oversubscribed by %d: %s bytes are reserved, want the 18000 that are no headroom", ratio, got)
		}
		if got := values(doc, "ingress headroom bytes")[block]; got != "60000" {
			t.Errorf("oversubscribed by %d: got %s bytes of headroom, want 60000", ratio, got)
		}
	}
}

// TestWhatIsNotVerifiedIsSaidOnceInTheSameWords counts the findings of many ports, and compares those of two switches.
func TestWhatIsNotVerifiedIsSaidOnceInTheSameWords(t *testing.T) {
	var words [2]string
	var notes diag.List
	for i, name := range []string{"leaf1", "leaf2"} {
		from, to := leaf("DCS-7060CX-32S"), leaf("DCS-7060CX-32S", "Ethernet1/1", "Ethernet2/1", "Ethernet3/1", "Ethernet4/1")
		to.Name = name
		_, written := eos(t).Write(to)
		_, planned := planned(t, from, to, nil, "")
		notes = append(append(notes, written...), planned...)
		for _, f := range append(written, planned...) {
			words[i] += f.Severity.String() + ": " + f.Summary + "\n" + f.Detail + "\n"
		}
		if len(written) != 1 || len(planned) != 1 {
			t.Errorf("%s: %d findings when written and %d when planned, want one of each:\n%s", name, len(written), len(planned), words[i])
		}
	}
	// A place in the repo for each switch would make a long list of one finding.
	for _, f := range notes {
		if len(f.At) > 0 {
			t.Errorf("%q is said to be at %v", f.Summary, f.At)
		}
	}
	if words[0] != words[1] {
		t.Errorf("(-leaf1 +leaf2):\n%s", cmp.Diff(words[0], words[1]))
	}
	for _, want := range []string{"XON is not written", "a kbyte is taken as 1000 bytes", "both a share and a guarantee", "mtu 1500", "no service-profile", "Queue 7"} {
		if !strings.Contains(words[0], want) {
			t.Errorf("nothing says %q:\n%s", want, words[0])
		}
	}
	for _, proven := range []string{"no priority-flow-control;", "no qos map traffic-class"} {
		if strings.Contains(words[0], proven) {
			t.Errorf("%q is said not to be verified, but a source shows it:\n%s", proven, words[0])
		}
	}
}

func TestALineThatIsSentAndNotVerifiedIsAWarning(t *testing.T) {
	from, to := leaf("DCS-7060CX-32S", "Ethernet1/1"), leaf("DCS-7060CX-32S", "Ethernet1/1")
	to.Ports[0].Queues[3].Guaranteed = 0
	_, findings := planned(t, from, to, nil, "")
	if len(findings) != 1 || findings[0].Severity != diag.Warning || !strings.Contains(findings[0].Detail, " no bandwidth guaranteed percent.") {
		t.Errorf("got %s, want a warning about no bandwidth guaranteed percent", findings)
	}
}

func TestALosslessQueueThatMayFillBeforePauseIsAWarning(t *testing.T) {
	for alpha, want := range map[qos.AlphaShift]string{
		-3: "note: leaf1: buffer thresholds that cannot be said become others: queue 3 gets 8 instead of 128", // 64 ports
		2:  "With buffers.alpha at 2, now 4, it holds for all ports",                                          // 2 ports of 3
	} {
		sw := leaf("DCS-7060CX-32S", "Ethernet1/1", "Ethernet2/1", "Ethernet3/1", "Ethernet4/1")
		sw.Ports[0].Queues[3].Alpha, sw.Ports[0].Groups[3].Alpha = 7, alpha // the ports share them
		if _, findings := eos(t).Write(sw); !strings.Contains(findings.String(), want) {
			t.Errorf("with the ingress threshold %s: got\n%s\nwant %q", alpha, findings, want)
		}
	}
}
