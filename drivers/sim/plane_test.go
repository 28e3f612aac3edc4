package sim

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/qos"
)

// pod is two leaves and a spine of 100 Gb/s with two hosts at each leaf: host1 and host2 at leaf1, host3 and host4 at leaf2.
func pod() []Spec {
	port := func(name, device, peer string) PortSpec {
		return PortSpec{Name: name, Speed: 100e9, Cable: 40, PeerDevice: device, PeerPort: peer}
	}
	specs := []Spec{{Name: "spine1", Ports: []PortSpec{port("p1", "leaf1", "up"), port("p2", "leaf2", "up")}}}
	for n := 1; n <= 2; n++ {
		leaf := fmt.Sprintf("leaf%d", n)
		specs = append(specs, Spec{Name: leaf, Ports: []PortSpec{
			port("up", "spine1", fmt.Sprintf("p%d", n)),
			port("d1", fmt.Sprintf("host%d", 2*n-1), "eth0"), port("d2", fmt.Sprintf("host%d", 2*n), "eth0"),
		}})
	}
	for n := 1; n <= 4; n++ {
		specs = append(specs, Spec{Name: fmt.Sprintf("host%d", n), Host: true, Ports: []PortSpec{
			port("eth0", fmt.Sprintf("leaf%d", (n+1)/2), fmt.Sprintf("d%d", 2-n%2)),
		}})
	}
	return specs
}

// lossless is the behaviour of a pod in order: DSCP 26 in priority 3 with PFC, ECN below XOFF, DCQCN on the hosts.
func lossless(change func(device string, p *PortBehaviour)) map[string]Behaviour {
	all := map[string]Behaviour{}
	for _, s := range pod() {
		b := Behaviour{Ports: map[string]PortBehaviour{}}
		b.Classify[26], b.Classify[48] = 3, 6
		for _, ps := range s.Ports {
			p := PortBehaviour{Up: true, MTU: 9000, PFC: qos.Priorities(3)}
			if s.Host {
				p.TOS, p.ECN, p.CNP = qos.DSCP(26).TrafficClassByte(qos.NotECT), true, 48
			} else {
				p.Watched = p.PFC
				p.Watchdog = qos.Watchdog{Detection: 200 * time.Millisecond, Restoration: 400 * time.Millisecond, Poll: 100 * time.Millisecond, Action: qos.Drop}
				p.Headroom[3] = 44032
				p.Queues[3].WRED = &qos.WRED{Min: 150e3, Max: 1500e3, Probability: 20, ECN: true}
			}
			change(s.Name, &p)
			b.Ports[ps.Name] = p
		}
		all[s.Name] = b
	}
	return all
}

func asIs(string, *PortBehaviour) {}

// newPod is the data plane of a pod with the given behaviour under a traffic.
func newPod(t *testing.T, behaviours map[string]Behaviour, traffic Traffic, at ...string) *plane {
	t.Helper()
	p, err := newPlane(pod(), 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range p.specs {
		p.apply(0, i, behaviours[s.Name])
	}
	if err := p.setTraffic(0, traffic, at...); err != nil {
		t.Fatal(err)
	}
	return p
}

// at is the counters of a port at a time.
func (p *plane) at(now time.Duration, device, port string) Counters {
	return p.counters(now, p.byName(device), port)
}

// dropped is the packets of a priority that all switches together lost.
func (p *plane) dropped(now time.Duration, q int) (n uint64) {
	for i, s := range p.specs {
		for _, port := range s.Ports {
			c := p.counters(now, i, port.Name)
			n += c.QueueDropped[q] + c.GroupDropped[q]
		}
	}
	return n
}

func TestSteadyTrafficCrossesTheFabricWithoutPauseMarkOrLoss(t *testing.T) {
	p := newPod(t, lossless(asIs), Steady)
	c := p.at(time.Second, "host1", "eth0")
	if want := 0.30 * 100e9 / 8; float64(c.QueueBytes[3]) < 0.99*want || float64(c.QueueBytes[3]) > 1.01*want {
		t.Errorf("host1 sent %d bytes of the class in a second, want %.0f", c.QueueBytes[3], want)
	}
	up := p.at(time.Second, "leaf1", "up")
	down := p.at(time.Second, "leaf2", "d1")
	if up.QueuePackets[3] == 0 || down.QueuePackets[3] == 0 {
		t.Errorf("the class did not cross: %d packets up, %d down", up.QueuePackets[3], down.QueuePackets[3])
	}
	if up.ECNMarked[3]+up.PFCReceived[3]+p.dropped(time.Second, 3) != 0 {
		t.Errorf("marked %d, paused %d, dropped %d", up.ECNMarked[3], up.PFCReceived[3], p.dropped(time.Second, 3))
	}
}

func TestQuietTrafficHasNothingOfTheClass(t *testing.T) {
	p := newPod(t, lossless(asIs), Quiet)
	c := p.at(time.Second, "leaf1", "up")
	if c.QueuePackets[3] != 0 || c.InPackets == 0 {
		t.Errorf("got %d packets of the class and %d in all, want none and some", c.QueuePackets[3], c.InPackets)
	}
}

func TestAnIncastIsHeldByECNAndLosesNothing(t *testing.T) {
	p := newPod(t, lossless(asIs), Incast, "host1")
	victim := p.at(time.Second, "leaf1", "d1")
	if victim.ECNMarked[3] == 0 || p.at(time.Second, "host1", "eth0").CNPSent == 0 || p.at(time.Second, "host3", "eth0").CNPHandled == 0 {
		t.Errorf("marked %d, CNPs sent %d, handled %d", victim.ECNMarked[3], p.at(time.Second, "host1", "eth0").CNPSent, p.at(time.Second, "host3", "eth0").CNPHandled)
	}
	if n := p.dropped(time.Second, 3); n != 0 {
		t.Errorf("%d packets lost", n)
	}
	if paused := p.at(time.Second, "host3", "eth0").PausedReceived[3]; paused > 100*time.Millisecond {
		t.Errorf("host3 was paused for %v of a second although ECN acts first", paused)
	}
	if got, want := float64(victim.OutBytes)*8, 100e9; got < 0.95*want || got > 1.01*want {
		t.Errorf("the congested port carried %.3g bit in a second, want %.3g", got, want)
	}
}

func TestWithoutPFCTheClassDrops(t *testing.T) {
	p := newPod(t, lossless(func(_ string, p *PortBehaviour) { p.PFC, p.Watched = 0, 0 }), Incast, "host1")
	if c := p.at(time.Second, "leaf1", "d1"); c.QueueDropped[3] == 0 {
		t.Error("nothing was dropped in front of the victim")
	}
	if c := p.at(time.Second, "host1", "eth0"); c.OutOfSequence == 0 {
		t.Error("the victim saw nothing out of sequence")
	}
}

func TestWithECNAboveXOFFPauseComesFirst(t *testing.T) {
	high := lossless(func(_ string, p *PortBehaviour) {
		if p.Queues[3].WRED != nil {
			p.Queues[3].WRED = &qos.WRED{Min: 9e6, Max: 12e6, Probability: 20, ECN: true}
		}
	})
	p := newPod(t, high, Incast, "host1")
	c := p.at(time.Second, "host3", "eth0")
	if c.PausedReceived[3] < 300*time.Millisecond || c.PFCReceived[3] == 0 {
		t.Errorf("host3 was paused for %v by %d frames", c.PausedReceived[3], c.PFCReceived[3])
	}
	if sent := p.at(time.Second, "leaf2", "d1").PFCSent[3]; sent != c.PFCReceived[3] {
		t.Errorf("leaf2 sent %d PAUSE frames and host3 received %d", sent, c.PFCReceived[3])
	}
	if n := p.dropped(time.Second, 3); n != 0 {
		t.Errorf("%d packets lost", n)
	}
}

func TestWithoutCongestionControlEveryIngressGetsItsShare(t *testing.T) {
	p := newPod(t, lossless(func(_ string, p *PortBehaviour) { p.ECN = false; p.Queues[3].WRED = nil }), Incast, "host1")
	// Two ports feed the victim's: host2's and the spine's, which host3 and host4 share. Who may send a part r of the time is
	// paused for 1 - r.
	for host, want := range map[string]float64{"host2": 1.0 / 2, "host3": 3.0 / 4, "host4": 3.0 / 4} {
		paused := p.at(time.Second, host, "eth0").PausedReceived[3].Seconds()
		if paused < want-0.06 || paused > want+0.06 {
			t.Errorf("%s was paused %.3f of the time, want about %.3f", host, paused, want)
		}
	}
}

func TestMissingHeadroomLosesPackets(t *testing.T) {
	none := lossless(func(_ string, p *PortBehaviour) { p.Headroom[3] = 0; p.ECN = false; p.Queues[3].WRED = nil })
	p := newPod(t, none, Incast, "host1")
	if c := p.at(time.Second, "leaf2", "d1"); c.GroupDropped[3] == 0 {
		t.Error("leaf2 lost nothing although it keeps no headroom")
	}
}

func TestAPeerThatDoesNotObeyPauseOverrunsTheHeadroom(t *testing.T) {
	deaf := lossless(func(device string, p *PortBehaviour) {
		if device == "host2" {
			p.PFC = 0
		}
		p.ECN = false
		p.Queues[3].WRED = nil
	})
	p := newPod(t, deaf, Incast, "host1")
	if c := p.at(time.Second, "leaf1", "d2"); c.GroupDropped[3] == 0 || c.PFCSent[3] == 0 {
		t.Errorf("leaf1 dropped %d packets of host2 and sent %d PAUSE frames", c.GroupDropped[3], c.PFCSent[3])
	}
}

func TestAWrongClassificationDropsTheClass(t *testing.T) {
	p := newPod(t, lossless(asIs), DroppedClass, "host1")
	c := p.at(time.Second, "leaf1", "d1")
	if c.QueueDropped[0] == 0 || c.QueuePackets[3] != 0 {
		t.Errorf("leaf1 dropped %d of queue 0 and sent %d in queue 3", c.QueueDropped[0], c.QueuePackets[3])
	}
}

func TestAStormIsDetectedWhereItBegins(t *testing.T) {
	p := newPod(t, lossless(asIs), NICStorm, "host1")
	before := p.at(250*time.Millisecond, "leaf1", "d1")
	if before.Stormed[3] || before.PFCReceived[3] == 0 || before.PausedReceived[3] != 250*time.Millisecond {
		t.Errorf("after 250 ms: stormed %v, %d frames, paused %v", before.Stormed[3], before.PFCReceived[3], before.PausedReceived[3])
	}
	if c := p.at(250*time.Millisecond, "host3", "eth0"); c.PausedReceived[3] == 0 {
		t.Error("the storm did not spread to host3")
	}
	after := p.at(time.Second, "leaf1", "d1")
	if !after.Stormed[3] || after.StormsDetected[3] != 1 || after.QueueDropped[3] == 0 {
		t.Errorf("after a second: stormed %v, detected %d, dropped %d", after.Stormed[3], after.StormsDetected[3], after.QueueDropped[3])
	}
	for _, other := range [][2]string{{"spine1", "p1"}, {"leaf2", "up"}} {
		if c := p.at(time.Second, other[0], other[1]); c.StormsDetected[3] != 0 {
			t.Errorf("%s/%s detected a storm of another", other[0], other[1])
		}
	}
}

func TestAStormThatEndsIsRestored(t *testing.T) {
	p := newPod(t, lossless(asIs), NICStorm, "host1")
	p.at(time.Second, "leaf1", "d1")
	if err := p.setTraffic(time.Second, Steady); err != nil {
		t.Fatal(err)
	}
	if c := p.at(1300*time.Millisecond, "leaf1", "d1"); !c.Stormed[3] {
		t.Error("restored before the restoration time")
	}
	c := p.at(2*time.Second, "leaf1", "d1")
	if c.Stormed[3] || c.StormsRestored[3] != 1 {
		t.Errorf("stormed %v, restored %d", c.Stormed[3], c.StormsRestored[3])
	}
}

func TestAFlapTakesALinkDownForAWhile(t *testing.T) {
	p := newPod(t, lossless(asIs), Steady)
	p.flap(time.Second, p.byName("leaf1"), "up")
	down, up := p.at(1500*time.Millisecond, "spine1", "p1"), p.at(3*time.Second, "spine1", "p1")
	if down.Up || down.Flaps != 1 || !up.Up {
		t.Errorf("half a second later up=%v after %d flaps, two seconds later up=%v", down.Up, down.Flaps, up.Up)
	}
}

func TestFlowsSpreadOverEqualPaths(t *testing.T) {
	p, err := newPlane(clos(8, 8), 1)
	if err != nil {
		t.Fatal(err)
	}
	up := make([]bool, len(p.ports))
	for i := range up {
		up[i] = true
	}
	spines := map[int]bool{}
	for _, from := range p.topology.hosts {
		for _, to := range p.topology.hosts {
			if path := p.topology.route(from, to, p.topology.distances(to, up), up, 1); len(path) == 4 {
				spines[p.topology.ends[path[2]].device] = true
			}
		}
	}
	if len(spines) != 4 {
		t.Errorf("the flows of 8 hosts use %d of 4 spines", len(spines))
	}
}

func TestTheSameEventsGiveTheSameCounters(t *testing.T) {
	run := func(looks int) []Counters {
		p := newPod(t, lossless(asIs), NICStorm, "host2")
		for i := 1; i < looks; i++ {
			p.at(2*time.Second*time.Duration(i)/time.Duration(looks), "leaf1", "d1")
		}
		var all []Counters
		for i, s := range p.specs {
			for _, port := range s.Ports {
				all = append(all, p.counters(2*time.Second, i, port.Name))
			}
		}
		return all
	}
	if diff := cmp.Diff(run(1), run(50)); diff != "" {
		t.Errorf("looking more often changed the counters (-once +often):\n%s", diff)
	}
}
