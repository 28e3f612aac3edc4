package depend

import (
	"fmt"
	"math/rand"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pod is two leaves and two spines, with ports named as a device names them.
func pod() *Network {
	n := &Network{Switches: []Switch{{"leaf1", 1, true}, {"leaf2", 1, true}, {"spine1", 2, false}, {"spine2", 2, false}}}
	for leaf := range 2 {
		for spine := range 2 {
			n.Links = append(n.Links, Link{A: leaf, B: 2 + spine, PortA: fmt.Sprint("Ethernet", 48+4*spine), PortB: fmt.Sprint("Ethernet", 4*leaf)})
		}
		n.Destinations = append(n.Destinations, Destination{Name: n.Switches[leaf].Name, At: []int{leaf}})
	}
	return n
}

// podNames has 10.0.LEAF.0/24 at each leaf, and hosts at Ethernet0 to Ethernet44.
func podNames() Names {
	return Names{
		Owner: func(p netip.Prefix) (string, bool) {
			for i, leaf := range []string{"leaf1", "leaf2"} {
				if own := netip.MustParsePrefix(fmt.Sprintf("10.0.%d.0/24", i+1)); own.Overlaps(p) && p.Bits() >= own.Bits() {
					return leaf, true
				}
			}
			return "", false
		},
		HostPort: func(sw, port string) bool { return strings.HasPrefix(sw, "leaf") && len(port) == len("Ethernet0") },
	}
}

func TestAFIBIsReadFromCSVAndJSON(t *testing.T) {
	n := pod()
	want, err := Routes(n, ShortestPath)
	if err != nil {
		t.Fatal(err)
	}
	csv := map[string]string{
		"by names": "switch,destination,next_hop\nleaf1,leaf2,spine1\nleaf1,leaf2,spine2\nleaf2,leaf1,spine1\nleaf2,leaf1,spine2\nspine1,leaf1,leaf1\nspine1,leaf2,leaf2\nspine2,leaf1,leaf1\nspine2,leaf2,leaf2\n",
		"by prefixes and ports": `switch,destination,next_hop
# what is at the leaf itself says nothing
leaf1, 10.0.1.0/24, Ethernet0
leaf1, 10.0.2.0/24, Ethernet48
leaf1, 10.0.2.0/24, Ethernet52
leaf2, default, Ethernet48
leaf2, default, Ethernet52
leaf2, 192.0.2.7, Loopback7
spine1, 10.0.0.0/16, discard
spine1, 10.0.1.0/24, leaf1
spine1, 10.0.2.0/24, Ethernet4
spine2, 10.0.1.0/24, Ethernet0
spine2, 10.0.2.0/25, leaf2
spine2, 10.0.2.128/25, leaf2
`,
	}
	fibs := map[string]*FIB{}
	for name, text := range csv {
		if fibs[name], err = ReadCSV(n, strings.NewReader(text), podNames()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	body := `{"switches": {
	"leaf1": {"leaf2": ["Ethernet48", "spine2"], "10.0.1.0/24": ["Ethernet4"]},
	"leaf2": {"0.0.0.0/0": ["spine1", "spine2"]},
	"spine1": {"leaf1": ["leaf1"], "leaf2": ["Ethernet4"], "default": []},
	"spine2": {"10.0.1.0/24": ["leaf1"], "10.0.2.0/24": ["leaf2"]}
}}`
	if fibs["JSON"], err = ReadJSON(n, []byte(body), podNames()); err != nil {
		t.Error(err)
	}
	for name, f := range fibs {
		got, err := Question{Network: n, FIB: f}.Routes()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if diff := cmp.Diff(want.next, got.next); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestAWithdrawnSpecificTurnsUpAgainOverTheDefaultOfAFIB has a fat tree whose aggregation switches have a default route up to
// the cores beside their specific routes.
func TestAWithdrawnSpecificTurnsUpAgainOverTheDefaultOfAFIB(t *testing.T) {
	n := fatTree(4)
	table, err := Routes(n, UpDown)
	if err != nil {
		t.Fatal(err)
	}
	for _, withDefault := range []bool{false, true} {
		f := NewFIB(n)
		for sw := range n.Switches {
			for d, dest := range n.Destinations {
				var hops, up []Arc
				for a := range Arc(2 * len(n.Links)) {
					if n.Tail(a) == sw && table.Has(d, a) {
						hops = append(hops, a)
					}
					if n.Tail(a) == sw && n.Switches[n.Head(a)].Rank == 3 {
						up = append(up, a)
					}
				}
				if dest.At[0] != sw {
					f.Add(sw, d, hops...)
				}
				if withDefault && len(up) > 0 {
					f.Add(sw, d, up...)
				}
			}
		}
		v := mustProve(t, Question{Network: n, FIB: f, Failures: 1})
		if v.Turns != turnsOfFatTree(4) || v.Free == withDefault {
			t.Fatalf("default %t: got %+v", withDefault, v)
		}
		if withDefault && (!v.Found.Transition || !v.OneLoop() || len(v.Cycle) != 2 || n.Switches[v.Cycle[0].Switch].Rank+n.Switches[v.Cycle[1].Switch].Rank != 5) {
			t.Errorf("got %+v, want a loop between a core and an aggregation switch", v.Cycle)
		}
	}
}

// TestAFIBAfterAFailureIsWhatIsLeftOfIt checks the withdrawals against what they are: a switch has a route while some path of
// its next hops that are up leads on.
func TestAFIBAfterAFailureIsWhatIsLeftOfIt(t *testing.T) {
	r := rand.New(rand.NewSource(9))
	for range 2000 {
		n := randomNetwork(r)
		l := newLayout(n)
		table := l.route(ShortestPath, everything(n), failure{})
		f := NewFIB(n)
		for sw := range n.Switches {
			for d := range n.Destinations {
				var hops []Arc
				for _, a := range l.out[sw] {
					if table.Has(d, a) {
						hops = append(hops, a)
					}
				}
				if hops != nil {
					f.Add(sw, d, hops...)
				}
			}
		}
		if diff := cmp.Diff(table.next, f.after(l, everything(n), failure{}).next); diff != "" {
			t.Fatalf("with nothing down (-want +got):\n%s", diff)
		}
		for _, down := range singles(n) {
			got := f.after(l, everything(n), down)
			for d, dest := range n.Destinations {
				for a := range Arc(l.arcs()) {
					want := table.Has(d, a) && !down.has(l, a) && leads(l, table, d, dest, down, n.Head(a), map[int]bool{})
					if got.Has(d, a) != want {
						t.Fatalf("%v down: %s for %s: got %t, want %t: %+v", down.names(n), n.ArcName(a), dest.Name, got.Has(d, a), want, n)
					}
				}
			}
		}
	}
}

// leads says whether next hops that are up lead from a switch to a destination. A switch that is a destination and down, or
// has no next hops from the start, has lost nothing.
func leads(l *layout, t *Tables, d int, dest Destination, down failure, sw int, seen map[int]bool) bool {
	had := false
	for _, a := range l.out[sw] {
		if !t.Has(d, a) {
			continue
		}
		had = true
		if !down.has(l, a) && leads(l, t, d, dest, down, int(l.head[a]), seen) {
			return true
		}
	}
	return !had
}

func everything(n *Network) []int {
	var out []int
	for d := range n.Destinations {
		out = append(out, d)
	}
	return out
}

func TestAFIBThatCannotBeReadSaysWhereAndWhatToWrite(t *testing.T) {
	n := pod()
	const head = "switch,destination,next_hop\n"
	for _, c := range []struct{ name, text, want string }{
		{"another header", "sw,dst,nh\n", `line 1: the header is "sw,dst,nh": write switch,destination,next_hop`},
		{"no header", "", "the file is empty: begin with the line switch,destination,next_hop"},
		{"no text", "\x00" + strings.Repeat("x", 5000), `line 1: the header is "\x00xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx": write`},
		{"a row too short", head + "leaf1,leaf2\n", "line 2, column 1: there are 2 fields"},
		{"an unknown switch", head + "leaf9,leaf2,spine1\n", `line 2, column 1: there is no switch "leaf9": write its name as in the inventory`},
		{"an unknown destination", head + "leaf1,leaf9,spine1\n", `line 2, column 7: "leaf9" is no switch and no prefix`},
		{"an unknown next hop", head + "leaf1,leaf2,spine1\nleaf1,leaf2,spine9\n", `line 3, column 13: "spine9" is no switch and no port of leaf1: write the name of a neighbour, of a port, or discard`},
		{"no neighbour", head + "leaf1,leaf2,leaf2\n", `line 2, column 13: leaf1 has no link to leaf2`},
		{"quotes", head + "leaf1,\"leaf2,spine1\n", "read the FIB"},
	} {
		if _, err := ReadCSV(n, strings.NewReader(c.text), podNames()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error that says %q", c.name, err, c.want)
		}
	}
	if _, err := ReadCSV(n, strings.NewReader("\ufeff"+head+"leaf1,leaf2,spine1\r\n"), podNames()); err != nil {
		t.Errorf("a table that a spreadsheet wrote: %v", err)
	}
	_, err := ReadCSV(n, strings.NewReader(head+"x,leaf2,spine1\ny,leaf2,spine1\nx,leaf1,spine1\n"), podNames())
	if err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("got %v, want both switches that are not there, once each", err)
	}
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "\n", `the file is empty: write {"switches"`},
		{"another key", `{"devices": {}}`, `line 1, column 10: there is no key "devices"`},
		{"no list", "{\"switches\": {\n\"leaf1\": {\"leaf2\": \"spine1\"}}}", "line 2, column 27: there is spine1 and a list of next hops is wanted"},
		{"no name", `{"switches": {"leaf1": {"leaf2": [7]}}}`, "there is 7 and the name of a next hop is wanted"},
		{"an unknown next hop", "{\"switches\": {\n\"leaf1\": {\"leaf2\": [\"spine9\"]}}}", `line 2, column 28: "spine9" is no switch`},
		{"cut off", `{"switches": {"leaf1"`, "line 1"},
	} {
		if _, err := ReadJSON(n, []byte(c.text), podNames()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error that says %q", c.name, err, c.want)
		}
	}
	if _, err := ReadJSON(n, []byte(`{"switches": {"leaf1": {"10.9.0.0/16": ["leaf2"]}}}`), Names{Owner: func(netip.Prefix) (string, bool) { return "leaf9", true }}); err == nil || !strings.Contains(err.Error(), "10.9.0.0/16 belongs to leaf9, and there is no such switch") {
		t.Errorf("got %v, want the owner refused", err)
	}
}
