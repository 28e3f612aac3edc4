package main

import (
	"github.com/weirfabric/weir/intent/check"
	"github.com/weirfabric/weir/intent/depend"
	"github.com/weirfabric/weir/intent/qos"
)

// The JSON form of deadlock. Covered says how far the answer reaches; a cycle's links follow each other, and after the last
// comes the first.
type (
	deadlockAnswer struct {
		Format   int              `json:"format"`
		Free     bool             `json:"free"`
		Covered  deadlockCovered  `json:"covered"`
		Nodes    int              `json:"nodes"`
		Turns    int              `json:"turns"`
		Found    string           `json:"found,omitempty"` // the state that has the cycle
		Cycle    []deadlockStep   `json:"cycle"`
		Remedies []deadlockRemedy `json:"remedies"`
		// Subnets is about InfiniBand subnets of the inventory and the routers between them.
		Subnets *deadlockSubnets `json:"subnets,omitempty"`
	}
	deadlockSubnets struct {
		Free  bool           `json:"free"`
		Pairs []depend.Reach `json:"pairs"` // that talk, in both directions
		Cycle []string       `json:"cycle"` // of all their traffic together
	}
	deadlockCovered struct {
		Policy       string             `json:"policy"`
		Complete     bool               `json:"complete"`
		Priorities   []int              `json:"priorities"`
		Switches     int                `json:"switches"`
		Links        int                `json:"links"`
		Destinations int                `json:"destinations"`
		Ranks        string             `json:"ranks"`
		Ends         string             `json:"ends"`
		Models       []deadlockModel    `json:"models"`
		Unrouted     []deadlockUnrouted `json:"unrouted"` // the first of them
		Pairs        int                `json:"unrouted_pairs"`
		Leaks        []string           `json:"leaks"` // how an AS plan lets traffic go down and then up again
		NotCovered   []string           `json:"not_covered"`
	}
	deadlockModel struct {
		Model      string `json:"model"`
		Transition bool   `json:"transition"`
		States     int    `json:"states"`
		Tried      int    `json:"tried"`
		Cyclic     int    `json:"cyclic"`
		Method     string `json:"method"`
		Orbits     int    `json:"orbits,omitempty"` // of method symmetry: how many states were gone through
	}
	deadlockUnrouted struct {
		From string `json:"from"`
		To   string `json:"to"`
	}
	deadlockStep struct {
		Link     string          `json:"link"`
		Priority qos.Priority    `json:"priority"`
		Because  deadlockBecause `json:"because"`
	}
	deadlockBecause struct {
		Destination string   `json:"destination"`
		Switch      string   `json:"switch"`
		Failure     []string `json:"failure"` // down in the state whose table is used; empty: nothing
		Flooded     bool     `json:"flooded,omitempty"`
		Detour      bool     `json:"detour,omitempty"` // over the other switch of a host
	}
	deadlockRemedy struct {
		Name       string        `json:"name"`
		Summary    string        `json:"summary"`
		Proven     bool          `json:"proven"` // prevents the cycle: the proof was run again with it
		Proof      string        `json:"proof,omitempty"`
		Priorities int           `json:"priorities,omitempty"`
		Rules      []depend.Bump `json:"rules,omitempty"`
	}
)

func answerOf(d check.Dependencies, v depend.Verdict, remedies []depend.Remedy) deadlockAnswer {
	n := d.Network
	priorities := d.Priorities.All()
	alike := len(priorities) // how many times the buffers of one priority are there
	if d.Mixed() {
		alike = 1
	}
	out := deadlockAnswer{
		Format: 1, Free: v.Free && v.UnroutedPairs == 0, Nodes: v.Nodes * alike, Turns: v.Turns * alike,
		Cycle: []deadlockStep{}, Remedies: []deadlockRemedy{},
		Covered: deadlockCovered{
			Policy: d.Routes(), Complete: v.Complete, Priorities: []int{}, Switches: len(n.Switches),
			Links: len(n.Links), Destinations: len(n.Destinations), Ranks: d.Ranks, Ends: d.Ends,
			Models: []deadlockModel{}, Unrouted: []deadlockUnrouted{}, Pairs: v.UnroutedPairs, Leaks: []string{}, NotCovered: d.Left(v),
		},
	}
	for _, p := range priorities {
		out.Covered.Priorities = append(out.Covered.Priorities, int(p))
	}
	for _, m := range v.Covered {
		out.Covered.Models = append(out.Covered.Models, deadlockModel{string(m.Model), m.Transition, m.States, m.Tried, m.Cyclic, string(m.Method), m.Orbits})
	}
	for _, u := range v.Unrouted {
		out.Covered.Unrouted = append(out.Covered.Unrouted, deadlockUnrouted{n.Switches[u.Switch].Name, n.Destinations[u.Destination].Name})
	}
	for _, k := range v.Leaks {
		out.Covered.Leaks = append(out.Covered.Leaks, k.Why)
	}
	if v.Cycle == nil {
		return out
	}
	out.Found = v.Found.State()
	for _, s := range v.Cycle {
		because := deadlockBecause{n.Destinations[s.Destination].Name, n.Switches[s.Switch].Name, append([]string{}, s.Down...), s.Flooded, s.Bounced}
		out.Cycle = append(out.Cycle, deadlockStep{n.ArcName(s.Arc), d.Priority(s), because})
	}
	for _, r := range remedies {
		out.Remedies = append(out.Remedies, deadlockRemedy{r.Name, r.Summary, true, r.Proof, r.Priorities, r.Rules})
	}
	out.Remedies = append(out.Remedies, deadlockRemedy{Name: "watchdog", Summary: d.SecondLine(v)})
	return out
}

func subnetsOf(x *depend.Interchange) *deadlockSubnets {
	if x == nil {
		return nil
	}
	out := &deadlockSubnets{Free: x.Free, Pairs: append([]depend.Reach{}, x.Reaches...), Cycle: []string{}}
	for _, s := range x.Verdict.Cycle {
		out.Cycle = append(out.Cycle, x.Network.ArcName(s.Arc))
	}
	return out
}
