package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWavesGoFromTheCanaryThroughTheTiersToTheHosts(t *testing.T) {
	places := map[string]Place{
		"leaf1": {Hosts: []string{"h1", "h2"}}, "leaf2": {Hosts: []string{"h1", "h2"}},
		"leaf3": {Hosts: []string{"h3"}}, "leaf4": {Hosts: []string{"h3"}},
		"spine1": {Tier: 1}, "spine2": {Tier: 1},
		"h1": {Host: true, Hosts: []string{"h1"}}, "h2": {Host: true, Hosts: []string{"h2"}}, "h3": {Host: true, Hosts: []string{"h3"}},
	}
	steps := func(names ...string) (out []Step) {
		for _, n := range names {
			out = append(out, Step{Device: n})
		}
		return out
	}
	all := steps("h3", "spine2", "leaf4", "leaf2", "h1", "leaf1", "leaf3", "h2", "spine1")
	for name, c := range map[string]struct {
		steps  []Step
		canary string
		size   int
		want   [][]string
	}{
		"two ToRs of one host never share a wave": {all, "", 0, [][]string{
			{"leaf1"}, {"leaf2", "leaf3"}, {"leaf4"}, {"spine1", "spine2"}, {"h1"}, {"h2", "h3"}}},
		"the operator's canary goes first": {all, "leaf3", 0, [][]string{
			{"leaf3"}, {"leaf1", "leaf4"}, {"leaf2"}, {"spine1", "spine2"}, {"h1"}, {"h2", "h3"}}},
		"a wave holds no more than its size": {all, "", 1, [][]string{
			{"leaf1"}, {"leaf2"}, {"leaf3"}, {"leaf4"}, {"spine1"}, {"spine2"}, {"h1"}, {"h2"}, {"h3"}}},
		"nothing to do is no wave": {nil, "", 0, nil},
		"a single host":            {steps("h2"), "", 0, [][]string{{"h2"}}},
	} {
		var got [][]string
		for _, w := range Arrange(c.steps, places, c.canary, c.size) {
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
