package lossless

import "github.com/weirfabric/weir/intent/qos"

// The ends of the searches below.
const (
	priorities    = 8         // PFC knows no more
	mostPorts     = 1024      // of one switch
	longestSearch = 1_000_000 // metres
)

// MostClasses is the largest number of lossless classes, 0 to 8 and the same on all ports, with which the budget fits.
func (b Budget) MostClasses() int { return b.MostClassesLeaving(0) }

// MostClassesLeaving is the largest number of lossless classes, 0 to 8 and the same on all ports, with which at least the
// share of the buffer is left to be shared. Half is a sound wish: headroom is there for the worst moment and lies idle
// otherwise, while what is shared absorbs every burst.
func (b Budget) MostClassesLeaving(share qos.Percent) int {
	wanted := qos.Bytes(float64(b.Buffer) * float64(share) / 100)
	return greatest(priorities, func(n int) bool {
		return b.all(func(d *Demand) { d.Classes = n }).Left() >= wanted
	})
}

// MostPorts is the largest number of ports of demand i, the others as they are, with which the budget fits: 0 to 1024.
func (b Budget) MostPorts(i int) int {
	return greatest(mostPorts, func(n int) bool { return b.with(i, func(d *Demand) { d.Ports = n }).Fits() })
}

// LongestCable is the longest cable in whole metres, up to 1000 km, that the ports of demand i could have, the others as
// they are. It is false where no length fits or where the headroom of another length is not known.
func (b Budget) LongestCable(i int) (qos.Metres, bool) {
	return longest(func(m qos.Metres) Budget { return b.with(i, func(d *Demand) { d.lay(m) }) })
}

// LongestCables is the longest cable that all ports alike could have.
func (b Budget) LongestCables() (qos.Metres, bool) {
	return longest(func(m qos.Metres) Budget { return b.all(func(d *Demand) { d.lay(m) }) })
}

// CableLimit is the length to which the longest cables must be cut, those that are shorter left as they are.
func (b Budget) CableLimit() (qos.Metres, bool) {
	return longest(func(m qos.Metres) Budget {
		return b.all(func(d *Demand) {
			if d.Cable > m {
				d.lay(m)
			}
		})
	})
}

// unlayable is more than any buffer holds, and little enough to be added up for every group of every port.
const unlayable qos.Bytes = 1 << 40

// lay gives the demand's ports a cable of another length. A length whose headroom is not known fits nowhere.
func (d *Demand) lay(cable qos.Metres) {
	var at Result
	if d.At != nil {
		at = d.At(cable)
	}
	if !at.Known() {
		at = Result{Headroom: unlayable, Reserved: unlayable}
	}
	d.Cable, d.Headroom, d.Reserved = cable, at.Headroom, at.Reserved
}

// longest searches the lengths of cable.
func longest(budget func(qos.Metres) Budget) (qos.Metres, bool) {
	n := greatest(longestSearch, func(m int) bool { return budget(qos.Metres(m)).Fits() })
	return qos.Metres(n), n > 0
}

// LeastRatio is the smallest over-subscription of a shared headroom pool with which the budget fits, 1 when the pool may
// hold all headroom. The pool must still hold the headroom of any one group: it is false where that does not fit.
func (b Budget) LeastRatio() (int, bool) {
	pooled := b
	if b.Ratio <= 0 {
		pooled = b.all(func(d *Demand) { d.Reserved = max(0, d.Reserved-d.Headroom) })
	}
	var all, largest qos.Bytes
	for i := range pooled.Demands {
		if d := &pooled.Demands[i]; d.groups() > 0 {
			all += d.groups() * d.Headroom
			largest = max(largest, d.Headroom)
		}
	}
	pooled.Ratio = 1
	if !pooled.Fits() {
		room := pooled.Left() + all // what the pool may take
		if room <= 0 {
			return 0, false
		}
		pooled.Ratio = int((all + room - 1) / room)
	}
	if !pooled.Fits() || pooled.pool() < largest {
		return 0, false
	}
	return pooled.Ratio, true
}
