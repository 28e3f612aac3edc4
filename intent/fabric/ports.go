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

// queueKey is all that the queues of a port depend on. Depth is the queue depth below which ECN must mark everything; 0
// where it is not known.
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
		if row, ok := catalog.PublishedHeadroom(sw.SKU, p.Speed, p.Cable); ok {
			p.Cable = row.Cable
		}
		p.Groups = r.groupsOf(sw, p, set)
	}
	shared, known := sw.SharedBuffer()
	for _, p := range sw.Ports {
		set := r.ends[addr.Port(sw.Name, p.Name)].set
		key := queueKey{set: set, speed: p.Speed}
		if known {
			key.depth = lossless.XOFFDepth(set.losslessAlpha, shared, 1)
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
		g.Lossless, g.Alpha = true, set.losslessAlpha
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
// terms; whatever the operator wrote instead.
func HeadroomOf(sw *Switch, p *Port) lossless.Result {
	return lossless.ForSwitch(sw.SKU, sw.ASIC, lossless.Port{
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

// SharedBuffer is what headroom and guarantees of all ports leave of the switch's buffer, and whether it is known: the
// buffer must be in the catalog and the headroom of every lossless group as well. A shared headroom pool takes the sum of
// all headroom divided by its ratio.
func (s *Switch) SharedBuffer() (qos.Bytes, bool) {
	taken, known := s.TakenBuffer()
	if s.ASIC == nil || s.ASIC.Buffer == 0 || !known {
		return 0, false
	}
	return lossless.Shared(s.ASIC.Buffer, taken), true
}

// TakenBuffer is what headroom and guarantees of all ports take of the buffer, and whether the headroom of every lossless
// group is known.
func (s *Switch) TakenBuffer() (taken qos.Bytes, known bool) {
	var pool qos.Bytes
	for _, p := range s.Ports {
		for i := range p.Groups {
			g := &p.Groups[i]
			if g.Lossless && g.Headroom == 0 {
				return 0, false
			}
			taken += g.Reserved
			pool += g.Headroom
		}
	}
	if s.Oversubscribe > 0 {
		taken += pool / qos.Bytes(s.Oversubscribe)
	}
	return taken, true
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
		q.Class, q.WRED = c.Name, set.curve(c.Lossless, key.speed, key.depth)
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

// curve is the marking curve: what is written, and for a lossless class without thresholds the usual delays at the port's
// speed, lowered where PFC would come first. A lossy class without thresholds has none.
func (c *classSettings) curve(isLossless bool, speed qos.Rate, depth qos.Bytes) *qos.WRED {
	if c.ecnOff || (!isLossless && c.min == 0 && c.max == 0) {
		return nil
	}
	w := &qos.WRED{Min: c.min, Max: c.max, Probability: c.probability, ECN: true}
	if w.Max == 0 {
		w.Max = bytesIn(speed, markAll)
		if limit := depth * 9 / 10 / 1000 * 1000; depth > 0 && w.Max > limit {
			w.Max = limit
		}
		w.Max = max(w.Max, w.Min)
	}
	if w.Min == 0 {
		w.Min = min(bytesIn(speed, markFrom), w.Max*markFrom/markAll/1000*1000)
	}
	return w
}

// bytesIn is how much leaves at the rate in so many nanoseconds.
func bytesIn(rate qos.Rate, nanoseconds int64) qos.Bytes {
	return qos.Bytes(int64(rate) / 8 * nanoseconds / 1e9)
}
