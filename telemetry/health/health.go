// Package health judges what the counters say: a window of readings and the cabling go in, verdicts come out. It is pure.
package health

import (
	"cmp"
	"slices"
	"time"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/telemetry"
)

// Check is the name of what is judged.
type Check string

// The checks.
const (
	StaleTarget   Check = "stale-target"
	LosslessDrops Check = "lossless-drops"
	PFCStorm      Check = "pfc-storm"
	SlowReceiver  Check = "slow-receiver"
	Deadlock      Check = "pfc-deadlock"
	Congestion    Check = "congestion"
	Incast        Check = "incast"
	PFCWithoutECN Check = "pfc-without-ecn"
	ECNSilent     Check = "ecn-silent"
	CNPSilent     Check = "cnp-silent"
	Counters      Check = "counters"
	Watchdog      Check = "pfc-watchdog"
	PortDown      Check = "port-down"
	Drift         Check = "drift"
)

// Checks are the checks and what each one looks for, in the order in which a matrix shows them.
func Checks() []struct {
	Name Check
	Doc  string
} {
	return []struct {
		Name Check
		Doc  string
	}{
		{StaleTarget, "A device's counters arrive, and those of each of its lossless ports."},
		{LosslessDrops, "No packet of a lossless class is dropped, at the headroom, in a queue or in a NIC."},
		{PFCStorm, "No host sends PAUSE without end."},
		{SlowReceiver, "No host keeps its switch from sending for a good part of the time."},
		{Deadlock, "No ports wait for each other in a circle."},
		{Congestion, "No switch stops its neighbours for a good part of the time since one of its own ports is overloaded."},
		{Incast, "No port of a switch is nearly saturated and marks a good part of its packets: there an incast or a collision of flows meets."},
		{PFCWithoutECN, "Where a switch sends PAUSE for a class with ECN, it marks packets too, and before."},
		{ECNSilent, "Marks are counted where packets are marked, and arrive where they should."},
		{CNPSilent, "A NIC that receives marks answers with CNPs, and the senders get them."},
		{Counters, "No counter stays at its value while the one at the other end of the cable says that it cannot."},
		{Watchdog, "No queue is in a storm, by the device's own watchdog, and none goes in and out of one."},
		{PortDown, "The cabled ports of lossless classes are up."},
		{Drift, "The device is as the intent says."},
	}
}

// State is what is known.
type State string

// A verdict that is well is not written.
const (
	Bad     State = "bad"
	Unknown State = "unknown" // the readings that would tell are missing or too old; that is not well
)

// Verdict is what a check found at one place.
type Verdict struct {
	Check    Check         `json:"check"`
	Device   string        `json:"device"` // empty: the fabric as a whole
	Port     string        `json:"port,omitempty"`
	Priority *qos.Priority `json:"priority,omitempty"`
	State    State         `json:"state"`
	Severity diag.Severity `json:"severity"`
	Summary  string        `json:"summary"`
	Culprit  *addr.Addr    `json:"culprit,omitempty"`  // the port at fault, where it is another one
	Estimate bool          `json:"estimate,omitempty"` // rests on counters that only hint at what is asked
	Since    time.Time     `json:"since"`
	Seen     time.Time     `json:"seen"` // the newest reading that it rests on
	Age      time.Duration `json:"age"`  // of that reading, in nanoseconds

	Doubts []telemetry.Reading `json:"-"` // what is claimed and cannot be: the store should not believe it
}

// At is the address that the verdict is about.
func (v Verdict) At() addr.Addr {
	a := addr.Port(v.Device, v.Port)
	if v.Priority != nil {
		a = a.Of(addr.PFC, digit(*v.Priority))
	}
	return a
}

// place is what makes two verdicts the same one at two times.
type place struct {
	check Check
	at    addr.Addr
}

func (v Verdict) place() place { return place{v.Check, v.At()} }

// Window is what is judged.
type Window struct {
	Now     time.Time
	Series  []telemetry.Series      // where nobody is asked for them
	Source  Source                  // is asked for the series that are looked at; nil: Series are all
	Earlier []Verdict               // of the last judgement: the same verdict keeps its Since
	Flaps   map[addr.Addr]time.Time // when weir itself last took a port down
	Reasons map[string]string       // why the counters of a device do not come, where that is known
}

// Source has series. A judgement looks at a small part of those of a fabric, and asks for each of them once.
type Source interface {
	// Of is the series of a metric on a port, by the number of its priority, queue or group where it has one.
	Of(m *telemetry.Metric, device, port, number string) (telemetry.Series, bool)
	// Suspects are the series whose claims are not believed, in order.
	Suspects() []telemetry.Series
}

// Topology is the cabling and the classes, as plain values.
type Topology struct {
	Devices []Device
	Ports   map[addr.Addr]Port // by addr.Port(device, port)
}

// Device is a switch or a host.
type Device struct {
	Name string
	Host bool
}

// Port is one port.
type Port struct {
	Host     bool      // of a host
	Peer     addr.Addr // the port at the other end; zero: none
	PeerHost bool
	Unseen   bool // the device at the other end is not judged: what keeps it from sending is not known
	Rate     qos.Rate
	Classes  []Class // the lossless ones
}

// Class is a lossless class on a port.
type Class struct {
	Priority qos.Priority
	Queue    qos.Queue
	Group    qos.PriorityGroup
	ECN      bool // its packets are to be marked; without it PFC alone is the intent
}

// Policy is how strict the judge is. Zero values take the default that is named.
type Policy struct {
	Paused    float64       // share of the time from which a stopped port counts as an edge of the pause graph; 0.01
	Major     float64       // share from which it is told; 0.1
	Storm     float64       // share from which it is a storm; 0.99, as SONiC's detection on Mellanox (pfc_detect_mellanox.lua)
	Flapping  int           // storms of one queue in the window that make it flap; 3
	Saturated float64       // share of a port's rate from which it is overloaded; 0.9, weir's choice
	Marked    float64       // share of a queue's packets from which marking tells that flows meet; 0.001, see defaultMarked
	Lost      float64       // share by which CNPs sent may exceed those handled; 0.05
	Grace     time.Duration // for which weir's own flaps are forgiven, as the devices live it; 1 minute
	Forgiven  int           // readings that a series may miss before it is stale; 2
	Scale     float64       // seconds of the devices in one of ours; 1. Only in a laboratory is it another
}

// defaultMarked is weir's choice. DCQCN settles where a small part is marked: by the fixed point of Zhu et al. (CoNEXT 2016) two
// flows of 4 KiB packets share a port of 100 Gbit/s at 0.1 %, seven at 0.6 %; the part falls with the rate of the port and grows
// with the flows, each to the power of 4/3.
const defaultMarked = 0.001

func (p Policy) withDefaults() Policy {
	p.Paused = cmp.Or(p.Paused, 0.01)
	p.Major = cmp.Or(p.Major, 0.1)
	p.Storm = cmp.Or(p.Storm, 0.99)
	p.Flapping = cmp.Or(p.Flapping, 3)
	p.Saturated = cmp.Or(p.Saturated, 0.9)
	p.Marked = cmp.Or(p.Marked, defaultMarked)
	p.Lost = cmp.Or(p.Lost, 0.05)
	p.Grace = cmp.Or(p.Grace, time.Minute)
	p.Forgiven = cmp.Or(p.Forgiven, 2)
	p.Scale = cmp.Or(p.Scale, 1)
	return p
}

// Judge gives every verdict that is not well, the gravest first.
func Judge(w Window, t Topology, p Policy) []Verdict {
	j := &judge{Window: w, topology: t, policy: p.withDefaults()}
	j.index()
	j.targets()
	for _, a := range j.ports {
		port := t.Ports[a]
		j.portDown(a, port)
		for _, c := range port.Classes {
			j.drops(a, port, c)
			j.watchdog(a, c)
		}
	}
	j.pauses()
	j.incasts()
	j.marks()
	j.cnps()
	j.counters()
	j.drift()
	j.carryOver()
	slices.SortStableFunc(j.verdicts, func(a, b Verdict) int {
		return cmp.Or(-cmp.Compare(a.Severity, b.Severity), addr.Compare(a.At(), b.At()), cmp.Compare(a.Check, b.Check))
	})
	return j.verdicts
}

// carryOver gives verdicts their age and their beginning, and does not lose those of devices that have fallen silent: what was
// bad and is not seen any more is unknown.
func (j *judge) carryOver() {
	earlier := map[place]Verdict{}
	for _, v := range j.Earlier {
		earlier[v.place()] = v
	}
	now := map[place]bool{}
	for i := range j.verdicts {
		v := &j.verdicts[i]
		if was, ok := earlier[v.place()]; ok {
			v.Since = was.Since
		}
		v.Age = max(0, j.Now.Sub(v.Seen))
		now[v.place()] = true
	}
	for _, v := range j.Earlier {
		if j.silent[v.Device] && !now[v.place()] {
			v.State, v.Age = Unknown, max(0, j.Now.Sub(v.Seen))
			j.verdicts = append(j.verdicts, v)
		}
	}
}
