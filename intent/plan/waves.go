package plan

import (
	"cmp"
	"slices"
	"time"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/qos"
)

// Place is where a device stands in the fabric, as far as the order of changes goes.
type Place struct {
	Host  bool
	Tier  int      // of a switch: the lower, the nearer to the hosts
	Hosts []string // of a switch: the hosts that hang on it, and where they are not known their rack; of a host: itself
	Lane  string   // of a switch: the rail or plane that it is of, where the operator says so
	Near  []string // of a switch: the switches that it is cabled to, each once
	Moves bool     // of a host: what it sends changes, and not only what it accepts
}

// Limits are what a wave may be at most. Zero values take the default that is named.
type Limits struct {
	Canary string      // the device that is changed first; the first switch of the lowest tier
	Size   int         // devices; no limit
	Share  qos.Percent // of the switches of a tier, of those of a tier that one switch is cabled to, and of the hosts; DefaultShare
	Pace   Pace
	// HostsFirst says that the hosts, which mark, come before the switches, as where a class is taken away: then the canary is the first
	// of them.
	HostsFirst bool
}

// DefaultShare is of a tier: the other half carries the traffic when the wave goes wrong.
const DefaultShare qos.Percent = 50

// Arrange puts steps into waves. The canary goes first and alone. Then the switches go tier by tier from the hosts upwards, so
// that a class is lossless in the network before anything is sent in it; hosts, which mark, come last, the first of them alone.
// Hosts that change what they send come after those that change only what they accept. With HostsFirst it is the other way round.
//
// No wave holds two switches of one host or one rack, switches of two rails or planes, or switches of a tier that are cabled to
// each other. None holds more than its share of what a tier has in places, nor of what a tier has of switches that one switch is
// cabled to: the spines above a leaf, the leaves of a pod. That is never all of them, unless there is one: the step of the only
// switch of a tier is marked Single. A wave that takes longer than the commit timer of one of its devices may run is split.
func Arrange(steps []Step, places map[string]Place, l Limits) [][]Step {
	steps = slices.Clone(steps)
	tiers := tiersOf(places)
	for i := range steps {
		p := places[steps[i].Device]
		steps[i].Single = !p.Host && tiers[tierOf(p)] == 1
	}
	slices.SortFunc(steps, func(a, b Step) int {
		return cmp.Or(cmp.Compare(l.rank(a, places), l.rank(b, places)), addr.Natural(a.Device, b.Device))
	})
	var waves [][]Step
	for i := 0; i < len(steps); {
		level := l.rank(steps[i], places)
		end := i
		for end < len(steps) && l.rank(steps[end], places) == level {
			end++
		}
		if host := places[steps[i].Device].Host; i == 0 || host != l.HostsFirst && !holds(waves, places, host) {
			waves = append(waves, []Step{steps[i]})
			i++
		}
		waves = append(waves, l.split(steps[i:end], places)...)
		i = end
	}
	return waves
}

// hosts is the tier that all hosts are of, above all switches.
const hosts = 1 << 16

func tierOf(p Place) int {
	if p.Host {
		return hosts
	}
	return p.Tier
}

// tiersOf counts the devices of each tier, changed or not.
func tiersOf(places map[string]Place) map[int]int {
	tiers := map[int]int{}
	for _, p := range places {
		tiers[tierOf(p)]++
	}
	return tiers
}

// most is how many devices of a tier of n a wave takes: the share, but one at least, and never all.
func (l Limits) most(n int) int {
	most := max(1, min(n-1, int(float64(cmp.Or(l.Share, DefaultShare))/100*float64(n))))
	if l.Size > 0 {
		most = min(most, l.Size)
	}
	return most
}

// rank orders the canary, then switches by tier, then hosts; or the hosts and then the switches from the top.
func (l Limits) rank(s Step, places map[string]Place) int {
	switch {
	case l.HostsFirst:
		return -levelOf(places[s.Device])
	case s.Device == l.Canary:
		return -1 << 16
	}
	return levelOf(places[s.Device])
}

// levelOf is the tier, with hosts that change what they send above the others.
func levelOf(p Place) int {
	if p.Moves {
		return tierOf(p) + 1
	}
	return tierOf(p)
}

// holds says whether a host, or a switch, is in a wave already.
func holds(waves [][]Step, places map[string]Place, host bool) bool {
	return slices.ContainsFunc(waves, func(w []Step) bool { return places[w[0].Device].Host == host })
}

// forming is a wave while steps are put into it.
type forming struct {
	steps  []Step
	served map[string]bool // the hosts and racks of its devices
	near   map[string]int  // how many of its devices a switch is cabled to
	lane   string
	cost   time.Duration // of its slowest step
	timer  time.Duration // the shortest of the longest that its devices' commit timers may run; 0: none has one
}

// split fills waves with steps of one tier, in order: each goes into the first wave that has room for it.
func (l Limits) split(steps []Step, places map[string]Place) [][]Step {
	if len(steps) == 0 {
		return nil
	}
	tier := tierOf(places[steps[0].Device])
	most, around := l.most(tiersOf(places)[tier]), l.around(places, tier)
	var waves []*forming
	for _, s := range steps {
		p := places[s.Device]
		n := slices.IndexFunc(waves, func(w *forming) bool { return len(w.steps) < most && w.fits(s, p, around, l.Pace) })
		if n < 0 {
			n = len(waves)
			waves = append(waves, &forming{served: map[string]bool{}, near: map[string]int{}, lane: p.Lane})
		}
		waves[n].add(s, p)
	}
	var out [][]Step
	for _, w := range waves {
		out = append(out, w.steps)
	}
	return out
}

// around is how many switches of the tier a wave takes at most of those that each switch is cabled to.
func (l Limits) around(places map[string]Place, tier int) map[string]int {
	out := map[string]int{}
	for _, p := range places {
		if tierOf(p) == tier {
			for _, n := range p.Near {
				out[n]++
			}
		}
	}
	for n, degree := range out {
		out[n] = l.most(degree)
	}
	return out
}

// fits says whether the wave can take the step beside those that it has.
func (w *forming) fits(s Step, p Place, around map[string]int, pace Pace) bool {
	switch {
	case w.lane != p.Lane || slices.ContainsFunc(p.Hosts, func(h string) bool { return w.served[h] }):
		return false
	case slices.ContainsFunc(p.Near, func(n string) bool { return w.near[n] >= around[n] }):
		return false
	case w.near[s.Device] > 0: // it is cabled to one of them
		return false
	}
	timer := shorter(w.timer, s.timer())
	return timer == 0 || pace.Lasts(len(w.steps)+1, max(w.cost, s.Cost)) <= timer
}

func (w *forming) add(s Step, p Place) {
	w.steps, w.cost, w.timer = append(w.steps, s), max(w.cost, s.Cost), shorter(w.timer, s.timer())
	for _, h := range p.Hosts {
		w.served[h] = true
	}
	for _, n := range p.Near {
		w.near[n]++
	}
}

// shorter is the shorter of two timers, of which 0 is none.
func shorter(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
