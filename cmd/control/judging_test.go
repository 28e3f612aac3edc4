package control

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/telemetry"
	"github.com/weirfabric/weir/telemetry/collect"
	"github.com/weirfabric/weir/telemetry/health"
)

// counting is a store of switches of 64 ports with 70 series each, and their topology.
func counting(switches int) (*collect.Store, health.Topology) {
	store, topology := collect.New(collect.Options{}), health.Topology{Ports: map[addr.Addr]health.Port{}}
	for d := range switches {
		device := fmt.Sprintf("leaf%d", d+1)
		topology.Devices = append(topology.Devices, health.Device{Name: device})
		for p := range 64 {
			a := addr.Port(device, fmt.Sprintf("Ethernet%d", 4*p))
			topology.Ports[a] = health.Port{Rate: 100e9, Classes: []health.Class{{Priority: 3, Queue: 3, Group: 3, ECN: true}}}
		}
	}
	for round := range 8 {
		at := now.Add(time.Duration(round-7) * 10 * time.Second)
		for _, d := range topology.Devices {
			samples := []telemetry.Sample{{Metric: telemetry.TargetUp, Addr: addr.Device(d.Name), Value: 1, At: at, Every: 10 * time.Second}}
			for p := range 64 {
				for q := range 8 {
					for _, m := range []*telemetry.Metric{telemetry.PFCReceived, telemetry.PFCTransmitted, telemetry.PFCSeconds, telemetry.QueuePackets,
						telemetry.QueueBytes, telemetry.QueueDropped, telemetry.ECNMarked, telemetry.GroupDropped} {
						v := float64(round)
						if m == telemetry.QueueDropped && p > 0 || m == telemetry.PFCSeconds || m == telemetry.GroupDropped {
							v = 0
						}
						samples = append(samples, telemetry.Sample{Metric: m, Addr: m.At(d.Name, fmt.Sprintf("Ethernet%d", 4*p), fmt.Sprint(q)), Value: v, At: at, Every: 10 * time.Second})
					}
				}
			}
			store.Put(samples)
		}
	}
	return store, topology
}

func TestTheJudgeFindsTheSameInAStoreAsInACopyOfIt(t *testing.T) {
	store, topology := counting(3)
	doubted := telemetry.ECNMarked.At("leaf2", "Ethernet8", "3")
	store.Doubt(telemetry.Reading{Metric: telemetry.ECNMarked, Addr: doubted})
	view := store.View()
	want := health.Judge(health.Window{Now: now, Series: store.Series(nil)}, topology, health.Policy{})
	for range 2 { // the second time in the memory of the first
		view.Reset()
		got := health.Judge(health.Window{Now: now, Source: view}, topology, health.Policy{})
		if diff := cmp.Diff(got, want, cmp.Comparer(func(a, b *telemetry.Metric) bool { return a == b })); diff != "" || len(got) < 4 {
			t.Errorf("%d verdicts (-view +copy)\n%s", len(got), diff)
		}
	}
}

func BenchmarkJudgeStore(b *testing.B) {
	store, topology := counting(100)
	b.Run("copy", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			health.Judge(health.Window{Now: now, Series: store.Series(nil)}, topology, health.Policy{})
		}
	})
	b.Run("view", func(b *testing.B) {
		b.ReportAllocs()
		view := store.View()
		for b.Loop() {
			view.Reset()
			health.Judge(health.Window{Now: now, Source: view}, topology, health.Policy{})
		}
	})
}
