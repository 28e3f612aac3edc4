package depend

import "slices"

// failure is the links and switches that are down in one state of the network. The zero value is the healthy network.
type failure struct{ links, switches []int }

func (f failure) none() bool { return len(f.links)+len(f.switches) == 0 }

func (f failure) hasSwitch(sw int) bool { return slices.Contains(f.switches, sw) }

// has says whether nothing can be sent over the arc.
func (f failure) has(l *layout, a Arc) bool {
	if f.none() {
		return false
	}
	return slices.Contains(f.links, a.Link()) || f.hasSwitch(int(l.tail[a])) || f.hasSwitch(int(l.head[a]))
}

// arcs are those over which nothing can be sent.
func (f failure) arcs(l *layout) []Arc {
	var out []Arc
	for _, link := range f.links {
		out = append(out, Arc(2*link), Arc(2*link+1))
	}
	for _, sw := range f.switches {
		for _, a := range l.out[sw] {
			out = append(out, a, a.Reverse())
		}
	}
	return out
}

// and is both failures together.
func (f failure) and(g failure) failure {
	return failure{slices.Concat(f.links, g.links), slices.Concat(f.switches, g.switches)}
}

// names spells what is down, in the order of links and switches.
func (f failure) names(n *Network) []string {
	var out []string
	for _, link := range f.links {
		out = append(out, n.LinkName(link))
	}
	for _, sw := range f.switches {
		out = append(out, n.Switches[sw].Name)
	}
	return out
}

// singles are the failures of every link and every switch by itself.
func singles(n *Network) []failure {
	var out []failure
	for i := range n.Links {
		out = append(out, failure{links: []int{i}})
	}
	for i := range n.Switches {
		out = append(out, failure{switches: []int{i}})
	}
	return out
}

// changed adds to lost the destinations whose tables may be others while the links of dead are down. With routes that follow
// distances, where every switch keeps a next hop for a destination no distance grows, and the tables are the old ones without
// the dead links: nothing new to prove. With BGP a switch that keeps a next hop may still tell its neighbours of another path,
// so every destination counts that is sent over such a link, and with routes that cover others every one.
func (p *prover) changed(lost []uint64, dead failure) {
	if p.question.Plan != nil || p.question.FIB != nil {
		if plan := p.question.Plan; plan != nil && plan.covers() {
			for _, d := range p.all {
				lost[d/64] |= 1 << (d % 64)
			}
		}
		for _, a := range dead.arcs(p.layout) {
			for w, hop := range p.healthy.row(a) {
				lost[w] |= hop
			}
		}
		return
	}
	left := make([]uint64, len(lost))
	for _, a := range dead.arcs(p.layout) {
		tail := int(p.tail[a])
		if dead.hasSwitch(tail) {
			continue
		}
		clear(left)
		p.work += len(p.out[tail]) * len(left)
		for _, b := range p.out[tail] {
			if !dead.has(p.layout, b) {
				for w, hop := range p.healthy.row(b) {
					left[w] |= hop
				}
			}
		}
		for w, hop := range p.healthy.row(a) {
			lost[w] |= hop &^ left[w]
		}
	}
}
