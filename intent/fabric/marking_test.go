package fabric

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/qos"
)

// curveOf is the curve of the class of priority 3 on the spine's first port, which has 100G and a buffer that is known.
func curveOf(t *testing.T, in *intent.Fabric) (*qos.WRED, *Marking) {
	t.Helper()
	q := resolved(t, in, smallInventory()).Switches[1].Ports[0].Queues[3]
	return q.WRED, q.Marking
}

func TestThresholdsFollowFromTheRoundTripWhereNoneAreWritten(t *testing.T) {
	for name, c := range map[string]struct {
		ecn      intent.ECN
		min, max qos.Bytes
	}{
		"nothing":               {intent.ECN{}, 150e3, 800e3},
		"auto":                  {intent.ECN{Auto: at(true, 3)}, 150e3, 800e3},
		"a longer round trip":   {intent.ECN{RTT: at(24*time.Microsecond, 3)}, 300e3, 1600e3},
		"the lower one written": {intent.ECN{Min: at(intent.Depth{Bytes: 100e3}, 3)}, 100e3, 800e3},
		"the upper one written": {intent.ECN{Max: at(intent.Depth{Bytes: 320e3}, 3)}, 60e3, 320e3},
	} {
		in := smallIntent()
		in.Classes[0].ECN = c.ecn
		w, _ := curveOf(t, in)
		if diff := cmp.Diff(&qos.WRED{Min: c.min, Max: c.max, Probability: usualProbability, ECN: true}, w); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestAPercentageIsOneOfTheDepthAtWhichPFCFires(t *testing.T) {
	in := smallIntent()
	in.Classes[0].ECN = intent.ECN{Min: at(intent.Depth{Percent: 10}, 3), Max: at(intent.Depth{Percent: 80}, 3)}
	in.Settings.Buffers.Threshold = at(qos.Bytes(500e3), 7)
	w, m := curveOf(t, in)
	if w.Min != 50e3 || w.Max != 400e3 || m.Depth != 500e3 || m.Unresolved() {
		t.Errorf("got %+v with %+v", w, m)
	}
	in.Settings.PFC.Off = at(true, 8)
	if w, m := curveOf(t, in); !m.Unresolved() || w.Min == 0 || w.Min >= w.Max {
		t.Errorf("without PFC: got %+v with %+v, want the usual curve and the reason for a finding", w, m)
	}
}

func TestALossyClassIsMarkedWhenTheIntentAsksForIt(t *testing.T) {
	in := smallIntent()
	queue := func() *qos.WRED { return resolved(t, in, smallInventory()).Switches[1].Ports[0].Queues[0].WRED }
	if w := queue(); w != nil {
		t.Errorf("nothing is written and the class is marked: %+v", w)
	}
	in.Classes[len(in.Classes)-1].ECN.Auto = at(true, 5)
	if w := queue(); w == nil || w.Min != 150e3 {
		t.Errorf("with ecn: auto: got %+v", w)
	}
}

func TestAutoEndsWhatIsSaidFartherAway(t *testing.T) {
	in := smallIntent()
	override := func(ecn intent.ECN) intent.Override {
		return intent.Override{
			Select:  intent.Selector{Device: at("spine1", 40)},
			Classes: []intent.ClassOverride{{Name: at(in.Classes[0].Name.V, 41), ClassSettings: intent.ClassSettings{ECN: ecn}}},
		}
	}
	in.Classes[0].ECN = intent.ECN{Off: at(true, 3)}
	in.Overrides = []intent.Override{override(intent.ECN{Auto: at(true, 41)})}
	if w, _ := curveOf(t, in); w == nil || w.Max != 800e3 {
		t.Errorf("over off: got %+v", w)
	}
	in.Classes[0].ECN = intent.ECN{Min: at(intent.Depth{Bytes: 1000}, 3), Max: at(intent.Depth{Bytes: 2000}, 3), Probability: at(qos.Percent(1), 3), Flows: at(9, 3)}
	if w, m := curveOf(t, in); w.Min != 150e3 || w.Max != 800e3 || w.Probability != usualProbability || m.Flows != 9 {
		t.Errorf("over thresholds: got %+v with %+v", w, m)
	}
	in.Overrides = []intent.Override{override(intent.ECN{Max: at(intent.Depth{Bytes: 3000}, 41)})}
	if w, _ := curveOf(t, in); w.Min != 1000 || w.Max != 3000 {
		t.Errorf("without auto: got %+v", w)
	}
}

func TestTheNearerOfAlphaAndAStaticThresholdHolds(t *testing.T) {
	in := smallIntent()
	in.Settings.Buffers.Threshold = at(qos.Bytes(96e3), 7)
	group := func() (Group, []diag.Pos) {
		p := resolved(t, in, smallInventory()).Switches[1].Ports[0]
		return p.Groups[3], p.Origin.Alpha
	}
	if g, at := group(); g.Static != 96e3 || !cmp.Equal(at, []diag.Pos{line(7)}) {
		t.Errorf("got a threshold of %s, written at %v", g.Static, at)
	}
	if g := resolved(t, in, smallInventory()).Switches[1].Ports[0].Groups[0]; g.Static != 0 {
		t.Errorf("a lossy group has the threshold %s", g.Static)
	}
	in.Overrides = []intent.Override{{
		Select:   intent.Selector{Device: at("spine1", 40)},
		Settings: intent.Settings{Buffers: intent.Buffers{Alpha: at(intent.Alpha(-3), 41)}},
	}}
	if g, at := group(); g.Static != 0 || g.Alpha != -3 || !cmp.Equal(at, []diag.Pos{line(41)}) {
		t.Errorf("got %+v, written at %v, want the override's alpha", g, at)
	}
}

func TestARoCEPacketFitsTheMTU(t *testing.T) {
	for ip, want := range map[qos.Bytes]qos.Bytes{9100: 4096, 4156: 4096, 4155: 2048, 1500: 1024, 576: 512, 100: 256} {
		if got := RoCEMTU(ip); got != want {
			t.Errorf("an IP MTU of %d: got %d, want %d", ip, got, want)
		}
	}
}
