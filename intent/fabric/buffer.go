package fabric

import (
	"fmt"
	"slices"

	"github.com/weirfabric/weir/intent/lossless"
	"github.com/weirfabric/weir/intent/qos"
)

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
	var all qos.Bytes
	for _, p := range s.Ports {
		for i := range p.Groups {
			g := &p.Groups[i]
			if g.Lossless && g.Headroom == 0 {
				return 0, false
			}
			taken += g.Reserved
			all += g.Headroom
		}
	}
	if s.Oversubscribe > 0 {
		taken += lossless.Pool(all, 0, s.Oversubscribe)
	}
	return taken, true
}

// HeadroomPool is the headroom that each port with any may need, and the size of a shared pool of the ratio.
func (s *Switch) HeadroomPool(ratio int) (needs []qos.Bytes, pool qos.Bytes) {
	var all qos.Bytes
	for _, p := range s.Ports {
		var need qos.Bytes
		for i := range p.Groups {
			need += p.Groups[i].Headroom
		}
		if need > 0 {
			needs = append(needs, need)
			all += need
		}
	}
	return needs, lossless.Pool(all, 0, ratio)
}

// StaticThresholds is the sum of the static thresholds of all lossless groups; 0 where they are dynamic.
func (s *Switch) StaticThresholds() qos.Bytes {
	var sum qos.Bytes
	for _, p := range s.Ports {
		for i := range p.Groups {
			sum += p.Groups[i].Static
		}
	}
	return sum
}

// demandKey is what ports have in common that ask the same of the buffer.
type demandKey struct {
	classes            int
	speed              qos.Rate
	cable              qos.Metres
	mtu                qos.Bytes
	lanes              int
	reserved, headroom qos.Bytes
}

// Budget is the switch's buffer and all that is taken from it, ports that ask the same together, and whether it is known as
// SharedBuffer is. Ports without lossless groups ask nothing.
func (s *Switch) Budget() (lossless.Budget, bool) {
	taken, known := s.TakenBuffer()
	if s.ASIC == nil || s.ASIC.Buffer == 0 || !known {
		return lossless.Budget{}, false
	}
	b := lossless.Budget{Buffer: s.ASIC.Buffer, Ratio: s.Oversubscribe}
	var keys []demandKey
	for _, p := range s.Ports {
		classes, g := p.losslessGroups()
		if classes == 0 {
			continue
		}
		key := demandKey{classes, p.Speed, p.Cable, p.MTU, p.Lanes, g.Reserved, g.Headroom}
		if i := slices.Index(keys, key); i >= 0 {
			b.Demands[i].Ports++
			continue
		}
		keys = append(keys, key)
		b.Demands = append(b.Demands, s.demand(p, g, classes))
	}
	b.Other = taken - b.Taken()
	return b, true
}

// losslessGroups counts the lossless groups of a port, and gives the first.
func (p *Port) losslessGroups() (count int, first *Group) {
	for i := range p.Groups {
		if g := &p.Groups[i]; g.Lossless {
			count++
			if first == nil {
				first = g
			}
		}
	}
	return count, first
}

// demand is what ports like p ask. Headroom that the operator wrote does not change with the cable.
func (s *Switch) demand(p *Port, g *Group, classes int) lossless.Demand {
	d := lossless.Demand{
		Name: fmt.Sprintf("%s with %s of cable", p.Speed, p.Cable), Ports: 1, Classes: classes, Speed: p.Speed, Cable: p.Cable,
		Reserved: g.Reserved, Headroom: g.Headroom,
	}
	if computed := HeadroomOf(s, p); computed.Headroom == g.Headroom {
		d.At = func(cable qos.Metres) lossless.Result {
			other := *p
			other.Cable = cable
			return HeadroomOf(s, &other)
		}
	}
	return d
}

// XOFFDepth is how deep an egress queue is when one ingress that feeds it reaches XOFF: with a static threshold that threshold
// itself, and with alpha what the shared buffer gives. 0 is not known.
func XOFFDepth(alpha qos.AlphaShift, static, shared qos.Bytes, known bool) qos.Bytes {
	switch {
	case static > 0:
		return lossless.StaticDepth(static, 1)
	case known:
		return lossless.XOFFDepth(alpha, shared, 1)
	}
	return 0
}
