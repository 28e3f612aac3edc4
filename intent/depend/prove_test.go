package depend

import (
	"math/rand"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestAQuestionThatCannotBeAnsweredIsAnError(t *testing.T) {
	n := fatTree(4)
	given := []State{{"now", NewTables(n)}}
	for _, c := range []struct {
		name string
		q    Question
		want string
	}{
		{"no network", Question{Policy: UpDown}, "no network"},
		{"no policy", Question{Network: n}, `no routing policy ""`},
		{"a policy of another sort", Question{Network: n, Policy: "dragonfly"}, `no routing policy "dragonfly"`},
		{"three failures", Question{Network: n, Policy: UpDown, Failures: 3}, "the proof knows 0, 1 and 2"},
		{"failures of given tables", Question{Network: n, States: given, Failures: 1}, "after a failure"},
		{"tables and a policy", Question{Network: n, States: given, Policy: UpDown}, "not both"},
		{"tables of another network", Question{Network: n, States: []State{{"old", NewTables(fatTree(8))}}}, `"old" are not those of this network`},
		{"a link to nowhere", Question{Network: &Network{Switches: make([]Switch, 2), Links: []Link{{A: 0, B: 2}}}, Policy: UpDown}, "names switch 2"},
		{"a link to itself", Question{Network: &Network{Switches: make([]Switch, 2), Links: []Link{{A: 1, B: 1}}}, Policy: UpDown}, "to itself"},
		{"a destination nowhere", Question{Network: &Network{Switches: make([]Switch, 2), Destinations: []Destination{{Name: "x", At: []int{9}}}}, Policy: UpDown}, "destination x"},
	} {
		if _, err := Prove(c.q); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error that says %q", c.name, err, c.want)
		}
	}
}

func TestAProofThatIsCutShortIsNotFree(t *testing.T) {
	star := &Network{Switches: []Switch{{Name: "hub", Rank: 2}}}
	for i := range 3 {
		star.Switches = append(star.Switches, Switch{Name: string(rune('a' + i)), Rank: 1, Ends: true})
		star.Links = append(star.Links, Link{A: 0, B: i + 1})
		star.Destinations = append(star.Destinations, Destination{Name: string(rune('a' + i)), At: []int{i + 1}})
	}
	var told []int
	progress := func(_ Model, tried, _ int) { told = append(told, tried) }
	v := mustProve(t, Question{Network: star, Policy: ShortestPath, Failures: 1, Limit: 1, Progress: progress})
	if v.Free || v.Complete || v.Covered[1].Tried != 1 {
		t.Errorf("got %+v, want one state tried", v)
	}
	if diff := cmp.Diff([]int{1}, told); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
	if v := mustProve(t, Question{Network: star, Policy: ShortestPath, Failures: 2}); !v.Free || !v.Complete {
		t.Errorf("got %+v, want free: a star has one way only", v)
	}
}

func TestForestsHaveNoLoops(t *testing.T) {
	if n := fatTree(4); n.Forest() {
		t.Error("a fat tree has loops")
	}
	n := &Network{Switches: make([]Switch, 5), Links: []Link{{A: 0, B: 1}, {A: 1, B: 2}, {A: 3, B: 4}}}
	if !n.Forest() {
		t.Error("two trees have none")
	}
	if n.Links = append(n.Links, Link{A: 4, B: 3}); n.Forest() {
		t.Error("two cables between the same switches are a loop")
	}
}

// TestUntouchedDestinationsAddNoTurns gives the mixtures of random networks all destinations, as a large network would, and
// wants the turns that those whose tables change have by themselves.
func TestUntouchedDestinationsAddNoTurns(t *testing.T) {
	r := rand.New(rand.NewSource(4))
	compared := 0
	for range 2000 {
		p := &prover{question: Question{Policy: ShortestPath}, layout: newLayout(randomNetwork(r))}
		for d := range p.Destinations {
			p.all = append(p.all, d)
		}
		p.healthy = p.route(ShortestPath, p.all, failure{})
		p.reached = p.reach(p.healthy, p.all, failure{})
		p.graph, p.falling = p.dependencies(p.healthy, p.reached)
		for _, f := range singles(p.Network) {
			touched := p.touched(state{f})
			some, _ := p.extra(p.mix(state{f}, touched))
			all, _ := p.extra(p.mix(state{f}, p.all))
			inOrder := cmpopts.SortSlices(func(a, b Arc) bool { return a < b })
			if diff := cmp.Diff(some, all, inOrder); diff != "" {
				t.Fatalf("%+v with %v down (-touched +all):\n%s", p.Network, f.names(p.Network), diff)
			}
			if len(touched) < len(p.all) && len(some) > 0 {
				compared++
			}
		}
	}
	if compared < 500 {
		t.Errorf("only %d states have turns of some destinations only: too few", compared)
	}
}
