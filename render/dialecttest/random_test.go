package dialecttest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/fabric"
)

func TestTheSameSeedIsTheSameDevice(t *testing.T) {
	if diff := cmp.Diff(RandomSwitch(7, "sonic", "a", "b"), RandomSwitch(7, "sonic", "a", "b")); diff != "" {
		t.Errorf("a switch: %s", diff)
	}
	if diff := cmp.Diff(RandomHost(7, "eth0"), RandomHost(7, "eth0")); diff != "" {
		t.Errorf("a host: %s", diff)
	}
}

func TestRandomDevicesDifferInWhatLanguagesMustSay(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(60) {
		sw := RandomSwitch(seed, "sonic", "a", "b")
		seen["two lossless classes"] = seen["two lossless classes"] || sw.Ports[0].PFC.Len() == 2
		seen["no PFC"] = seen["no PFC"] || sw.Ports[0].PFC == 0
		seen["no watchdog"] = seen["no watchdog"] || sw.Watchdog == nil
		seen["no ECN"] = seen["no ECN"] || sw.Ports[0].Queues[3].WRED == nil
		seen["ports that differ"] = seen["ports that differ"] || sw.Ports[0].Speed != sw.Ports[1].Speed
		seen["no ASIC"] = seen["no ASIC"] || sw.ASIC == nil
		for _, p := range sw.Ports {
			consistent(t, sw, p)
		}
	}
	for what, found := range seen {
		if !found {
			t.Errorf("no seed gives %s", what)
		}
	}
}

// consistent checks that what must agree on a port does.
func consistent(t *testing.T, sw *fabric.Switch, p *fabric.Port) {
	t.Helper()
	for i := range 8 {
		group, queue := p.Groups[i], p.Queues[i]
		if group.Lossless != (p.PFC>>i&1 == 1) || group.Lossless != queue.Lossless {
			t.Errorf("%s: priority %d: PFC %s, group lossless %v, queue lossless %v", p.Name, i, p.PFC, group.Lossless, queue.Lossless)
		}
		if group.Lossless && group.Alpha != sw.LosslessAlpha {
			t.Errorf("%s: group %d has alpha %s, the switch %s", p.Name, i, group.Alpha, sw.LosslessAlpha)
		}
		if w := queue.WRED; w != nil && (w.Min > w.Max || w.Probability < 1 || w.Probability > 100) {
			t.Errorf("%s: queue %d has the curve %+v", p.Name, i, *w)
		}
	}
}
