package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/qos"
)

func TestWavesGoFromTheCanaryThroughTheTiersToTheHosts(t *testing.T) {
	places := map[string]Place{
		"leaf1": {Hosts: []string{"h1", "h2"}}, "leaf2": {Hosts: []string{"h1", "h2"}},
		"leaf3": {Hosts: []string{"h3"}}, "leaf4": {Hosts: []string{"h3"}},
		"spine1": {Tier: 1}, "spine2": {Tier: 1},
		"h1": {Host: true, Hosts: []string{"h1"}}, "h2": {Host: true, Hosts: []string{"h2"}}, "h3": {Host: true, Hosts: []string{"h3"}},
	}
	all := []string{"h3", "spine2", "leaf4", "leaf2", "h1", "leaf1", "leaf3", "h2", "spine1"}
	for name, c := range map[string]struct {
		steps  []string
		limits Limits
		want   [][]string
	}{
		"two ToRs of one host never share a wave, nor do both spines": {all, Limits{}, [][]string{
			{"leaf1"}, {"leaf2", "leaf3"}, {"leaf4"}, {"spine1"}, {"spine2"}, {"h1"}, {"h2"}, {"h3"}}},
		"the operator's canary goes first": {all, Limits{Canary: "leaf3"}, [][]string{
			{"leaf3"}, {"leaf1", "leaf4"}, {"leaf2"}, {"spine1"}, {"spine2"}, {"h1"}, {"h2"}, {"h3"}}},
		"a wave holds no more than its size": {all, Limits{Size: 1}, [][]string{
			{"leaf1"}, {"leaf2"}, {"leaf3"}, {"leaf4"}, {"spine1"}, {"spine2"}, {"h1"}, {"h2"}, {"h3"}}},
		"a greater share of the hosts, and still never all spines": {all, Limits{Share: 100}, [][]string{
			{"leaf1"}, {"leaf2", "leaf3"}, {"leaf4"}, {"spine1"}, {"spine2"}, {"h1"}, {"h2", "h3"}}},
		"a share of what the tier has, not of what changes": {[]string{"leaf1", "leaf3", "leaf4"}, Limits{Share: 25}, [][]string{
			{"leaf1"}, {"leaf3"}, {"leaf4"}}},
		"classes that are taken away go from the hosts": {all, Limits{HostsFirst: true, Canary: "leaf3"}, [][]string{
			{"h1"}, {"h2"}, {"h3"}, {"spine1"}, {"spine2"}, {"leaf1", "leaf3"}, {"leaf2", "leaf4"}}},
		"nothing to do is no wave": {nil, Limits{}, nil},
		"a single host":            {[]string{"h2"}, Limits{}, [][]string{{"h2"}}},
	} {
		var steps []Step
		for _, n := range c.steps {
			steps = append(steps, Step{Device: n})
		}
		if diff := cmp.Diff(c.want, named(Arrange(steps, places, c.limits))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestHostsThatSendOtherwiseComeWhenAllOthersAcceptIt(t *testing.T) {
	places := map[string]Place{"leaf1": {}, "leaf2": {}}
	steps := []Step{{Device: "leaf1"}}
	for _, h := range []string{"h1", "h2", "h3", "h4"} {
		places[h] = Place{Host: true, Hosts: []string{h}, Moves: h == "h1" || h == "h2"}
		steps = append(steps, Step{Device: h})
	}
	for name, c := range map[string]struct {
		limits Limits
		want   [][]string
	}{
		"from the switches": {Limits{}, [][]string{{"leaf1"}, {"h3"}, {"h4"}, {"h1", "h2"}}},
		"from the hosts":    {Limits{HostsFirst: true}, [][]string{{"h1"}, {"h2"}, {"h3", "h4"}, {"leaf1"}}},
	} {
		if diff := cmp.Diff(c.want, named(Arrange(steps, places, c.limits))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestWhatHasNoHostsInTheInventoryIsToldApartByLabelsAndCables(t *testing.T) {
	places := map[string]Place{
		"a1": {Tier: 1, Lane: "1"}, "a2": {Tier: 1, Lane: "2"}, "a3": {Tier: 1, Lane: "1"}, "a4": {Tier: 1, Lane: "2"},
		"m1": {Tier: 2, Near: []string{"m2"}}, "m2": {Tier: 2, Near: []string{"m1"}}, "m3": {Tier: 2}, "m4": {Tier: 2},
	}
	var steps []Step
	for name := range places {
		steps = append(steps, Step{Device: name})
	}
	want := [][]string{{"a1"}, {"a2", "a4"}, {"a3"}, {"m1", "m3"}, {"m2", "m4"}}
	if diff := cmp.Diff(want, named(Arrange(steps, places, Limits{}))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Two spines of a pod are less than half of all spines, and all that its leaves have.
func TestAWaveNeverTakesAllSpinesOfAPod(t *testing.T) {
	places := map[string]Place{}
	var steps []Step
	for pod := range 4 {
		var spines []string
		for i := range 2 {
			name := fmt.Sprintf("p%d-spine%d", pod, i)
			spines = append(spines, name)
			places[name] = Place{Tier: 2}
			steps = append(steps, Step{Device: name})
		}
		for i := range 2 {
			leaf := fmt.Sprintf("p%d-leaf%d", pod, i)
			places[leaf] = Place{Tier: 1, Near: spines}
			for _, s := range spines {
				p := places[s]
				p.Near = append(p.Near, leaf)
				places[s] = p
			}
		}
	}
	want := [][]string{{"p0-spine0"}, {"p0-spine1", "p1-spine0", "p2-spine0", "p3-spine0"}, {"p1-spine1", "p2-spine1", "p3-spine1"}}
	if diff := cmp.Diff(want, named(Arrange(steps, places, Limits{}))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTheOnlySwitchOfATierIsMarked(t *testing.T) {
	places := map[string]Place{"leaf1": {Tier: 1}, "leaf2": {Tier: 1}, "spine": {Tier: 2}, "h": {Host: true}}
	got := map[string]bool{}
	for _, s := range slices.Concat(Arrange([]Step{{Device: "leaf1"}, {Device: "spine"}, {Device: "h"}}, places, Limits{})...) {
		got[s.Device] = s.Single
	}
	if diff := cmp.Diff(map[string]bool{"leaf1": false, "spine": true, "h": false}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func named(waves [][]Step) (out [][]string) {
	for _, w := range waves {
		var names []string
		for _, s := range w {
			names = append(names, s.Device)
		}
		out = append(out, names)
	}
	return out
}

// clos is a random Clos as placesOf sees one: with hosts or without, with one or more leaves a host, with rails, with pairs of
// leaves that are cabled to each other.
func clos(r *rand.Rand) map[string]Place {
	places := map[string]Place{}
	tors, rails := 1+r.IntN(3), r.IntN(2) == 0
	withHosts, pairs := r.IntN(2) == 0, r.IntN(3) == 0
	for rack := range 1 + r.IntN(20) {
		for tor := range tors {
			p := Place{Tier: 1}
			if rails {
				p.Lane = fmt.Sprint(tor)
			}
			if withHosts {
				p.Hosts = []string{fmt.Sprint("h", rack)}
			} else {
				p.Hosts = []string{fmt.Sprint("rack ", rack)}
			}
			if pairs && tors == 2 {
				p.Near = []string{fmt.Sprintf("leaf%d-%d", rack, 1-tor)}
			}
			places[fmt.Sprintf("leaf%d-%d", rack, tor)] = p
		}
		if withHosts {
			name := fmt.Sprint("h", rack)
			places[name] = Place{Host: true, Hosts: []string{name}}
		}
	}
	for tier, most := range []int{40, 10} {
		for i := range r.IntN(most + 1) {
			places[fmt.Sprintf("t%d-%d", tier+2, i)] = Place{Tier: tier + 2}
		}
	}
	for below, p := range places {
		for above, q := range places {
			if !p.Host && q.Tier == p.Tier+1 && p.Tier > 0 && r.IntN(3) == 0 {
				p.Near, q.Near = append(p.Near, above), append(q.Near, below)
				places[below], places[above] = p, q
			}
		}
	}
	return places
}

func TestNoWaveTakesMoreOfAFabricThanItMay(t *testing.T) {
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 9))
		places := clos(r)
		var steps []Step
		for name := range places {
			if r.IntN(4) == 0 {
				continue
			}
			s := Step{Device: name, Cost: time.Duration(r.IntN(60)) * time.Second}
			if r.IntN(2) == 0 {
				s.Confirm, s.ConfirmMost = 10*time.Minute, time.Duration(15+r.IntN(120))*time.Minute
			}
			steps = append(steps, s)
		}
		l := Limits{Share: qos.Percent(r.IntN(101)), Size: r.IntN(2) * r.IntN(8), Pace: Pace{Window: time.Duration(r.IntN(8)) * time.Minute}}
		if len(steps) > 0 && r.IntN(2) == 0 {
			l.Canary = steps[0].Device
		}
		waves, short := l.Pace.Cover(Arrange(steps, places, l))
		if complaint := wrong(waves, short, steps, places, l); complaint != "" {
			t.Fatalf("seed %d: %s\n%+v\n%v", seed, complaint, l, named(waves))
		}
	}
}

// wrong says which law the waves break.
func wrong(waves [][]Step, short []Uncovered, steps []Step, places map[string]Place, l Limits) string {
	if len(slices.Concat(waves...)) != len(steps) {
		return fmt.Sprintf("%d of %d steps are in waves", len(slices.Concat(waves...)), len(steps))
	}
	size := map[int]int{}
	for _, p := range places {
		size[tierOf(p)]++
	}
	share := float64(l.Share)
	if share == 0 {
		share = 50
	}
	last, first := 0, true
	for n, w := range waves {
		tier := tierOf(places[w[0].Device])
		of, hosts, cost := size[tier], map[string]bool{}, time.Duration(0)
		canary := n == 0 && w[0].Device == l.Canary
		switch {
		case n == 0 && len(w) != 1:
			return "the first wave is not one device"
		case !canary && tier < last:
			return fmt.Sprintf("wave %d goes down again", n)
		case tier == 1<<16 && first && len(w) != 1 && !places[l.Canary].Host:
			return "the first host is not alone"
		case len(w) == of && of > 1:
			return fmt.Sprintf("wave %d is all of its tier", n)
		case len(w) > 1 && float64(len(w)) > share/100*float64(of):
			return fmt.Sprintf("wave %d is more than the share of its tier", n)
		case l.Size > 0 && len(w) > l.Size:
			return fmt.Sprintf("wave %d is larger than its size", n)
		}
		if !canary {
			last = tier
		}
		first = first && tier != 1<<16
		for _, s := range w {
			p := places[s.Device]
			cost = max(cost, s.Cost)
			if tierOf(p) != tier || p.Lane != places[w[0].Device].Lane {
				return fmt.Sprintf("wave %d mixes tiers or rails", n)
			}
			if s.Single != (of == 1 && !p.Host) {
				return s.Device + " is wrongly marked as single"
			}
			for _, h := range p.Hosts {
				if hosts[h] {
					return fmt.Sprintf("wave %d holds two switches of %s", n, h)
				}
				hosts[h] = true
			}
			for _, peer := range p.Near {
				if slices.ContainsFunc(w, func(s Step) bool { return s.Device == peer }) {
					return fmt.Sprintf("wave %d holds a pair", n)
				}
			}
		}
		for name, p := range places {
			all, inside := 0, 0
			for _, near := range p.Near {
				if tierOf(places[near]) == tier {
					all++
				}
				if slices.ContainsFunc(w, func(s Step) bool { return s.Device == near }) {
					inside++
				}
			}
			if inside > 1 && (inside == all || float64(inside) > share/100*float64(all)) {
				return fmt.Sprintf("wave %d takes %d of the %d that %s is cabled to", n, inside, all, name)
			}
		}
		refused := slices.ContainsFunc(short, func(u Uncovered) bool { return u.Wave == n })
		if refused && len(w) > 1 {
			return fmt.Sprintf("wave %d is refused and could be split", n)
		}
		for _, s := range w {
			if s.Confirm > 0 && s.Confirm < l.Pace.Lasts(len(w), cost) && !refused || s.Confirm > max(s.ConfirmMost, 10*time.Minute) {
				return fmt.Sprintf("wave %d lasts %v, and the timer of %s runs %v", n, l.Pace.Lasts(len(w), cost), s.Device, s.Confirm)
			}
		}
	}
	return ""
}

func TestAWaveIsSplitWhereItsTimersCannotCoverIt(t *testing.T) {
	places := map[string]Place{}
	var steps []Step
	for i := range 901 {
		name := fmt.Sprint("spine", i)
		places[name] = Place{}
		steps = append(steps, Step{Device: name, Cost: 6 * time.Second, Confirm: 10 * time.Minute, ConfirmMost: 2 * time.Hour})
	}
	pace := Pace{Window: 3 * time.Minute}
	waves, short := pace.Cover(Arrange(steps, places, Limits{Pace: pace}))
	if len(waves) != 4 || len(waves[1]) != 340 || len(short) > 0 {
		t.Errorf("got %d waves, the second of %d, and %v: want 1, 340, 340, 220 within 2 h", len(waves), len(waves[1]), short)
	}
	if one, rest := waves[0][0].Confirm, waves[1][0].Confirm; one != 10*time.Minute || rest != time.Hour+58*time.Minute {
		t.Errorf("got timers of %v and %v", one, rest)
	}
	if steps[0].Confirm != 10*time.Minute {
		t.Error("what was given was changed")
	}
	_, short = Pace{Window: 2 * time.Hour}.Cover([][]Step{steps[:1]})
	want := "spine0: wave 1 of 1 devices may take 2h6m0s, and the device's commit timer is set to 2h0m0s at most: it would take the change back by itself before it is confirmed"
	if len(short) != 1 || short[0].Error() != want {
		t.Errorf("got %v", short)
	}
}
