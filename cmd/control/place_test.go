package control

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
)

// cabled is a fabric of switches by role, whose leaves are all cabled to all that is not a leaf.
func cabled(roles map[string][]string, labels map[string]map[string]string, more ...[2]string) *fabric.Fabric {
	f := &fabric.Fabric{}
	byName := map[string]*fabric.Switch{}
	for role, names := range roles {
		for _, n := range names {
			sw := &fabric.Switch{Device: fabric.Device{Name: n, Role: role, Labels: labels[n]}}
			byName[n] = sw
			f.Switches = append(f.Switches, sw)
		}
	}
	join := func(a, b *fabric.Switch) {
		end := func(sw *fabric.Switch, peer string) fabric.End {
			p := &fabric.Port{Name: fmt.Sprint("p", len(sw.Ports)), Peer: &fabric.Peer{Device: peer}}
			sw.Ports = append(sw.Ports, p)
			return fabric.End{Switch: sw, Port: p}
		}
		f.Links = append(f.Links, &fabric.Link{A: end(a, b.Name), B: end(b, a.Name)})
	}
	for _, a := range f.Switches {
		for _, b := range f.Switches {
			if a.Name[0] == 'l' && b.Name[0] != 'l' {
				join(a, b)
			}
		}
	}
	for _, l := range more {
		join(byName[l[0]], byName[l[1]])
	}
	return f
}

func TestWithoutHostsTheWavesStillTellLeavesFromSpines(t *testing.T) {
	four := []string{"leaf1", "leaf2", "leaf3", "leaf4"}
	for name, c := range map[string]struct {
		fabric *fabric.Fabric
		want   [][]string
	}{
		"roles of a Clos": {cabled(map[string][]string{"leaf": four, "spine": {"spine1", "spine2"}}, nil),
			[][]string{{"leaf1"}, {"leaf2", "leaf3"}, {"leaf4"}, {"spine1"}, {"spine2"}}},
		"roles with the words of a Clos": {cabled(map[string][]string{"gpu-leaf": four, "gpu-spine": {"spine1", "spine2"}}, nil),
			[][]string{{"leaf1"}, {"leaf2", "leaf3"}, {"leaf4"}, {"spine1"}, {"spine2"}}},
		"no roles: what is cabled to each other is apart": {cabled(map[string][]string{"": {"leaf1", "leaf2", "leaf3", "leaf4", "x1", "x2"}}, nil),
			[][]string{{"leaf1"}, {"leaf2", "leaf3"}, {"leaf4"}, {"x1"}, {"x2"}}},
		"racks": {cabled(map[string][]string{"leaf": four, "spine": {"spine1", "spine2"}},
			map[string]map[string]string{"leaf2": {"rack": "r1"}, "leaf3": {"rack": "r1"}, "leaf4": {"rack": "r2"}, "spine1": {"rack": "r3"}}),
			[][]string{{"leaf1"}, {"leaf2", "leaf4"}, {"leaf3"}, {"spine1"}, {"spine2"}}},
		"rails": {cabled(map[string][]string{"leaf": four, "spine": {"spine1", "spine2"}},
			map[string]map[string]string{"leaf1": {"rail": "1"}, "leaf2": {"rail": "2"}, "leaf3": {"rail": "1"}, "leaf4": {"rail": "2"}}),
			[][]string{{"leaf1"}, {"leaf2", "leaf4"}, {"leaf3"}, {"spine1"}, {"spine2"}}},
		"a pair of leaves with a cable between them": {cabled(map[string][]string{"leaf": four, "spine": {"spine1", "spine2"}}, nil, [2]string{"leaf2", "leaf3"}),
			[][]string{{"leaf1"}, {"leaf2", "leaf4"}, {"leaf3"}, {"spine1"}, {"spine2"}}},
	} {
		var steps []plan.Step
		for _, sw := range c.fabric.Switches {
			steps = append(steps, plan.Step{Device: sw.Name})
		}
		var got [][]string
		for _, w := range plan.Arrange(steps, placesOf(c.fabric), plan.Limits{}) {
			var names []string
			for _, s := range w {
				names = append(names, s.Device)
			}
			got = append(got, names)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestConsentIsAskedForTheOnlySwitchOfATier(t *testing.T) {
	f := cabled(map[string][]string{"leaf": {"leaf1", "leaf2"}, "spine": {"spine1"}}, nil)
	p := plan.Plan{Waves: plan.Arrange([]plan.Step{{Device: "leaf1"}, {Device: "spine1"}}, placesOf(f), plan.Limits{})}
	if err := (Consent{}).Covers(p); err == nil || err.Error() != "spine1: it is the only switch of its tier, and nothing carries the traffic beside it: apply with --allow-single when that is all right" {
		t.Errorf("got %v", err)
	}
	if err := (Consent{Single: true}).Covers(p); err != nil {
		t.Errorf("with consent: got %v", err)
	}
	if slices.ContainsFunc(p.Waves[0], func(s plan.Step) bool { return s.Single }) {
		t.Error("a leaf is taken for the only one")
	}
}
