package fabric

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/qos"
)

func spelled(t *testing.T, spelling string) addr.Addr {
	t.Helper()
	a, err := addr.Parse(spelling)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestOfSeveralGapsTheGravestHolds(t *testing.T) {
	g := Gaps{Platform: "sonic"}
	if got := g.Unset(spelled(t, "leaf1/Ethernet0/mtu")); got != "9100B" {
		t.Errorf("the default of the MTU is %q", got)
	}
	g.Inexpressible(spelled(t, "leaf1/flowcontrol"), "it has no words for it")
	g.Unset(spelled(t, "leaf1/Ethernet0/queue/3:alpha"))
	g.Strange("what is this", spelled(t, "leaf1/Ethernet4"), spelled(t, "leaf1/Ethernet4/trust"))
	l := Lifted[*Switch]{Gaps: g.Sorted()}
	for spelling, want := range map[string]struct {
		reading Reading
		settled bool
	}{
		"leaf1/Ethernet0/pfc/3":         {Known, true},
		"leaf1/Ethernet0/mtu":           {Unset, true},
		"leaf1/Ethernet0/queue/3:alpha": {Unset, false},
		"leaf1/Ethernet0/flowcontrol":   {Inexpressible, true},
		"leaf1/Ethernet4/flowcontrol":   {Strange, false},
		"leaf1/Ethernet4/queue/3:alpha": {Strange, false},
	} {
		a := spelled(t, spelling)
		if reading, _ := l.Of(a); reading != want.reading || l.Settled(a) != want.settled {
			t.Errorf("%s is %s, settled %v; want %+v", spelling, reading, l.Settled(a), want)
		}
	}
	if lines := l.NotUnderstood(); len(lines) != 1 || lines[0].Line != "what is this" {
		t.Errorf("got %+v", lines)
	}
	if report := l.Report(addr.Device("leaf1")); len(report) != 1 || report[0].Summary != "lines of the device are not understood: what is this" {
		t.Errorf("got %s", report)
	}
}

func TestSettingsThatMeanNothingAreOff(t *testing.T) {
	sw := &Switch{Device: Device{Name: "leaf1"}, Oversubscribe: 2, Ports: []*Port{{Name: "Ethernet0", Watchdog: &qos.Watchdog{}}}}
	for _, s := range sw.Settings() {
		if s.At.Kind == addr.Watchdog && s.Value != "off" || s.At.Kind == addr.Pool && s.Value != "0" {
			t.Errorf("%s is %s", s.At, s.Value)
		}
	}
}

func TestWhatASwitchHasAsAWholeIsWhatMostPortsHave(t *testing.T) {
	slow := &qos.Watchdog{Detection: 2}
	sw := &Switch{Ports: []*Port{{Trust: qos.TrustPCP, Watchdog: slow}, {Trust: qos.TrustDSCP}, {Trust: qos.TrustDSCP, Watchdog: &qos.Watchdog{Detection: 1}},
		{Watchdog: &qos.Watchdog{Detection: 1}}}}
	sw.Summarise()
	if diff := cmp.Diff(&qos.Watchdog{Detection: 1}, sw.Watchdog); diff != "" || sw.Trust != qos.TrustDSCP {
		t.Errorf("trust %s, watchdog (-want +got):\n%s", sw.Trust, diff)
	}
}
