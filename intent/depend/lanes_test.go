package depend

import (
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// packet is one packet on its way: what it is for, the link that it comes over, or -1 at its first switch, and its priority.
type packet struct {
	destination, switchAt int
	in                    Arc
	priority              int
	copy                  bool // it was flooded
}

// bruteLanes follows packets one by one, over any tables, through floods, bounces and rewrites, and gives the dependencies
// between (link, priority). It shares no code with the proof.
func bruteLanes(q Question, tables bruteTables) map[[4]int]bool {
	n := q.Network
	b := brute{Network: n}
	lossless := func(p int) bool { return slices.Contains(q.Lossless, p) }
	after := func(at int, in, out Arc, p int) int {
		for _, r := range q.Rewrites {
			if r.Switch == at && r.From == p && (r.In == nil || slices.Contains(r.In, in)) && (r.Out == nil || slices.Contains(r.Out, out)) {
				return r.To
			}
		}
		return p
	}
	var queue []packet
	seen := map[packet]bool{}
	push := func(p packet) {
		if !seen[p] {
			seen[p] = true
			queue = append(queue, p)
		}
	}
	for d, dest := range n.Destinations {
		for sw, s := range n.Switches {
			for _, p := range q.Begin {
				local := slices.Contains(dest.At, sw) && !slices.Contains(q.Flooded, sw) && !slices.ContainsFunc(q.Bounces, func(b Bounce) bool { return b.From == sw })
				if s.Ends && !local {
					push(packet{d, sw, -1, p, false})
				}
			}
		}
	}
	edges := map[[4]int]bool{}
	for ; len(queue) > 0; queue = queue[1:] {
		p := queue[0]
		send := func(out Arc, destination, priority int, copied bool) {
			_, to := b.ends(out)
			if priority < 0 || !lossless(priority) {
				return
			}
			if p.in >= 0 {
				edges[[4]int{int(p.in), p.priority, int(out), priority}] = true
			}
			push(packet{destination, to, out, priority, copied})
		}
		for out := range Arc(2 * len(n.Links)) {
			if from, _ := b.ends(out); from != p.switchAt || slices.Contains(q.Blocked, int(out)/2) {
				continue
			}
			back := p.in >= 0 && p.in/2 == out/2 // over the link it came over
			if slices.Contains(q.Flooded, p.switchAt) && !back {
				send(out, p.destination, after(p.switchAt, p.in, out, p.priority), true)
			}
			if (!back || !p.copy) && slices.Contains(tables[[2]int{p.destination, p.switchAt}], out) {
				send(out, p.destination, after(p.switchAt, p.in, out, p.priority), p.copy)
			}
			for _, x := range q.Bounces {
				if x.From != p.switchAt || !slices.Contains(n.Destinations[p.destination].At, x.From) {
					continue
				}
				for d, dest := range n.Destinations {
					if slices.Contains(dest.At, x.To) && !slices.Contains(dest.At, x.From) && slices.Contains(tables[[2]int{d, x.From}], out) {
						if to := after(p.switchAt, p.in, out, p.priority); to >= 0 {
							send(out, d, to+x.Shift, false)
						}
					}
				}
			}
		}
	}
	return edges
}

// cyclicEdges says whether edges close a cycle, by taking away nodes that nothing leads to.
func cyclicEdges(edges map[[4]int]bool) bool {
	left := map[[4]int]bool{}
	for e := range edges {
		left[e] = true
	}
	for {
		entered := map[[2]int]bool{}
		for e := range left {
			entered[[2]int{e[2], e[3]}] = true
		}
		before := len(left)
		for e := range left {
			if !entered[[2]int{e[0], e[1]}] {
				delete(left, e)
			}
		}
		if len(left) == before {
			return before > 0
		}
	}
}

// TestPrioritiesAgreeWithFollowingEveryPacket draws rewrites, floods and bounces, and wants the dependencies and the answer of
// a second implementation.
func TestPrioritiesAgreeWithFollowingEveryPacket(t *testing.T) {
	questions := many(4000)
	r := rand.New(rand.NewSource(8))
	free, cyclic, certain := 0, 0, 0
	for i := range questions {
		n := randomNetwork(r)
		policy := []Policy{UpDown, ShortestPath}[i%2]
		q := Question{Network: n, Policy: policy, Lossless: []int{0, 1, 2}, Begin: []int{0}}
		arcs := func() []Arc {
			if r.Intn(2) == 0 {
				return nil
			}
			out := []Arc{}
			for a := range Arc(2 * len(n.Links)) {
				if r.Intn(3) > 0 {
					out = append(out, a)
				}
			}
			return out
		}
		q.Rewrites = append(q.Rewrites, Rewrite{Switch: 0, From: 7, To: 7})
		for range r.Intn(3) {
			from := r.Intn(3)
			to := from + 1
			if r.Intn(4) == 0 {
				to = r.Intn(3)
			}
			q.Rewrites = append(q.Rewrites, Rewrite{r.Intn(len(n.Switches)), arcs(), arcs(), from, to})
		}
		if r.Intn(6) == 0 {
			q.Flooded = []int{r.Intn(len(n.Switches))}
			if len(n.Links) > 0 {
				q.Blocked = []int{0}
			}
		}
		if from, to := r.Intn(len(n.Switches)), r.Intn(len(n.Switches)); from != to && r.Intn(2) == 0 {
			q.Bounces = []Bounce{{from, to, r.Intn(2)}}
		}
		v := mustProve(t, q)
		edges := bruteLanes(q, brute{n, policy}.route(bruteFailure{links: q.Blocked}))
		if len(edges) != v.Turns || cyclicEdges(edges) == v.Free {
			t.Fatalf("question %d: got free %t with %d turns, want %d: %+v %+v", i, v.Free, v.Turns, len(edges), n, q)
		}
		q.Failures, q.Exhaustive, q.Blocked = 1, true, nil
		full := mustProve(t, q)
		q.Exhaustive = false
		if quick := mustProve(t, q); quick.Free != full.Free {
			t.Fatalf("question %d: the certificate says free %t, and every state gone through %t: %+v %+v", i, quick.Free, full.Free, n, q)
		} else if quick.Free && len(quick.Covered) > 1 && quick.Covered[1].Method == Certificate {
			certain++
		}
		if i%4 == 0 {
			agree(t, q, full)
		}
		if full.Free {
			free++
			continue
		}
		cyclic++
		for j, s := range full.Cycle {
			next := full.Cycle[(j+1)%len(full.Cycle)]
			if s.NextPriority != next.Priority || n.Head(s.Arc) != n.Tail(next.Arc) || s.Switch != n.Head(s.Arc) {
				t.Fatalf("question %d: step %d of %+v does not lead to the next", i, j, full.Cycle)
			}
		}
	}
	t.Logf("%d free, of these %d by certificate, %d with a cycle", free, certain, cyclic)
	if free < questions/10 || cyclic < questions/10 || certain < questions/10 {
		t.Errorf("%d free, %d by certificate, %d with a cycle: too few of one sort", free, certain, cyclic)
	}
}

// agree wants the counts of states with a cycle that following every packet through the mixtures gives.
func agree(t *testing.T, q Question, v Verdict) {
	t.Helper()
	b := brute{q.Network, q.Policy}
	healthy := b.route(bruteFailure{})
	want := map[Model]int{}
	for _, s := range b.states(1) {
		mixed := bruteTables{}
		for key, hops := range b.route(s.down) {
			mixed[key] = append(slices.Clone(healthy[key]), hops...)
		}
		if cyclicEdges(bruteLanes(q, mixed)) {
			want[s.model]++
		}
	}
	for _, c := range v.Covered[1:] {
		if c.Transition && c.Cyclic != want[c.Model] {
			t.Fatalf("%s: got %d states with a cycle in transition, want %d: %+v %+v", c.Model, c.Cyclic, want[c.Model], q.Network, q)
		}
	}
}

func TestFloodingIsRefusedUnlessTheCablesOrTheSpanningTreeAreAForest(t *testing.T) {
	n := fatTree(4)
	leaf0, leaf1 := named(t, n, "p0-leaf0"), named(t, n, "p0-leaf1")
	if v := mustProve(t, Question{Network: n, Policy: UpDown, Flooded: []int{leaf0}, Failures: 1}); !v.Free {
		t.Errorf("got %+v: copies of one leaf alone are sent back by nobody", v)
	}
	q := Question{Network: n, Policy: UpDown, Flooded: []int{leaf0, leaf1}, Failures: 1}
	v := mustProve(t, q)
	if v.Free || v.Found.Model != Healthy || len(v.Cycle) != 4 {
		t.Fatalf("got %+v, want the cycle of four of Guo et al. (SIGCOMM 2016, 4.2): two leaves that flood", v)
	}
	i := slices.IndexFunc(v.Cycle, func(s Step) bool { return s.Flooded })
	if got := v.Cycle[i].Because(n, v.Cycle[(i+1)%len(v.Cycle)].Arc); !strings.Contains(got, " floods traffic to p0-leaf") {
		t.Errorf("got %q", got)
	}
	r, err := Remedies(q, v)
	if err != nil || len(r) != 1 || r[0].Name != RemedyDrop || r[0].Covered[1].Method != Certificate {
		t.Errorf("got %+v and %v, want to drop what is unknown, proven by certificate", r, err)
	}
	star := &Network{Switches: []Switch{{Name: "hub", Rank: 2}}}
	for i := range 3 {
		star.Switches = append(star.Switches, Switch{Name: string(rune('a' + i)), Rank: 1, Ends: true})
		star.Links = append(star.Links, Link{A: 0, B: i + 1})
		star.Destinations = append(star.Destinations, Destination{Name: string(rune('a' + i)), At: []int{i + 1}})
	}
	all := []int{0, 1, 2, 3}
	if v := mustProve(t, Question{Network: star, Policy: UpDown, Flooded: all}); !v.Free {
		t.Errorf("got %+v, want no cycle in a tree", v)
	}
	star.Links = append(star.Links, Link{A: 1, B: 2}, Link{A: 2, B: 3})
	if v := mustProve(t, Question{Network: star, Policy: UpDown, Flooded: all}); v.Free {
		t.Error("with two links more there is a loop to flood over")
	}
	if v := mustProve(t, Question{Network: star, Policy: UpDown, Flooded: all, Blocked: []int{3, 4}}); !v.Free {
		t.Errorf("got %+v, want no cycle where a spanning tree blocks them", v)
	}
}

// TestABounceIsFreeInAPriorityOfItsOwn is the dual-ToR case: leaf1 and leaf2 share hosts, and so do leaf3 and leaf4; what comes
// to the one that has lost its host goes back up and down to the other.
func TestABounceIsFreeInAPriorityOfItsOwn(t *testing.T) {
	n := twoTier(4)
	for i := range 4 {
		n.Destinations = append(n.Destinations, Destination{Name: n.Switches[i].Name, At: []int{i}})
	}
	for _, c := range []struct {
		name    string
		bounces []Bounce
		free    bool
	}{
		{"no bounce", nil, true},
		{"in one priority", []Bounce{{0, 1, 0}, {2, 3, 0}}, false},
		{"in its own", []Bounce{{0, 1, 1}, {2, 3, 1}}, true},
		{"in its own, and back again", []Bounce{{0, 1, 1}, {1, 0, 1}}, true},
		{"in one that is lossy", []Bounce{{0, 1, 2}, {2, 3, 2}}, true},
		{"one in its own and one not", []Bounce{{0, 1, 1}, {2, 3, 0}, {3, 2, 0}}, false},
	} {
		q := Question{Network: n, Policy: UpDown, Bounces: c.bounces, Lossless: []int{0, 1}, Begin: []int{0}, Failures: 1, Exhaustive: true}
		v := mustProve(t, q)
		if v.Free != c.free {
			t.Errorf("%s: got %+v, want free %t", c.name, v, c.free)
		}
		q.Exhaustive = false
		if v := mustProve(t, q); v.Free != c.free || c.free && v.Covered[1].Method != Certificate {
			t.Errorf("%s: got %+v, want free %t by certificate", c.name, v, c.free)
		}
		if c.free {
			continue
		}
		i := slices.IndexFunc(v.Cycle, func(s Step) bool { return s.Bounced })
		if i < 0 || !strings.Contains(v.Cycle[i].Because(n, v.Cycle[(i+1)%len(v.Cycle)].Arc), "sends traffic to a host that it has lost on to leaf") {
			t.Errorf("%s: got the cycle %+v, want a bounce in it", c.name, v.Cycle)
		}
	}
	back := Question{Network: n, Policy: UpDown, Bounces: []Bounce{{0, 1, 1}, {1, 0, 1}}, Lossless: []int{0, 1}, Begin: []int{0}, Failures: 1}
	for _, spine := range []int{4, 5} {
		back.Rewrites = append(back.Rewrites, Rewrite{Switch: spine, From: 1, To: 0})
	}
	if v := mustProve(t, back); v.Free {
		t.Errorf("got %+v, want a cycle where the spines rewrite the priority back", v)
	}
	q := Question{Network: n, Policy: UpDown, Bounces: []Bounce{{0, 1, 0}, {2, 3, 0}}}
	r, err := Remedies(q, mustProve(t, q))
	if err != nil || len(r) != 1 || r[0].Name != RemedyOwnBounce || r[0].Priorities != 2 {
		t.Errorf("got %+v and %v, want a priority of its own for what bounces", r, err)
	}
}

func TestRemediesPassTheProofWithTheirRewrites(t *testing.T) {
	n := fatTree(4)
	q := Question{Network: n, Policy: ShortestPath, Failures: 2}
	rules := Bumping(n, []int{3, 4})
	v := mustProve(t, Question{Network: n, Policy: ShortestPath, Failures: 2, Lossless: []int{3, 4}, Begin: []int{3}, Rewrites: rules, Exhaustive: true})
	if !v.Free || v.Covered[5].Tried != 52*51/2 || v.Covered[6].Cyclic != 0 {
		t.Errorf("got %+v, want no cycle in any state that was gone through", v.Covered)
	}
	got, err := Remedies(q, mustProve(t, q))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range got {
		var lines []string
		for _, c := range r.Covered {
			lines = append(lines, c.String())
		}
		want := []string{
			"healthy: 1 by certificate", "one link down, converged: 32 by certificate", "one link down, in transition: 32 by certificate",
			"one switch down, converged: 20 by certificate", "one switch down, in transition: 20 by certificate",
			"two links or switches down, converged: 1326 by certificate", "two links or switches down, in transition: 1326 by certificate",
		}
		if diff := cmp.Diff(want, lines); diff != "" {
			t.Errorf("%s (-want +got):\n%s", r.Name, diff)
		}
	}
}

func TestWhatIsLossyAndRewrittenToALosslessPriorityIsFollowed(t *testing.T) {
	q := Question{Network: ring(6), Policy: ShortestPath, Lossless: []int{3}}
	for i := range 6 {
		q.Rewrites = append(q.Rewrites, Rewrite{Switch: i, From: 3, To: 0})
	}
	if v := mustProve(t, q); !v.Free {
		t.Errorf("got %+v, want free: after its first switch nothing is lossless", v)
	}
	q.Rewrites = nil
	for i := range 6 { // what comes from another switch goes on lossless, and what comes from a host lossy
		in := []Arc{Arc(2*i + 1), Arc((2*i + 10) % 12)}
		q.Rewrites = append(q.Rewrites, Rewrite{i, in, nil, 0, 3}, Rewrite{i, in, nil, 3, 3}, Rewrite{i, nil, nil, 3, 0})
	}
	if v := mustProve(t, q); v.Free || v.Turns != 12 {
		t.Errorf("got %+v, want a cycle in priority 3, all around in both directions", v)
	}
}

func TestExtrasThatMakeNoSenseAreErrors(t *testing.T) {
	n := fatTree(4)
	for want, q := range map[string]Question{
		"no priority 8":                {Lossless: []int{8}},
		"priority 4, which is not":     {Lossless: []int{3}, Begin: []int{4}},
		"a rewrite names switch 99":    {Rewrites: []Rewrite{{Switch: 99}}},
		"a rewrite names link 500":     {Rewrites: []Rewrite{{In: []Arc{1000}}}},
		"from priority 9 to 0":         {Rewrites: []Rewrite{{From: 9}}},
		"a flood names switch 99":      {Flooded: []int{99}},
		"a blocked link is number 99":  {Blocked: []int{99}},
		"blocks other links":           {Blocked: []int{0}, Failures: 1},
		"a bounce names switch 99":     {Bounces: []Bounce{{0, 99, 0}}},
		"a bounce leads from core1 to": {Bounces: []Bounce{{1, 1, 0}}},
		"do not go together with":      {Virtual: &VirtualLanes{}, Bounces: []Bounce{{0, 1, 0}}},
	} {
		q.Network, q.Policy = n, UpDown
		if _, err := Prove(q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error that says %q", err, want)
		}
	}
}
