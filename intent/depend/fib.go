package depend

import "slices"

// FIB is the forwarding tables of switches with all their routes: for every switch and destination the most specific route
// first, then those that cover it, by falling length of their prefixes. A switch follows the first that it has next hops of.
type FIB struct {
	network *Network
	layers  []fibLayer
}

// fibLayer is one route of each switch to each destination.
type fibLayer struct {
	tables *Tables
	has    sets // of switches: also where the route drops what follows it
}

// NewFIB makes an empty FIB for the destinations and links of n.
func NewFIB(n *Network) *FIB { return &FIB{network: n} }

// Add gives a switch its next route to a destination, after those that it has. Without next hops it is a route that drops.
func (f *FIB) Add(sw, destination int, hops ...Arc) {
	at := 0
	for at < len(f.layers) && f.layers[at].has.row(sw)[destination/64]>>(destination%64)&1 == 1 {
		at++
	}
	if at == len(f.layers) {
		f.layers = append(f.layers, fibLayer{NewTables(f.network), newSets(len(f.network.Switches), len(f.network.Destinations))})
	}
	f.layers[at].has.add(sw, destination)
	for _, a := range hops {
		f.layers[at].tables.Add(destination, a)
	}
}

// of says whether the FIB is that of a network.
func (f *FIB) of(n *Network) bool {
	want := NewTables(n)
	return !slices.ContainsFunc(f.layers, func(l fibLayer) bool {
		return l.tables.words != want.words || len(l.tables.next) != len(want.next) || len(l.has.bits) != want.words*len(n.Switches)
	})
}

// after is the tables that the switches are left with: a next hop over a link that is down is gone, and so is one to a switch
// that by that has lost the same route, since it withdraws it. Who has lost a route follows the one that covers it. With
// nothing down these are the tables as they were read.
func (f *FIB) after(l *layout, destinations []int, dead failure) *Tables {
	t := newTables(l.arcs(), len(destinations))
	for i, d := range destinations {
		done := make([]bool, len(l.Switches))
		for _, routes := range f.layers {
			gone := routes.withdrawn(l, d, dead)
			for sw := range l.Switches {
				if done[sw] || gone[sw] || dead.hasSwitch(sw) || routes.has.row(sw)[d/64]>>(d%64)&1 == 0 {
					continue
				}
				done[sw] = true
				for _, a := range l.out[sw] {
					if routes.tables.Has(d, a) && !dead.has(l, a) && !gone[l.head[a]] {
						t.Add(i, a)
					}
				}
			}
		}
		l.work += l.arcs() * len(f.layers)
	}
	return t
}

// withdrawn are the switches that had next hops of a route and have lost the last of them.
func (r fibLayer) withdrawn(l *layout, d int, dead failure) []bool {
	gone := make([]bool, len(l.Switches))
	if dead.none() {
		return gone
	}
	lost := func(sw int) bool {
		had := false
		for _, a := range l.out[sw] {
			if r.tables.Has(d, a) {
				had = true
				if !dead.has(l, a) && !gone[l.head[a]] {
					return false
				}
			}
		}
		return had
	}
	var queue []int
	for _, a := range dead.arcs(l) {
		queue = append(queue, int(l.tail[a]))
	}
	for ; len(queue) > 0; queue = queue[1:] {
		sw := queue[0]
		if gone[sw] || !lost(sw) {
			continue
		}
		gone[sw] = true
		for _, back := range l.out[sw] {
			queue = append(queue, int(l.head[back]))
		}
	}
	return gone
}
