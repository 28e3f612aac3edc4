package depend

import (
	"math/rand"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tiered is a plan for a fat tree like that of RFC 7938 (which was not read again for this test): one AS
// for all cores, one for the aggregation switches of a pod, and one for each leaf.
func tiered(n *Network) *Plan {
	p := &Plan{AS: make([]uint32, len(n.Switches)), AllowASIn: make([]int, len(n.Switches))}
	for i, s := range n.Switches {
		switch pod, _, _ := strings.Cut(s.Name, "-"); s.Rank {
		case 1:
			p.AS[i] = 4_200_000_000 + uint32(i)
		case 2:
			number, _ := strconv.Atoi(pod[1:])
			p.AS[i] = 65_000 + uint32(number)
		default:
			p.AS[i] = 64_900
		}
	}
	return p
}

// distinct gives every switch an AS of its own.
func distinct(n *Network) *Plan {
	p := &Plan{}
	for i := range n.Switches {
		p.AS = append(p.AS, 65_000+uint32(i))
	}
	return p
}

func named(t testing.TB, n *Network, name string) int {
	t.Helper()
	i := slices.IndexFunc(n.Switches, func(s Switch) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("there is no switch %s", name)
	}
	return i
}

func TestAPlanByTiersIsProvenForEveryState(t *testing.T) {
	n := fatTree(4)
	for _, exhaustive := range []bool{false, true} {
		v := mustProve(t, Question{Network: n, Policy: BGP, Plan: tiered(n), Failures: 2, Exhaustive: exhaustive})
		method := map[bool]Method{false: Certificate, true: Exhaustion}[exhaustive]
		if !v.Free || len(v.Unrouted) > 0 || len(v.Leaks) > 0 || v.Turns != turnsOfFatTree(4) || v.Covered[5].Method != method {
			t.Errorf("exhaustive %t: got %+v, want free with %d turns", exhaustive, v, turnsOfFatTree(4))
		}
	}
}

func TestAPlanByTiersRoutesAsUpDownDoes(t *testing.T) {
	n := fatTree(4)
	l := newLayout(n)
	plan := tiered(n)
	all := []int{0, 1, 2, 3, 4, 5, 6, 7}
	for _, f := range append(singles(n), failure{}) {
		if diff := cmp.Diff(l.route(UpDown, all, f).next, plan.route(l, all, f).next); diff != "" {
			t.Errorf("%v down (-up-down +bgp):\n%s", f.names(n), diff)
		}
	}
}

func TestAnASOfItsOwnForEverySwitchIsShortestPathWithItsCycles(t *testing.T) {
	n := fatTree(4)
	got := mustProve(t, Question{Network: n, Policy: BGP, Plan: distinct(n), Failures: 1, Exhaustive: true})
	want := mustProve(t, Question{Network: n, Policy: ShortestPath, Failures: 1, Exhaustive: true})
	if diff := cmp.Diff(want.Covered, got.Covered); diff != "" || got.Free {
		t.Errorf("(-shortest path +bgp):\n%s", diff)
	}
	k := got.Leaks[0]
	if want := "core2 takes from p0-agg1 what that learned from core3: AS 65002 of core2 is not on the path"; !slices.ContainsFunc(got.Leaks, func(k Leak) bool { return k.Why == want }) || n.Switches[k.Accepts].Name != "core0" {
		t.Errorf("got %+v, want one that says %s", got.Leaks, want)
	}
}

// TestASwitchThatTakesItsOwnASLetsTrafficTurnUpAgain sets allowas-in on one switch of a plan that is proven without.
func TestASwitchThatTakesItsOwnASLetsTrafficTurnUpAgain(t *testing.T) {
	n := fatTree(4)
	plan := tiered(n)
	agg := named(t, n, "p0-agg0")
	plan.AllowASIn[agg] = 1
	v := mustProve(t, Question{Network: n, Policy: BGP, Plan: plan, Failures: 1, Exhaustive: true})
	if v.Free || v.Found == nil || !v.Found.Transition || v.Found.Model != OneLink {
		t.Fatalf("got %+v, want a cycle in transition with one link down", v)
	}
	if v.Leaks[0].Accepts != agg || !strings.Contains(v.Leaks[0].Why, "allowas-in 1 of p0-agg0 lets it through") {
		t.Errorf("got %+v, want p0-agg0 and its allowas-in", v.Leaks)
	}
	if !slices.ContainsFunc(v.Cycle, func(s Step) bool { return s.Switch == agg }) {
		t.Errorf("got the cycle %+v, which is not over %s", v.Cycle, "p0-agg0")
	}
}

// TestLeavesThatShareAnASNeedAllowASIn has one AS for all leaves: without allowas-in they do not hear of each other, and with
// it on the leaves alone nothing turns up again.
func TestLeavesThatShareAnASNeedAllowASIn(t *testing.T) {
	n := fatTree(4)
	plan := tiered(n)
	for i, s := range n.Switches {
		if s.Rank == 1 {
			plan.AS[i] = 65_500
		}
	}
	if v := mustProve(t, Question{Network: n, Policy: BGP, Plan: plan}); v.UnroutedPairs != 8*7 {
		t.Errorf("got %d pairs without a route, want all", v.UnroutedPairs)
	}
	for i, s := range n.Switches {
		if s.Rank == 1 {
			plan.AllowASIn[i] = 1
		}
	}
	v := mustProve(t, Question{Network: n, Policy: BGP, Plan: plan, Failures: 2})
	if !v.Free || v.UnroutedPairs != 0 || v.Covered[1].Method != Certificate {
		t.Errorf("got %+v, want free by certificate", v)
	}
}

// TestAWithdrawnRouteTurnsUpAgainOverADefault is the micro-loop of a default route: an aggregation switch that has lost a leaf
// sends what is for it up to the core that still sends it down.
func TestAWithdrawnRouteTurnsUpAgainOverADefault(t *testing.T) {
	n := fatTree(4)
	plan := tiered(n)
	for i, s := range n.Switches {
		if s.Rank == 3 {
			plan.Default = append(plan.Default, i)
		}
	}
	v := mustProve(t, Question{Network: n, Policy: BGP, Plan: plan, Failures: 1})
	if v.Free || v.Covered[0].Cyclic != 0 || !v.Found.Transition || len(v.Cycle) != 2 || !v.OneLoop() {
		t.Fatalf("got %+v, want a micro-loop of two buffers in transition only", v)
	}
	if !slices.ContainsFunc(v.Leaks, func(k Leak) bool { return k.Route == "the default route" && n.Switches[k.Accepts].Rank == 2 }) {
		t.Errorf("got %+v, want the aggregation switches that take the default", v.Leaks)
	}
	two := twoTier(4)
	for i := range 4 {
		two.Destinations = append(two.Destinations, Destination{Name: two.Switches[i].Name, At: []int{i}})
	}
	plan = &Plan{AS: []uint32{1, 2, 3, 4, 9, 9}, Default: []int{4, 5}}
	if v := mustProve(t, Question{Network: two, Policy: BGP, Plan: plan, Failures: 2}); !v.Free || v.Covered[1].Method != Certificate {
		t.Errorf("got %+v, want free: the spines drop what they have lost", v)
	}
	plan.Default = []int{0}
	v = mustProve(t, Question{Network: two, Policy: BGP, Plan: plan, Failures: 1, Exhaustive: true})
	if v.Free || len(v.Leaks) == 0 || v.Leaks[0].Route != "the default route" {
		t.Errorf("got %+v, want the default of a leaf refused: it sends up again what a spine has lost", v)
	}
}

func TestACommunityKeepsRoutesFromGoingUpAgain(t *testing.T) {
	n := fatTree(4)
	plan := distinct(n)
	for i := range n.Switches {
		plan.NoExportUp = append(plan.NoExportUp, i)
	}
	v := mustProve(t, Question{Network: n, Policy: BGP, Plan: plan, Failures: 1, Exhaustive: true})
	if !v.Free && v.Covered[1].Cyclic > 0 || len(v.Leaks) > 0 && slices.ContainsFunc(v.Leaks, func(k Leak) bool { return len(k.Path) == 3 }) {
		t.Errorf("got %+v, want no turn up again at a switch that marks its routes", v)
	}
}

// TestAnAggregateIsWithdrawnWithTheLastOfItsRoutes has the pods' aggregation switches tell the cores of the pod only.
func TestAnAggregateIsWithdrawnWithTheLastOfItsRoutes(t *testing.T) {
	n := fatTree(4)
	plan := tiered(n)
	for pod := range 4 {
		a := Aggregate{Name: "pod", Of: []int{2 * pod, 2*pod + 1}, SummaryOnly: true}
		for i := range 2 {
			a.At = append(a.At, named(t, n, "p"+string(rune('0'+pod))+"-agg"+string(rune('0'+i))))
		}
		plan.Aggregates = append(plan.Aggregates, a)
	}
	v := mustProve(t, Question{Network: n, Policy: BGP, Plan: plan, Failures: 1})
	if len(v.Unrouted) > 0 {
		t.Fatalf("got %+v, want a route between all", v)
	}
	full := mustProve(t, Question{Network: n, Policy: BGP, Plan: plan, Failures: 1, Exhaustive: true})
	if !full.Free || full.Turns != turnsOfFatTree(4) {
		t.Errorf("got %+v, want free with the turns of the specific routes", full)
	}
	if v.Free != full.Free {
		t.Errorf("the certificate says free %t, and every state gone through %t", v.Free, full.Free)
	}
}

// TestEveryChoiceAmongEqualPathsIsReckonedWith has a switch v with two paths as short. Over the one through a, u does not take
// it, since a has u's AS, and goes on to the longer way over y1. What depends on that goes on too, and hears itself nowhere.
func TestEveryChoiceAmongEqualPathsIsReckonedWith(t *testing.T) {
	n := build(t, "d:1* a:1 b:1 v:1 u:1* y1:1 y2:1 y3:1 y4:1 y5:1 z:1* q:1*", "d-a d-b a-v b-v v-u u-y1 y1-y2 y2-y3 y3-y4 y4-y5 y5-d u-z z-q")
	plan := &Plan{AS: []uint32{1, 7, 8, 9, 7, 11, 12, 13, 14, 15, 16, 17}}
	tables, err := Question{Network: n, Policy: BGP, Plan: plan}.Routes()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for a := range Arc(2 * len(n.Links)) {
		if tables.Has(0, a) {
			got = append(got, n.ArcName(a))
		}
	}
	slices.Sort(got)
	want := []string{"a > d", "b > d", "q > z", "u > v", "u > y1", "v > a", "v > b", "y1 > u", "y1 > y2", "y2 > y3", "y3 > y4", "y4 > y5", "y5 > d", "z > u"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestTheCertificateOfAPlanAgreesWithEveryState draws networks and plans, and wants no cycle in any state where the plan has
// no leak. It wants the next hops to be those of one outcome that a router by router exchange of messages comes to.
func TestTheCertificateOfAPlanAgreesWithEveryState(t *testing.T) {
	networks := many(4000)
	r := rand.New(rand.NewSource(5))
	proven, refused, more := 0, 0, 0
	for i := range networks {
		n := randomNetwork(r)
		plan := randomPlan(r, n)
		v := mustProve(t, Question{Network: n, Policy: BGP, Plan: plan, Failures: 1 + i%10/9, Exhaustive: true})
		switch {
		case len(v.Leaks) == 0 && !v.Free:
			t.Fatalf("network %d: no leak and a cycle: %+v %+v: %+v", i, n, plan, v)
		case len(v.Leaks) == 0:
			proven++
		case !v.Free:
			refused++
		}
		l := newLayout(n)
		for d, dest := range n.Destinations {
			if plan.covers() {
				continue
			}
			hops := plan.route(l, []int{d}, failure{})
			choice := exchange(r, n, plan, dest)
			for a := range Arc(l.arcs()) {
				if choice[a] && !hops.Has(0, a) {
					t.Fatalf("network %d: an exchange of messages comes to %s for %s: %+v %+v", i, n.ArcName(a), dest.Name, n, plan)
				} else if !choice[a] && hops.Has(0, a) {
					more++
				}
			}
		}
	}
	t.Logf("%d proven, %d refused, %d next hops of other outcomes", proven, refused, more)
	if proven < networks/20 || refused < networks/20 {
		t.Errorf("%d of %d networks proven and %d refused: too few", proven, networks, refused)
	}
}

// randomPlan draws ASes from a few, or by rank, and now and then what relaxes a plan.
func randomPlan(r *rand.Rand, n *Network) *Plan {
	p := &Plan{AllowASIn: make([]int, len(n.Switches))}
	byRank := r.Intn(2) == 0
	for i, s := range n.Switches {
		as := uint32(1 + r.Intn(5))
		if byRank && s.Rank > 1 {
			as = uint32(100 + s.Rank)
		} else if byRank {
			as = uint32(1000 + i)
		}
		p.AS = append(p.AS, as)
		if r.Intn(8) == 0 {
			p.AllowASIn[i] = 1
		}
		if r.Intn(8) == 0 {
			p.NoExportUp = append(p.NoExportUp, i)
		}
		if r.Intn(20) == 0 {
			p.Default = append(p.Default, i)
		}
	}
	if len(n.Destinations) > 1 && r.Intn(5) == 0 {
		p.Aggregates = []Aggregate{{Name: "some", At: []int{r.Intn(len(n.Switches))}, Of: []int{0, 1}, SummaryOnly: r.Intn(2) == 0}}
	}
	return p
}

// exchange is BGP router by router: each tells its neighbours the path it has chosen, in an order that is drawn, until nothing
// changes. It gives the next hops for one destination.
func exchange(r *rand.Rand, n *Network, p *Plan, dest Destination) map[Arc]bool {
	type told struct {
		ases  []uint32
		above bool
		some  bool
	}
	best := make([]told, len(n.Switches))
	for _, at := range dest.At {
		best[at] = told{some: true}
	}
	offer := func(a Arc) (told, bool) { // what the head tells the tail
		u, v := n.Tail(a), n.Head(a)
		from := best[v]
		up := n.Switches[u].Rank >= n.Switches[v].Rank
		if p.AS[u] == p.AS[v] || !from.some || from.above && up && slices.Contains(p.NoExportUp, v) {
			return told{}, false
		}
		ases := append([]uint32{p.AS[v]}, from.ases...)
		own := 0
		for _, as := range ases {
			if as == p.AS[u] {
				own++
			}
		}
		return told{ases, n.Switches[v].Rank >= n.Switches[u].Rank, true}, own <= p.AllowASIn[u]
	}
	hops := map[Arc]bool{}
	for changed, rounds := true, 0; changed; rounds++ {
		if rounds > 1000 {
			panic("the exchange does not come to rest")
		}
		changed = false
		for _, u := range r.Perm(len(n.Switches)) {
			if slices.Contains(dest.At, u) {
				continue
			}
			var choice told
			var equal []Arc
			arcs := r.Perm(2 * len(n.Links))
			for _, i := range arcs {
				a := Arc(i)
				if n.Tail(a) != u {
					continue
				}
				o, ok := offer(a)
				switch {
				case !ok || choice.some && len(o.ases) > len(choice.ases):
				case choice.some && len(o.ases) == len(choice.ases):
					equal = append(equal, a)
					if slices.Equal(o.ases, best[u].ases) && o.above == best[u].above {
						choice = o // it keeps what it has
					}
				default:
					choice, equal = o, []Arc{a}
				}
			}
			if !slices.Equal(choice.ases, best[u].ases) || choice.above != best[u].above || choice.some != best[u].some {
				best[u], changed = choice, true
			}
			for a := range Arc(2 * len(n.Links)) {
				if n.Tail(a) == u {
					if hops[a] != slices.Contains(equal, a) {
						changed = true
					}
					hops[a] = slices.Contains(equal, a)
				}
			}
		}
	}
	return hops
}
