package cli

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/render"
)

func rgos(t testing.TB) *Language {
	t.Helper()
	l, err := New(os.DirFS("../../templates"), "rgos")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// watched is a switch whose two ports have PFC and this watchdog.
func watched(w qos.Watchdog, priorities ...qos.Priority) *fabric.Switch {
	sw := leaf("RG-S6510-48VS8CQ", "TFGigabitEthernet0/1", "TFGigabitEthernet0/2")
	sw.Platform, sw.Watchdog = "rgos", &w
	for _, p := range sw.Ports {
		p.PFC, p.Watchdog = qos.Priorities(priorities...), &w
	}
	return sw
}

// example are the times of Ruijie's own example.
var example = qos.Watchdog{Detection: 100 * time.Millisecond, Restoration: 100 * time.Millisecond, Poll: 10 * time.Millisecond, Action: qos.Forward}

func TestTheLineOfTheExampleIsWrittenExactly(t *testing.T) {
	sw := watched(example, 5)
	golden(t, rgos(t), sw, "../../templates/rgos/_golden/watchdog.txtar")
	doc, findings := rgos(t).Write(sw)
	if diff := cmp.Diff("priority-flow-control deadlock cos-value 5 detect 10 recover 100\n", string(rgos(t).Print(doc)[0].Body)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, want := range []string{"only the watchdog can be said in this language", "look at them on one switch first"} {
		if !strings.Contains(findings.String(), want) {
			t.Errorf("nothing says %q:\n%s", want, findings)
		}
	}
}

func TestWhatTheLineCannotSayIsNamed(t *testing.T) {
	own := example
	own.Detection = 200 * time.Millisecond
	for name, c := range map[string]struct {
		how  func(*fabric.Switch)
		want string
	}{
		"another action": {func(sw *fabric.Switch) { sw.Ports[0].Watchdog.Action = qos.Drop }, `error: leaf1/watchdog:action: watchdog action "drop" cannot be said`},
		"another poll": {func(sw *fabric.Switch) { sw.Ports[0].Watchdog.Poll = 100 * time.Millisecond },
			"error: leaf1/watchdog:poll: the watchdog cannot look every 100ms: it looks every 10ms"},
		"half a look": {func(sw *fabric.Switch) { sw.Ports[0].Watchdog.Detection = 95 * time.Millisecond },
			"warning: leaf1/watchdog:detection: 95ms cannot be said exactly: it is rounded to 100ms"},
		"no restoration": {func(sw *fabric.Switch) { sw.Ports[0].Watchdog.Restoration = 0 }, "error: leaf1/watchdog:restoration: a restoration of 0s, never, cannot be said"},
		"a watchdog of one port": {func(sw *fabric.Switch) { sw.Ports[1].Watchdog = &own },
			"error: leaf1/TFGigabitEthernet0/2/watchdog: a watchdog of its own cannot be said for one port"},
		"a port without": {func(sw *fabric.Switch) { sw.Ports[1].Watchdog = nil }, "error: leaf1/TFGigabitEthernet0/2/watchdog: no watchdog for one port cannot be said"},
	} {
		sw := watched(example, 5)
		c.how(sw)
		if _, findings := rgos(t).Write(sw); !strings.Contains(findings.String(), c.want) {
			t.Errorf("%s: got\n%s\nwant %q", name, findings, c.want)
		}
	}
}

func TestEachPriorityHasALineAndAChangeIsOne(t *testing.T) {
	from, changed := watched(example, 3, 5), example
	changed.Detection = 200 * time.Millisecond
	l := rgos(t)
	have, _ := l.Write(from)
	want := "priority-flow-control deadlock cos-value 3 detect 10 recover 100\npriority-flow-control deadlock cos-value 5 detect 10 recover 100\n"
	if diff := cmp.Diff(want, string(l.Print(have)[0].Body)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	b := render.Bind[*fabric.Switch](l, watched(changed, 5), "leaf1", "rgos", nil)
	state, err := b.Read([]plan.Answer{{Name: "running-config", Body: l.Print(have)[0].Body}})
	if err != nil {
		t.Fatal(err)
	}
	doc, _ := b.Write()
	step, findings := b.Step(state, doc)
	if diff := cmp.Diff("priority-flow-control deadlock cos-value 5 detect 20 recover 100\nno priority-flow-control deadlock cos-value 3\n", bodies(step.Chunks[0].Send)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(findings) != 1 || findings[0].Severity != diag.Warning {
		t.Errorf("got %s, want a warning that taking a line back is not verified", findings)
	}
}
