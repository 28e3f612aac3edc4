package depend

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// clos is a subnet of two leaves and two spines: its switches are 0 and 1, and 2 and 3.
func clos(name string) Part {
	n := &Network{}
	for i, s := range []string{"leaf1", "leaf2", "spine1", "spine2"} {
		n.Switches = append(n.Switches, Switch{Name: s, Rank: 1 + i/2, Ends: i < 2})
		if i < 2 {
			n.Links = append(n.Links, Link{A: i, B: 2}, Link{A: i, B: 3})
			n.Destinations = append(n.Destinations, Destination{Name: s, At: []int{i}})
		}
	}
	return Part{Name: name, Network: n, Policy: UpDown}
}

// joins are ports of a router in the switches of some subnets.
func joins(at map[string][]int) []Join {
	var out []Join
	for _, subnet := range []string{"S1", "S2", "S3", "C"} {
		for _, sw := range at[subnet] {
			out = append(out, Join{Subnet: subnet, Switch: sw})
		}
	}
	return out
}

func mustInterchange(t *testing.T, i Interconnect) Interchange {
	t.Helper()
	out, err := i.Prove()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestTheTwoShapesOfRoutersAreFree(t *testing.T) {
	leaves, spines := []int{0, 1}, []int{2, 3}
	for name, i := range map[string]Interconnect{
		"routers on top of every subnet": {
			Subnets: []Part{clos("S1"), clos("S2")},
			Routers: []Gateway{{"r1", joins(map[string][]int{"S1": spines, "S2": spines})}, {"r2", joins(map[string][]int{"S1": spines, "S2": spines})}},
			Talk:    [][2]string{{"S1", "S2"}},
		},
		"routers on top of a common subnet and below the others": {
			Subnets: []Part{clos("S1"), clos("S2"), clos("C")},
			Routers: []Gateway{{"r1", joins(map[string][]int{"S1": leaves, "C": spines})}, {"r2", joins(map[string][]int{"S2": leaves, "C": spines})}},
			Talk:    [][2]string{{"S1", "C"}, {"S2", "C"}},
		},
	} {
		got := mustInterchange(t, i)
		if !got.Free || len(got.Reaches) != 2*len(i.Talk) {
			t.Errorf("%s: got %+v", name, got)
		}
		for _, r := range got.Reaches {
			if !r.SingleHop() || len(r.Valleys) > 0 || len(r.Unrouted) > 0 {
				t.Errorf("%s: got %+v, want one router and no valley", name, r)
			}
		}
	}
}

func TestARouterAtTheLeavesOfTwoSubnetsIsRefusedWithItsWay(t *testing.T) {
	got := mustInterchange(t, Interconnect{
		Subnets: []Part{clos("S1"), clos("S2")},
		Routers: []Gateway{{"r1", joins(map[string][]int{"S1": {0}, "S2": {0}})}, {"r2", joins(map[string][]int{"S1": {1}, "S2": {1}})}},
		Talk:    [][2]string{{"S1", "S2"}},
	})
	if got.Free || got.Verdict.Free {
		t.Errorf("got %+v, want a credit loop", got)
	}
	want := []ValleyPath{
		{"r1", []string{"S1/leaf1", "r1", "S2/leaf1", "S2/spine1", "S2/leaf2"}, "r1"},
		{"r2", []string{"S1/leaf1", "S1/spine1", "S1/leaf2", "r2", "S2/leaf2", "S2/spine1", "S2/leaf1"}, "r2"},
	}
	var ways []ValleyPath
	for _, v := range got.Reaches[0].Valleys {
		ways = append(ways, v)
		if i := strings.Index(strings.Join(v.Path, " "), v.At); i < 0 {
			t.Errorf("%s is not on the way %v", v.At, v.Path)
		}
	}
	if diff := cmp.Diff(want[1], ways[1]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want[0].At, ways[0].At); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTwoRoutersInARowAreRefused(t *testing.T) {
	spines := []int{2, 3}
	got := mustInterchange(t, Interconnect{
		Subnets: []Part{clos("S1"), clos("S2"), clos("S3")},
		Routers: []Gateway{{"R1", joins(map[string][]int{"S1": spines, "S2": spines})}, {"R2", joins(map[string][]int{"S2": spines, "S3": spines})}},
		Talk:    [][2]string{{"S1", "S2"}, {"S1", "S3"}},
	})
	last := got.Reaches[2]
	if diff := cmp.Diff([]string{"S1", "R1", "S2", "R2", "S3"}, last.Via); diff != "" || last.SingleHop() || got.Free || !got.Reaches[0].Free() {
		t.Errorf("got %+v (-want +got):\n%s", got.Reaches, diff)
	}
}

func TestASubnetOfOpenSMIsJoinedByItsTables(t *testing.T) {
	read := func(engine string) Part {
		s, err := OpenSM{Links: text(t, "ring5/opensm-subnet.lst"), Routes: text(t, "ring5/"+engine)}.Read()
		if err != nil {
			t.Fatal(err)
		}
		return Part{Name: "S1", Network: s.Network, Tables: s.Tables}
	}
	for engine, free := range map[string]bool{"updn.fdbs": true, "minhop.fdbs": false} {
		got := mustInterchange(t, Interconnect{ // the host of the first switch stands for the port of the router
			Subnets: []Part{read(engine), clos("S2")},
			Routers: []Gateway{{"r1", []Join{{Subnet: "S1", Switch: 0, Destination: 0}, {Subnet: "S2", Switch: 2}, {Subnet: "S2", Switch: 3}}}},
			Talk:    [][2]string{{"S1", "S2"}},
		})
		if got.Verdict.Free != free || len(got.Reaches[0].Unrouted) > 0 {
			t.Errorf("%s: got %+v, want free %t", engine, got, free)
		}
	}
}

func TestAnInterconnectThatMakesNoSenseIsAnError(t *testing.T) {
	for want, i := range map[string]Interconnect{
		"its name is there twice":         {Subnets: []Part{clos("S1"), clos("S1")}},
		"there is no subnet S2":           {Subnets: []Part{clos("S1")}, Talk: [][2]string{{"S1", "S2"}}},
		`joins switch 9 of subnet "S1"`:   {Subnets: []Part{clos("S1")}, Routers: []Gateway{{"r", []Join{{Subnet: "S1", Switch: 9}}}}},
		`there is no routing policy "up"`: {Subnets: []Part{{Name: "S1", Network: clos("S1").Network, Policy: "up"}}},
	} {
		if _, err := i.Prove(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error that says %q", err, want)
		}
	}
}
