package health

import (
	"fmt"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/telemetry"
)

// incasts judges every egress of a switch by itself: one that is nearly saturated and marks is where an incast or a collision of
// flows meets, whether or not anything is stopped for it. It is the counters' share of what diagnosis by flows calls plain
// contention: no port waits for another, and flows compete at one (Hawkeye, SIGCOMM 2025, table 2).
func (j *judge) incasts() {
	for _, a := range j.ports {
		port := j.topology.Ports[a]
		if port.Host {
			continue
		}
		used, ok := j.used(a)
		if !ok || used < j.policy.Saturated {
			continue
		}
		for _, c := range port.Classes {
			if share, r, ok := j.markedShare(a, c); ok && share >= j.policy.Marked {
				j.incast(a, c, used, share, r)
			}
		}
	}
}

// used is the share of its rate at which a port sent in the last interval.
func (j *judge) used(a addr.Addr) (float64, bool) {
	r, ok := j.recent(telemetry.TransmittedBytes, a, "")
	rate := j.topology.Ports[a].Rate
	if !ok || r.over <= 0 || rate == 0 {
		return 0, false
	}
	return r.rate() * 8 / float64(rate), true
}

// markedShare is the share of a queue's packets that it marked in the last interval. The two counters may come at different
// times, so that rates are compared.
func (j *judge) markedShare(a addr.Addr, c Class) (float64, reading, bool) {
	marked, ok := j.recent(telemetry.ECNMarked, a, digit(c.Queue))
	sent, ok2 := j.recent(telemetry.QueuePackets, a, digit(c.Queue))
	if !ok || !ok2 || sent.rate() <= 0 {
		return 0, reading{}, false
	}
	return min(1, marked.rate()/sent.rate()), marked, true
}

// incast tells of an egress where flows meet. That ECN holds them is how it should be, and a note; PAUSE beside it is a warning.
func (j *judge) incast(a addr.Addr, c Class, used, share float64, r reading) {
	peer := j.topology.Ports[a].Peer
	what := "flows collide"
	if peer != (addr.Addr{}) {
		what += fmt.Sprintf(" on the way to %s", peer)
	}
	v := about(Incast, a, c.Priority, diag.Note, "")
	if j.topology.Ports[a].PeerHost {
		what = fmt.Sprintf("incast to host %s (%s)", peer.Device, peer.Port)
		v.Culprit = &peer
	}
	held := "ECN holds it, without PFC"
	if from, ok := j.stops(a, c); ok {
		v.Severity = diag.Warning
		held = fmt.Sprintf("ECN alone does not hold it: %s sends PAUSE as well", from)
	}
	v.Summary = fmt.Sprintf("%s: the port sends at %s of its rate and marks %s of the packets; %s", what, percent(ofRate(used)), percent(share), held)
	v.Estimate = r.estimated
	j.add(v, r)
}

// stops is the first port of the switch, other than the egress where flows meet, that keeps its neighbour from sending. How long
// follows from the frames that it sends, as an upper bound: a switch does not count for how long its neighbours obeyed.
func (j *judge) stops(egress addr.Addr, c Class) (addr.Addr, bool) {
	for _, a := range j.portsOf[egress.Device] {
		rate := j.topology.Ports[a].Rate
		r, ok := j.recent(telemetry.PFCTransmitted, a, digit(c.Priority))
		if a != egress && ok && rate > 0 && r.rate()*pauseQuanta/float64(rate) >= j.policy.Paused {
			return a, true
		}
	}
	return addr.Addr{}, false
}
