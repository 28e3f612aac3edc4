package depend

import "testing"

// twoTier is a Clos of leaves and two spines, every leaf joined to both: arc 4*leaf leads to the first spine and 4*leaf+2 to
// the second.
func twoTier(leaves int) *Network {
	n := &Network{}
	for i := range leaves {
		n.Switches = append(n.Switches, Switch{Name: "leaf" + string(rune('1'+i)), Rank: 1, Ends: true})
		n.Links = append(n.Links, Link{A: i, B: leaves}, Link{A: i, B: leaves + 1})
	}
	n.Switches = append(n.Switches, Switch{Name: "spine1", Rank: 2}, Switch{Name: "spine2", Rank: 2})
	return n
}

// TestFloodingOfALosslessClassMakesACycleInAClos is the deadlock of Guo et al., "RDMA over Commodity Ethernet at Scale"
// (SIGCOMM 2016), section 4.2: a leaf knows the address of a packet and not its port, and floods it, up again too.
func TestFloodingOfALosslessClassMakesACycleInAClos(t *testing.T) {
	n := twoTier(3)
	n.Destinations = []Destination{{Name: "gone", At: []int{0}}}
	for _, floods := range []bool{false, true} {
		tables := NewTables(n)
		for _, up := range []Arc{4, 6, 8, 10} { // the other leaves send up
			tables.Add(0, up)
		}
		tables.Add(0, Arc(0).Reverse()) // the spines send down to leaf1
		tables.Add(0, Arc(2).Reverse())
		if floods {
			tables.Add(0, 0)
			tables.Add(0, 2)
		}
		if v := mustProve(t, Question{Network: n, States: []State{{"now", tables}}}); v.Free == floods {
			t.Errorf("flooding %t: got %+v", floods, v)
		}
	}
}

// TestTheBounceOfADualHomedHostNeedsAPriorityOfItsOwn is the deadlock that SONiC's doc/qos/tunnel_dscp_remapping.md
// describes: the leaf whose link to the host is on standby sends packets back up, to the leaf whose link is active.
func TestTheBounceOfADualHomedHostNeedsAPriorityOfItsOwn(t *testing.T) {
	n := twoTier(4)
	n.Destinations = []Destination{{Name: "a", At: []int{1}, From: []int{2, 3}}, {Name: "b", At: []int{3}, From: []int{0, 1}}}
	tables := NewTables(n)
	for _, bounce := range []struct {
		destination     int
		standby, active Arc // their arcs to the first spine
	}{{0, 0, 4}, {1, 8, 12}} {
		for up := Arc(0); up < 16; up += 2 { // every leaf but the active one sends up, the standby one what came down to it
			if up != bounce.active && up != bounce.active+2 {
				tables.Add(bounce.destination, up)
			}
		}
		for _, down := range []Arc{bounce.standby, bounce.standby + 2, bounce.active, bounce.active + 2} {
			tables.Add(bounce.destination, down.Reverse())
		}
	}
	if v := mustProve(t, Question{Network: n, States: []State{{"now", tables}}}); v.Free {
		t.Errorf("got %+v, want a cycle", v)
	}
	q := Question{Network: n, States: []State{{"now", tables}}}
	if v := mustProve(t, q.bumping(2)); !v.Free {
		t.Errorf("with a second priority after the bounce: got %+v, want no cycle", v)
	}
	l := newLayout(n)
	if !l.follow(q.bumping(1).compile(l), tables, []int{0, 1}, failure{}).lossy() {
		t.Error("with one priority the bounced traffic is lossy")
	}
}
