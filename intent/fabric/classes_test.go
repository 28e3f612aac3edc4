package fabric

import (
	"testing"

	"github.com/weirfabric/weir/intent/qos"
)

func TestPausedPrioritiesAreThoseOfAnyPortOfASwitch(t *testing.T) {
	f := &Fabric{Switches: []*Switch{{}, {}}, Hosts: []*Host{{}}}
	f.Switches[0].Ports = []*Port{{PFC: qos.Priorities(3)}, {}, {PFC: qos.Priorities(4)}}
	f.Switches[1].Ports = []*Port{{PFC: qos.Priorities(6)}}
	f.Hosts[0].NICs = []*NIC{{PFC: qos.Priorities(5)}}
	if got, want := f.Switches[0].PausedPriorities(), qos.Priorities(3, 4); got != want {
		t.Errorf("of a switch: got %s, want %s", got, want)
	}
	if got, want := f.PausedPriorities(), qos.Priorities(3, 4, 6); got != want {
		t.Errorf("of the fabric: got %s, want %s", got, want)
	}
}
