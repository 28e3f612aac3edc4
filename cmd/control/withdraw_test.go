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

func TestAPlanNarrowsWhereItTakesPFCAwayAndBringsNone(t *testing.T) {
	change := func(at, before, after string) plan.Change {
		a, err := addr.Parse(at)
		if err != nil {
			t.Fatal(err)
		}
		return plan.Change{Addr: a, Before: before, After: after}
	}
	for name, c := range map[string]struct {
		changes []plan.Change
		want    bool
	}{
		"a host's and a switch's":                          {[]plan.Change{change("gpu1/eth0/pfc/3", "on", "off"), change("leaf1/Ethernet0/pfc", "3,4", "4")}, true},
		"switches alone, as a first rollout without hosts": {[]plan.Change{change("leaf1/Ethernet0/pfc", "3,4", "3")}, false},
		"another takes its place":                          {[]plan.Change{change("leaf1/Ethernet0/pfc", "3", "4")}, false},
		"a class comes elsewhere":                          {[]plan.Change{change("gpu1/eth0/pfc/3", "on", "off"), change("gpu2/eth0/pfc/3", "off", "on")}, false},
		"a class comes":                                    {[]plan.Change{change("leaf1/Ethernet0/pfc", "", "3")}, false},
		"nothing of PFC":                                   {[]plan.Change{change("leaf1/Ethernet0/mtu", "9100", "4200")}, false},
		"DCBX, which is no priority's":                     {[]plan.Change{change("gpu1/eth0/pfc:dcbx", "host ieee", "off")}, false},
	} {
		var steps []plan.Step
		for _, change := range c.changes {
			steps = append(steps, plan.Step{Device: change.Addr.Device, Changes: []plan.Change{change}})
		}
		if got := narrows(steps, map[string]plan.Place{"gpu1": {Host: true}, "gpu2": {Host: true}}); got != c.want {
			t.Errorf("%s: got %t, want %t", name, got, c.want)
		}
	}
}
