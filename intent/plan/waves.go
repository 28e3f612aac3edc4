package plan

import (
	"cmp"
	"slices"

	"github.com/weirfabric/weir/intent/addr"
)

// Place is where a device stands in the fabric, as far as the order of changes goes.
type Place struct {
	Host  bool
	Tier  int      // of a switch: 0 nearest to the hosts
	Hosts []string // of a switch: the hosts that hang on it; of a host: itself
}

// Arrange puts steps into waves. The canary goes first and alone. Then the switches go tier by tier from the hosts upwards, so
// that a class is lossless in the network before anything is sent in it; hosts, which mark, come last, the first of them alone.
// No wave holds two switches of one host, so that a wave takes at most one of its planes, rails or ToRs; none holds more
// than size steps (0: no limit). Without a canary the first switch of the lowest tier is it.
func Arrange(steps []Step, places map[string]Place, canary string, size int) [][]Step {
	steps = slices.Clone(steps)
	slices.SortFunc(steps, func(a, b Step) int {
		return cmp.Or(cmp.Compare(rank(a, places, canary), rank(b, places, canary)), addr.Natural(a.Device, b.Device))
	})
	var waves [][]Step
	for i := 0; i < len(steps); {
		level := rank(steps[i], places, canary)
		end := i
		for end < len(steps) && rank(steps[end], places, canary) == level {
			end++
		}
		if alone := i == 0 || places[steps[i].Device].Host && !holdsHost(waves, places); alone {
			waves = append(waves, []Step{steps[i]})
			i++
		}
		waves = append(waves, split(steps[i:end], places, size)...)
		i = end
	}
	return waves
}

// rank orders the canary, then switches by tier, then hosts.
func rank(s Step, places map[string]Place, canary string) int {
	p := places[s.Device]
	switch {
	case s.Device == canary:
		return -1
	case p.Host:
		return 1 << 16
	}
	return p.Tier
}

func holdsHost(waves [][]Step, places map[string]Place) bool {
	return slices.ContainsFunc(waves, func(w []Step) bool { return places[w[0].Device].Host })
}

// split fills waves in order: each step goes into the first wave that has room and holds nothing that serves a host of its own.
func split(steps []Step, places map[string]Place, size int) [][]Step {
	var waves [][]Step
	var served []map[string]bool
	for _, s := range steps {
		hosts := places[s.Device].Hosts
		fits := func(n int) bool {
			return (size == 0 || len(waves[n]) < size) && !slices.ContainsFunc(hosts, func(h string) bool { return served[n][h] })
		}
		n := 0
		for n < len(waves) && !fits(n) {
			n++
		}
		if n == len(waves) {
			waves, served = append(waves, nil), append(served, map[string]bool{})
		}
		waves[n] = append(waves[n], s)
		for _, h := range hosts {
			served[n][h] = true
		}
	}
	return waves
}
