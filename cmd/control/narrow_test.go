package control_test

import (
	"testing"

	"github.com/weirfabric/weir/cmd/control"
)

func TestALosslessClassIsTakenFromTheHostsFirst(t *testing.T) {
	onFabric(t, mixed(), func(t *testing.T, f *testFabric) {
		f.applied(t, blind())
		f.write(t, "intent/off.yaml", "kind: Fabric\npfc: off\n")
		p := f.planned(t)
		var order []string
		for _, w := range p.Waves {
			for _, s := range w {
				order = append(order, s.Device)
			}
		}
		if len(order) != 5 || order[0] != "gpu1" || order[1] != "gpu2" || order[2] != "spine1" {
			t.Errorf("the order is %v, want the hosts first and the spine after them", order)
		}
		if result := f.applied(t, control.Settle{Idle: "accept"}); result.Why != "" {
			t.Errorf("got %+v", result)
		}
	})
}
