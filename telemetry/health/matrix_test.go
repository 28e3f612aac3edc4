package health

import (
	"testing"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/telemetry"
)

func TestTheMatrixHasNoGreenForWhatIsNotSeen(t *testing.T) {
	b := fabric()
	b.gauge(telemetry.TargetUp, "leaf1", "", 0)
	b.counter(telemetry.GroupDropped, "leaf2/e1", 0, 4)
	got := map[string]float64{}
	for _, s := range Matrix(Judge(b.window, b.topology, Policy{}), b.topology, noon, interval) {
		got[s.Addr.String()] = s.Value
	}
	for a, want := range map[string]float64{
		"leaf1:lossless-drops":          -1,
		"leaf1:stale-target":            -1,
		"leaf2:lossless-drops":          float64(diag.Error),
		"leaf2/e1/pfc/3:lossless-drops": float64(diag.Error),
		"leaf2:pfc-storm":               0,
		"spine1:stale-target":           0,
		"leaf2/e3/gpu3:eth0":            1,
	} {
		if v, ok := got[a]; !ok || v != want {
			t.Errorf("%s: got %v (%v), want %v", a, v, ok, want)
		}
	}
	if got, want := len(got), len(b.topology.Devices)*len(Checks())+1+len(b.topology.Ports); got != want {
		t.Errorf("got %d samples, want %d", got, want)
	}
}
