package sim

import (
	"cmp"
	"slices"
	"time"

	"github.com/weirfabric/weir/intent/qos"
)

// Loss is what a port lost of one priority, as the data plane itself knows it: no reboot and no counter group takes it away.
type Loss struct {
	Device, Port string
	Priority     qos.Priority // that the packets were in where they were lost
	Packets      float64
	RDMA         float64 // of them, packets of the hosts' RDMA traffic, whatever priority a switch took them for
}

// Lost is what was lost from a device time on until now, by port and priority in the order of the devices and their ports.
// What lost nothing is left out.
func (l *Lab) Lost(since time.Time) []Loss {
	return l.plane.lost(l.age(), since.Sub(l.started))
}

// losing is a port that loses packets of a priority at a constant rate for a time.
type losing struct {
	port, priority int
	from, to       time.Duration
	packets, rdma  float64 // a second
}

// losses are the times in which a port has lost packets since its rates were last solved.
func (p *plane) losses(port int) (all []losing) {
	s := &p.ports[port]
	for q := range 8 {
		if packets := s.rate[queueDropped][q] + s.rate[groupDropped][q]; packets > 0 && p.now > s.since {
			all = append(all, losing{port, q, s.since, p.now, packets, s.rate[rdmaDropped][q]})
		}
	}
	return all
}

// lost sums up the losses between two device times.
func (p *plane) lost(now, since time.Duration) []Loss {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.run(now)
	p.settle()
	type place struct{ port, priority int }
	found := map[place]*Loss{}
	add := func(x losing) {
		seconds := (x.to - max(x.from, since)).Seconds()
		if seconds <= 0 {
			return
		}
		at := place{x.port, x.priority}
		if found[at] == nil {
			e := p.topology.ends[x.port]
			found[at] = &Loss{Device: p.specs[e.device].Name, Port: e.spec.Name, Priority: qos.Priority(x.priority)}
		}
		found[at].Packets += x.packets * seconds
		found[at].RDMA += x.rdma * seconds
	}
	for _, x := range p.ledger {
		add(x)
	}
	for port := range p.ports {
		for _, x := range p.losses(port) {
			add(x)
		}
	}
	places := make([]place, 0, len(found))
	for at := range found {
		places = append(places, at)
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.port, b.port), cmp.Compare(a.priority, b.priority))
	})
	out := make([]Loss, len(places))
	for i, at := range places {
		out[i] = *found[at]
	}
	return out
}
