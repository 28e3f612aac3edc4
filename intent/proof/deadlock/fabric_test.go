package deadlock

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/intent/source"
	"github.com/weirfabric/weir/inventory"
)

func place(line int) diag.Pos { return diag.Pos{File: "intent.yaml", Line: line, Column: 1} }

func at[T any](v T, line int) source.Value[T] {
	return source.Value[T]{V: v, At: diag.Pos{File: "intent.yaml", Line: line, Column: 1}}
}

// sound is an intent with one lossless class.
func sound() *intent.Fabric {
	rdma := intent.Class{Name: at("rdma", 3), Lossless: at(true, 3), DSCP: []source.Value[qos.DSCP]{at(qos.DSCP(26), 3)}, Priority: at(qos.Priority(3), 3)}
	rdma.Share = at(qos.Percent(50), 3)
	cnp := intent.Class{Name: at("cnp", 4), DSCP: []source.Value[qos.DSCP]{at(qos.DSCP(48), 4)}, Priority: at(qos.Priority(6), 4)}
	cnp.Strict = at(true, 4)
	rest := intent.Class{Name: at("default", 5), Priority: at(qos.Priority(0), 5)}
	return &intent.Fabric{Name: at("pod1", 2), Classes: []intent.Class{rdma, cnp, rest}}
}

// cabled is an inventory of switches, written name:role, and of cables between them, written name-name. A name with @ is
// that of a switch with a host.
func cabled(switches, cables []string) *inventory.Inventory {
	inv := &inventory.Inventory{}
	devices := map[string]*inventory.Device{}
	port := func(name string) inventory.End {
		d := devices[name]
		d.Ports = append(d.Ports, inventory.Port{Name: fmt.Sprintf("Ethernet%d", len(d.Ports)+1), Speed: 100e9})
		return inventory.End{Device: name, Port: d.Ports[len(d.Ports)-1].Name}
	}
	for i, s := range switches {
		name, role, _ := strings.Cut(s, ":")
		name, host := strings.CutSuffix(name, "@")
		devices[name] = &inventory.Device{Name: at(name, i), Role: at(role, i), Platform: at("sonic", i), SKU: at("Mellanox-SN4600C-C64", i), At: place(i)}
		inv.Devices = append(inv.Devices, devices[name])
		if host {
			h := &inventory.Device{Name: at("gpu-"+name, i), Platform: at("linux", i)}
			devices[h.Name.V] = h
			inv.Devices = append(inv.Devices, h)
			inv.Links = append(inv.Links, &inventory.Link{A: port(name), B: port(h.Name.V)})
		}
	}
	for i, c := range cables {
		a, b, _ := strings.Cut(c, "-")
		inv.Links = append(inv.Links, &inventory.Link{A: port(a), B: port(b), At: place(100 + i)})
	}
	return inv
}

// closOf is two leaves with a host each, and two spines.
func closOf(t *testing.T, bend func(*intent.Fabric, *inventory.Inventory)) *fabric.Fabric {
	t.Helper()
	in, inv := sound(), cabled([]string{"a@:leaf", "b@:leaf", "x:spine", "y:spine"}, []string{"a-x", "a-y", "b-x", "b-y"})
	bend(in, inv)
	f, findings := fabric.Resolve(in, inv)
	if findings.HasErrors() {
		t.Fatal(findings)
	}
	return f
}

func role(name string) intent.Selector { return intent.Selector{Role: at(name, 7)} }
