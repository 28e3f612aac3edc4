package depend

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// build makes a network of switches written as NAME:RANK, with an * behind those that have hosts, and links as A-B.
func build(t testing.TB, switches, links string) *Network {
	t.Helper()
	n := &Network{}
	for _, word := range strings.Fields(switches) {
		name, rank, _ := strings.Cut(word, ":")
		s := Switch{Name: name, Ends: strings.HasSuffix(rank, "*")}
		if _, err := fmt.Sscan(strings.TrimSuffix(rank, "*"), &s.Rank); err != nil {
			t.Fatal(err)
		}
		if s.Ends {
			n.Destinations = append(n.Destinations, Destination{Name: name, At: []int{len(n.Switches)}})
		}
		n.Switches = append(n.Switches, s)
	}
	for _, word := range strings.Fields(links) {
		a, b, _ := strings.Cut(word, "-")
		n.Links = append(n.Links, Link{A: named(t, n, a), B: named(t, n, b)})
	}
	return n
}

// multiPlane is two planes of two leaves and two spines each that nothing joins: a host has a NIC in each.
func multiPlane(t testing.TB) *Network {
	return build(t, "a-leaf1:1* a-leaf2:1* a-spine1:2 a-spine2:2 b-leaf1:1* b-leaf2:1* b-spine1:2 b-spine2:2", "")
}

// TestShapesOfFabrics states what the proof says of each shape: healthy, with one failure converged, and in transition. The
// words are free, cycle, or unrouted where the policy leaves pairs that cables join without a route.
func TestShapesOfFabrics(t *testing.T) {
	join := func(n *Network, pairs ...string) *Network {
		for _, p := range pairs {
			a, b, _ := strings.Cut(p, " ")
			n.Links = append(n.Links, Link{A: named(t, n, a), B: named(t, n, b)})
		}
		return n
	}
	planes := multiPlane(t)
	for _, plane := range []string{"a", "b"} {
		for _, leaf := range []string{"leaf1", "leaf2"} {
			planes = join(planes, plane+"-"+leaf+" "+plane+"-spine1", plane+"-"+leaf+" "+plane+"-spine2")
		}
	}
	crossed := join(&Network{Switches: planes.Switches, Destinations: planes.Destinations, Links: append([]Link{}, planes.Links...)}, "a-spine1 b-spine1")
	rail := build(t, "r1a:1* r1b:1* r2a:1* r2b:1* spine1:2 spine2:2", "r1a-spine1 r1a-spine2 r1b-spine1 r1b-spine2 r2a-spine1 r2a-spine2 r2b-spine1 r2b-spine2")
	only := build(t, "rail1:1* rail2:1* rail3:1*", "")
	pairs := build(t, "t1:1* t2:1* t3:1* t4:1* spine1:2 spine2:2", "t1-spine1 t1-spine2 t2-spine1 t2-spine2 t3-spine1 t3-spine2 t4-spine1 t4-spine2")
	peers := build(t, "t1:1* t2:1* t3:1* t4:1* spine1:2 spine2:2", "t1-spine1 t1-spine2 t2-spine1 t2-spine2 t3-spine1 t3-spine2 t4-spine1 t4-spine2 t1-t2 t3-t4")
	for _, n := range []*Network{pairs, peers} { // a host is joined to both switches of a pair, and may be sent to over either
		n.Destinations = []Destination{{Name: "host12", At: []int{0, 1}}, {Name: "host34", At: []int{2, 3}}}
	}
	single := build(t, "t1:1* t2:1* t3:1* t4:1* spine1:2 spine2:2", "t1-spine1 t1-spine2 t2-spine1 t2-spine2 t3-spine1 t3-spine2 t4-spine1 t4-spine2 t1-t2 t3-t4")
	for _, c := range []struct {
		name                     string
		n                        *Network
		policy                   Policy
		healthy, failure, moving string
	}{
		{"planes that nothing joins", planes, UpDown, "free", "free", "free"},
		{"planes that nothing joins", planes, ShortestPath, "free", "free", "cycle"},
		{"planes with a link between two spines", crossed, UpDown, "free", "free", "free"},
		{"rails over common spines", rail, UpDown, "free", "free", "free"},
		{"rails over common spines", rail, ShortestPath, "free", "free", "cycle"},
		{"rails that nothing joins", only, ShortestPath, "free", "free", "free"},
		{"hosts at two switches", pairs, UpDown, "free", "free", "free"},
		{"hosts at two switches", pairs, ShortestPath, "free", "free", "free"},
		{"hosts at two switches with a peer link", peers, UpDown, "free", "free", "free"},
		{"hosts at two switches with a peer link", peers, ShortestPath, "free", "free", "free"},
		{"hosts at one of two switches with a peer link", single, UpDown, "free", "free", "free"},
		{"hosts at one of two switches with a peer link", single, ShortestPath, "free", "free", "free"},
		{"a dragonfly", dragonfly(), ShortestPath, "cycle", "cycle", "cycle"},
		{"a dragonfly", dragonfly(), UpDown, "free unrouted", "free", "free"},
		{"a ring of 3", ring(3), ShortestPath, "free", "free", "free"},
		{"a ring of 4", ring(4), ShortestPath, "cycle", "free", "cycle"},
		{"a ring of 6", ring(6), ShortestPath, "cycle", "free", "cycle"},
		{"a ring of 4", ring(4), UpDown, "free unrouted", "free", "free"},
	} {
		v := mustProve(t, Question{Network: c.n, Policy: c.policy, Failures: 1, Exhaustive: true})
		word := func(cyclic int) string { return map[bool]string{true: "cycle", false: "free"}[cyclic > 0] }
		got := []string{word(v.Covered[0].Cyclic), word(v.Covered[1].Cyclic + v.Covered[3].Cyclic), word(v.Covered[2].Cyclic + v.Covered[4].Cyclic)}
		if v.UnroutedPairs > 0 {
			got[0] += " unrouted"
		}
		if diff := cmp.Diff([]string{c.healthy, c.failure, c.moving}, got); diff != "" {
			t.Errorf("%s, %s (-want +got):\n%s", c.name, c.policy, diff)
		}
	}
}

// dragonfly is three groups of three switches, all of a group joined, with one link between any two groups.
func dragonfly() *Network {
	n := &Network{}
	for g := range 3 {
		for s := range 3 {
			n.Destinations = append(n.Destinations, Destination{Name: fmt.Sprintf("g%d-s%d", g, s), At: []int{len(n.Switches)}})
			n.Switches = append(n.Switches, Switch{Name: fmt.Sprintf("g%d-s%d", g, s), Rank: 1, Ends: true})
			for o := range s {
				n.Links = append(n.Links, Link{A: 3*g + o, B: 3*g + s})
			}
		}
	}
	return &Network{Switches: n.Switches, Destinations: n.Destinations, Links: append(n.Links, Link{A: 0, B: 4}, Link{A: 3, B: 7}, Link{A: 6, B: 1})}
}

// ring is switches in a ring, each with hosts.
func ring(size int) *Network {
	n := &Network{}
	for i := range size {
		n.Switches = append(n.Switches, Switch{Name: string(rune('a' + i)), Rank: 1, Ends: true})
		n.Links = append(n.Links, Link{A: i, B: (i + 1) % size})
		n.Destinations = append(n.Destinations, Destination{Name: n.Switches[i].Name, At: []int{i}})
	}
	return n
}

// TestADragonflyIsFreeWithAPriorityMoreAfterItsLongLink is what virtual channels do for a dragonfly: traffic that has come over
// a link between groups goes on in the next priority (Kim et al., "Technology-Driven, Highly-Scalable Dragonfly Topology",
// ISCA 2008).
func TestADragonflyIsFreeWithAPriorityMoreAfterItsLongLink(t *testing.T) {
	n := dragonfly()
	long := func(a Arc) bool { return a.Link() >= len(n.Links)-3 }
	q := Question{Network: n, Policy: ShortestPath, Lossless: []int{0, 1}, Begin: []int{0}}
	if v := mustProve(t, q); v.Free {
		t.Fatal("a dragonfly with one priority has a cycle")
	}
	for sw := range n.Switches {
		var in []Arc
		for a := range Arc(2 * len(n.Links)) {
			if long(a) && n.Head(a) == sw {
				in = append(in, a)
			}
		}
		if in != nil {
			q.Rewrites = append(q.Rewrites, Rewrite{Switch: sw, In: in, From: 0, To: 1})
		}
	}
	if v := mustProve(t, q); !v.Free || v.Covered[0].Cyclic > 0 {
		t.Errorf("got %+v, want free", v)
	}
}
