package check

import (
	"fmt"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/intent/source"
	"github.com/weirfabric/weir/inventory"
)

func at[T any](v T, line int) source.Value[T] {
	return source.Value[T]{V: v, At: diag.Pos{File: "intent.yaml", Line: line, Column: 1}}
}

// sound is an intent that no check objects to.
func sound() *intent.Fabric {
	rdma := intent.Class{Name: at("rdma", 3), Lossless: at(true, 3), DSCP: []source.Value[qos.DSCP]{at(qos.DSCP(26), 3)}, Priority: at(qos.Priority(3), 3)}
	rdma.Share = at(qos.Percent(50), 3)
	cnp := intent.Class{Name: at("cnp", 4), DSCP: []source.Value[qos.DSCP]{at(qos.DSCP(48), 4)}, Priority: at(qos.Priority(6), 4)}
	cnp.Strict = at(true, 4)
	rest := intent.Class{Name: at("default", 5), Priority: at(qos.Priority(0), 5)}
	return &intent.Fabric{Name: at("pod1", 2), Classes: []intent.Class{rdma, cnp, rest}}
}

// leaves is an inventory of pairs of switches, joined port by port.
func leaves(switches, ports int) *inventory.Inventory {
	inv := &inventory.Inventory{}
	for i := range switches {
		d := &inventory.Device{Name: at(fmt.Sprintf("sw%d", i), i+1), Platform: at("sonic", i+1), SKU: at("ACS-MSN4600C", i+1)}
		for p := range ports {
			d.Ports = append(d.Ports, inventory.Port{Name: fmt.Sprintf("Ethernet%d", p*4), Speed: 100e9, Lanes: 4})
		}
		inv.Devices = append(inv.Devices, d)
	}
	for i := range switches / 2 {
		for p := range ports {
			inv.Links = append(inv.Links, &inventory.Link{
				A: inventory.End{Device: fmt.Sprintf("sw%d", i), Port: fmt.Sprintf("Ethernet%d", p*4)},
				B: inventory.End{Device: fmt.Sprintf("sw%d", i+switches/2), Port: fmt.Sprintf("Ethernet%d", p*4)},
			})
		}
	}
	return inv
}
