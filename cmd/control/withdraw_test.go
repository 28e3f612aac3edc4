package control

import (
	"testing"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/qos"
)

func TestAStepTakesAClassAwayOnlyWhereNothingTakesItsPlace(t *testing.T) {
	f := &fabric.Fabric{Classes: []fabric.Class{
		{Name: "rdma", Lossless: true, Priority: 3, TC: 2, DSCP: []qos.DSCP{26}},
		{Name: "storage", Lossless: true, Priority: 4, TC: 4, DSCP: []qos.DSCP{34, 36}},
		{Name: "default", DSCP: []qos.DSCP{0}},
	}}
	change := func(at, before, after string) plan.Change {
		a, err := addr.Parse(at)
		if err != nil {
			t.Fatal(err)
		}
		return plan.Change{Addr: a, Before: before, After: after}
	}
	for name, c := range map[string]struct {
		changes []plan.Change
		want    qos.PrioritySet
	}{
		"a host stops to mark":              {[]plan.Change{change("leaf1/eth0/dscp/26", "3", "")}, 1 << 3},
		"a host's own number of the class":  {[]plan.Change{change("leaf1/eth0/dscp/26", "2", "")}, 0},
		"a switch classifies it no more":    {[]plan.Change{change("leaf1/map/dscp-to-tc/26", "2", "0")}, 1 << 3},
		"another DSCP takes its place":      {[]plan.Change{change("leaf1/map/dscp-to-tc/26", "2", "0"), change("leaf1/map/dscp-to-tc/24", "0", "2")}, 0},
		"one of two DSCPs stays":            {[]plan.Change{change("leaf1/map/dscp-to-tc/34", "4", "0")}, 0},
		"both DSCPs leave":                  {[]plan.Change{change("leaf1/map/dscp-to-tc/34", "4", "0"), change("leaf1/map/dscp-to-tc/36", "4", "1")}, 1 << 4},
		"a DSCP each of two ports":          {[]plan.Change{change("leaf1/eth0/dscp/34", "4", "0"), change("leaf1/eth1/dscp/36", "4", "0")}, 0},
		"a DSCP that is none of the class":  {[]plan.Change{change("leaf1/map/dscp-to-tc/24", "2", "0")}, 0},
		"PFC goes and the traffic does not": {[]plan.Change{change("leaf1/Ethernet0/pfc", "3", "")}, 0},
		"the class comes":                   {[]plan.Change{change("leaf1/eth0/dscp/26", "", "3")}, 0},
	} {
		if got := withdrawals([]plan.Step{{Device: "leaf1", Changes: c.changes}}, f)["leaf1"]; got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}
