package fabric

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/lossless"
	"github.com/weirfabric/weir/intent/qos"
)

// Incast is what one port class takes when many senders start at once. Ports are of one class when everything that the
// largest fan-in depends on is the same.
type Incast struct {
	PortClass
	Ports []End // sorted as people count
	// Senders is the largest number that may start at the same moment, each at the speed of the port and through a port of
	// its own, without PFC; lossless.MostSenders stands for it and more. 0 is not known, and Why says why not. With a Why it
	// may also be 1: nothing tells senders to slow down.
	Senders int
	Why     string
}

// PortClass is what the ports of an Incast have in common.
type PortClass struct {
	Class  string
	Role   string // of the switch
	SKU    string
	Far    string // role of what the port leads to
	Host   bool   // which is a host
	Wanted int    // senders that the intent asks for; 0: none
	CNP    CNPInterval
	lossless.Incast

	missing string // what is not known
}

// CNPInterval is the time between two CNPs of a flow that incast is worked out with, and whether the intent says it. Without
// that it is the one of the DCQCN paper.
type CNPInterval struct {
	Interval time.Duration
	Said     bool
}

// Shared buffers apart, ports of one kind are told from others by this; the kind with the least buffer comes first.
func comparePortClasses(a, b PortClass) int {
	return cmp.Or(a.compareKind(b), cmp.Compare(a.Shared, b.Shared), cmp.Compare(a.missing, b.missing))
}

func (c PortClass) compareKind(b PortClass) int {
	host := func(c PortClass) int {
		if c.Host {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(c.Class, b.Class), cmp.Compare(c.Role, b.Role), cmp.Compare(host(c), host(b)), cmp.Compare(c.Far, b.Far), cmp.Compare(c.SKU, b.SKU),
		cmp.Compare(c.Speed, b.Speed), cmp.Compare(c.Max, b.Max), cmp.Compare(c.Alpha, b.Alpha), cmp.Compare(c.Static, b.Static),
		cmp.Compare(c.RTT, b.RTT), cmp.Compare(c.Wanted, b.Wanted))
}

// SameKind says whether two port classes differ in nothing but the buffer of their switches.
func (c PortClass) SameKind(b PortClass) bool { return c.compareKind(b) == 0 }

// Kind is what a class has in common with others that differ in the buffer of their switches and in what the ports lead to.
func (c PortClass) Kind() PortClass {
	c.Far, c.Host, c.Shared, c.missing = "", false, 0, ""
	return c
}

// Incasts are the port classes of all lossless queues. Ports without a cable are left out, but not where the inventory has
// no hosts: they are the ports of hosts then.
func (f *Fabric) Incasts() []Incast {
	var out []Incast
	index := map[PortClass]int{}
	senders := f.sendersOf()
	for _, sw := range f.Switches {
		shared, known := sw.SharedBuffer()
		missing := ""
		if !known {
			missing = sw.missingBuffer()
		}
		for _, p := range sw.Ports {
			if p.Peer == nil && len(f.Hosts) > 0 {
				continue
			}
			for i := range p.Queues {
				q := &p.Queues[i]
				if !q.Lossless {
					continue
				}
				c := f.portClass(sw, p, q, senders[q.Class])
				c.Shared, c.missing = shared, cmp.Or(missing, f.unreadIncast(sw, p, q))
				at, seen := index[c]
				if !seen {
					at = len(out)
					index[c] = at
					out = append(out, Incast{PortClass: c})
				}
				out[at].Ports = append(out[at].Ports, End{Switch: sw, Port: p})
			}
		}
	}
	for i := range out {
		out[i].work()
	}
	slices.SortFunc(out, func(a, b Incast) int { return comparePortClasses(a.PortClass, b.PortClass) })
	return out
}

// unreadIncast is what was not read of a port whose incast follows from it; empty: nothing.
func (f *Fabric) unreadIncast(sw *Switch, p *Port, q *Queue) string {
	queue, group := addr.Port(sw.Name, p.Name).Of(addr.Queue, strconv.Itoa(int(q.ID))), qos.PriorityGroup(0)
	if class := f.Class(q.Class); class != nil {
		group = class.Group
	}
	pg := addr.Port(sw.Name, p.Name).Of(addr.PG, strconv.Itoa(int(group)))
	for _, a := range []addr.Addr{pg.With("alpha"), queue.With("ecn"), queue.With("ecn-max")} {
		if _, not := sw.Unread(a); not {
			return fmt.Sprintf("%s/%s:%s was not read", a.Kind, a.Name, a.Leaf)
		}
	}
	return ""
}

// portClass is all of a port's class but what the switch as a whole decides.
func (f *Fabric) portClass(sw *Switch, p *Port, q *Queue, s senders) PortClass {
	c := PortClass{Class: q.Class, Role: sw.Role, SKU: sw.SKU, Wanted: q.FanIn, CNP: s.cnp}
	c.Speed, c.CNPInterval = p.Speed, s.cnp.Interval
	if class := f.Class(q.Class); class != nil {
		group := &p.Groups[class.Group]
		c.Alpha, c.Static = group.Alpha, group.Static
	}
	if q.WRED != nil && q.WRED.ECN && q.WRED.Probability > 0 && !s.deaf {
		c.Max, c.RTT = sw.Rounded(*q.WRED).Max, lossless.UsualRTT
		if q.Marking != nil {
			c.RTT = q.Marking.RTT
		}
	}
	if p.Peer != nil {
		far := p.Peer.Link.A
		if far.Port == p {
			far = p.Peer.Link.B
		}
		if c.Host = p.Peer.Host; c.Host {
			c.Far = far.Host.Role
		} else {
			c.Far = far.Switch.Role
		}
	}
	return c
}

// work finds the largest fan-in, or why there is none.
func (i *Incast) work() {
	switch {
	case i.Max == 0:
		i.Senders, i.Why = 1, "nothing tells senders to slow down, and PFC holds back any two"
	case i.missing != "":
		i.Why = i.missing
	case i.Shared == 0:
		i.Why = "headroom and guarantees leave nothing of the buffer to share"
	case i.Speed == 0:
		i.Why = "the port has no speed"
	default:
		i.Senders = i.Largest()
	}
}

// At is the first port, as people count.
func (i Incast) At() addr.Addr { return i.Ports[0].Address() }

// missingBuffer says why the shared buffer of a switch is not known.
func (s *Switch) missingBuffer() string {
	switch {
	case s.ASIC == nil:
		return fmt.Sprintf("the catalog has no chip for the SKU %q", s.SKU)
	case s.ASIC.Buffer == 0:
		return "the catalog does not know the buffer of " + s.ASIC.Name
	}
	return "the headroom of a port is not known, and with it what is left to share"
}

// senders is how the NICs that send in a class answer to marks.
type senders struct {
	deaf bool // none of them runs DCQCN
	cnp  CNPInterval
}

// sendersOf looks at all NICs, by class. A class in which no NIC of the inventory sends is taken to run DCQCN.
func (f *Fabric) sendersOf() map[string]senders {
	out := map[string]senders{}
	for _, c := range f.Classes {
		out[c.Name] = senders{cnp: CNPInterval{Interval: lossless.PaperDCQCN(0, 0, qos.WRED{}).CNPInterval}}
	}
	hears, sends, longest := map[string]bool{}, map[string]bool{}, map[string]time.Duration{}
	for _, h := range f.Hosts {
		for _, n := range h.NICs {
			sends[n.Class] = sends[n.Class] || n.RoCE > 0
			hears[n.Class] = hears[n.Class] || n.DCQCN
			longest[n.Class] = max(longest[n.Class], n.CNPInterval)
		}
	}
	for _, class := range slices.Sorted(maps.Keys(out)) {
		s := out[class]
		s.deaf = sends[class] && !hears[class]
		if longest[class] > 0 {
			s.cnp = CNPInterval{longest[class], true}
		}
		out[class] = s
	}
	return out
}
