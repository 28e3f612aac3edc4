package depend

import (
	"cmp"
	"fmt"
	"math/rand"
	"os"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// This file proves small networks a second time, by following every path a packet may take, and wants the same answers. It
// shares no code with the proof but the types of the question and the answer.

// bruteTables are next hops by destination and switch.
type bruteTables map[[2]int][]Arc

// brute is a network whose links and switches may be down.
type brute struct {
	*Network
	policy Policy
}

func (b brute) ends(a Arc) (from, to int) {
	l := b.Links[int(a)/2]
	if int(a)%2 == 0 {
		return l.A, l.B
	}
	return l.B, l.A
}

func (b brute) name(a Arc) string {
	from, to := b.ends(a)
	return b.Switches[from].Name + " to " + b.Switches[to].Name
}

// paths calls visit for every path without a repeated switch from u to a switch that delivers d.
func (b brute) paths(d, u int, down bruteFailure, path []Arc, visit func([]Arc)) {
	if slices.Contains(down.switches, u) {
		return
	}
	if slices.Contains(b.Destinations[d].At, u) {
		visit(path)
		return
	}
	for a := range Arc(2 * len(b.Links)) {
		from, to := b.ends(a)
		if from != u || slices.Contains(down.links, int(a)/2) {
			continue
		}
		seen := false
		for _, p := range path {
			before, _ := b.ends(p)
			seen = seen || before == to
		}
		if !seen {
			b.paths(d, to, down, append(slices.Clone(path), a), visit)
		}
	}
}

type bruteFailure struct{ links, switches []int }

func (f bruteFailure) names(n *Network) string {
	var out []string
	for _, i := range f.links {
		out = append(out, n.Switches[n.Links[i].A].Name+" - "+n.Switches[n.Links[i].B].Name)
	}
	for _, i := range f.switches {
		out = append(out, n.Switches[i].Name)
	}
	return strings.Join(out, ", ")
}

// below says whether a path that only goes down, over links that may be down, leads from u to d.
func (b brute) below(d, u int) bool {
	found := slices.Contains(b.Destinations[d].At, u)
	b.paths(d, u, bruteFailure{}, nil, func(path []Arc) {
		falls := true
		for _, a := range path {
			from, to := b.ends(a)
			falls = falls && b.Switches[to].Rank < b.Switches[from].Rank
		}
		found = found || falls
	})
	return found
}

// allowed says whether a path obeys the policy: up, at most once sideways, down; and what is below a switch is sent down.
func (b brute) allowed(d int, path []Arc) bool {
	if b.policy == ShortestPath {
		return true
	}
	shape := ""
	for _, a := range path {
		from, to := b.ends(a)
		switch below := b.below(d, from); {
		case b.Switches[to].Rank < b.Switches[from].Rank:
			shape += "D"
		case below:
			return false
		case b.Switches[to].Rank > b.Switches[from].Rank:
			shape += "U"
		default:
			shape += "S"
		}
	}
	shape = strings.TrimLeft(shape, "U")
	shape = strings.TrimPrefix(shape, "S")
	return strings.Trim(shape, "D") == ""
}

// route gives the next hops: the first links of the shortest allowed paths.
func (b brute) route(down bruteFailure) bruteTables {
	t := bruteTables{}
	for d := range b.Destinations {
		for u := range b.Switches {
			best := 1 << 30
			var hops []Arc
			b.paths(d, u, down, nil, func(path []Arc) {
				if len(path) == 0 || len(path) > best || !b.allowed(d, path) {
					return
				}
				if len(path) < best {
					best, hops = len(path), nil
				}
				if !slices.Contains(hops, path[0]) {
					hops = append(hops, path[0])
				}
			})
			t[[2]int{d, u}] = hops
		}
	}
	return t
}

// bruteTurns are the turns that are made, with the destinations that make them.
type bruteTurns map[[2]Arc][]int

// follow walks from every source along any of the tables at each step, over no link twice in one direction.
func (b brute) follow(tables []bruteTables, down bruteFailure) bruteTurns {
	turns := bruteTurns{}
	var walk func(d int, path []Arc)
	walk = func(d int, path []Arc) {
		last := path[len(path)-1]
		_, at := b.ends(last)
		for _, t := range tables {
			for _, next := range t[[2]int{d, at}] {
				key := [2]Arc{last, next}
				if !slices.Contains(turns[key], d) {
					turns[key] = append(turns[key], d)
				}
				if !slices.Contains(path, next) {
					walk(d, append(slices.Clone(path), next))
				}
			}
		}
	}
	for d, dest := range b.Destinations {
		for u, s := range b.Switches {
			if !s.Ends || slices.Contains(dest.At, u) || slices.Contains(down.switches, u) {
				continue
			}
			for _, t := range tables {
				for _, first := range t[[2]int{d, u}] {
					walk(d, []Arc{first})
				}
			}
		}
	}
	return turns
}

// girth is the length of a shortest cycle of turns, 0 where there is none: by the lengths of all ways (Floyd and Warshall).
func (b brute) girth(turns bruteTurns) int {
	n, far := 2*len(b.Links), 1<<20
	way := make([][]int, n)
	for i := range way {
		way[i] = slices.Repeat([]int{far}, n)
	}
	for t := range turns {
		way[t[0]][t[1]] = 1
	}
	for k := range n {
		for i := range n {
			for j := range n {
				way[i][j] = min(way[i][j], way[i][k]+way[k][j])
			}
		}
	}
	best := far
	for i := range n {
		best = min(best, way[i][i])
	}
	if best == far {
		return 0
	}
	return best
}

// bruteState is one state of the network and what may be mixed with the healthy tables on the way to it.
type bruteState struct {
	model  Model
	down   bruteFailure
	others []bruteFailure
}

func (b brute) states(failures int) []bruteState {
	var one []bruteState
	for i := range b.Links {
		one = append(one, bruteState{model: OneLink, down: bruteFailure{links: []int{i}}})
	}
	for i := range b.Switches {
		one = append(one, bruteState{model: OneSwitch, down: bruteFailure{switches: []int{i}}})
	}
	out := slices.Clone(one)
	for i := range one {
		for j := range i {
			if failures == 2 {
				both := bruteFailure{slices.Concat(one[j].down.links, one[i].down.links), slices.Concat(one[j].down.switches, one[i].down.switches)}
				out = append(out, bruteState{Two, both, []bruteFailure{one[i].down, one[j].down}})
			}
		}
	}
	return out
}

// randomNetwork is a small network; what is cabled how, which switches have hosts and how high they stand is drawn.
func randomNetwork(r *rand.Rand) *Network {
	n := &Network{}
	for i := range 3 + r.Intn(4) {
		n.Switches = append(n.Switches, Switch{Name: fmt.Sprint("s", i), Rank: 1 + r.Intn(3), Ends: r.Intn(3) > 0})
	}
	for range 4 + r.Intn(6) {
		a, b := r.Intn(len(n.Switches)), r.Intn(len(n.Switches))
		if a != b {
			n.Links = append(n.Links, Link{A: a, B: b})
		}
	}
	for i, s := range n.Switches {
		if s.Ends {
			d := Destination{Name: s.Name, At: []int{i}}
			if r.Intn(6) == 0 {
				d.At = append(d.At, (i+1)%len(n.Switches))
			}
			n.Destinations = append(n.Destinations, d)
		}
	}
	return n
}

// counts is what both proofs must agree on.
type counts struct{ Moving, Converged int }

func TestTheProofAgreesWithFollowingEveryPath(t *testing.T) {
	networks := many(3000)
	r := rand.New(rand.NewSource(1))
	cyclic := map[Policy]int{}
	for i := range networks {
		n, failures := randomNetwork(r), 1+i%10/9
		for _, p := range []Policy{ShortestPath, UpDown} {
			b := brute{n, p}
			v := mustProve(t, Question{Network: n, Policy: p, Failures: failures, Exhaustive: true})
			if v.Cycle != nil {
				cyclic[p]++
			}
			healthy := b.route(bruteFailure{})
			turns := b.follow([]bruteTables{healthy}, bruteFailure{})
			want, got := map[Model]counts{Healthy: {}}, map[Model]counts{}
			girth, found := b.girth(turns), v.Found
			if girth > 0 {
				want[Healthy] = counts{0, 1}
			}
			if len(turns) != v.Turns {
				t.Fatalf("network %d, %s: got %d turns, want %d: %+v", i, p, v.Turns, len(turns), n)
			}
			if found != nil && found.Model == Healthy {
				b.holds(t, v, turns, []bruteTables{healthy}, []string{""})
			}
			for _, s := range b.states(failures) {
				mixed, names := []bruteTables{healthy}, []string{""}
				for _, f := range append(s.others, s.down) {
					mixed, names = append(mixed, b.route(f)), append(names, f.names(n))
				}
				moving, converged := b.follow(mixed, bruteFailure{}), b.follow(mixed[len(mixed)-1:], s.down)
				c := want[s.model]
				if b.girth(moving) > 0 {
					c.Moving++
				}
				if b.girth(converged) > 0 {
					c.Converged++
				}
				want[s.model] = c
				if found != nil && found.Model == s.model && strings.Join(found.Down, ", ") == s.down.names(n) && !duplicated(n) {
					if found.Transition {
						b.holds(t, v, moving, mixed, names)
					} else {
						b.holds(t, v, converged, mixed[len(mixed)-1:], names[len(names)-1:])
					}
				}
			}
			for _, c := range v.Covered {
				g := got[c.Model]
				if c.Transition {
					g.Moving += c.Cyclic
				} else {
					g.Converged += c.Cyclic
				}
				if c.States > 0 {
					got[c.Model] = g
				}
			}
			for m, c := range want {
				if got[m] != c {
					t.Fatalf("network %d, %s, %s: got %+v, want %+v: %+v", i, p, m, got[m], c, n)
				}
			}
		}
	}
	t.Logf("cycles: %v", cyclic)
	if cyclic[ShortestPath] < networks/10 || cyclic[UpDown] > 0 {
		t.Errorf("cycles in %v of %d networks: too few of them say anything, or up-down has some", cyclic, networks)
	}
}

// duplicated says whether two links join the same switches: their names do not tell them apart.
func duplicated(n *Network) bool {
	for i, l := range n.Links {
		for _, o := range n.Links[:i] {
			if l.A == o.A && l.B == o.B || l.A == o.B && l.B == o.A {
				return true
			}
		}
	}
	return false
}

// holds wants the cycle of the verdict to be as short as any, and each of its steps to be taken by the destination and with
// the table that it names.
func (b brute) holds(t *testing.T, v Verdict, turns bruteTurns, tables []bruteTables, names []string) {
	t.Helper()
	if len(v.Cycle) != b.girth(turns) {
		t.Fatalf("got a cycle of %d, want %d", len(v.Cycle), b.girth(turns))
	}
	for i, s := range v.Cycle {
		next := v.Cycle[(i+1)%len(v.Cycle)].Arc
		if !slices.Contains(turns[[2]Arc{s.Arc, next}], s.Destination) {
			t.Fatalf("no traffic to %s turns from %s to %s", b.Destinations[s.Destination].Name, b.name(s.Arc), b.name(next))
		}
		at := slices.Index(names, strings.Join(s.Down, ", "))
		if at < 0 || !slices.Contains(tables[at][[2]int{s.Destination, s.Switch}], next) {
			t.Fatalf("the table with %q down does not send %s over %s", s.Down, b.Destinations[s.Destination].Name, b.name(next))
		}
	}
}

// TestTheProofAgreesOnTablesOfAnySort gives both proofs tables that no policy would make, with loops and dead ends.
func TestTheProofAgreesOnTablesOfAnySort(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	for i := range 5000 {
		n, thin := randomNetwork(r), 4+r.Intn(4)
		b := brute{Network: n}
		var states []State
		var tables []bruteTables
		for s := range 2 {
			given, same := NewTables(n), bruteTables{}
			for d := range n.Destinations {
				for a := range Arc(2 * len(n.Links)) {
					if from, _ := b.ends(a); r.Intn(thin) == 0 {
						given.Add(d, a)
						same[[2]int{d, from}] = append(same[[2]int{d, from}], a)
					}
				}
			}
			states, tables = append(states, State{fmt.Sprint(s), given}), append(tables, same)
		}
		v := mustProve(t, Question{Network: n, States: states})
		mixed := b.follow(tables, bruteFailure{})
		got := []int{v.Covered[0].Cyclic, v.Covered[1].Cyclic, v.Turns}
		want, shortest := []int{0, 0, len(mixed)}, 0
		for s := range tables {
			if girth := b.girth(b.follow(tables[s:s+1], bruteFailure{})); girth > 0 {
				want[0]++
				shortest = cmp.Or(shortest, girth)
			}
		}
		if girth := b.girth(mixed); girth > 0 {
			want[1] = 1
			shortest = cmp.Or(shortest, girth)
		}
		if len(v.Cycle) != shortest {
			t.Fatalf("tables %d: got a cycle of %d, want %d", i, len(v.Cycle), shortest)
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Fatalf("tables %d (-want +got):\n%s", i, diff)
		}
	}
}

// many is how many random cases are tried: n where everything is to be tested, a quarter of it in make test, a tenth in a hurry.
func many(n int) int {
	switch {
	case testing.Short():
		return n / 10
	case os.Getenv("WEIR_TEST_ALL") == "1":
		return n
	}
	return n / 4
}
