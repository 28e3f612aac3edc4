package fabric

import "github.com/weirfabric/weir/intent/depend"

// Network is the switches, in the order of f, and the cables between two of them, with the heights of ranks. It has no
// destinations. The links are those of the network, by index.
func (f *Fabric) Network(ranks Ranks) (*depend.Network, []*Link) {
	n, links := &depend.Network{}, []*Link{}
	index := make(map[*Switch]int, len(f.Switches))
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
