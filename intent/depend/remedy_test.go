package depend

import (
	"math/rand"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEveryRemedyOfAFatTreeIsProven(t *testing.T) {
	n := fatTree(4)
	q := Question{Network: n, Policy: ShortestPath, Failures: 2, Exhaustive: true} // two failures make a cycle that stays
	v := mustProve(t, q)
	if v.Found.Transition || v.Found.Model != Two {
		t.Fatalf("got a cycle in %+v, want one that stays with two links down", v.Found)
	}
	got, err := Remedies(q, v)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	priorities := 0
	for _, r := range got {
		names = append(names, r.Name)
		if r.Name == RemedyBump {
			priorities = r.Priorities
		}
	}
	if diff := cmp.Diff([]string{RemedyUpDown, RemedyLossy, RemedyBump}, names); diff != "" || priorities != 2 {
		t.Errorf("got %d priorities (-want +got):\n%s", priorities, diff)
	}
	want := Bump{Switch: "p0-agg0", In: []string{"u0", "u1"}, Out: []string{"u0", "u1"}}
	if diff := cmp.Diff(want, Bumps(n)[0]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestUpDownIsNoRemedyWhereItLeavesPairsWithoutARoute(t *testing.T) {
	n := &Network{}
	for i := range 5 {
		n.Switches = append(n.Switches, Switch{Name: string(rune('a' + i)), Rank: 1, Ends: true})
		n.Links = append(n.Links, Link{A: i, B: (i + 1) % 5})
		n.Destinations = append(n.Destinations, Destination{Name: string(rune('a' + i)), At: []int{i}})
	}
	q := Question{Network: n, Policy: ShortestPath}
	got, err := Remedies(q, mustProve(t, q))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range got {
		if r.Name == RemedyUpDown {
			t.Errorf("got %+v, and up-down routes do not reach across a ring of equals", r)
		}
	}
	if len(got) != 2 || got[1].Priorities != 2 {
		t.Errorf("got %+v, want the other two, with 2 priorities: a path of two hops turns once", got)
	}
}

// TestBumpingLeavesNoCycleInTablesOfAnySort proves the rules in random tables, which no policy would make, by the same proof
// that finds the cycles without them.
func TestBumpingLeavesNoCycleInTablesOfAnySort(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	cyclic := 0
	for range 2000 {
		n := randomNetwork(r)
		tables := NewTables(n)
		for d := range n.Destinations {
			for a := range Arc(2 * len(n.Links)) {
				if r.Intn(3) == 0 {
					tables.Add(d, a)
				}
			}
		}
		q := Question{Network: n, States: []State{{"", tables}}}
		if v := mustProve(t, q); !v.Free {
			cyclic++
		}
		for priorities := 1; priorities <= 3; priorities++ {
			v := mustProve(t, q.bumping(priorities))
			if !v.Free || v.Covered[0].Method != Certificate {
				t.Fatalf("bumping with %d priorities leaves a cycle in %+v: %+v", priorities, n, v)
			}
		}
	}
	if cyclic < 200 {
		t.Errorf("only %d of the networks have a cycle without bumping: too few", cyclic)
	}
}
