package health

import (
	"cmp"
	"maps"
	"slices"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/telemetry"
)

// pauseQuanta is the longest time that one PFC frame asks for, in bit times: 65535 quanta of 512 (IEEE 802.1Qbb).
const pauseQuanta = 65535 * 512

// node is a priority of a port that is kept from sending: it waits for the device at the other end.
type node struct {
	port     addr.Addr
	priority qos.Priority
}

// paused is for which share of the last interval a node was stopped.
type paused struct {
	share float64
	reading
}

// pauses walks the graph of who waits for whom to where each waiting begins. It has counters of ports and none of flows, so it
// follows every stopped egress of a switch: what it names is an origin, whether or not all that wait before it wait for it.
func (j *judge) pauses() {
	graph := map[node]paused{}
	for _, a := range j.ports {
		for _, c := range j.topology.Ports[a].Classes {
			if p, ok := j.pausedShare(a, c); ok && (p.share >= j.policy.Paused || j.outlasts(a, c)) {
				graph[node{a, c.Priority}] = p
			}
		}
	}
	next := map[node][]node{}
	before := map[node][]node{}
	stopped := map[string][]node{} // by device
	nodes := slices.SortedFunc(maps.Keys(graph), compareNodes)
	for _, n := range nodes {
		stopped[n.port.Device] = append(stopped[n.port.Device], n)
	}
	for _, n := range nodes {
		for _, m := range j.waitsFor(n, stopped) {
			next[n] = append(next[n], m)
			before[m] = append(before[m], n)
		}
	}
	for _, circle := range circles(nodes, next) {
		j.deadlock(circle, graph)
	}
	congested := map[node]congestion{}
	for _, n := range nodes {
		if len(next[n]) > 0 || j.flapped(n.port) {
			continue
		}
		if port := j.topology.Ports[n.port]; port.PeerHost {
			j.stoppedByHost(n, graph[n], reach(n, before))
		} else if port.Peer != (addr.Addr{}) && !port.Unseen {
			at := node{addr.Device(port.Peer.Device), n.priority}
			congested[at] = congested[at].with(port.Peer, graph[n], reach(n, before))
		}
	}
	for _, at := range slices.SortedFunc(maps.Keys(congested), compareNodes) {
		j.congestion(at, congested[at])
	}
}

func compareNodes(a, b node) int {
	return cmp.Or(addr.Compare(a.port, b.port), cmp.Compare(a.priority, b.priority))
}

// pausedShare is for how much of the last interval PAUSE kept the port from sending. Where the device does not count the time
// it follows from the frames, each of which stops for at most a quantum: an upper bound.
func (j *judge) pausedShare(a addr.Addr, c Class) (paused, bool) {
	p := digit(c.Priority)
	if r, ok := j.recent(telemetry.PFCSeconds, a, p); ok && r.over > 0 {
		return paused{min(1, r.rate()), r}, true
	}
	r, ok := j.recent(telemetry.PFCReceived, a, p)
	rate := j.topology.Ports[a].Rate
	if !ok || r.over <= 0 || rate == 0 {
		return paused{}, false
	}
	r.estimated = true
	return paused{min(1, r.rate()*pauseQuanta/float64(rate)), r}, true
}

// outlasts says whether PAUSE goes on arriving while the watchdog holds the queue in storm: the device no longer obeys it, so that
// it does not count as time stopped, and the storm is not over.
func (j *judge) outlasts(a addr.Addr, c Class) bool {
	stormed, _ := j.inStorm(a, c)
	received, ok := j.recent(telemetry.PFCReceived, a, digit(c.Priority))
	return stormed && ok && received.growth > 0
}

// waitsFor are the nodes that keep the device at the other end of n from draining.
func (j *judge) waitsFor(n node, stopped map[string][]node) []node {
	port := j.topology.Ports[n.port]
	if port.PeerHost {
		return nil
	}
	var out []node
	for _, m := range stopped[port.Peer.Device] {
		if m.port != port.Peer && m.priority == n.priority {
			out = append(out, m)
		}
	}
	return out
}

// reach is how many nodes wait for n, by whatever way.
func reach(n node, before map[node][]node) int {
	seen := map[node]bool{n: true}
	for queue := []node{n}; len(queue) > 0; queue = queue[1:] {
		for _, m := range before[queue[0]] {
			if !seen[m] {
				seen[m] = true
				queue = append(queue, m)
			}
		}
	}
	return len(seen) - 1
}
