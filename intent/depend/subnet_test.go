package depend

import (
	"testing"
)

// wire makes a network of links written as pairs of names; the rank of a name is that of its kind, the part behind the dot.
func wire(ranks map[string]int, ends func(name string) bool, links ...[2]string) *Network {
	n, known := &Network{}, map[string]int{}
	find := func(name string) int {
		i, ok := known[name]
		if !ok {
			i = len(n.Switches)
			known[name] = i
			kind := name
			for j := range name {
				if name[j] == '.' {
					kind = name[j+1:]
				}
			}
			for len(kind) > 0 && kind[len(kind)-1] >= '0' && kind[len(kind)-1] <= '9' {
				kind = kind[:len(kind)-1]
			}
			n.Switches = append(n.Switches, Switch{Name: name, Rank: ranks[kind], Ends: ends(name)})
			if ends(name) {
				n.Destinations = append(n.Destinations, Destination{Name: name, At: []int{i}})
			}
		}
		return i
	}
	for _, l := range links {
		n.Links = append(n.Links, Link{A: find(l[0]), B: find(l[1])})
	}
	return n
}

// subnets are two subnets of two leaves and two spines each.
func subnets() [][2]string {
	var links [][2]string
	for _, s := range []string{"S1.", "S2."} {
		for _, leaf := range []string{"leaf1", "leaf2"} {
			links = append(links, [2]string{s + leaf, s + "spine1"}, [2]string{s + leaf, s + "spine2"})
		}
	}
	return links
}

func isLeaf(name string) bool { return len(name) > 4 && name[3:7] == "leaf" }

func TestRoutersOnTopOfEverySubnetMakeNoCreditLoop(t *testing.T) {
	links := subnets()
	for _, r := range []string{"router1", "router2"} {
		for _, spine := range []string{"S1.spine1", "S1.spine2", "S2.spine1", "S2.spine2"} {
			links = append(links, [2]string{r, spine})
		}
	}
	n := wire(map[string]int{"leaf": 1, "spine": 2, "router": 3}, isLeaf, links...)
	for _, p := range []Policy{UpDown, ShortestPath} {
		if v := mustProve(t, Question{Network: n, Policy: p}); !v.Free || len(v.Unrouted) > 0 {
			t.Errorf("%s: got %+v, want free with all routed", p, v)
		}
	}
}

func TestACommonSubnetBelowIsolatedOnesMakesNoCreditLoop(t *testing.T) {
	links := append(subnets(), [2]string{"CC.lower1", "CC.middle1"}, [2]string{"CC.lower2", "CC.middle1"})
	for _, old := range []string{"S1.leaf1", "S1.leaf2"} {
		links = append(links, [2]string{"router1", old})
	}
	for _, old := range []string{"S2.leaf1", "S2.leaf2"} {
		links = append(links, [2]string{"router2", old})
	}
	links = append(links, [2]string{"router1", "CC.middle1"}, [2]string{"router2", "CC.middle1"})
	ranks := map[string]int{"lower": 1, "middle": 2, "router": 3, "leaf": 4, "spine": 5}
	n := wire(ranks, func(name string) bool { return isLeaf(name) || len(name) > 7 && name[3:8] == "lower" }, links...)
	v := mustProve(t, Question{Network: n, Policy: UpDown, Failures: 2})
	if !v.Free || len(v.Unrouted) != 8 {
		t.Errorf("got %+v, want free, and no route between the leaves of S1 and S2 in either direction", v)
	}
}

func TestRoutersAtTheLeavesOfTwoSubnetsMakeACreditLoop(t *testing.T) {
	links := append(subnets(), [2]string{"S1.leaf1", "router1"}, [2]string{"S2.leaf1", "router1"}, [2]string{"S1.leaf2", "router2"}, [2]string{"S2.leaf2", "router2"})
	n := wire(map[string]int{"router": 1, "leaf": 2, "spine": 3}, isLeaf, links...)
	v := mustProve(t, Question{Network: n, Policy: ShortestPath})
	if v.Free || v.Found == nil || v.Found.Model != Healthy {
		t.Fatalf("got %+v, want a cycle in the healthy network", v)
	}
	var ranks []int
	for _, s := range append(v.Cycle, v.Cycle...) {
		ranks = append(ranks, n.Switches[s.Switch].Rank)
	}
	if valley(ranks) < 0 {
		t.Errorf("the cycle %v never goes down and then up", v.Cycle)
	}
}

func TestMinHopIsRefusedOnARingAndUpDownAccepted(t *testing.T) {
	for _, c := range []struct {
		size   int
		policy Policy
		free   bool
	}{
		{4, ShortestPath, false}, {5, ShortestPath, false}, {6, ShortestPath, false}, {3, ShortestPath, true},
		{4, UpDown, true}, {5, UpDown, true}, {6, UpDown, true},
	} {
		n := &Network{}
		for i := range c.size { // the first switch is the root, and ranks fall with the distance from it
			n.Switches = append(n.Switches, Switch{Name: string(rune('a' + i)), Rank: 9 - min(i, c.size-i), Ends: true})
			n.Links = append(n.Links, Link{A: i, B: (i + 1) % c.size})
			n.Destinations = append(n.Destinations, Destination{Name: n.Switches[i].Name, At: []int{i}})
		}
		v := mustProve(t, Question{Network: n, Policy: c.policy})
		if v.Free != c.free || !c.free && len(v.Cycle) != c.size {
			t.Errorf("%s on a ring of %d: got free %t and a cycle of %d", c.policy, c.size, v.Free, len(v.Cycle))
		}
	}
}
