package lossless

import (
	"testing"

	"github.com/weirfabric/weir/intent/qos"
)

// TestTheAnnexCoversWhatASimulationMeasured takes the worst cases of a packet simulation of one switch: senders at line rate
// and a packet in the way of every PAUSE. With the measured headroom nothing is lost, with one byte less something is.
func TestTheAnnexCoversWhatASimulationMeasured(t *testing.T) {
	type run struct {
		gbps, metres, quanta  int64
		mtu, reverse, measure qos.Bytes // of the class, of what stands in the way, headroom in use
		bound                 qos.Bytes
	}
	for _, c := range []run{
		{40, 100, 118, 1500, 0, 15000, 15636}, {40, 100, 118, 1500, 9216, 21000, 24852}, {100, 5, 394, 4200, 9216, 37800, 43541},
		{100, 40, 394, 4200, 9216, 46200, 47916}, {100, 300, 394, 4200, 9216, 75600, 80416}, {400, 40, 905, 4200, 9216, 92400, 95620},
		{400, 300, 905, 9216, 9216, 230400, 235652},
	} {
		if got := pauseQuanta[c.gbps*1000]; got != float64(c.quanta) {
			t.Errorf("%dG: %g quanta, the simulation had %d", c.gbps, got, c.quanta)
		}
		r := Annex{Speed: qos.Rate(c.gbps) * 1e9, Cable: qos.Metres(c.metres), MTU: c.reverse, NoDropMTU: c.mtu}.Headroom()
		if r.Headroom < c.bound || c.bound < c.measure {
			t.Errorf("%+v: the annex has %d B", c, r.Headroom)
		}
	}
}
