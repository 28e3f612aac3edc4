package depend

import "iter"

// number is the place of a failure of one link or switch among switches and links.
func (o *orbits) number(f failure) int {
	if len(f.links) > 0 {
		return len(o.Switches) + f.links[0]
	}
	return f.switches[0]
}

// firsts are the first failure of each orbit, and how many the orbit has.
func (o *orbits) firsts(failures []failure) iter.Seq2[failure, int] {
	size := map[int]int{}
	for _, f := range failures {
		size[o.find(o.number(f))]++
	}
	return func(yield func(failure, int) bool) {
		seen := map[int]bool{}
		for _, f := range failures {
			orbit := o.find(o.number(f))
			if seen[orbit] {
				continue
			}
			seen[orbit] = true
			if !yield(f, size[orbit]) {
				return
			}
		}
	}
}

// representatives are one failure of each orbit, and twice how many the orbit has.
func (p *prover) representatives(o *orbits, failures []failure) iter.Seq2[state, int] {
	return func(yield func(state, int) bool) {
		for f, size := range o.firsts(failures) {
			if !yield(state{f}, 2*size) {
				return
			}
		}
	}
}

// representativePairs are pairs of failures such that every pair is the image of one of them, and twice how many pairs each
// stands for. A symmetry takes the first failure of a pair to the representative f of its orbit; the second is then moved on by
// symmetries that keep f. So a pair of f and one g of each orbit of those is enough, and it stands for as many pairs as f has
// images times g has. A pair whose failures are of two orbits is taken only with the lower one first; where both are of one,
// it is counted from either end, hence the half.
func (p *prover) representativePairs(o *orbits, failures []failure) iter.Seq2[state, int] {
	return func(yield func(state, int) bool) {
		for f, size := range o.firsts(failures) {
			if !p.seconds(o, f, size, failures, yield) {
				return
			}
		}
	}
}

// seconds are the pairs of one first failure.
func (p *prover) seconds(o *orbits, f failure, images int, failures []failure, yield func(state, int) bool) bool {
	kept := orbitsOf(p.layout, f)
	first := o.find(o.number(f))
	key := func(g failure) [2]int { return [2]int{o.find(o.number(g)), kept.find(o.number(g))} }
	size := map[[2]int]int{}
	for _, g := range failures {
		if o.number(g) != o.number(f) {
			size[key(g)]++
		}
	}
	seen := map[[2]int]bool{}
	for _, g := range failures {
		if k := key(g); o.number(g) != o.number(f) && k[0] >= first && !seen[k] {
			seen[k] = true
			stands := images * size[k]
			if k[0] != first {
				stands *= 2
			}
			if !yield(state{f, g, f.and(g)}, stands) {
				return false
			}
		}
	}
	return true
}
