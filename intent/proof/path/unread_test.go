package path

import (
	"slices"
	"strings"
	"testing"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/fabric"
)

func TestWhatWasNotReadIsUnknownAndWhatFollowsFromItIsNotSaid(t *testing.T) {
	for name, c := range map[string]struct {
		at   func(sw *fabric.Switch, p *fabric.Port) addr.Addr
		spot func(sw *fabric.Switch, p *fabric.Port)
		want string
	}{
		"PFC":          {func(sw *fabric.Switch, p *fabric.Port) addr.Addr { return addr.Port(sw.Name, p.Name).Of(addr.PFC, "") }, func(_ *fabric.Switch, p *fabric.Port) { p.PFC = 0 }, "spine2/Ethernet2/pfc/3: pfc/3 was not read"},
		"the MTU":      {func(sw *fabric.Switch, p *fabric.Port) addr.Addr { return addr.Port(sw.Name, p.Name).Of(addr.MTU, "") }, func(_ *fabric.Switch, p *fabric.Port) { p.MTU = 0 }, "spine2/Ethernet2/mtu: mtu was not read"},
		"the DSCP map": {func(sw *fabric.Switch, _ *fabric.Port) addr.Addr { return sw.Address().Of(addr.Map, "dscp-to-tc") }, func(sw *fabric.Switch, _ *fabric.Port) { sw.Maps.DSCPToTC[26] = 0 }, "spine2/map/dscp-to-tc/26: map/dscp-to-tc/26 was not read"},
		"trust": {func(sw *fabric.Switch, p *fabric.Port) addr.Addr {
			return addr.Port(sw.Name, p.Name).Of(addr.Trust, "")
		}, func(_ *fabric.Switch, p *fabric.Port) { p.Trust = "" }, "spine2/Ethernet2/trust: trust was not read"},
		"a whole port": {func(sw *fabric.Switch, p *fabric.Port) addr.Addr { return addr.Port(sw.Name, p.Name) }, func(_ *fabric.Switch, p *fabric.Port) { p.PFC, p.MTU = 0, 0 }, "spine2/Ethernet2: what holds here was not read"},
		"what marks": {func(sw *fabric.Switch, p *fabric.Port) addr.Addr {
			return addr.Port(sw.Name, p.Name).Of(addr.Queue, "3").With("ecn")
		}, func(*fabric.Switch, *fabric.Port) {}, "spine2/Ethernet2/queue/3:ecn: queue/3:ecn was not read"},
		"a whole switch": {func(sw *fabric.Switch, _ *fabric.Port) addr.Addr { return sw.Address() }, func(sw *fabric.Switch, p *fabric.Port) { p.PFC = 0 }, "spine2/Ethernet1: what holds here was not read"},
	} {
		f := resolved(t, pod())
		sw, p := port(t, f, "spine2/Ethernet2")
		c.spot(sw, p)
		var gaps fabric.Gaps
		gaps.Strange("some line", c.at(sw, p))
		sw.Gaps = gaps.Sorted()
		got := New(f).All("rdma")
		var says []string
		for _, j := range got.Breaks {
			if !j.Break.Unknown {
				t.Errorf("%s: %s is broken: %s", name, j.Break.At, j.Break.What)
			}
			says = append(says, j.Break.At.String()+": "+j.Break.What)
		}
		if got.Proven() || got.Lossless == got.Pairs || !slices.Contains(says, c.want) {
			t.Errorf("%s: proven %v, and\n%s", name, got.Proven(), strings.Join(says, "\n"))
		}
	}
}

func TestWhatNoWordsSayIsTakenForGranted(t *testing.T) {
	f := resolved(t, pod())
	sw, _ := port(t, f, "spine2/Ethernet2")
	var gaps fabric.Gaps
	gaps.Inexpressible(sw.Address().Of(addr.Map, "pfc-to-queue"), "its language has no such map")
	sw.Gaps = gaps.Sorted()
	got := New(f).All("rdma")
	if !got.Proven() || !slices.ContainsFunc(got.Assumes, func(a Assumption) bool { return strings.Contains(a.What, "its language has no such map") }) {
		t.Errorf("proven %v, assumes %+v", got.Proven(), got.Assumes)
	}
}
