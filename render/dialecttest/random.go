package dialecttest

import (
	"strconv"
	"time"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/inventory/catalog"
)

// source is a sequence of numbers that depends on nothing but its seed (splitmix64: Steele, Lea and Flood, 2014).
type source uint64

func (s *source) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below is a number from 0 to n-1.
func (s *source) below(n int) int { return int(s.next() % uint64(n)) }

// chance is true once in n times.
func (s *source) chance(n int) bool { return s.below(n) == 0 }

func pick[T any](s *source, of ...T) T { return of[s.below(len(of))] }

// RandomSwitch is a switch named leaf1 with the given ports. The same seed gives the same switch. Everything about it lies
// within what the standards and all supported languages allow, so that writing it gives no error.
func RandomSwitch(seed uint64, platform string, ports ...string) *fabric.Switch {
	s := source(seed)
	classes := randomClasses(&s)
	sku := pick(&s, "ACS-MSN2700", "Mellanox-SN4600C-C64", "DCS-7050CX3-32S", "")
	sw := &fabric.Switch{
		Device: fabric.Device{Name: "leaf1", Platform: platform, SKU: sku, Role: "leaf", At: place("inventory/devices.yaml", 3)},
		ASIC:   catalog.Builtin().BySKU(sku), Maps: randomMaps(&s, classes), Trust: qos.TrustDSCP,
		LosslessAlpha: qos.AlphaShift(s.below(6) - 3), LossyAlpha: 3,
	}
	watchdog := &qos.Watchdog{
		Detection: ms(200 + 100*s.below(4)), Restoration: ms(200 + 200*s.below(4)), Poll: ms(100 + 100*s.below(2)),
		Action: pick(&s, qos.Drop, qos.Forward),
	}
	if s.chance(4) {
		watchdog = nil
	}
	sw.Watchdog = watchdog
	mtu := pick[qos.Bytes](&s, 9000, 9100, 4200)
	for n, name := range ports {
		p := randomPort(&s, name, n, classes)
		p.MTU, p.Watchdog = mtu, watchdog
		for i := range p.Groups {
			if p.Groups[i].Lossless {
				p.Groups[i].Alpha = sw.LosslessAlpha
			}
		}
		sw.Ports = append(sw.Ports, p)
	}
	return sw
}

// class is what a random switch is made from.
type class struct {
	name      string
	priority  qos.Priority
	lossless  bool
	scheduler qos.Scheduler
	wred      *qos.WRED
	at        diag.Pos
}

// randomClasses are one or two lossless classes, a strict one and the default.
func randomClasses(s *source) []class {
	curve := func() *qos.WRED {
		if s.chance(4) {
			return nil
		}
		low := qos.Bytes(1000 * (100 + s.below(200)))
		return &qos.WRED{Min: low, Max: low + qos.Bytes(1000*(1+s.below(2000))), Probability: qos.Percent(1 + s.below(100)), ECN: true}
	}
	share := 20 + s.below(60)
	classes := []class{
		{name: "rdma", priority: 3, lossless: true, scheduler: qos.Scheduler{Weight: qos.Percent(share)}, wred: curve()},
		{name: "cnp", priority: 6, scheduler: qos.Scheduler{Strict: true}},
		{name: "default", scheduler: qos.Scheduler{Weight: qos.Percent(100 - share)}},
	}
	if s.chance(2) {
		second := class{name: "storage", priority: pick[qos.Priority](s, 2, 4), lossless: true, wred: curve()}
		second.scheduler.Weight = qos.Percent(1 + s.below(19))
		classes[2].scheduler.Weight = max(1, classes[2].scheduler.Weight-second.scheduler.Weight)
		classes = append(classes, second)
	}
	for i := range classes {
		classes[i].at = place("intent/fabric.yaml", 4+i)
	}
	return classes
}

// randomMaps puts a handful of code points into the classes and the rest into the default class.
func randomMaps(s *source, classes []class) fabric.Maps {
	var m fabric.Maps
	for i := range 8 {
		m.TCToQueue[i], m.PriorityToQueue[i] = qos.Queue(i), qos.Queue(i)
	}
	for _, c := range classes {
		p := c.priority
		m.PCPToTC[p], m.TCToDSCP[p] = qos.TrafficClass(p), qos.DSCP(8*uint8(p)+2)
		m.DSCPToTC[m.TCToDSCP[p]] = qos.TrafficClass(p)
		if p != 0 {
			m.DSCPToTC[s.below(64)] = qos.TrafficClass(p)
		}
		if c.lossless {
			m.TCToGroup[p], m.PriorityToGroup[p] = qos.PriorityGroup(p), qos.PriorityGroup(p)
		}
		m.At = append(m.At, c.at)
	}
	return m
}

func randomPort(s *source, name string, n int, classes []class) *fabric.Port {
	p := &fabric.Port{
		Name: name, Speed: pick[qos.Rate](s, 25e9, 100e9, 400e9), Lanes: 4, Cable: pick[qos.Metres](s, 5, 40, 300), Trust: qos.TrustDSCP,
		Queues: make([]fabric.Queue, 8), Groups: make([]fabric.Group, 8),
		Peer:   &fabric.Peer{Device: "gpu" + strconv.Itoa(n+1), Port: "eth0", Host: true},
		Origin: randomOrigin(classes, n),
	}
	pfc := !s.chance(5)
	for i := range 8 {
		p.Queues[i] = fabric.Queue{ID: qos.Queue(i), Alpha: 3}
		p.Groups[i] = fabric.Group{ID: qos.PriorityGroup(i), Alpha: 3}
	}
	for _, c := range classes {
		q := &p.Queues[c.priority]
		q.Class, q.Scheduler, q.WRED = c.name, c.scheduler, c.wred
		if !c.lossless || !pfc {
			p.Groups[0].Priorities |= qos.Priorities(c.priority)
			continue
		}
		p.PFC |= qos.Priorities(c.priority)
		q.Lossless, q.Alpha = true, 7
		p.Groups[c.priority] = fabric.Group{
			ID: qos.PriorityGroup(c.priority), Lossless: true, Priorities: qos.Priorities(c.priority),
			XON: 19456, Headroom: 38912, Reserved: 58368, ByDevice: true,
		}
	}
	return p
}

// randomOrigin says where a port's settings come from; every class and setting has a line of its own.
func randomOrigin(classes []class, n int) *fabric.Origin {
	at := func(line int) []diag.Pos { return []diag.Pos{place("intent/fabric.yaml", line)} }
	o := &fabric.Origin{
		MTU: at(20), Trust: at(21), FlowControl: at(22), PFC: at(23), Watchdog: at(24), Headroom: at(25), Alpha: at(27),
		Cable: []diag.Pos{place("inventory/links.yaml", n+1)}, Class: map[string][]diag.Pos{},
	}
	for _, c := range classes {
		o.Class[c.name] = []diag.Pos{c.at}
	}
	return o
}

// RandomHost is a host named gpu1 with the given NICs. The same seed gives the same host.
func RandomHost(seed uint64, nics ...string) *fabric.Host {
	s := source(seed)
	at := []diag.Pos{place("intent/hosts.yaml", 2)}
	h := &fabric.Host{
		Device:  fabric.Device{Name: "gpu1", Platform: "linux", Role: "gpu", At: place("inventory/hosts.yaml", 3)},
		Memlock: pick(&s, "", "unlimited"), At: at,
	}
	if h.Memlock != "" && seed%2 == 0 {
		h.MemlockServices = []string{"containerd", "slurmd"}[:1+seed/2%2]
	}
	for _, name := range []string{"rdma_cm", "rdma_ucm", "ib_uverbs"}[:1+s.below(3)] {
		h.Modules = append(h.Modules, fabric.Module{Name: name, At: at})
	}
	classes := randomClasses(&s)
	maps := randomMaps(&s, classes)
	for n, name := range nics {
		h.NICs = append(h.NICs, randomNIC(&s, name, n, classes, maps))
	}
	return h
}

func randomNIC(s *source, name string, n int, classes []class, maps fabric.Maps) *fabric.NIC {
	dscp := maps.TCToDSCP[3]
	nic := &fabric.NIC{
		Name: name, RDMA: "mlx5_" + strconv.Itoa(n), Model: catalog.Builtin().ByNIC("ConnectX-6"), Speed: 100e9,
		MTU: pick[qos.Bytes](s, 9000, 4200), Cable: 5, Trust: qos.TrustDSCP, PFC: qos.Priorities(3),
		RoCE: 2, DSCP: dscp, TOS: dscp.TrafficClassByte(qos.ECT0), CNPDSCP: maps.TCToDSCP[6], CNPPriority: 6, DCQCN: true,
		Class: "rdma", CNP: "cnp",
		Peer:   &fabric.Peer{Device: "leaf" + strconv.Itoa(n+1), Port: "Ethernet0"},
		Origin: randomOrigin(classes, n), At: []diag.Pos{place("intent/hosts.yaml", 2)},
	}
	for d, tc := range maps.DSCPToTC {
		nic.DSCPToPriority[d] = qos.Priority(tc)
	}
	left := qos.Percent(100)
	for _, c := range classes {
		nic.PriorityToTC[c.priority] = qos.TrafficClass(c.priority)
		nic.ETS[c.priority] = c.scheduler
		if !c.scheduler.Strict && c.priority != 0 {
			left -= c.scheduler.Weight
		}
	}
	nic.ETS[0] = qos.Scheduler{Weight: left}
	return nic
}

func place(file string, line int) diag.Pos { return diag.Pos{File: file, Line: line, Column: 1} }

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// Vary changes what RandomSwitch makes alike on all its ports and switches: trust, guarantees, curves that drop, a shared headroom
// pool, the times of watchdogs. What it makes all supported languages can say.
func Vary(seed uint64, sw *fabric.Switch) {
	s := source(seed ^ 0x6c696674)
	if s.chance(3) {
		sw.Oversubscribe = 2
	}
	for _, p := range sw.Ports {
		if s.chance(3) {
			p.Trust = qos.TrustPCP
		}
		if p.Watchdog != nil && s.chance(3) {
			own := *p.Watchdog
			own.Restoration += ms(100)
			p.Watchdog = &own
		}
		for i := range p.Queues {
			q := &p.Queues[i]
			if q.Class != "" && s.chance(4) {
				q.Guaranteed = qos.Percent(1 + s.below(20))
			}
			if q.WRED != nil && s.chance(4) {
				curve := *q.WRED
				curve.ECN = false
				q.WRED = &curve
			}
		}
	}
}
