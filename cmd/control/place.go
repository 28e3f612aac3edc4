package control

import (
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
)

// placesOf says where each device stands. A switch with a host of its own, or that no host can reach, is of tier 0.
func placesOf(f *fabric.Fabric) map[string]plan.Place {
	places := map[string]plan.Place{}
	for _, h := range f.Hosts {
		places[h.Name] = plan.Place{Host: true, Hosts: []string{h.Name}}
	}
	distance := f.HostDistances()
	for _, sw := range f.Switches {
		places[sw.Name] = plan.Place{Tier: max(distance[sw]-1, 0), Hosts: sw.Hosts()}
	}
	return places
}
