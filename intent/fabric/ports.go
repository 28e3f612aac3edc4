package fabric

import (
	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/lossless"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/inventory/catalog"
)

// groupKey is all that the priority groups of a port depend on.
type groupKey struct {
	set      *settings
	sku      string
	platform string
	speed    qos.Rate
	lanes    int
	cable    qos.Metres
	pool     int
}

// queueKey is all that the queues of a port depend on. Depth is the queue depth at which PFC fires, below which ECN must mark
// everything; 0 where it is not known, or where there is no PFC.
type queueKey struct {
	set   *settings
	speed qos.Rate
	depth qos.Bytes
}

// fill gives the ports of a switch what depends on cables and on the switch as a whole: groups first, since the queues'
// default marking thresholds must lie below what the groups leave of the buffer.
func (r *resolver) fill(sw *Switch) {
	for _, p := range sw.Ports {
		set := r.ends[addr.Port(sw.Name, p.Name)].set
		if row, ok := sw.Table.Find(p.Speed, p.Cable); ok {
			p.Cable = row.Cable
		}
		p.Groups = r.groupsOf(sw, p, set)
	}
	shared, known := sw.SharedBuffer()
	for _, p := range sw.Ports {
		set := r.ends[addr.Port(sw.Name, p.Name)].set
		key := queueKey{set: set, speed: p.Speed}
		if !set.pfcOff {
			key.depth = XOFFDepth(set.losslessAlpha, set.threshold, shared, known)
		}
		queues, ok := r.queues[key]
		if !ok {
			queues = r.queuesOf(key)
			r.queues[key] = queues
		}
		p.Queues = queues
	}
}

// groupsOf are the eight priority groups of a port.
func (r *resolver) groupsOf(sw *Switch, p *Port, set *settings) []Group {
	key := groupKey{set, sw.SKU, sw.Platform, p.Speed, p.Lanes, p.Cable, sw.Oversubscribe}
	if groups, ok := r.groups[key]; ok {
		return groups
	}
	groups := make([]Group, 8)
	for i := range groups {
		groups[i] = Group{ID: qos.PriorityGroup(i), Alpha: set.lossyAlpha}
	}
	for priority, group := range r.maps.PriorityToGroup {
		groups[group].Priorities |= qos.Priorities(qos.Priority(priority))
	}
	for _, c := range r.out.Classes {
		if !c.Lossless || !p.PFC.Has(c.Priority) {
			continue
		}
		g := &groups[c.Group]
		g.Lossless, g.Alpha, g.Static = true, set.losslessAlpha, set.threshold
		g.Headroom, g.XON, g.Reserved, g.ByDevice = r.headroom(sw, p, set.headroom)
	}
	r.groups[key] = groups
	return groups
}

// headroom is what the operator wrote, or else what the switch is expected to work out, or else what weir works out.
func (r *resolver) headroom(sw *Switch, p *Port, written intent.Headroom) (headroom, xon, reserved qos.Bytes, byDevice bool) {
	computed := HeadroomOf(sw, p)
	if written.Auto {
		return computed.Headroom, computed.XON, computed.Reserved, sw.ComputesHeadroom()
	}
	xon = computed.XON
	if xon == 0 {
		xon = 2 * p.MTU
	}
	reserved = xon
	if sw.Oversubscribe == 0 {
		reserved += written.Bytes
	}
	return written.Bytes, xon, reserved, false
}

// HeadroomOf is the headroom of a lossless group of a port as it follows from the catalog, speed, cable and MTU, with its
// terms; whatever the operator wrote instead. What is reserved is without the headroom where a shared pool holds it.
func HeadroomOf(sw *Switch, p *Port) lossless.Result { return headroomBy(sw.Table, sw, p) }

// ModelHeadroom is the same by the model of the chip alone, for speeds and cables that the published table of the switch does
// not have.
func ModelHeadroom(sw *Switch, p *Port) lossless.Result { return headroomBy(nil, sw, p) }

func headroomBy(table *catalog.Table, sw *Switch, p *Port) lossless.Result {
	return lossless.ForSwitch(table, sw.ASIC, lossless.Port{
		Speed: p.Speed, Cable: p.Cable, MTU: p.MTU, Lanes: p.Lanes, SharedPool: sw.Oversubscribe > 0,
	})
}

// ComputesHeadroom says whether the switch works headroom out by itself from speed and cable length.
func (s *Switch) ComputesHeadroom() bool {
	if s.ASIC != nil && s.ASIC.DeviceComputes {
		return true
	}
	platform := catalog.ByPlatform(s.Platform)
	return platform != nil && platform.ComputesHeadroom
}

// queuesOf are the eight queues of a port. Classes that share a queue share its bandwidth; the lossless one gives it its
// name and curve, and else the first.
func (r *resolver) queuesOf(key queueKey) []Queue {
	queues := make([]Queue, 8)
	for i := range queues {
		queues[i] = Queue{ID: qos.Queue(i), Alpha: key.set.lossyAlpha}
	}
	for i, c := range r.out.Classes {
		set := &key.set.classes[i]
		q := &queues[c.Queue]
		scheduler := set.scheduler()
		q.Guaranteed += set.guaranteed
		q.Scheduler.Weight += scheduler.Weight
		q.Scheduler.Strict = q.Scheduler.Strict || scheduler.Strict
		if q.Class != "" && !c.Lossless {
			continue
		}
		q.Class, q.FanIn = c.Name, set.fanIn
		q.WRED, q.Marking = set.ecn.curve(c.Lossless, key.speed, key.depth)
		if c.Lossless && !key.set.pfcOff {
			q.Lossless, q.Alpha = true, egressLossless
		}
	}
	return queues
}

func (c *classSettings) scheduler() qos.Scheduler {
	if c.strict {
		return qos.Scheduler{Strict: true}
	}
	return qos.Scheduler{Weight: c.share}
}
