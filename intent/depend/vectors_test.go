package depend

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/qos"
)

// vector is one published or computed case. Not every field is in every case.
type vector struct {
	Name      string
	Links     [][4]float64 // switch, switch, Gb/s, microseconds
	Paths     map[string][]int
	Ranks     []string `json:"rank_low_to_high"`
	Path      []string
	PathsOK   [][]string `json:"paths_ok"`
	BadPath   []string   `json:"bad_path"`
	Values    map[string]int
	Prototype json.RawMessage
	Switches  int
	Cables    int `json:"sw_sw_links"`
	Expect    struct {
		CBD        bool
		Cycle      [][2]int
		Edges      int    `json:"healthy_dep_edges"`
		Converged  string `json:"single_failure_steady_shortest_path_cbd"`
		Moving     string `json:"single_failure_transient_union_shortest_path_cbd"`
		ValleyFree string `json:"valley_free_all"`
		CreditFree bool   `json:"credit_loop_free"`
		Violation  string
		Error      string
	}
}

// eachVectors runs f on the copy of the vectors in testdata, and on the full set where it is present.
func eachVectors(t *testing.T, f func(t *testing.T, v map[string]vector)) {
	for name, file := range map[string]string{"essential": "testdata/vectors.json", "full": "../../../shared/data/cbd_test_vectors.json"} {
		t.Run(name, func(t *testing.T) {
			body, err := os.ReadFile(file)
			if os.IsNotExist(err) && name == "full" {
				t.Skip("the full set of vectors is not here")
			}
			if err != nil {
				t.Fatal(err)
			}
			var set struct{ Vectors []vector }
			if err := json.Unmarshal(body, &set); err != nil {
				t.Fatal(err)
			}
			all := map[string]vector{}
			for _, v := range set.Vectors {
				all[v.Name] = v
			}
			if len(all) != 9 {
				t.Fatalf("got %d vectors, want 9: a new one needs a test", len(all))
			}
			f(t, all)
		})
	}
}

// flows is a network in which every path is a class of its own, and its tables.
func flows(links [][4]float64, paths map[string][]int) (*Network, *Tables) {
	n := &Network{}
	for i := range 4 {
		n.Switches = append(n.Switches, Switch{Name: strconv.Itoa(i), Rank: 1})
	}
	arcs := map[[2]int]Arc{}
	for i, l := range links {
		a, b := int(l[0]), int(l[1])
		n.Links = append(n.Links, Link{A: a, B: b})
		arcs[[2]int{a, b}], arcs[[2]int{b, a}] = Arc(2*i), Arc(2*i+1)
	}
	names := slices.Sorted(maps.Keys(paths))
	for _, name := range names {
		way := slices.DeleteFunc(slices.Clone(paths[name]), func(sw int) bool { return sw > 3 })
		n.Destinations = append(n.Destinations, Destination{Name: name, From: way[:1], At: way[len(way)-1:]})
	}
	t := NewTables(n)
	for d, name := range names {
		way := slices.DeleteFunc(slices.Clone(paths[name]), func(sw int) bool { return sw > 3 })
		for i := 1; i < len(way); i++ {
			t.Add(d, arcs[[2]int{way[i-1], way[i]}])
		}
	}
	return n, t
}

func TestThePublishedRingDeadlocksAndIsFreeAfterTwoRoutesChange(t *testing.T) {
	eachVectors(t, func(t *testing.T, all map[string]vector) {
		ring, changed := all["hawkeye_4switch_ring"], all["hawkeye_ring_two_paths_changed"]
		n, tables := flows(ring.Links, ring.Paths)
		v := mustProve(t, Question{Network: n, States: []State{{"before", tables}}})
		var got [][2]int
		for _, s := range v.Cycle {
			got = append(got, [2]int{n.Tail(s.Arc), n.Head(s.Arc)})
		}
		if diff := cmp.Diff(ring.Expect.Cycle, got); v.Free == ring.Expect.CBD || diff != "" {
			t.Errorf("free %t (-want +got):\n%s", v.Free, diff)
		}
		n, tables = flows(ring.Links, changed.Paths)
		if v := mustProve(t, Question{Network: n, States: []State{{"after", tables}}}); v.Free == changed.Expect.CBD {
			t.Errorf("after the change: got %+v, want no cycle", v)
		}
	})
}

func TestFatTreesHaveTheStatedCycles(t *testing.T) {
	eachVectors(t, func(t *testing.T, all map[string]vector) {
		tree := all["fat_tree_k4"]
		n := fatTree(4)
		shortest := mustProve(t, Question{Network: n, Policy: ShortestPath, Failures: 1, Exhaustive: true})
		valleyFree := mustProve(t, Question{Network: n, Policy: UpDown, Failures: 2, Exhaustive: true})
		sum := 0
		for _, c := range valleyFree.Covered {
			sum += c.Cyclic
		}
		links, moving := shortest.Covered[1], shortest.Covered[2]
		got := []any{len(n.Switches), len(n.Links), shortest.Turns, shortest.Covered[0].Cyclic, fmt.Sprintf("%d/%d", links.Cyclic, links.States), fmt.Sprintf("%d/%d", moving.Cyclic, moving.States), strconv.Itoa(sum)}
		want := []any{tree.Switches, tree.Cables, tree.Expect.Edges, 0, tree.Expect.Converged, tree.Expect.Moving, tree.Expect.ValleyFree}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		for k, turns := range all["turn_count_closed_form"].Values {
			k, err := strconv.Atoi(k)
			if err != nil {
				t.Fatal(err)
			}
			if v := mustProve(t, Question{Network: fatTree(k), Policy: ShortestPath}); v.Turns != turns || turnsOfFatTree(k) != turns {
				t.Errorf("k=%d: got %d turns, and %d by the closed form, want %d", k, v.Turns, turnsOfFatTree(k), turns)
			}
		}
	})
}

func TestALoopDeadlocksAboveTheStatedRate(t *testing.T) {
	eachVectors(t, func(t *testing.T, all map[string]vector) {
		var rows []struct {
			N, TTL    int
			B         float64
			Threshold any
			Deadlock  float64 `json:"deadlock_at"`
			Alive     float64 `json:"alive_at"`
		}
		if err := json.Unmarshal(all["routing_loop_threshold"].Prototype, &rows); err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			got := float64(LoopThreshold(qos.Rate(r.B*1e9), r.TTL, r.N)) / 1e9
			want, exact := r.Threshold.(float64)
			if !exact {
				want = 8 // stated as 7.5 by the rule without rounding, and 8.0 exactly
			}
			if got != want || r.Alive > got || r.Deadlock < got {
				t.Errorf("n=%d TTL=%d: got %g Gb/s, want %g, and between %g and %g", r.N, r.TTL, got, want, r.Alive, r.Deadlock)
			}
		}
		if len(rows) != 4 {
			t.Errorf("got %d rows, want 4", len(rows))
		}
	})
}

// ranks gives each switch of a path the height that the vector gives its kind: S1.leaf stands with leaf(S1,S2). Hosts at its
// ends forward nothing and are left out.
func (v vector) ranks(t *testing.T, path []string) []int {
	t.Helper()
	path = slices.DeleteFunc(slices.Clone(path), func(name string) bool { return strings.HasSuffix(name, ".host") })
	out := make([]int, len(path))
	for i, name := range path {
		out[i] = slices.IndexFunc(v.Ranks, func(kind string) bool {
			kind, _, _ = strings.Cut(kind, "(")
			return kind == name || strings.HasSuffix(name, "."+kind)
		})
		if out[i] < 0 {
			t.Fatalf("%s: %s has no rank", v.Name, name)
		}
	}
	return out
}

// valley finds the switch at which a path that has gone down turns up again, by the ranks of its switches: such paths, taken
// together, can make a credit loop. It is -1 where the path goes up and then down. Hops between equal ranks count as neither.
func valley(ranks []int) int {
	fell := false
	for i := 1; i < len(ranks); i++ {
		if ranks[i] > ranks[i-1] && fell {
			return i - 1
		}
		fell = fell || ranks[i] < ranks[i-1]
	}
	return -1
}

func TestPathsThroughRoutersGoUpAndThenDown(t *testing.T) {
	eachVectors(t, func(t *testing.T, all map[string]vector) {
		top, common, bad := all["ib_router_top"], all["ib_router_common_subnet"], all["ib_router_at_leaf_of_two_subnets"]
		if at := valley(top.ranks(t, top.Path)); (at < 0) != top.Expect.CreditFree {
			t.Errorf("routers on top: got a valley at %d", at)
		}
		for _, path := range common.PathsOK {
			if at := valley(common.ranks(t, path)); (at < 0) != common.Expect.CreditFree {
				t.Errorf("a common subnet: got a valley at %d", at)
			}
		}
		at := valley(bad.ranks(t, bad.BadPath))
		if at < 0 || "down->up at "+bad.BadPath[at] != bad.Expect.Violation {
			t.Errorf("a router at leaves: got a valley at %d, want %s", at, bad.Expect.Violation)
		}
		hop := all["ib_router_multi_hop"]
		var routers []router
		for i := 1; i < len(hop.Path); i += 2 {
			routers = append(routers, router{hop.Path[i], []string{hop.Path[i-1], hop.Path[i+1]}})
		}
		if via := hops(routers, hop.Path[0], hop.Path[len(hop.Path)-1]); len(via) == 3 || hop.Expect.Error == "" || !slices.Equal(via, hop.Path) {
			t.Errorf("got %v, want the way %v, over more than one router", via, hop.Path)
		}
		if via := hops(routers, hop.Path[0], hop.Path[2]); len(via) != 3 {
			t.Errorf("got %v, want one router", via)
		}
		if via := hops(routers, hop.Path[0], "S9"); via != nil {
			t.Errorf("got %v, want no way", via)
		}
	})
}
