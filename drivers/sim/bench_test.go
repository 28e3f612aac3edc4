package sim

import (
	"fmt"
	"testing"
	"time"
)

// clos is leaves and spines, half each of the switches, with hosts spread over the leaves.
func clos(switches, hosts int) []Spec {
	half := switches / 2
	specs := make([]Spec, switches+hosts)
	cable := func(a int, an string, b int, bn string) {
		specs[a].Ports = append(specs[a].Ports, PortSpec{Name: an, Speed: 100e9, Cable: 40, PeerDevice: specs[b].Name, PeerPort: bn})
		specs[b].Ports = append(specs[b].Ports, PortSpec{Name: bn, Speed: 100e9, Cable: 40, PeerDevice: specs[a].Name, PeerPort: an})
	}
	for i := range specs {
		specs[i].Name, specs[i].Host = fmt.Sprintf("d%d", i), i >= switches
	}
	for leaf := range half {
		for spine := range half {
			cable(leaf, fmt.Sprintf("u%d", spine), half+spine, fmt.Sprintf("p%d", leaf))
		}
	}
	for h := range hosts {
		cable(h%half, fmt.Sprintf("h%d", h), switches+h, "eth0")
	}
	return specs
}

// busyClos is the data plane of 8 switches and 8 hosts, all lossless, under an incast.
func busyClos(b *testing.B) *plane {
	b.Helper()
	p, err := newPlane(clos(8, 8), 1)
	if err != nil {
		b.Fatal(err)
	}
	like := lossless(asIs)
	for i, s := range p.specs {
		model, port := like["leaf1"], "up"
		if s.Host {
			model, port = like["host1"], "eth0"
		}
		set := Behaviour{Classify: model.Classify, Ports: map[string]PortBehaviour{}}
		for _, ps := range s.Ports {
			set.Ports[ps.Name] = model.Ports[port]
		}
		p.apply(0, i, set)
	}
	if err := p.setTraffic(0, Incast); err != nil {
		b.Fatal(err)
	}
	return p
}

// BenchmarkDataPlane is one device second in which every counter is read once.
func BenchmarkDataPlane(b *testing.B) {
	p := busyClos(b)
	now := time.Duration(0)
	for b.Loop() {
		now += time.Second
		for i, s := range p.specs {
			for _, port := range s.Ports {
				p.counters(now, i, port.Name)
			}
		}
	}
}

// BenchmarkEvent is the rates solved anew, as after every change.
func BenchmarkEvent(b *testing.B) {
	p := busyClos(b)
	for b.Loop() {
		p.dirty = true
		p.settle()
	}
}
