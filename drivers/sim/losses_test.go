package sim

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// sumOf is all packets of the losses, and those of RDMA among them.
func sumOf(all []Loss) (packets, rdma float64) {
	for _, l := range all {
		packets, rdma = packets+l.Packets, rdma+l.RDMA
	}
	return packets, rdma
}

// near allows for counters that are cut to whole packets.
func near(a, b float64) bool { return math.Abs(a-b) < 10 }

func TestTheDataPlaneKnowsWhatWasLostWhere(t *testing.T) {
	p := newPod(t, lossless(asIs), Steady)
	if lost := p.lost(10*time.Second, 0); len(lost) > 0 {
		t.Fatalf("under a steady load: %+v", lost)
	}
	if err := p.setTraffic(10*time.Second, DroppedClass, "host1", "leaf1"); err != nil {
		t.Fatal(err)
	}
	for _, l := range p.lost(30*time.Second, 0) {
		c := p.at(30*time.Second, l.Device, l.Port)
		if counted := float64(c.QueueDropped[l.Priority] + c.GroupDropped[l.Priority]); !near(counted, l.Packets) {
			t.Errorf("%s/%s priority %d: lost %v, counted %v", l.Device, l.Port, l.Priority, l.Packets, counted)
		}
		if l.Device != "leaf1" || l.Priority != 0 {
			t.Errorf("lost at %s in priority %d", l.Device, l.Priority)
		}
	}
	all, rdma := sumOf(p.lost(30*time.Second, 0))
	if all == 0 || rdma == 0 || rdma >= all {
		t.Errorf("lost %v, of them %v of RDMA; the background in that priority loses as well", all, rdma)
	}
	if half, _ := sumOf(p.lost(30*time.Second, 20*time.Second)); !near(half, all/2) {
		t.Errorf("lost %v in the second half of the time, %v in all of it", half, all)
	}
}

func TestWhatWasLostOutlivesItsCounters(t *testing.T) {
	p := newPod(t, lossless(asIs), DroppedClass, "host1", "leaf1")
	before := p.lost(10*time.Second, 0)
	if err := p.setTraffic(10*time.Second, Quiet); err != nil {
		t.Fatal(err)
	}
	leaf := p.byName("leaf1")
	p.power(20*time.Second, leaf, false)
	p.power(80*time.Second, leaf, true)
	if c := p.at(90*time.Second, "leaf1", "d1"); c.QueueDropped[0] != 0 {
		t.Fatalf("it counted on through a reboot: %d", c.QueueDropped[0])
	}
	if diff := cmp.Diff(p.lost(90*time.Second, 0), before); diff != "" {
		t.Errorf("got -, want +:\n%s", diff)
	}
	if lost := p.lost(90*time.Second, 10*time.Second); len(lost) > 0 {
		t.Errorf("lost when nothing was sent: %+v", lost)
	}
}

func TestHeadroomThatIsTooSmallLosesTheClass(t *testing.T) {
	tight := lossless(func(device string, p *PortBehaviour) {
		p.Headroom[3], p.Queues[3].WRED = 1000, nil
	})
	p := newPod(t, tight, Incast, "host1")
	found := false
	for _, l := range p.lost(10*time.Second, 0) {
		if l.Priority == 3 {
			found = true
			if l.RDMA != l.Packets {
				t.Errorf("%s/%s: %v of %v packets are of RDMA", l.Device, l.Port, l.RDMA, l.Packets)
			}
		}
	}
	if !found {
		t.Error("nothing was lost")
	}
}
