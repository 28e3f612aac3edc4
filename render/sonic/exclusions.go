package sonic

import (
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/render"
)

// Exclusions are what CONFIG_DB does not give back as it was written.
func (Language) Exclusions() []render.Exclusion {
	of := func(k addr.Kind, leaf string) addr.Addr { return addr.Addr{Kind: k, Leaf: leaf} }
	const derived = "The switch works it out from speed and cable. In the dynamic model of buffers it stands in APPL_DB alone, and what the catalog expects is lifted; " +
		"in the traditional one, and where it was written in bytes, it comes back whole."
	const unused = "A map that no port uses is not written."
	return []render.Exclusion{
		{
			Of: of(addr.Queue, "weight"), Back: "whole, 1 at least", As: weightBack,
			Why: "Weights are whole numbers from 1 to 100 (sonic-scheduler.yang), and relative: a queue's share is its weight divided by the sum of those of the port's queues that are not strict.",
		},
		{Of: of(addr.Queue, "alpha"), Back: "that of BUFFER_QUEUE", Theirs: true, Why: "Profiles of queues are the platform's: weir writes none, and compares them."},
		{Of: of(addr.PG, "alpha"), Back: "of lossy groups that of BUFFER_PG, of lossless ones what was written", Theirs: true, Why: "Lossy groups are the platform's."},
		{Of: of(addr.PG, "threshold"), Back: "nothing", Silent: true, Why: "weir writes lossless profiles with alpha alone, and refuses a static threshold."},
		{Of: of(addr.PG, "headroom"), Back: "not known", Silent: true, Why: derived},
		{Of: of(addr.PG, "xon"), Back: "not known", Silent: true, Why: derived},
		{Of: of(addr.PG, "reserved"), Back: "not known", Silent: true, Why: derived},
		{
			Of: addr.Addr{Kind: addr.Pool, Name: "headroom", Leaf: "oversubscribe"}, Back: "not known where the pool has a size", Silent: true,
			Why: "BUFFER_POOL is the platform's. A size of headroom there is a pool, and nothing says the ratio that it was made of.",
		},
		{Of: of(addr.FlowControl, ""), Back: "off, its default", Silent: true, Why: "SONiC has no setting for IEEE 802.3x."},
		{
			Of: addr.Addr{Kind: addr.Map, Name: "pfc-to-pg"}, Back: "the group of the priority's own number", Silent: true,
			Why: "Only the templates of mellanox and barefoot have the map, and of lossless priorities alone (sonic-buildimage, qos_config.j2); buffermgrd puts headroom into the group of the priority's number.",
		},
		{Of: addr.Addr{Kind: addr.Map, Name: "dscp-to-tc"}, Back: "nothing", Silent: true, Why: unused},
		{Of: addr.Addr{Kind: addr.Map, Name: "pcp-to-tc"}, Back: "nothing", Silent: true, Why: unused},
	}
}

func weightBack(written string) string {
	share, err := qos.ParsePercent(written)
	if err != nil {
		return written
	}
	return qos.Percent(weight(share)).String()
}
