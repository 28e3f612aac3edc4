// Package depend proves that no buffer-dependency cycle can form, for PFC priorities on Ethernet and virtual lanes on
// InfiniBand. A node is the ingress buffer of a directed link for one lossless priority; it depends on the next one where
// traffic may turn from the one link to the other. Where these dependencies have no cycle there is no PFC deadlock and no
// InfiniBand credit loop (Dally and Seitz, 1987). The converse does not hold: a cycle is needed for a deadlock and does not
// always lead to one (Hu et al., HotNets 2016).
package depend

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/weirfabric/weir/intent/addr"
)

// Network is switches and the links between them, and where traffic goes. Hosts are not in it: they forward nothing, so no
// cycle passes through one. It must not be changed while it is being proven.
type Network struct {
	Switches []Switch
	Links    []Link
	// Destinations are what routes lead to: usually one for every switch that has hosts.
	Destinations []Destination
}

// Switch is a switch. Rank is its height: links lead up to a higher rank, down to a lower, and sideways to an equal one.
type Switch struct {
	Name string
	Rank int
	Ends bool // lossless traffic begins here: it has hosts
}

// Link is a cable between two switches, named by their index. The ports are for people and may be empty.
type Link struct {
	A, B         int
	PortA, PortB string
}

// Destination is a class of addresses that all switches route alike.
type Destination struct {
	Name string
	At   []int // the switches that deliver it
	From []int // the switches at which its traffic begins; nil: all that have Ends, but those that deliver it
}

// Arc is a directed link: twice the index of the link, and one more for the direction from B to A.
type Arc int32

// Link is the index of the arc's link.
func (a Arc) Link() int { return int(a >> 1) }

// Reverse is the other direction of the same link.
func (a Arc) Reverse() Arc { return a ^ 1 }

// Tail is the switch that sends over the arc, and Head the one whose ingress buffer is filled.
func (n *Network) Tail(a Arc) int {
	if a&1 == 0 {
		return n.Links[a>>1].A
	}
	return n.Links[a>>1].B
}

// Head is the switch that receives over the arc.
func (n *Network) Head(a Arc) int { return n.Tail(a.Reverse()) }

// ArcName spells a directed link by its ports: leaf1/Ethernet4 > spine1/Ethernet1.
func (n *Network) ArcName(a Arc) string {
	l := n.Links[a.Link()]
	from, to := n.end(l.A, l.PortA), n.end(l.B, l.PortB)
	if a&1 == 1 {
		from, to = to, from
	}
	return from + " > " + to
}

// LinkName spells a link by its ports: leaf1/Ethernet4 - spine1/Ethernet1.
func (n *Network) LinkName(link int) string {
	l := n.Links[link]
	return n.end(l.A, l.PortA) + " - " + n.end(l.B, l.PortB)
}

func (n *Network) end(sw int, port string) string {
	return addr.Port(n.Switches[sw].Name, port).String()
}

// Forest says whether the cables make no loop. Then no traffic can go round in one, not even what is flooded.
func (n *Network) Forest() bool {
	islands := 0
	for _, number := range newLayout(n).islands() {
		islands = max(islands, number)
	}
	return len(n.Links) == len(n.Switches)-islands
}

// validate says what of the network makes no sense. Such a network is a mistake of the caller.
func (n *Network) validate() error {
	known := func(what string, sw int) error {
		if sw < 0 || sw >= len(n.Switches) {
			return fmt.Errorf("%s names switch %d, and there are %d", what, sw, len(n.Switches))
		}
		return nil
	}
	for i, l := range n.Links {
		what := fmt.Sprintf("link %d", i)
		if err := cmp.Or(known(what, l.A), known(what, l.B)); err != nil {
			return err
		}
		if l.A == l.B {
			return fmt.Errorf("link %d joins switch %s to itself", i, n.Switches[l.A].Name)
		}
	}
	for _, d := range n.Destinations {
		for _, sw := range slices.Concat(d.At, d.From) {
			if err := known("destination "+d.Name, sw); err != nil {
				return err
			}
		}
	}
	return nil
}

// Direction is which way a link leads by the ranks of its ends.
type Direction int8

// The directions.
const (
	Up Direction = iota
	Sideways
	Down
)

// layout is what the proof works out of a network once.
type layout struct {
	*Network
	tail, head []int32
	direction  []Direction
	potential  []int32 // by arc: rises at every turn of traffic that goes up, at most once sideways, and then down
	out        [][]Arc // by switch; the arcs into a switch are the reverses of these
	byRank     []int   // the switches, the lowest first
	ends       []int   // the switches with Ends
	work       int     // what was done so far: steps along links, times 64 destinations
}

func newLayout(n *Network) *layout {
	arcs := 2 * len(n.Links)
	l := &layout{
		Network: n, tail: make([]int32, arcs), head: make([]int32, arcs), direction: make([]Direction, arcs),
		potential: make([]int32, arcs), out: make([][]Arc, len(n.Switches)), byRank: make([]int, len(n.Switches)),
	}
	top := 0
	for i, s := range n.Switches {
		l.byRank[i] = i
		top = max(top, s.Rank)
		if s.Ends {
			l.ends = append(l.ends, i)
		}
	}
	slices.SortStableFunc(l.byRank, func(a, b int) int { return cmp.Compare(n.Switches[a].Rank, n.Switches[b].Rank) })
	for a := range Arc(arcs) {
		tail, head := n.Tail(a), n.Head(a)
		l.tail[a], l.head[a] = int32(tail), int32(head)
		l.out[tail] = append(l.out[tail], a)
		from, to := n.Switches[tail].Rank, n.Switches[head].Rank
		switch {
		case to > from:
			l.direction[a], l.potential[a] = Up, int32(to)
		case to == from:
			l.direction[a], l.potential[a] = Sideways, int32(top+1)
		default:
			l.direction[a], l.potential[a] = Down, int32(2*top+2-to)
		}
	}
	return l
}

func (l *layout) arcs() int { return len(l.tail) }
