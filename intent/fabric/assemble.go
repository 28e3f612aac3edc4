package fabric

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/intent/source"
	"github.com/weirfabric/weir/inventory"
)

// Runs is what was read of the devices of a fabric, by their names.
type Runs struct {
	Switches map[string]Lifted[*Switch]
	Hosts    map[string]Lifted[*Host]
	Unread   map[string]string // devices that could not be read, and why
}

// Assemble makes the fabric that runs: cables, places and kinds of devices are those of f, and every setting is as it was lifted. Its
// classes are what hosts mark, whatever the intent calls them. Devices that were not read have a gap that covers all of them; those
// that are not weir's stay what is stated of them. f is changed: resolve one for it alone.
func Assemble(f *Fabric, r Runs) {
	for _, sw := range f.Switches {
		if l, ok := r.Switches[sw.Name]; ok {
			sw.run(l)
		} else if sw.State != inventory.Unmanaged {
			sw.forget(r.Unread[sw.Name])
		}
	}
	for _, h := range f.Hosts {
		if l, ok := r.Hosts[h.Name]; ok {
			h.run(l)
			continue
		}
		h.Gaps = notRead(h.Address(), r.Unread[h.Name])
		for _, n := range h.NICs {
			*n = NIC{Name: n.Name, RDMA: n.RDMA, Model: n.Model, Speed: n.Speed, Cable: n.Cable, RoCE: usualRoCE, Peer: n.Peer, Origin: nowhere()}
		}
	}
	f.Runs = true
	f.classify()
	f.name()
}

// name gives the queues the names of the classes that leave by them, and the intent, as far as explain asks it, the classes.
func (f *Fabric) name() {
	in := *f.Intent
	in.Classes = nil
	for _, c := range f.Classes {
		in.Classes = append(in.Classes, intent.Class{Name: source.Value[string]{V: c.Name}})
		for _, sw := range f.Switches {
			queue := sw.Maps.TCToQueue[sw.Maps.DSCPToTC[c.DSCP[0]]&7] & 7
			for _, p := range sw.Ports {
				if q := &p.Queues[queue]; q.Class == "" || c.Lossless {
					q.Class = c.Name
				}
			}
		}
	}
	f.Intent = &in
}

// Unread says whether it is not known what a device has at an address, or inside of it.
func (f *Fabric) Unread(a addr.Addr) bool {
	d := f.device(a.Device)
	if d == nil {
		return false
	}
	if _, not := d.Unread(a); not {
		return true
	}
	return a.Kind != "" && slices.ContainsFunc(d.Gaps, func(g Gap) bool { return !g.settled() && a.Contains(g.At) })
}

// notRead is the gap of a device of which nothing was read.
func notRead(a addr.Addr, why string) []Gap {
	return []Gap{{At: a, Reading: Strange, Line: cmp.Or(why, "it was not read")}}
}

// forget leaves of the switch what the inventory says, and nothing that the intent wants.
func (s *Switch) forget(why string) {
	s.Gaps = notRead(s.Address(), why)
	s.Maps, s.Watchdog, s.Trust, s.Oversubscribe, s.LosslessAlpha, s.LossyAlpha, s.Origin = Maps{}, nil, "", 0, 0, 0, nowhere()
	for _, p := range s.Ports {
		*p = Port{Name: p.Name, Speed: p.Speed, Lanes: p.Lanes, Cable: p.Cable, Peer: p.Peer, Origin: nowhere(), Queues: make([]Queue, 8), Groups: make([]Group, 8)}
		for i := range 8 {
			p.Queues[i].ID, p.Groups[i].ID = qos.Queue(i), qos.PriorityGroup(i)
		}
	}
}

// run gives the switch the settings that were lifted. Ports keep their cables; one that the device does not have is not known.
func (s *Switch) run(l Lifted[*Switch]) {
	d := l.Device
	s.Gaps = slices.Clone(l.Gaps)
	if d.ASIC != nil {
		s.ASIC, s.Table, s.SKU = d.ASIC, d.Table, d.SKU
	}
	s.Maps, s.Watchdog, s.Trust, s.Oversubscribe, s.LosslessAlpha, s.LossyAlpha = d.Maps, d.Watchdog, d.Trust, d.Oversubscribe, d.LosslessAlpha, d.LossyAlpha
	s.Origin = nowhere()
	for _, p := range s.Ports {
		i := slices.IndexFunc(d.Ports, func(q *Port) bool { return q.Name == p.Name })
		if i < 0 {
			s.Gaps = append(s.Gaps, notRead(addr.Port(s.Name, p.Name), "the device has no such port")...)
			p.Queues, p.Groups, p.PFC, p.Watchdog, p.Origin = make([]Queue, 8), make([]Group, 8), 0, nil, nowhere()
			continue
		}
		q := *d.Ports[i]
		q.Speed, q.Lanes, q.Peer, q.Origin = cmp.Or(q.Speed, p.Speed), cmp.Or(q.Lanes, p.Lanes), p.Peer, nowhere()
		if written := p.Peer != nil && len(p.Origin.Cable) > 0; written || q.Cable == 0 {
			q.Cable = p.Cable // as long as it is, whatever the headroom is for
		}
		*p = q
	}
	slices.SortFunc(s.Gaps, func(a, b Gap) int { return addr.Compare(a.At, b.At) })
}

// run gives the host the settings that were lifted. Of a NIC of which it is not known in which version it sends, the usual one is
// taken, so that it counts: the gap says that it is not known.
func (h *Host) run(l Lifted[*Host]) {
	h.Gaps, h.Modules, h.Memlock = slices.Clone(l.Gaps), l.Device.Modules, l.Device.Memlock
	h.MemlockServices, h.Bonds = l.Device.MemlockServices, l.Device.Bonds
	for _, n := range h.NICs {
		i := slices.IndexFunc(l.Device.NICs, func(m *NIC) bool { return m.Name == n.Name })
		if i < 0 {
			h.Gaps = append(h.Gaps, notRead(addr.Port(h.Name, n.Name), "the host has no such NIC, or none with an RDMA device")...)
			*n = NIC{Name: n.Name, Speed: n.Speed, Cable: n.Cable, RoCE: usualRoCE, Peer: n.Peer, Origin: nowhere()}
			continue
		}
		m := *l.Device.NICs[i]
		m.Speed, m.Model, m.RDMA, m.Peer, m.Cable, m.Origin = cmp.Or(m.Speed, n.Speed), n.Model, cmp.Or(m.RDMA, n.RDMA), n.Peer, n.Cable, nowhere()
		if m.RoCE == 0 {
			m.RoCE = usualRoCE
		}
		*n = m
	}
	slices.SortFunc(h.Gaps, func(a, b Gap) int { return addr.Compare(a.At, b.At) })
}

// nowhere is the origin of what no repo says.
func nowhere() *Origin { return &Origin{Class: map[string][]diag.Pos{}} }

// classify names the classes of a fabric that runs: each DSCP that a host marks RoCE with is one, and each that CNPs have. Where no
// host was read, each priority with PFC on is one, of the DSCPs that most switches send in it.
func (f *Fabric) classify() {
	data, cnps := map[qos.DSCP]bool{}, map[qos.DSCP]bool{}
	for _, h := range f.Hosts {
		for _, n := range h.NICs {
			if _, not := h.Unread(addr.Port(h.Name, n.Name).Of(addr.RoCE, "").With("tos")); n.RoCE == 0 || not {
				continue
			}
			data[n.DSCP] = true
			n.Class = dscpClass(n.DSCP)
			if n.DCQCN {
				cnps[n.CNPDSCP] = true
				n.CNP = cnpClass(n.CNPDSCP)
			}
		}
	}
	f.Classes = nil
	for _, d := range slices.Sorted(maps.Keys(data)) {
		f.Classes = append(f.Classes, f.classOf(dscpClass(d), true, d))
	}
	for _, d := range slices.Sorted(maps.Keys(cnps)) {
		f.Classes = append(f.Classes, f.classOf(cnpClass(d), false, d))
	}
	if len(data) == 0 {
		f.byPriority()
		return
	}
	for _, h := range f.Hosts { // a NIC of which it is not known what it marks may send in any class: the first tells of it
		for _, n := range h.NICs {
			if n.RoCE != 0 && n.Class == "" {
				n.Class = f.Classes[0].Name
			}
		}
	}
}

func dscpClass(d qos.DSCP) string { return fmt.Sprintf("dscp-%d", d) }

func cnpClass(d qos.DSCP) string { return fmt.Sprintf("cnp-%d", d) }

// classOf is a class of one DSCP: its numbers are those that most of the switches give it. The priority is the one whose PAUSE stops
// its queue.
func (f *Fabric) classOf(name string, lossless bool, d qos.DSCP) Class {
	c := Class{Name: name, Lossless: lossless, DSCP: []qos.DSCP{d}, PCP: []qos.Priority{}}
	c.TC = mostOf(f, "dscp-to-tc", int(d), func(m *Maps) qos.TrafficClass { return m.DSCPToTC[d] })
	c.Queue = mostOf(f, "tc-to-queue", int(c.TC), func(m *Maps) qos.Queue { return m.TCToQueue[c.TC] })
	c.Group = mostOf(f, "tc-to-pg", int(c.TC), func(m *Maps) qos.PriorityGroup { return m.TCToGroup[c.TC] })
	c.Priority = mostOf(f, "pfc-to-queue", -1, func(m *Maps) qos.Priority {
		if m.PriorityToQueue[c.TC] == c.Queue {
			return qos.Priority(c.TC)
		}
		return qos.Priority(max(0, slices.Index(m.PriorityToQueue[:], c.Queue)))
	})
	return c
}

// mostOf is what most switches of which it is known have in their maps; of equal counts the lowest.
func mostOf[T ~uint8](f *Fabric, name string, from int, get func(*Maps) T) T {
	var count [256]int
	for _, sw := range f.Switches {
		at := sw.Address().Of(addr.Map, name)
		if from >= 0 {
			at = sw.Address().Of(addr.Map, fmt.Sprintf("%s/%d", name, from))
		}
		if g, not := sw.Unread(at); !not || g.Reading == Inexpressible {
			count[get(&sw.Maps)]++
		}
	}
	best := 0
	for i, n := range count {
		if n > count[best] {
			best = i
		}
	}
	return T(best)
}

// Marking says whether it is known of any host what it marks, so that proofs can begin at NICs.
func (f *Fabric) Marking() bool {
	return slices.ContainsFunc(f.Hosts, func(h *Host) bool { return slices.ContainsFunc(h.NICs, func(n *NIC) bool { return n.Class != "" }) })
}

// WithoutHosts takes the hosts away, for proofs from switch to switch.
func (f *Fabric) WithoutHosts() {
	f.Hosts = nil
	f.Links = slices.DeleteFunc(f.Links, func(l *Link) bool { return l.A.Host != nil || l.B.Host != nil })
	for _, sw := range f.Switches {
		for _, p := range sw.Ports {
			if p.Peer != nil && p.Peer.Host {
				p.Peer = nil
			}
		}
	}
}

// byPriority makes a class of each priority with PFC, of the DSCPs that most switches send in it.
func (f *Fabric) byPriority() {
	for _, p := range f.PausedPriorities().All() {
		var in []qos.DSCP
		for d := range qos.DSCP(64) {
			if c := f.classOf("", true, d); c.Priority == p {
				in = append(in, d)
			}
		}
		if len(in) > 0 {
			c := f.classOf(fmt.Sprintf("priority-%d", p), true, in[0])
			c.DSCP = in
			f.Classes = append(f.Classes, c)
		}
	}
}
