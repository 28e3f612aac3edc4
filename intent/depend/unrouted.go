package depend

import "slices"

// unrouted finds the pairs that cables join and routes do not.
func (p *prover) unrouted() {
	island := p.islands()
	has := make([]uint64, p.healthy.words)
	for _, sw := range p.ends {
		clear(has)
		for _, a := range p.out[sw] {
			for w, hop := range p.healthy.row(a) {
				has[w] |= hop
			}
		}
		for d, dest := range p.Destinations {
			if has[d/64]>>(d%64)&1 == 1 || dest.From != nil || slices.Contains(dest.At, sw) {
				continue
			}
			if !slices.ContainsFunc(dest.At, func(at int) bool { return island[at] == island[sw] }) {
				continue
			}
			p.verdict.UnroutedPairs++
			if p.verdict.UnroutedPairs <= maxUnrouted {
				p.verdict.Unrouted = append(p.verdict.Unrouted, Unrouted{sw, d})
			}
		}
	}
}

// islands numbers the parts of the network that cables join.
func (l *layout) islands() []int {
	island := make([]int, len(l.Switches))
	count := 0
	for first := range l.Switches {
		if island[first] != 0 {
			continue
		}
		count++
		island[first] = count
		for queue := []int{first}; len(queue) > 0; queue = queue[1:] {
			for _, a := range l.out[queue[0]] {
				if v := int(l.head[a]); island[v] == 0 {
					island[v] = count
					queue = append(queue, v)
				}
			}
		}
	}
	return island
}
