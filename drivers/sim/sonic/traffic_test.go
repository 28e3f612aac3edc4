package sonic_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/weirfabric/weir/drivers/sim"
	"github.com/weirfabric/weir/drivers/sim/sonic"
	"github.com/weirfabric/weir/intent/qos"
)

// host is a host without any protocol: lossless RoCE in DSCP 3 and priority 3, with DCQCN.
type host struct{}

func newHost(hw sim.Hardware) sim.Personality {
	b := sim.Behaviour{Ports: map[string]sim.PortBehaviour{}}
	b.Classify[3], b.Classify[48] = 3, 6
	for _, p := range hw.Spec().Ports {
		b.Ports[p.Name] = sim.PortBehaviour{Up: true, MTU: 9000, PFC: qos.Priorities(3), TOS: qos.DSCP(3).TrafficClassByte(qos.ECT0), ECN: true, CNP: 48}
	}
	hw.Apply(b)
	return host{}
}

func (host) Serve(ctx context.Context, _ sim.Services) error { <-ctx.Done(); return nil }
func (host) Serves() sim.Protocols                           { return sim.Protocols{} }
func (host) Restart()                                        {}
func (host) Faults(sim.Operation) []sim.FaultKind            { return nil }

// rack is a switch as it ships, with four hosts.
func rack(t *testing.T) *bench {
	t.Helper()
	leaf := sim.Spec{Name: "leaf1", Platform: "sonic", SKU: "ACS-MSN4700"}
	var specs []sim.Spec
	for n := range 4 {
		name, port := "host"+strconv.Itoa(n), "Ethernet"+strconv.Itoa(4*n)
		leaf.Ports = append(leaf.Ports, sim.PortSpec{Name: port, Alias: "etp" + strconv.Itoa(n), Speed: 100e9, Cable: 5, PeerDevice: name, PeerPort: "eth0"})
		specs = append(specs, sim.Spec{Name: name, Platform: "host", Host: true, Ports: []sim.PortSpec{
			{Name: "eth0", Speed: 100e9, Cable: 5, PeerDevice: "leaf1", PeerPort: port}}})
	}
	return benchOf(t, append(specs, leaf), 200, map[string]func(sim.Hardware) sim.Personality{"sonic": sonic.New, "host": newHost})
}

func TestAnIncastShowsInTheCountersOfTheQueue(t *testing.T) {
	b := rack(t)
	b.run("sudo sonic-db-cli CONFIG_DB HSET 'FLEX_COUNTER_TABLE|WRED_ECN_QUEUE' FLEX_COUNTER_STATUS enable POLL_INTERVAL 1000", "")
	if err := b.SetTraffic(sim.Incast, "host0"); err != nil {
		t.Fatal(err)
	}
	b.eventually("marks are counted in front of the victim", func() bool {
		return b.rows("COUNTERS/Ethernet*/Queues")["etp0:3"]["SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS"] > "0"
	})
	if got := b.rows("COUNTERS/Ethernet0/Queues")["Ethernet0:3"]["SAI_QUEUE_STAT_DROPPED_PACKETS"]; got != "0" {
		t.Errorf("%s packets of the lossless queue were dropped", got)
	}
}

func TestAStormShowsInTheWatchdog(t *testing.T) {
	b := rack(t)
	b.run("sudo sonic-db-cli CONFIG_DB HSET 'PFC_WD|Ethernet4' detection_time 200 restoration_time 400 action drop", "")
	if err := b.SetTraffic(sim.NICStorm, "host1"); err != nil {
		t.Fatal(err)
	}
	b.eventually("the storm is detected", func() bool {
		q := b.rows("COUNTERS/Ethernet*/Pfcwd")["etp1:3"]
		return q["PFC_WD_STATUS"] == "stormed" && q["PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED"] == "1"
	})
	if err := b.SetTraffic(sim.Steady); err != nil {
		t.Fatal(err)
	}
	b.eventually("the queue is restored", func() bool {
		q := b.rows("COUNTERS/Ethernet*/Pfcwd")["etp1:3"]
		return q["PFC_WD_STATUS"] == "operational" && q["PFC_WD_QUEUE_STATS_DEADLOCK_RESTORED"] == "1"
	})
}

func TestWithoutPFCTheQueueDrops(t *testing.T) {
	b := rack(t)
	for _, port := range []string{"Ethernet0", "Ethernet4", "Ethernet8", "Ethernet12"} {
		b.run("sudo sonic-db-cli CONFIG_DB HDEL 'PORT_QOS_MAP|"+port+"' pfc_enable", "")
	}
	if err := b.SetTraffic(sim.Incast, "host0"); err != nil {
		t.Fatal(err)
	}
	b.eventually("packets are dropped", func() bool {
		return b.rows("COUNTERS/Ethernet*/Queues")["etp0:3"]["SAI_QUEUE_STAT_DROPPED_PACKETS"] > "0"
	})
}
