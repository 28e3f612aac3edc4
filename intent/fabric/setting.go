package fabric

import (
	"strconv"
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/qos"
)

// Setting is one value of a device that a configuration holds, in the words of explain, as text: equal values are equal text.
type Setting struct {
	At    addr.Addr
	Value string
}

// Settings are all that a configuration holds of the switch, its maps first, then its ports. What follows from others (which
// priorities a group has), what no configuration holds (the names of classes, who is at the other end of a cable) and the sums that
// stand for the switch as a whole (its usual trust) are no settings. A watchdog of a port without PFC watches nothing,
// and a pool of headroom without a lossless group holds nothing: they are off.
func (s *Switch) Settings() []Setting {
	c := settingList{list: make([]Setting, 0, 128+128*len(s.Ports))}
	at := s.Address()
	for _, name := range mapNames {
		for from := range mapSizes[name] {
			c.add(at.Of(addr.Map, name+"/"+strconv.Itoa(from)), strconv.Itoa(s.Maps.Entry(name, from)))
		}
	}
	pool := 0
	for _, p := range s.Ports {
		if count, _ := p.losslessGroups(); count > 0 {
			pool = s.Oversubscribe
		}
	}
	c.add(at.Of(addr.Pool, "headroom").With("oversubscribe"), strconv.Itoa(pool))
	for _, p := range s.Ports {
		c.port(addr.Port(s.Name, p.Name), p)
	}
	return c.list
}

// The maps of a switch, as addresses name them: leaf1/map/dscp-to-tc/26.
const (
	mapDSCP     = "dscp-to-tc"
	mapPCP      = "pcp-to-tc"
	mapQueue    = "tc-to-queue"
	mapGroup    = "tc-to-pg"
	mapPFCQueue = "pfc-to-queue"
	mapPFCGroup = "pfc-to-pg"
)

var mapNames = [...]string{mapDSCP, mapPCP, mapQueue, mapGroup, mapPFCQueue, mapPFCGroup}

// mapSizes are the names of the maps, and how many entries each has.
var mapSizes = map[string]int{mapDSCP: 64, mapPCP: 8, mapQueue: 8, mapGroup: 8, mapPFCQueue: 8, mapPFCGroup: 8}

// MapSize is how many entries the map of that name has; 0: there is none.
func MapSize(name string) int { return mapSizes[name] }

// Put sets an entry of the map of that name, and says whether there is such an entry and such a target.
func (m *Maps) Put(name string, from, to int) bool {
	if from < 0 || from >= mapSizes[name] || to < 0 || to > 7 {
		return false
	}
	switch name {
	case mapDSCP:
		m.DSCPToTC[from] = qos.TrafficClass(to)
	case mapPCP:
		m.PCPToTC[from] = qos.TrafficClass(to)
	case mapQueue:
		m.TCToQueue[from] = qos.Queue(to)
	case mapGroup:
		m.TCToGroup[from] = qos.PriorityGroup(to)
	case mapPFCQueue:
		m.PriorityToQueue[from] = qos.Queue(to)
	case mapPFCGroup:
		m.PriorityToGroup[from] = qos.PriorityGroup(to)
	}
	return true
}

// Entry is the target of an entry of the map of that name.
func (m *Maps) Entry(name string, from int) int {
	switch name {
	case mapDSCP:
		return int(m.DSCPToTC[from])
	case mapPCP:
		return int(m.PCPToTC[from])
	case mapQueue:
		return int(m.TCToQueue[from])
	case mapGroup:
		return int(m.TCToGroup[from])
	case mapPFCQueue:
		return int(m.PriorityToQueue[from])
	}
	return int(m.PriorityToGroup[from])
}

type settingList struct{ list []Setting }

func (c *settingList) add(a addr.Addr, value string) { c.list = append(c.list, Setting{a, value}) }

// link adds what a port of a switch and a NIC both have.
func (c *settingList) link(at addr.Addr, mtu qos.Bytes, cable qos.Metres, trust qos.Trust, flowControl bool, pfc qos.PrioritySet) {
	c.add(at.Of(addr.MTU, ""), mtu.String())
	c.add(at.Of(addr.Cable, ""), cable.String())
	c.add(at.Of(addr.Trust, ""), string(trust))
	c.add(at.Of(addr.FlowControl, ""), onOff(flowControl))
	for n := range qos.Priority(8) {
		c.add(at.Of(addr.PFC, strconv.Itoa(int(n))), onOff(pfc.Has(n)))
	}
}

func (c *settingList) port(at addr.Addr, p *Port) {
	c.link(at, p.MTU, p.Cable, p.Trust, p.FlowControl, p.PFC)
	c.watchdog(at.Of(addr.Watchdog, ""), p)
	for i := range p.Queues {
		c.queue(at.Of(addr.Queue, strconv.Itoa(int(p.Queues[i].ID))), &p.Queues[i])
	}
	for i := range p.Groups {
		c.group(at.Of(addr.PG, strconv.Itoa(int(p.Groups[i].ID))), &p.Groups[i])
	}
}

func (c *settingList) watchdog(at addr.Addr, p *Port) {
	w := p.Watchdog
	if w == nil || p.PFC == 0 {
		c.add(at.With("enabled"), onOff(false))
		return
	}
	c.add(at.With("enabled"), onOff(true))
	c.add(at.With("detection"), w.Detection.String())
	c.add(at.With("restoration"), w.Restoration.String())
	c.add(at.With("poll"), w.Poll.String())
	c.add(at.With("action"), string(w.Action))
}

func (c *settingList) queue(at addr.Addr, q *Queue) {
	c.add(at.With("lossless"), onOff(q.Lossless))
	c.add(at.With("strict"), onOff(q.Scheduler.Strict))
	c.add(at.With("weight"), q.Scheduler.Weight.String())
	c.add(at.With("guaranteed"), q.Guaranteed.String())
	c.add(at.With("alpha"), q.Alpha.String())
	if q.WRED == nil {
		c.add(at.With("ecn"), onOff(false))
		return
	}
	what := "marks"
	if !q.WRED.ECN {
		what = "drops"
	}
	c.add(at.With("ecn"), what)
	c.add(at.With("ecn-min"), q.WRED.Min.String())
	c.add(at.With("ecn-max"), q.WRED.Max.String())
	c.add(at.With("ecn-probability"), q.WRED.Probability.String())
}

// group lists a priority group. What a group that may lose packets is guaranteed is the platform's.
func (c *settingList) group(at addr.Addr, g *Group) {
	c.add(at.With("lossless"), onOff(g.Lossless))
	if g.Static == 0 {
		c.add(at.With("alpha"), g.Alpha.String())
	} else {
		c.add(at.With("threshold"), g.Static.String())
	}
	if g.Lossless {
		c.add(at.With("headroom"), g.Headroom.String())
		c.add(at.With("xon"), g.XON.String())
		c.add(at.With("reserved"), g.Reserved.String())
	}
}

// Settings are all that a configuration holds of the host.
func (h *Host) Settings() []Setting {
	c := settingList{}
	at := h.Address()
	c.add(at.Of(addr.Hosts, "").With("memlock"), h.Memlock)
	c.add(at.Of(addr.Memlock, ""), strings.Join(h.MemlockServices, " "))
	for _, m := range h.Modules {
		c.add(at.Of(addr.Module, m.Name), "loaded")
	}
	for _, b := range h.Bonds {
		c.bond(at.Of(addr.Bond, b.Name), b)
	}
	for _, n := range h.NICs {
		c.nic(addr.Port(h.Name, n.Name), n)
	}
	return c.list
}

func (c *settingList) bond(at addr.Addr, b Bond) {
	c.add(at.With("mode"), b.Mode)
	if b.Hash != "" {
		c.add(at.With("hash"), b.Hash)
	}
	c.add(at.With("mtu"), b.MTU.String())
	c.add(at.With("ports"), strings.Join(b.Ports, " "))
	c.add(at.With("addresses"), b.AddressText())
}

func (c *settingList) nic(at addr.Addr, n *NIC) {
	c.link(at, n.MTU, n.Cable, n.Trust, n.FlowControl, n.PFC)
	for d, p := range n.DSCPToPriority {
		c.add(at.Of(addr.DSCP, strconv.Itoa(d)), strconv.Itoa(int(p)))
	}
	for p, tc := range n.PriorityToTC {
		c.add(at.Of(addr.Map, "priority-to-tc/"+strconv.Itoa(p)), strconv.Itoa(int(tc)))
	}
	for tc, s := range n.ETS {
		c.add(at.Of(addr.ETS, strconv.Itoa(tc)).With("strict"), onOff(s.Strict))
		c.add(at.Of(addr.ETS, strconv.Itoa(tc)).With("share"), s.Weight.String())
	}
	roce := at.Of(addr.RoCE, "")
	c.add(roce.With("mode"), strings.Repeat("v", min(1, n.RoCE))+strconv.Itoa(n.RoCE))
	c.add(roce.With("tos"), strconv.Itoa(int(n.TOS)))
	c.add(roce.With("dcqcn"), onOff(n.DCQCN))
	c.add(roce.With("cnp-dscp"), strconv.Itoa(int(n.CNPDSCP)))
	c.add(roce.With("cnp-priority"), strconv.Itoa(int(n.CNPPriority)))
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// MapNames are the names of the maps of a switch, in the order of Settings.
func MapNames() []string { return mapNames[:] }
