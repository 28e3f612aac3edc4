// Package proof is what every proof about a fabric starts from: its switches and cables as the network of an engine, and what
// the intent says of routing. The proofs are in its folders.
package proof

import (
	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/depend"
	"github.com/weirfabric/weir/intent/fabric"
)

// Network is the switches, in the order of f, and the cables between two of them, with the heights of ranks. It has no
// destinations. The links are those of the network, by index.
func Network(f *fabric.Fabric, ranks fabric.Ranks) (*depend.Network, []*fabric.Link) {
	n, links := &depend.Network{}, []*fabric.Link{}
	index := make(map[*fabric.Switch]int, len(f.Switches))
	for i, sw := range f.Switches {
		index[sw] = i
		n.Switches = append(n.Switches, depend.Switch{Name: sw.Name, Rank: ranks.Of[sw]})
	}
	for _, l := range f.Links {
		if a, b := l.A, l.B; a.Switch != nil && b.Switch != nil && a.Switch != b.Switch {
			links = append(links, l)
			n.Links = append(n.Links, depend.Link{A: index[a.Switch], B: index[b.Switch], PortA: a.Port.Name, PortB: b.Port.Name})
		}
	}
	return n, links
}

// LowestRank is the least height of the switches of a network; 0 where it has none.
func LowestRank(n *depend.Network) int {
	lowest := 0
	for i, s := range n.Switches {
		if i == 0 || s.Rank < lowest {
			lowest = s.Rank
		}
	}
	return lowest
}

// Routing is the policy by which the switches of a fabric route. Where routed is false they are one layer-2 domain, and the
// policy says nothing.
func Routing(f *fabric.Fabric) (policy depend.Policy, routed bool) {
	written, usual := &f.Intent.Routing, intent.DefaultRouting()
	return depend.Policy(written.Policy.Or(usual.Policy).V), written.Routed.Or(usual.Routed).V
}
