package depend

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func text(t testing.TB, name string) string {
	t.Helper()
	if name == "" {
		return ""
	}
	body, err := os.ReadFile("testdata/opensm/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// TestOpenSMsRoutesAreJudgedAsIbdmchkDoes reads what a real OpenSM wrote, and wants the answers of ibdmchk (testdata/opensm).
func TestOpenSMsRoutesAreJudgedAsIbdmchkDoes(t *testing.T) {
	for _, c := range []struct {
		folder, routes, lanes, levels string
		free                          bool
		cycle                         int
	}{
		{"ring5", "minhop.fdbs", "", "", false, 5},
		{"ring5", "minhop.lfts", "", "", false, 5},
		{"ring5", "minhop.fts", "", "", false, 5},
		{"ring5", "updn.fdbs", "", "", true, 0},
		{"ring5", "lash.fdbs", "", "", false, 5},
		{"ring5", "lash.fdbs", "lash.sl2vl", "", false, 5},
		{"ring5", "lash.fdbs", "lash.sl2vl", "lash.levels", true, 0},
		{"tree", "ftree.fdbs", "", "", true, 0},
	} {
		o := OpenSM{Links: text(t, c.folder+"/opensm-subnet.lst"), Routes: text(t, c.folder+"/"+c.routes)}
		if c.lanes != "" {
			o.Lanes = text(t, c.folder+"/"+c.lanes)
		}
		if c.levels != "" {
			o.Levels = text(t, c.folder+"/"+c.levels)
		}
		s, err := o.Read()
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		if v := mustProve(t, s.Question()); v.Free != c.free || len(v.Cycle) != c.cycle {
			t.Errorf("%+v: got free %t and the cycle %+v", c, v.Free, v.Cycle)
		}
	}
}

// TestALaneIsLookedUpByThePortsAndTheLevel gives a ring routed by minhop lanes that no subnet manager made.
func TestALaneIsLookedUpByThePortsAndTheLevel(t *testing.T) {
	s, err := OpenSM{Links: text(t, "ring5/opensm-subnet.lst"), Routes: text(t, "ring5/minhop.fdbs"), Lanes: text(t, "ring5/lash.sl2vl")}.Read()
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Virtual.Levels {
		s.Virtual.Levels[i].Level = 1
	}
	v := mustProve(t, s.Question())
	if v.Free || len(v.Cycle) != 5 || v.Cycle[0].Priority != 1 || v.Cycle[0].NextPriority != 1 {
		t.Errorf("got %+v, want a credit loop in lane 1", v)
	}
	for ports, lanes := range s.Virtual.Tables { // from a host into lane 1, on from a switch in lane 2
		if lanes[1] = 1; ports.In > 2 {
			lanes[1] = 2
		}
	}
	if v := mustProve(t, s.Question()); !v.Free || v.Nodes != 20 {
		t.Errorf("got %+v, want free: no way has more than two hops", v)
	}
}

func TestASubnetIsReadWithItsSwitchesCablesAndLIDs(t *testing.T) {
	s, err := OpenSM{Links: text(t, "tree/opensm-subnet.lst"), Routes: text(t, "tree/ftree.fdbs")}.Read()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, sw := range s.Network.Switches {
		got = append(got, sw.Name)
	}
	if diff := cmp.Diff([]string{"leaf1", "leaf2", "leaf3", "spine1", "spine2"}, got); diff != "" || s.Network.Switches[4].Rank != 2 || s.Network.Switches[4].Ends {
		t.Errorf("got %+v (-want +got):\n%s", s.Network.Switches, diff)
	}
	if len(s.Network.Links) != 6 || len(s.LIDs) != 6 || s.Network.LinkName(0) != "leaf1/35 - spine1/1" {
		t.Errorf("got %d links, the first %s, and LIDs %v", len(s.Network.Links), s.Network.LinkName(0), s.LIDs)
	}
	s, err = OpenSM{Links: text(t, "tree/lmc1.lst"), Routes: text(t, "tree/lmc1.fdbs"), LMC: 1}.Read()
	if err != nil || len(s.LIDs) != 12 {
		t.Fatalf("LMC 1: got %+v and %v, want two LIDs for every host", s, err)
	}
	if v := mustProve(t, s.Question()); !v.Free || v.Turns != 12 {
		t.Errorf("LMC 1: got %+v, want free, and the turns of both spines", v)
	}
}

func TestDumpsThatDoNotBelongTogetherAreErrors(t *testing.T) {
	ring, tree := text(t, "ring5/opensm-subnet.lst"), text(t, "tree/opensm-subnet.lst")
	routes, lanes := text(t, "ring5/minhop.fdbs"), text(t, "ring5/lash.sl2vl")
	for _, c := range []struct {
		name string
		o    OpenSM
		want string
	}{
		{"no links", OpenSM{Routes: routes}, "opensm-subnet.lst has no links"},
		{"a line of another sort", OpenSM{Links: ring + "hello\n", Routes: routes}, "line 21: this is no link"},
		{"routes of another subnet", OpenSM{Links: tree, Routes: "dump_ucast_routes: Switch 0x00000000deadbeef\n"}, "routes, line 1: opensm-subnet.lst has no switch 0x00000000deadbeef"},
		{"a port without a cable", OpenSM{Links: ring, Routes: strings.Replace(routes, "0x0005 : 036", "0x0005 : 017", 1)}, "routes, line 7: sw1 sends LID 5 out of port 17"},
		{"a switch without a table", OpenSM{Links: ring, Routes: routes[:strings.LastIndex(routes, "dump_")]}, "no table of switch sw5"},
		{"a row before its switch", OpenSM{Links: ring, Routes: "0x0005 : 036  : 02   : yes\n"}, "comes before the line that names a switch"},
		{"an LMC below 0", OpenSM{Links: ring, Routes: routes, LMC: -1}, "an LMC of -1: it is 0 to 7"},
		{"an LMC of more bits than it has", OpenSM{Links: ring, Routes: routes, LMC: 99999}, "an LMC of 99999: it is 0 to 7"},
		{"lanes that are none", OpenSM{Links: ring, Routes: routes, Lanes: "\x00\x01"}, "opensm-sl2vl.dump has no table of a switch"},
		{"levels without lanes", OpenSM{Links: ring, Routes: routes, Levels: "0x100000 5 1"}, "without opensm-sl2vl.dump"},
		{"a level of nobody", OpenSM{Links: ring, Routes: routes, Lanes: lanes, Levels: "0x99 5 1"}, "no host 0x0000000000000099"},
		{"a level that is none", OpenSM{Links: ring, Routes: routes, Lanes: lanes, Levels: "0x100000 5 16"}, "service levels, line 1"},
		{"a lane that is none", OpenSM{Links: ring, Routes: routes, Lanes: strings.Replace(lanes, " 7 \n", " 77 \n", 1)}, "no virtual lane 77"},
	} {
		if _, err := c.o.Read(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error that says %q", c.name, err, c.want)
		}
	}
}

// TestLinesThatEndAsOnWindowsSayTheSame holds that a file which came by way of Windows is not read as an empty one.
func TestLinesThatEndAsOnWindowsSayTheSame(t *testing.T) {
	o := OpenSM{Links: text(t, "ring5/opensm-subnet.lst"), Routes: text(t, "ring5/lash.fdbs"), Lanes: text(t, "ring5/lash.sl2vl"), Levels: text(t, "ring5/lash.levels")}
	for _, file := range []*string{&o.Links, &o.Routes, &o.Lanes, &o.Levels} {
		*file = strings.ReplaceAll(*file, "\n", "\r\n")
	}
	s, err := o.Read()
	if err != nil {
		t.Fatal(err)
	}
	if v := mustProve(t, s.Question()); !v.Free {
		t.Errorf("got %+v, want free, as with the lines of Linux", v)
	}
}
