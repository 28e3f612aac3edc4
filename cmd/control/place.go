package control

import (
	"slices"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
)

// placesOf says where each device stands: the tier of a switch is its distance from the nearest host.
func placesOf(f *fabric.Fabric) map[string]plan.Place {
	neighbours := map[string][]string{}
	places := map[string]plan.Place{}
	for _, h := range f.Hosts {
		places[h.Name] = plan.Place{Host: true, Hosts: []string{h.Name}}
	}
	for _, l := range f.Links {
		a, b := l.A.Address().Device, l.B.Address().Device
		neighbours[a], neighbours[b] = append(neighbours[a], b), append(neighbours[b], a)
	}
	frontier := sortedNames(places)
	for tier := 0; len(frontier) > 0; tier++ {
		var next []string
		for _, at := range frontier {
			for _, n := range neighbours[at] {
				place, seen := places[n]
				if !seen {
					next = append(next, n)
				}
				if tier == 0 && !place.Host && !slices.Contains(place.Hosts, at) {
					place.Hosts = append(place.Hosts, at)
				}
				if !seen {
					place.Tier = tier
				}
				places[n] = place
			}
		}
		slices.SortFunc(next, addr.Natural)
		frontier = slices.Compact(next)
	}
	return places
}
