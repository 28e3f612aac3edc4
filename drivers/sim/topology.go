package sim

import (
	"fmt"
	"hash/fnv"
)

// none is the index of no port.
const none = -1

// topology is the cabling: ports by index, and which of them belong to a device.
type topology struct {
	ends  []end
	ports [][]int // by device
	hosts []int   // devices that are hosts, in the order of the specs
	names map[string]int
}

// end is one end of a cable.
type end struct {
	spec   PortSpec
	device int
	peer   int // port at the other end, or none
}

func newTopology(specs []Spec) (*topology, error) {
	t := &topology{ports: make([][]int, len(specs)), names: map[string]int{}}
	for d, s := range specs {
		if s.Host {
			t.hosts = append(t.hosts, d)
		}
		for _, p := range s.Ports {
			name := s.Name + "/" + p.Name
			if _, twice := t.names[name]; twice {
				return nil, fmt.Errorf("%s: two ports of that name", name)
			}
			t.names[name] = len(t.ends)
			t.ports[d] = append(t.ports[d], len(t.ends))
			t.ends = append(t.ends, end{p, d, none})
		}
	}
	for i, e := range t.ends {
		if e.spec.PeerDevice == "" {
			continue
		}
		mine := specs[e.device].Name + "/" + e.spec.Name
		peer, found := t.names[e.spec.PeerDevice+"/"+e.spec.PeerPort]
		if !found {
			return nil, fmt.Errorf("%s: cabled to %s/%s, which does not exist", mine, e.spec.PeerDevice, e.spec.PeerPort)
		}
		if back := t.ends[peer].spec; back.PeerDevice != specs[e.device].Name || back.PeerPort != e.spec.Name {
			return nil, fmt.Errorf("%s: cabled to %s/%s, which is cabled to %s/%s",
				mine, e.spec.PeerDevice, e.spec.PeerPort, back.PeerDevice, back.PeerPort)
		}
		t.ends[i].peer = peer
	}
	return t, nil
}

// distances are the hops from every device to the given host over cables that are up; hosts do not forward. -1: no way.
func (t *topology) distances(to int, up []bool) []int {
	dist := make([]int, len(t.ports))
	for i := range dist {
		dist[i] = none
	}
	dist[to] = 0
	for queue := []int{to}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if at != to && t.isHost(at) {
			continue
		}
		for _, port := range t.ports[at] {
			if !up[port] {
				continue
			}
			if next := t.ends[t.ends[port].peer].device; dist[next] == none {
				dist[next] = dist[at] + 1
				queue = append(queue, next)
			}
		}
	}
	return dist
}

func (t *topology) isHost(device int) bool {
	for _, h := range t.hosts {
		if h == device {
			return true
		}
	}
	return false
}

// route is the ports that a flow leaves devices by, from the sender's to the one in front of the receiver. Among equally
// short ways a hash of the flow and the device chooses, as ECMP does. Nil where there is no way.
func (t *topology) route(from, to int, dist []int, up []bool, seed uint64) []int {
	var path []int
	for at := from; at != to; {
		var choices []int
		for _, port := range t.ports[at] {
			if !up[port] {
				continue
			}
			if next := t.ends[t.ends[port].peer].device; dist[next] >= 0 && dist[next] == dist[at]-1 {
				choices = append(choices, port)
			}
		}
		if len(choices) == 0 {
			return nil
		}
		port := choices[spread(from, to, at, seed)%uint64(len(choices))]
		path = append(path, port)
		at = t.ends[t.ends[port].peer].device
	}
	return path
}

// spread is the ECMP hash.
func spread(from, to, at int, seed uint64) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, from, to, at, seed)
	return h.Sum64() >> 7
}
