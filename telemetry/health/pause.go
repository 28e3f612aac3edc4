package health

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
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
			j.origin(n, graph[n], reach(n, before))
		} else if port.Peer != (addr.Addr{}) {
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

// origin judges a node that waits for a host: that is where the waiting begins.
func (j *judge) origin(n node, p paused, behind int) {
	host := j.topology.Ports[n.port].Peer
	span := p.over.Round(time.Second)
	v := about(SlowReceiver, n.port, n.priority, diag.Warning, fmt.Sprintf(
		"host %s (%s) receives too slowly: it stopped the port for %s of the last %s", host.Device, host.Port, percent(p.share), span))
	switch {
	case j.storm(n, p):
		v.Check, v.Severity = PFCStorm, diag.Error
		v.Summary = fmt.Sprintf("host %s (%s) sends PAUSE without end: ", host.Device, host.Port)
		if p.share >= j.policy.Storm {
			v.Summary += fmt.Sprintf("the port was stopped for %s of the last %s", percent(p.share), span)
		} else {
			v.Summary += "the watchdog of the switch holds the queue in storm"
		}
	case p.share < j.policy.Major:
		return
	}
	if behind > 0 {
		v.Summary += fmt.Sprintf("; %d more wait behind it", behind)
	}
	v.Culprit, v.Estimate = &host, p.estimated
	j.add(v, p.reading)
}

// congestion is a switch that stops its neighbours while nothing stops it.
type congestion struct {
	ports  []addr.Addr // of the switch, that send PAUSE
	behind int
	worst  paused
}

func (c congestion) with(port addr.Addr, p paused, behind int) congestion {
	c.ports = append(c.ports, port)
	c.behind += behind + 1
	if p.share > c.worst.share {
		c.worst = p
	}
	return c
}

// congestion judges a switch where the waiting begins: one of its ports is overloaded, or its thresholds are too small.
func (j *judge) congestion(at node, c congestion) {
	if c.worst.share < j.policy.Major {
		return
	}
	ports := "1 port"
	if c.behind > 1 {
		ports = fmt.Sprintf("%d ports", c.behind)
	}
	stops := fmt.Sprintf("stops %s, for up to %s of the time", ports, percent(c.worst.share))
	egress, why := j.overloaded(at.port.Device, c.ports, at.priority)
	v := about(Congestion, egress, at.priority, diag.Note, fmt.Sprintf("the port %s, and the switch %s", why, stops))
	if why == "" {
		v = about(Congestion, c.ports[0], at.priority, diag.Warning,
			fmt.Sprintf("the switch %s, though nothing keeps it from sending: its PFC threshold may be too small", stops))
	} else if peer := j.topology.Ports[egress].Peer; peer != (addr.Addr{}) {
		v.Culprit = &peer
	}
	v.Estimate = c.worst.estimated
	j.add(v, c.worst.reading)
}

// storm says whether a node that waits for a host is stopped for good. Where the time is only estimated the queue must have
// stood still as well.
func (j *judge) storm(n node, p paused) bool {
	for _, c := range j.topology.Ports[n.port].Classes {
		if c.Priority != n.priority {
			continue
		}
		if now, _ := j.inStorm(n.port, c); now {
			return true
		}
		if p.share < j.policy.Storm {
			return false
		}
		moved, counted := j.recent(telemetry.QueuePackets, n.port, digit(c.Queue))
		return !p.estimated || counted && moved.growth == 0
	}
	return false
}

// overloaded is a port of the device, not one of those that send PAUSE, that sends as much as it can, or marks; why is empty
// where there is none.
func (j *judge) overloaded(device string, but []addr.Addr, p qos.Priority) (port addr.Addr, why string) {
	for _, a := range j.portsOf[device] {
		if slices.Contains(but, a) {
			continue
		}
		if used, ok := j.used(a); ok && used >= j.policy.Saturated {
			return a, fmt.Sprintf("sends at %s of its rate", percent(used))
		}
		for _, c := range j.topology.Ports[a].Classes {
			if r, ok := j.recent(telemetry.ECNMarked, a, digit(c.Queue)); ok && c.Priority == p && r.growth > 0 {
				return a, "is congested and marks"
			}
		}
	}
	return addr.Addr{}, ""
}

func (j *judge) deadlock(circle []node, graph map[node]paused) {
	first := circle[0]
	names := make([]string, len(circle))
	worst := graph[first]
	for i, n := range circle {
		names[i] = n.port.String()
		if graph[n].share < j.policy.Storm {
			return // they wait in turn, and drain
		}
	}
	v := about(Deadlock, first.port, first.priority, diag.Error, fmt.Sprintf("%d ports wait for each other in a circle and none drains: %s", len(circle), some(names)))
	v.Estimate = worst.estimated
	j.add(v, worst.reading)
}

// percent writes a share, with one digit behind the point where it would be nothing without.
func percent(share float64) string {
	if share > 0 && share < 0.01 {
		return fmt.Sprintf("%.1f %%", share*100)
	}
	return fmt.Sprintf("%.0f %%", share*100)
}
