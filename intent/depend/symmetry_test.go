package depend

import (
	"math/rand"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// shuffled is a network with its switches and links in an order that is drawn.
func shuffled(r *rand.Rand, n *Network) *Network {
	out := &Network{Switches: make([]Switch, len(n.Switches)), Destinations: make([]Destination, len(n.Destinations))}
	at := r.Perm(len(n.Switches))
	for i, s := range n.Switches {
		out.Switches[at[i]] = s
	}
	for i, d := range r.Perm(len(n.Destinations)) {
		out.Destinations[d] = Destination{Name: n.Destinations[i].Name, At: []int{at[n.Destinations[i].At[0]]}}
	}
	for _, i := range r.Perm(len(n.Links)) {
		l := n.Links[i]
		out.Links = append(out.Links, Link{A: at[l.A], B: at[l.B], PortA: l.PortA, PortB: l.PortB})
	}
	return out
}

// TestAFatTreeHasTwoSortsOfLinksAndThreeOfSwitches finds the symmetry whatever the order of what is alike.
func TestAFatTreeHasTwoSortsOfLinksAndThreeOfSwitches(t *testing.T) {
	r := rand.New(rand.NewSource(6))
	for _, k := range []int{4, 8, 16} {
		for _, n := range []*Network{fatTree(k), shuffled(r, fatTree(k))} {
			v := mustProve(t, Question{Network: n, Policy: ShortestPath, Failures: 1, Symmetry: true, Exhaustive: true})
			c := v.Covered
			got := []int{c[1].Orbits, c[2].Orbits, c[3].Orbits, c[4].Orbits}
			if diff := cmp.Diff([]int{2, 2, 3, 3}, got); diff != "" || c[2].Method != Orbits || c[2].Cyclic != k*k*k/2 {
				t.Errorf("k=%d: got %+v (-want +got):\n%s", k, c, diff)
			}
		}
	}
}

// TestSymmetryGivesTheAnswersOfEveryState goes through all states and through one of each orbit, and wants the same counts.
func TestSymmetryGivesTheAnswersOfEveryState(t *testing.T) {
	r := rand.New(rand.NewSource(7))
	networks := []*Network{fatTree(4), shuffled(r, fatTree(4))}
	two := ring(3) // and a ring of 5 beside it: every switch has two neighbours, and a failure in the one leaves the other
	for i := range 5 {
		two.Switches = append(two.Switches, Switch{Name: string(rune('k' + i)), Rank: 1, Ends: true})
		two.Links = append(two.Links, Link{A: 3 + i, B: 3 + (i+1)%5})
		two.Destinations = append(two.Destinations, Destination{Name: two.Switches[3+i].Name, At: []int{3 + i}})
	}
	networks = append(networks, two)
	for range 300 {
		networks = append(networks, randomNetwork(r), regular(r))
	}
	saved := 0
	for i, n := range networks {
		q := Question{Network: n, Policy: ShortestPath, Failures: 2, Exhaustive: true}
		want := mustProve(t, q)
		q.Symmetry = true
		got := mustProve(t, q)
		same := cmpopts.IgnoreFields(Coverage{}, "Method", "Orbits")
		if diff := cmp.Diff(want.Covered, got.Covered, same); diff != "" {
			t.Fatalf("network %d: %+v (-all states +by symmetry):\n%s", i, n, diff)
		}
		for _, c := range got.Covered[1:] {
			saved += c.Tried - c.Orbits
		}
	}
	t.Logf("%d states were not gone through", saved)
	if saved < 1000 {
		t.Errorf("only %d states were saved: too few", saved)
	}
}

// regular is a network that looks alike from many switches: a ring or a ladder, with a link or a host more now and then.
func regular(r *rand.Rand) *Network {
	n, size := &Network{}, 3+r.Intn(4)
	for i := range size {
		n.Switches = append(n.Switches, Switch{Name: string(rune('a' + i)), Rank: 1, Ends: true})
		n.Links = append(n.Links, Link{A: i, B: (i + 1) % size})
		n.Destinations = append(n.Destinations, Destination{Name: n.Switches[i].Name, At: []int{i}})
	}
	if r.Intn(2) == 0 {
		for i := range size {
			n.Switches = append(n.Switches, Switch{Name: string(rune('A' + i)), Rank: 2})
			n.Links = append(n.Links, Link{A: i, B: size + i})
		}
		n.Links = append(n.Links, Link{A: size, B: 2*size - 1})
	}
	if r.Intn(3) == 0 {
		a := r.Intn(size)
		n.Links = append(n.Links, Link{A: a, B: (a + 1 + r.Intn(size-1)) % size})
	}
	if r.Intn(3) == 0 {
		n.Destinations[0].At = []int{0, 1}
	}
	r.Shuffle(len(n.Links), func(i, j int) { n.Links[i], n.Links[j] = n.Links[j], n.Links[i] })
	return n
}
