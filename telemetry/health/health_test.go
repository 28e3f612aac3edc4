package health

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/telemetry"
)

func TestVerdicts(t *testing.T) {
	for name, c := range map[string]struct {
		given  func(b *bench)
		policy Policy
		want   []string
	}{
		"nothing happens": {given: func(*bench) {}},
		// incidents I1; diagnosis_rules.json: PFC path exists, terminal port faces a host and has no flow contention.
		"a NIC storm is told at its origin, with the host at fault": {
			given: func(b *bench) {
				b.counter(telemetry.PFCSeconds, "leaf2/e3", 0, 10)
				b.counter(telemetry.PFCSeconds, "spine1/e2", 0, 9.7)
				b.counter(telemetry.PFCSeconds, "leaf1/e2", 0, 9)
				b.counter(telemetry.PFCSeconds, "gpu1/eth0", 0, 8)
				b.counter(telemetry.PFCSeconds, "gpu2/eth0", 0, 8)
			},
			want: []string{"error bad pfc-storm leaf2/e3/pfc/3: host gpu3 (eth0) sends PAUSE without end: the port was stopped for 100 % of the last 10s; 4 more wait behind it [gpu3/eth0]"},
		},
		"a storm that only PAUSE frames show is an estimate, and the queue must stand still": {
			given: func(b *bench) {
				b.counter(telemetry.PFCReceived, "leaf2/e3", 0, 29800) // 298 frames/s hold 10G, 2980 hold 100G (theory 5.1)
				b.counter(telemetry.QueuePackets, "leaf2/e3", 500, 500)
			},
			want: []string{"error bad pfc-storm leaf2/e3/pfc/3: host gpu3 (eth0) sends PAUSE without end: the port was stopped for 100 % of the last 10s [gpu3/eth0] (estimate)"},
		},
		"frames alone, with a queue that drains, are a slow receiver": {
			given: func(b *bench) {
				b.counter(telemetry.PFCReceived, "leaf2/e3", 0, 29800)
				b.counter(telemetry.QueuePackets, "leaf2/e3", 500, 900)
			},
			want: []string{"warning bad slow-receiver leaf2/e3/pfc/3: host gpu3 (eth0) receives too slowly: it stopped the port for 100 % of the last 10s [gpu3/eth0] (estimate)"},
		},
		// The watchdog ignores PAUSE while it holds the queue, so that the time stopped does not grow.
		"a storm goes on while the watchdog holds the queue and PAUSE arrives": {
			given: func(b *bench) {
				b.counter(telemetry.PFCSeconds, "leaf2/e3", 0.2, 0.2)
				b.counter(telemetry.PFCReceived, "leaf2/e3", 0, 29800)
				b.gauge(telemetry.WatchdogStormed, "leaf2/e3", "3", 1)
			},
			want: []string{
				"error bad pfc-storm leaf2/e3/pfc/3: host gpu3 (eth0) sends PAUSE without end: the watchdog of the switch holds the queue in storm [gpu3/eth0]",
				"error bad pfc-watchdog leaf2/e3/pfc/3: the watchdog holds the queue in storm"},
		},
		"a slow receiver pauses gently": { // incidents I7: the watchdog never fires
			given: func(b *bench) { b.counter(telemetry.PFCSeconds, "leaf2/e3", 0, 2) },
			want:  []string{"warning bad slow-receiver leaf2/e3/pfc/3: host gpu3 (eth0) receives too slowly: it stopped the port for 20 % of the last 10s [gpu3/eth0]"},
		},
		"a host that pauses less than is worth telling": {given: func(b *bench) { b.counter(telemetry.PFCSeconds, "leaf2/e3", 0, 0.5) }},
		// diagnosis_rules.json: PFC path exists, terminal port has positive port->flow weights.
		"an incast is told at the port that is overloaded": {
			given: func(b *bench) {
				b.counter(telemetry.PFCSeconds, "spine1/e2", 0, 3)
				b.counter(telemetry.PFCSeconds, "leaf1/e2", 0, 2)
				b.counter(telemetry.PFCSeconds, "gpu2/eth0", 0, 4)
				b.counter(telemetry.TransmittedBytes, "leaf2/e3", 0, 124e9)
			},
			want: []string{"note bad congestion leaf2/e3/pfc/3: the port sends at 99 % of its rate, and the switch stops 3 ports, for up to 40 % of the time [gpu3/eth0]"},
		},
		// DCQCN settles seven flows at 100G where 0.6 % of the packets are marked (Zhu et al., CoNEXT 2016).
		"an incast that ECN holds is told at the port in front of the host": {
			given: func(b *bench) { b.meeting("leaf2/e3", 30e6, 180e3) },
			want: []string{
				"note bad incast leaf2/e3/pfc/3: incast to host gpu3 (eth0): the port sends at 99 % of its rate and marks 0.6 % of the packets; ECN holds it, without PFC [gpu3/eth0]"},
		},
		"flows that collide on a link between switches have no culprit": {
			given: func(b *bench) { b.meeting("leaf1/e2", 30e6, 900e3) },
			want: []string{
				"note bad incast leaf1/e2/pfc/3: flows collide on the way to spine1/e1: the port sends at 99 % of its rate and marks 3 % of the packets; ECN holds it, without PFC"},
		},
		"an incast that needs PFC beside ECN is a warning": {
			given: func(b *bench) {
				b.meeting("leaf2/e3", 30e6, 180e3)
				b.counter(telemetry.PFCTransmitted, "leaf2/e2", 0, 300) // 1 % at 100G: 29.8 frames/s
			},
			want: []string{
				"warning bad incast leaf2/e3/pfc/3: incast to host gpu3 (eth0): the port sends at 99 % of its rate and marks 0.6 % of the packets; ECN alone does not hold it: leaf2/e2 sends PAUSE as well [gpu3/eth0]"},
		},
		"a few PAUSE frames, of the burst with which an incast begins, are none in use": {
			given: func(b *bench) {
				b.meeting("leaf2/e3", 30e6, 180e3)
				b.counter(telemetry.PFCTransmitted, "leaf2/e2", 0, 200)
			},
			want: []string{
				"note bad incast leaf2/e3/pfc/3: incast to host gpu3 (eth0): the port sends at 99 % of its rate and marks 0.6 % of the packets; ECN holds it, without PFC [gpu3/eth0]"},
		},
		"two readings that come in a burst say nothing of a rate": {
			given: func(b *bench) {
				b.meeting("leaf2/e3", 30e6, 180e3)
				b.counter(telemetry.TransmittedBytes, "leaf2/e3", 0, 50e9)
				b.late(telemetry.TransmittedBytes, "leaf2/e3", interval-time.Millisecond)
			},
		},
		"a full port that hardly marks is well": {given: func(b *bench) { b.meeting("leaf2/e3", 30e6, 20e3) }},
		"a port that marks and has room is well": {
			given: func(b *bench) {
				b.meeting("leaf2/e3", 30e6, 180e3)
				b.counter(telemetry.TransmittedBytes, "leaf2/e3", 0, 100e9)
			},
		},
		"a full port whose marks nobody counts says nothing": {
			given: func(b *bench) {
				b.meeting("leaf2/e3", 30e6, 180e3)
				b.status(telemetry.ECNMarked, "leaf2/e3", telemetry.Unsupported)
			},
		},
		"a NIC that is full is no place of an incast": {given: func(b *bench) { b.meeting("gpu3/eth0", 30e6, 180e3) }},
		"an incast of the past is over": {
			given: func(b *bench) {
				b.meeting("leaf2/e3", 30e6, 180e3)
				b.counter(telemetry.TransmittedBytes, "leaf2/e3", 0, 124e9, 125e9)
				b.counter(telemetry.ECNMarked, "leaf2/e3", 0, 180e3, 180e3)
			},
		},
		"a switch that pauses without a cause": { // incidents I2: alpha 1/64 instead of 1/16
			given: func(b *bench) { b.counter(telemetry.PFCSeconds, "gpu2/eth0", 0, 4) },
			want: []string{
				"warning bad congestion leaf2/e2/pfc/3: the switch stops 1 port, for up to 40 % of the time, though nothing keeps it from sending: its PFC threshold may be too small"},
		},
		"a switch that pauses, and is not watched itself": {
			given: func(b *bench) {
				b.counter(telemetry.PFCSeconds, "gpu2/eth0", 0, 4)
				p := b.topology.Ports[at("gpu2/eth0")]
				p.Unseen = true
				b.topology.Ports[at("gpu2/eth0")] = p
			},
		},
		// diagnosis_rules.json: port subgraph has a loop, all loop ports out-degree 1.
		"a deadlock": {
			given: func(b *bench) {
				b.topology.Ports = map[addr.Addr]Port{}
				for _, l := range [][2]string{{"leaf1/e1", "leaf2/e1"}, {"leaf2/e2", "spine1/e2"}, {"spine1/e3", "leaf1/e3"}} {
					b.cable(l[0], l[1])
					b.cable(l[1], l[0])
				}
				for _, p := range []string{"leaf1/e1", "leaf2/e2", "spine1/e3"} {
					b.counter(telemetry.PFCSeconds, p, 0, 10)
				}
			},
			want: []string{"error bad pfc-deadlock leaf1/e1/pfc/3: 3 ports wait for each other in a circle and none drains: leaf1/e1, leaf2/e2, spine1/e3"},
		},
		// A switch does not send back through the port that a packet came in by.
		"two ends of a cable that stop each other are no circle": {
			given: func(b *bench) {
				b.counter(telemetry.PFCSeconds, "leaf1/e2", 0, 10)
				b.counter(telemetry.PFCSeconds, "spine1/e1", 0, 10)
			},
			want: []string{
				"warning bad congestion leaf1/e2/pfc/3: the switch stops 1 port, for up to 100 % of the time, though nothing keeps it from sending: its PFC threshold may be too small",
				"warning bad congestion spine1/e1/pfc/3: the switch stops 1 port, for up to 100 % of the time, though nothing keeps it from sending: its PFC threshold may be too small",
			},
		},
		"packets arrived when the headroom was full": { // incidents I14, I27, I28
			given: func(b *bench) { b.counter(telemetry.GroupDropped, "leaf1/e1", 5, 5, 12) },
			want: []string{
				"error bad lossless-drops leaf1/e1/pfc/3: 7 packets of a lossless class in 20s arrived when the headroom was full: it is too small, or the neighbour does not stop in time"},
		},
		"a counter that began anew": {
			given: func(b *bench) { b.counter(telemetry.QueueDropped, "leaf1/e1", 500, 2) },
			want: []string{
				"error bad lossless-drops leaf1/e1/pfc/3: 2 packets of a lossless class in 10s dropped by the egress queue: it is not lossless here, or its threshold is too small"},
		},
		"drops that nobody counts are no drops": {
			given: func(b *bench) { b.status(telemetry.GroupDropped, "leaf1/e1", telemetry.Unsupported) },
		},
		"PAUSE comes before ECN": { // incidents I12
			given: func(b *bench) {
				b.counter(telemetry.PFCTransmitted, "leaf2/e2", 100, 900)
				for _, p := range []string{"leaf2/e1", "leaf2/e2", "leaf2/e3"} {
					b.counter(telemetry.ECNMarked, p, 7, 7)
				}
			},
			want: []string{"warning bad pfc-without-ecn leaf2/e2/pfc/3: 800 PAUSE frames were sent in 10s and no packet was marked: PFC comes before ECN, or ECN is off"},
		},
		"PAUSE without ECN is fine where PFC alone is the intent": { // incidents I16
			given: func(b *bench) {
				b.counter(telemetry.PFCTransmitted, "leaf2/e2", 100, 900)
				for a, p := range b.topology.Ports {
					p.Classes = []Class{{Priority: 3, Queue: 3, Group: 3}}
					b.topology.Ports[a] = p
					b.counter(telemetry.ECNMarked, a.String(), 7, 7)
				}
			},
		},
		"PAUSE with ECN counters that nobody reads says nothing": {
			given: func(b *bench) {
				b.counter(telemetry.PFCTransmitted, "leaf2/e2", 100, 900)
				b.status(telemetry.ECNMarked, "leaf2/e3", telemetry.Unsupported)
			},
		},
		"ECN counters that are off": {
			given: func(b *bench) { b.status(telemetry.ECNMarked, "leaf2/e3", telemetry.Disabled) },
			want:  []string{"warning unknown ecn-silent leaf2/pfc/3: the device's ECN counters are switched off on 1 of 3 ports: marking cannot be seen"},
		},
		"marks arrive that no switch counts": { // sonic-buildimage issue 25174
			given: func(b *bench) {
				b.counter(telemetry.CEReceived, "gpu3/eth0", 0, 50)
				b.counter(telemetry.CNPSent, "gpu3/eth0", 0, 50)
				b.counter(telemetry.ECNMarked, "leaf2/e3", 0, 0)
			},
			want: []string{"warning bad counters leaf2/e3/pfc/3: 50 marked packets arrived at gpu3/eth0 and no switch counts a mark: the counter of marks claims zero"},
		},
		// diagnosis_rules.json: switch ECN marks>0 and receiver np_ecn_marked_roce_packets==0.
		"marks do not arrive": {
			given: func(b *bench) {
				b.counter(telemetry.ECNMarked, "leaf2/e3", 0, 90)
				b.counter(telemetry.CEReceived, "gpu3/eth0", 4, 4)
				b.counter(telemetry.PriorityReceivedBytes, "gpu3/eth0", 0, 1e9)
			},
			want: []string{"warning bad ecn-silent leaf2/e3/pfc/3: 90 packets were marked on the way to gpu3/eth0 and none arrived with a mark: what is sent has no ECT, or the DSCP is classified differently"},
		},
		// diagnosis_rules.json: np_ecn_marked>0 and np_cnp_sent==0.
		"a NIC does not answer marks": {
			given: func(b *bench) {
				b.counter(telemetry.CEReceived, "gpu3/eth0", 0, 50)
				b.counter(telemetry.CNPSent, "gpu3/eth0", 0, 0)
			},
			want: []string{"warning bad cnp-silent gpu3/eth0: 50 marked packets arrived and no CNP was sent: the notification point is off for the priority"},
		},
		// diagnosis_rules.json: np_cnp_sent(receiver) > 1.05*rp_cnp_handled(sender).
		"CNPs are lost": {
			given: func(b *bench) {
				for _, p := range []string{"gpu1/eth0", "gpu2/eth0", "gpu3/eth0"} {
					b.counter(telemetry.CNPSent, p, 0, 10, 50, 60)
					b.counter(telemetry.CNPHandled, p, 0, 10, 30, 38)
				}
			},
			want: []string{"warning bad cnp-silent : 120 CNPs were sent and 114 handled in the fabric: they are lost, or travel in the wrong class"},
		},
		"CNPs within five percent": {
			given: func(b *bench) {
				for _, p := range []string{"gpu1/eth0", "gpu2/eth0", "gpu3/eth0"} {
					b.counter(telemetry.CNPSent, p, 0, 10, 50, 60)
					b.counter(telemetry.CNPHandled, p, 0, 10, 30, 39)
				}
			},
		},
		"CNPs that were sent since the NICs that handle them were read are not lost": {
			given: func(b *bench) {
				for _, p := range []string{"gpu1/eth0", "gpu2/eth0", "gpu3/eth0"} {
					b.counter(telemetry.CNPSent, p, 0, 0, 0, 40)
					b.counter(telemetry.CNPHandled, p, 0, 0, 0, 0)
				}
			},
		},
		"CNPs that were handled before the NICs were first read are not lost": {
			given: func(b *bench) {
				for _, p := range []string{"gpu1/eth0", "gpu2/eth0", "gpu3/eth0"} {
					b.counter(telemetry.CNPSent, p, 0, 40, 40, 40)
					b.counter(telemetry.CNPHandled, p, 40, 40, 40, 40)
				}
			},
		},
		"a storm that the watchdog saw, and whose drops are its own": {
			given: func(b *bench) {
				b.counter(telemetry.WatchdogDetected, "leaf2/e3", 0, 1)
				b.gauge(telemetry.WatchdogStormed, "leaf2/e3", "3", 1)
				b.counter(telemetry.QueueDropped, "leaf2/e3", 0, 70)
			},
			want: []string{"error bad pfc-watchdog leaf2/e3/pfc/3: the watchdog holds the queue in storm"},
		},
		"a storm that is over": {
			given: func(b *bench) {
				b.counter(telemetry.WatchdogDetected, "leaf2/e3", 0, 1)
				b.gauge(telemetry.WatchdogStormed, "leaf2/e3", "3", 0)
			},
			want: []string{"warning bad pfc-watchdog leaf2/e3/pfc/3: the watchdog saw a storm, which is over: 1 in 10s"},
		},
		"a device that does not tell its state has a storm that has begun and not ended": {
			given: func(b *bench) {
				b.counter(telemetry.WatchdogDetected, "leaf2/e3", 4, 4)
				b.counter(telemetry.WatchdogRestored, "leaf2/e3", 3, 3)
			},
			want: []string{"error bad pfc-watchdog leaf2/e3/pfc/3: the watchdog holds the queue in storm"},
		},
		"a watchdog that flaps": { // incidents I25: 170 cycles in 20 minutes
			given: func(b *bench) { b.counter(telemetry.WatchdogDetected, "leaf2/e3", 0, 2, 3) },
			want:  []string{"error bad pfc-watchdog leaf2/e3/pfc/3: the watchdog went in and out of storm 3 times in 20s: it flaps"},
		},
		"a queue that is stormed without PAUSE": { // incidents I24
			given: func(b *bench) {
				b.gauge(telemetry.WatchdogStormed, "leaf2/e3", "3", 1)
				b.counter(telemetry.PFCReceived, "leaf2/e3", 9, 9)
			},
			want: []string{"error bad pfc-watchdog leaf2/e3/pfc/3: the watchdog holds the queue in storm though no PAUSE arrives: its traffic is lost until the state is cleared"},
		},
		"a stormed port that goes on sending PAUSE": { // incidents I26
			given: func(b *bench) {
				b.gauge(telemetry.WatchdogStormed, "leaf2/e3", "3", 1)
				b.counter(telemetry.PFCTransmitted, "leaf2/e3", 0, 10)
			},
			want: []string{"error bad pfc-watchdog leaf2/e3/pfc/3: the queue is in storm, and the port goes on sending PAUSE upstream"},
		},
		"PAUSE frames that one end sent and the other does not count": { // sonic-buildimage issue 5540
			given: func(b *bench) {
				b.counter(telemetry.PFCTransmitted, "gpu3/eth0", 0, 1234, 1234)
				b.counter(telemetry.PFCReceived, "leaf2/e3", 0, 0, 0)
			},
			want: []string{"warning bad counters leaf2/e3/pfc/3: gpu3/eth0 sent 1234 PAUSE frames and none was counted here: the counter claims zero, or PFC is off on the device"},
		},
		"frames that may still be on their way into the counters": {
			given: func(b *bench) {
				b.counter(telemetry.PFCTransmitted, "gpu3/eth0", 0, 0, 1234)
				b.counter(telemetry.PFCReceived, "leaf2/e3", 0, 0, 0)
			},
		},
		"a counter that is not believed": {
			given: func(b *bench) { b.status(telemetry.PFCReceived, "leaf2/e3", telemetry.Suspect) },
			want:  []string{"warning unknown counters leaf2/e3: weir_port_pfc_pause_frames_received_total of leaf2/e3/pfc/3 claims a value that cannot be, and has not moved since"},
		},
		"a device that does not answer": {
			given: func(b *bench) {
				b.gauge(telemetry.TargetUp, "leaf1", "", 0)
				b.gauge(telemetry.LastUpdate, "leaf1", "", float64(noon.Unix()-90))
			},
			want: []string{"error unknown stale-target leaf1: no counters arrive: the last came 1m30s ago"},
		},
		"a device that never answered": {
			given: func(b *bench) { b.gauge(telemetry.TargetUp, "leaf1", "", 0) },
			want:  []string{"error unknown stale-target leaf1: no counters of the device have arrived yet"},
		},
		"a device that never answered, and it is known why": {
			given: func(b *bench) {
				b.gauge(telemetry.TargetUp, "leaf1", "", 0)
				b.window.Reasons = map[string]string{"leaf1": "the environment variable P is not set"}
			},
			want: []string{"error unknown stale-target leaf1: no counters of the device have arrived yet: the environment variable P is not set"},
		},
		"counters that came while it was judged did not come in the future": {
			given: func(b *bench) {
				b.gauge(telemetry.TargetUp, "leaf1", "", 0)
				b.gauge(telemetry.LastUpdate, "leaf1", "", float64(noon.Unix()+1))
			},
			want: []string{"error unknown stale-target leaf1: no counters arrive: the last came 0s ago"},
		},
		"a port that seems to send more than its rate": {
			given: func(b *bench) {
				b.meeting("leaf2/e3", 30e6, 180e3)
				b.counter(telemetry.TransmittedBytes, "leaf2/e3", 0, 167e9)
			},
			want: []string{
				"note bad incast leaf2/e3/pfc/3: incast to host gpu3 (eth0): the port sends at 100 % of its rate and marks 0.6 % of the packets; ECN holds it, without PFC [gpu3/eth0]"},
		},
		"a port of a device that answers": { // gnmic issue 393: a different part of the ports each time
			given: func(b *bench) {
				for i, s := range b.window.Series {
					if s.Addr.Device == "leaf1" && s.Addr.Port == "e2" {
						b.window.Series[i].Points[1].At = noon.Add(-31 * time.Second)
					}
				}
			},
			want: []string{"warning unknown stale-target leaf1: the PFC counters of e2 do not arrive, though the device answers"},
		},
		"drift": {
			given: func(b *bench) { b.gauge(telemetry.DriftChanges, "leaf1", "", 4) },
			want:  []string{"warning bad drift leaf1: 4 changes would bring the device back to the intent"},
		},
		"a port that is down": {
			given: func(b *bench) { b.gauge(telemetry.PortUp, "leaf1/e2", "", 0) },
			want:  []string{"error bad port-down leaf1/e2: the port is down; it is cabled to spine1/e1"},
		},
		"a port that weir flapped, and the one at its other end, are forgiven for a minute": {
			given: func(b *bench) {
				b.gauge(telemetry.PortUp, "leaf1/e2", "", 0)
				b.gauge(telemetry.PortUp, "spine1/e1", "", 0)
				b.window.Flaps = map[addr.Addr]time.Time{at("leaf1/e2"): noon.Add(-59 * time.Second)}
			},
		},
		"and no longer": {
			given: func(b *bench) {
				b.gauge(telemetry.PortUp, "leaf1/e2", "", 0)
				b.window.Flaps = map[addr.Addr]time.Time{at("leaf1/e2"): noon.Add(-time.Minute)}
			},
			want: []string{"error bad port-down leaf1/e2: the port is down; it is cabled to spine1/e1"},
		},
		"in a laboratory whose time is fast, shares are of its own time": {
			given:  func(b *bench) { b.counter(telemetry.PFCSeconds, "leaf2/e3", 0, 40) },
			policy: Policy{Scale: 20},
			want:   []string{"warning bad slow-receiver leaf2/e3/pfc/3: host gpu3 (eth0) receives too slowly: it stopped the port for 20 % of the last 3m20s [gpu3/eth0]"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := fabric()
			c.given(b)
			if diff := cmp.Diff(lines(Judge(b.window, b.topology, c.policy)), c.want); diff != "" {
				t.Errorf("(-got +want)\n%s", diff)
			}
		})
	}
}

func TestAVerdictAgesAndIsUnknownWhenItsDeviceFallsSilent(t *testing.T) {
	b := fabric()
	b.counter(telemetry.GroupDropped, "leaf1/e1", 0, 0, 4, 4)
	first := Judge(b.window, b.topology, Policy{})
	if got, want := first[0].Since, noon.Add(-interval); !got.Equal(want) {
		t.Errorf("since %s, want the reading in which it grew, %s", got, want)
	}

	b.window.Now, b.window.Earlier = noon.Add(5*time.Second), first
	b.counter(telemetry.GroupDropped, "leaf1/e1", 4, 6)
	second := Judge(b.window, b.topology, Policy{})
	if got, want := second[0].Since, first[0].Since; !got.Equal(want) {
		t.Errorf("since %s, want it kept: %s", got, want)
	}
	if got, want := second[0].Age, 5*time.Second; got != want {
		t.Errorf("age %s, want %s", got, want)
	}

	b.window.Now, b.window.Earlier = noon.Add(time.Hour), second
	var got *Verdict
	for _, v := range Judge(b.window, b.topology, Policy{}) {
		if v.Check == LosslessDrops {
			got = &v
		}
	}
	if got == nil || got.State != Unknown || got.Age != time.Hour {
		t.Errorf("an hour after the last reading: got %+v, want it unknown and an hour old", got)
	}
}
