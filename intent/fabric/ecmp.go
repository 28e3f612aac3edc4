package fabric

import (
	"cmp"
	"maps"
	"slices"

	"github.com/weirfabric/weir/intent/lossless"
)

// FanOut is the choice that ECMP has at the switches of one role and rank that have so many links upwards: a hash of each
// flow picks one of them, without knowing how full it is.
type FanOut struct {
	Role     string
	Rank     int
	Links    int // upwards, at each of the switches
	Switches int
	First    *Switch // the first of them
	Next     []Next  // what the switches above choose from in their turn; empty: they stand at the top
	// NoCollision is the probability that as many flows as links all have a link of their own, and WorstLink the number of
	// flows that the fullest link is expected to carry then.
	NoCollision, WorstLink float64
}

// Next is a choice one tier up. Used is how many of its links are used when both tiers hash alike.
type Next struct {
	Role              string
	Rank, Links, Used int
	First             *Switch // a switch that has it
}

// shape is what the switches of a FanOut have in common.
type shape struct {
	rank  int
	role  string
	links int
}

func compareShapes(a, b shape) int {
	return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.role, b.role), cmp.Compare(a.links, b.links))
}

// FanOuts are the choices of all switches that have links upwards, the lowest rank first.
func (f *Fabric) FanOuts(loads []Load) []FanOut {
	shapes := make(map[*Switch]shape, len(loads))
	rows := map[shape]*FanOut{}
	for _, l := range loads {
		s := shape{l.Rank, l.Switch.Role, l.Up.Links}
		shapes[l.Switch] = s
		if s.links == 0 {
			continue
		}
		if rows[s] == nil {
			rows[s] = &FanOut{
				Role: s.role, Rank: s.rank, Links: s.links, First: l.Switch,
				NoCollision: lossless.NoCollision(s.links, s.links), WorstLink: lossless.WorstLink(s.links, s.links),
			}
		}
		rows[s].Switches++
	}
	above := map[[2]shape]*Switch{}
	for _, l := range f.Links {
		a, b := l.A.Switch, l.B.Switch
		if a == nil || b == nil {
			continue
		}
		if shapes[a].rank > shapes[b].rank {
			a, b = b, a
		}
		if key := [2]shape{shapes[a], shapes[b]}; shapes[a].rank < shapes[b].rank && shapes[b].links > 0 && above[key] == nil {
			above[key] = b
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(above), func(a, b [2]shape) int { return compareShapes(a[1], b[1]) }) {
		low, high := key[0], key[1]
		rows[low].Next = append(rows[low].Next, Next{high.role, high.rank, high.links, lossless.Polarised(low.links, high.links), above[key]})
	}
	var out []FanOut
	for _, s := range slices.SortedFunc(maps.Keys(rows), compareShapes) {
		out = append(out, *rows[s])
	}
	return out
}
