package sim

import (
	"fmt"
	"time"

	"github.com/weirfabric/weir/intent/qos"
)

// What the scenarios send. They are the lab's choice; nothing of weir depends on their values.
const (
	backgroundLoad = 0.01 // of a host's line rate, in DSCP 0, whatever the scenario
	steadyLoad     = 0.30 // of a host's line rate, spread over its partners
	aroundIncast   = 0.05 // the same while an incast runs
	partners       = 7    // that a host sends steadily to; a full mesh of 8 hosts
	burstsASecond  = 10   // of an incast: how often its senders begin together
)

// scenario is the traffic of the moment.
type scenario struct {
	kind    Traffic
	about   int // the victim, or the host that storms; none where the scenario is about nobody
	misfits int // the switch that classifies the class wrongly; none
}

// flow is what one host sends to another.
type flow struct {
	from, to int
	demand   float64 // bit/s
	class    bool    // RDMA, else background
	greedy   bool    // part of an incast: as much as it may, beginning together with the others
	path     []int   // ports left by; worked out when cables change
}

// parseScenario checks a scenario against the devices.
func (p *plane) parseScenario(t Traffic, at []string) (scenario, error) {
	s := scenario{kind: t, about: none, misfits: none}
	switch t {
	case Quiet, Steady:
		return s, nil
	case Incast, NICStorm, DroppedClass:
	default:
		return s, fmt.Errorf("no traffic scenario %q: there are quiet, steady, incast, nic-storm and dropped-class", t)
	}
	if len(p.topology.hosts) == 0 {
		return s, fmt.Errorf("traffic %s: the lab has no hosts", t)
	}
	s.about = p.topology.hosts[0]
	if len(at) > 0 && at[0] != "" {
		s.about = p.byName(at[0])
		if s.about == none || !p.specs[s.about].Host {
			return s, fmt.Errorf("traffic %s: %s is no host of the lab", t, at[0])
		}
	}
	if t != DroppedClass {
		return s, nil
	}
	for _, port := range p.topology.ports[s.about] {
		if peer := p.topology.ends[port].peer; peer != none {
			s.misfits = p.topology.ends[peer].device
		}
	}
	if len(at) > 1 {
		s.misfits = p.byName(at[1])
	}
	if s.misfits == none || p.specs[s.misfits].Host {
		return s, fmt.Errorf("traffic %s: there is no switch to classify wrongly", t)
	}
	return s, nil
}

// flows are what the hosts send in a scenario.
func (p *plane) flows(s scenario) []*flow {
	var all []*flow
	hosts := p.topology.hosts
	steady := map[Traffic]float64{Steady: steadyLoad, NICStorm: steadyLoad, Incast: aroundIncast, DroppedClass: aroundIncast}[s.kind]
	n := min(partners, len(hosts)-1)
	for i, from := range hosts {
		rate := p.lineRate(from)
		if n < 1 || rate == 0 {
			continue
		}
		all = append(all, &flow{from: from, to: hosts[(i+1)%len(hosts)], demand: rate * backgroundLoad})
		for j := 1; j <= n && steady > 0; j++ {
			all = append(all, &flow{from: from, to: hosts[(i+j)%len(hosts)], demand: rate * steady / float64(n), class: true})
		}
		if (s.kind == Incast || s.kind == DroppedClass) && from != s.about {
			all = append(all, &flow{from: from, to: s.about, demand: rate, class: true, greedy: true})
		}
	}
	return all
}

// lineRate is the rate of the slowest port of a host in bit/s.
func (p *plane) lineRate(host int) float64 {
	var rate qos.Rate
	for _, port := range p.topology.ports[host] {
		if s := p.topology.ends[port].spec.Speed; rate == 0 || s < rate {
			rate = s
		}
	}
	return float64(rate)
}

// setTraffic changes the scenario at a device time.
func (p *plane) setTraffic(now time.Duration, t Traffic, at ...string) error {
	s, err := p.parseScenario(t, at)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.run(now)
	p.scenario = s
	p.dirty = true
	return nil
}
