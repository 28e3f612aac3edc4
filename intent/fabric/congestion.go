package fabric

import (
	"cmp"
	"maps"
	"slices"

	"github.com/weirfabric/weir/intent/lossless"
	"github.com/weirfabric/weir/intent/qos"
)

// Congestion is all that the cabling, the hashes and the buffers of a fabric say about where load piles up.
type Congestion struct {
	Ranks   Ranks
	Loads   []Load // in the order of Switches
	Tiers   []Tier
	FanOuts []FanOut
	Incasts []Incast
}

// Congestion works all of it out.
func (f *Fabric) Congestion() Congestion {
	ranks := f.Ranks()
	loads := f.Loads(ranks)
	return Congestion{ranks, loads, Tiers(loads), f.FanOuts(loads), f.Incasts()}
}

// Bundle is a set of links and what they carry together in one direction.
type Bundle struct {
	Links int
	Rate  qos.Rate
}

func (b *Bundle) add(rate qos.Rate) {
	b.Links++
	b.Rate += rate
}

// Load is what the cables of a switch can bring to it from below and take upwards. Ports without a cable do not count.
type Load struct {
	Switch  *Switch
	Rank    int
	Top     bool     // no switch of its rank has a way up
	Down    Bundle   // to hosts and to switches of a lower rank
	Up      Bundle   // to switches of a higher rank
	Side    Bundle   // to switches of its own rank: detours, which count neither way
	Fastest qos.Rate // of the links upwards
	// Once is Down.Rate where hosts that are joined to several switches send no more in all than their best switch takes.
	// Such a host counts at a switch with
	//
	//	best * here / all
	//
	// where here is the rate of its links to this switch, all that of all its links, and best the largest rate that it has to
	// one switch. It holds where the links of a host stand in for each other, and not where each NIC is busy by itself.
	Once qos.Rate
	// Speedless are the links of which neither end says a speed. They count as links and add nothing to the rates.
	Speedless int
}

// Known says whether the switch has a ratio: something comes from below, and it is not at the top.
func (l Load) Known() bool { return !l.Top && l.Down.Rate > 0 && l.Speedless == 0 }

// Ratio is the oversubscription: Down / Up. It is infinite where no link leads upwards.
func (l Load) Ratio() float64 { return lossless.Oversubscription(l.Down.Rate, l.Up.Rate) }

// OneDown is the oversubscription while the fastest link upwards is down: Down / (Up - Fastest). It is infinite where no
// other is left.
func (l Load) OneDown() float64 { return lossless.Oversubscription(l.Down.Rate, l.Up.Rate-l.Fastest) }

// OnceRatio is the oversubscription with hosts counted once: Once / Up.
func (l Load) OnceRatio() float64 { return lossless.Oversubscription(l.Once, l.Up.Rate) }

// Loads gives the load of every switch, in the order of Switches.
func (f *Fabric) Loads(ranks Ranks) []Load {
	loads := make([]Load, len(f.Switches))
	index := make(map[*Switch]*Load, len(f.Switches))
	for i, sw := range f.Switches {
		loads[i] = Load{Switch: sw, Rank: ranks.Of[sw]}
		index[sw] = &loads[i]
	}
	hosts := map[*Host]map[*Load]qos.Rate{}
	for _, l := range f.Links {
		a, b, rate := index[l.A.Switch], index[l.B.Switch], l.Rate()
		switch {
		case a == b: // two ports of one switch, or two hosts
		case a == nil:
			b.host(hosts, l.A.Host, rate)
		case b == nil:
			a.host(hosts, l.B.Host, rate)
		default:
			a.to(b.Rank, rate)
			b.to(a.Rank, rate)
		}
	}
	wayUp := map[int]bool{}
	for _, l := range loads {
		wayUp[l.Rank] = wayUp[l.Rank] || l.Up.Links > 0
	}
	for i := range loads {
		loads[i].Top = !wayUp[loads[i].Rank]
		loads[i].Once = loads[i].Down.Rate
	}
	countOnce(hosts)
	return loads
}

// to counts a link to a switch of that rank.
func (l *Load) to(rank int, rate qos.Rate) {
	if rate == 0 {
		l.Speedless++
	}
	switch cmp.Compare(rank, l.Rank) {
	case -1:
		l.Down.add(rate)
	case 0:
		l.Side.add(rate)
	case 1:
		l.Up.add(rate)
		l.Fastest = max(l.Fastest, rate)
	}
}

// host counts a link to a host, and notes it among the links of that host.
func (l *Load) host(hosts map[*Host]map[*Load]qos.Rate, h *Host, rate qos.Rate) {
	l.to(l.Rank-1, rate)
	if hosts[h] == nil {
		hosts[h] = map[*Load]qos.Rate{}
	}
	hosts[h][l] += rate
}

// countOnce takes from Once what hosts with several switches do not send to each of them.
func countOnce(hosts map[*Host]map[*Load]qos.Rate) {
	for _, to := range hosts {
		if len(to) < 2 {
			continue
		}
		var all, best qos.Rate
		for _, here := range to {
			all, best = all+here, max(best, here)
		}
		for l, here := range to {
			if all > 0 {
				l.Once -= here - qos.Rate(float64(best)*float64(here)/float64(all))
			}
		}
	}
}

// Rate is the speed of the link: the lower one of its ends' speeds; 0 where neither end says one.
func (l *Link) Rate() qos.Rate {
	a, b := l.A.speed(), l.B.speed()
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

func (e End) speed() qos.Rate {
	if e.Switch != nil {
		return e.Port.Speed
	}
	return e.NIC.Speed
}

// Tier is all switches of one rank.
type Tier struct {
	Rank     int
	Roles    []string // sorted; a switch without a role adds none
	Switches int
	Top      bool
	Down, Up Bundle  // of all its switches together
	Known    int     // switches that have a ratio
	Usual    float64 // the ratio of most of them; of equally frequent ones the larger
	Worst    Load    // the switch with the largest ratio, the first of several; only where Known is not 0
	OneDown  Load    // the one that is worst off while its fastest link upwards is down
}

// Ratio is the oversubscription of the tier as a whole: the sum of all its Down by that of all its Up.
func (t Tier) Ratio() float64 { return lossless.Oversubscription(t.Down.Rate, t.Up.Rate) }

// Tiers puts the switches of one rank together, the lowest rank first.
func Tiers(loads []Load) []Tier {
	byRank := map[int]*Tier{}
	often := map[int]map[float64]int{}
	for _, l := range loads {
		t := byRank[l.Rank]
		if t == nil {
			t = &Tier{Rank: l.Rank, Top: l.Top}
			byRank[l.Rank], often[l.Rank] = t, map[float64]int{}
		}
		t.add(l)
		if l.Known() {
			often[l.Rank][l.Ratio()]++
		}
	}
	var tiers []Tier
	for _, rank := range slices.Sorted(maps.Keys(byRank)) {
		t := byRank[rank]
		slices.Sort(t.Roles)
		most := 0
		for _, ratio := range slices.Sorted(maps.Keys(often[rank])) {
			if n := often[rank][ratio]; n >= most {
				t.Usual, most = ratio, n
			}
		}
		tiers = append(tiers, *t)
	}
	return tiers
}

func (t *Tier) add(l Load) {
	t.Switches++
	t.Down = Bundle{t.Down.Links + l.Down.Links, t.Down.Rate + l.Down.Rate}
	t.Up = Bundle{t.Up.Links + l.Up.Links, t.Up.Rate + l.Up.Rate}
	if role := l.Switch.Role; role != "" && !slices.Contains(t.Roles, role) {
		t.Roles = append(t.Roles, role)
	}
	if !l.Known() {
		return
	}
	if t.Known == 0 || l.Ratio() > t.Worst.Ratio() {
		t.Worst = l
	}
	if t.Known == 0 || l.OneDown() > t.OneDown.OneDown() {
		t.OneDown = l
	}
	t.Known++
}

// load explains the load of a switch.
func (e *explainer) load(sw *Switch) {
	loads := e.f.Loads(e.f.Ranks())
	l := loads[slices.Index(e.f.Switches, sw)]
	sum := func(name, of string, b Bundle) {
		e.add(Value{
			Name: name, Value: int64(b.Rate), Unit: "bit/s", Formula: "sum of the links to " + of, Source: fromDerived,
			Inputs: map[string]any{"links": int64(b.Links), "rank": int64(l.Rank)},
		})
	}
	sum("downlinks", "hosts and switches of a lower rank", l.Down)
	sum("uplinks", "switches of a higher rank", l.Up)
	if !l.Known() || l.Up.Rate == 0 {
		return
	}
	e.add(Value{
		Name: "oversubscription", Value: l.Ratio(), Formula: "downlinks / uplinks", Source: fromDerived,
		Inputs: map[string]any{"downlinks": int64(l.Down.Rate), "uplinks": int64(l.Up.Rate)},
	})
	if l.Up.Rate > l.Fastest {
		e.add(Value{
			Name: "oversubscription-one-uplink-down", Value: l.OneDown(), Formula: "downlinks / (uplinks - fastest)", Source: fromDerived,
			Inputs: map[string]any{"downlinks": int64(l.Down.Rate), "uplinks": int64(l.Up.Rate), "fastest": int64(l.Fastest)},
		})
	}
}
