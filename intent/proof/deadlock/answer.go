package deadlock

import (
	"github.com/weirfabric/weir/intent/depend"
	"github.com/weirfabric/weir/intent/qos"
)

// Answer is the JSON form of what the proof found.
type Answer struct {
	Format   int      `json:"format"`
	Free     bool     `json:"free"`
	Covered  Covered  `json:"covered"`
	Nodes    int      `json:"nodes"`
	Turns    int      `json:"turns"`
	Found    string   `json:"found,omitempty"` // the state that has the cycle
	Cycle    []Step   `json:"cycle"`           // each follows the one before, and the first the last
	Remedies []Remedy `json:"remedies"`
	// Subnets is about InfiniBand subnets of the inventory and the routers between them.
	Subnets *Subnets `json:"subnets,omitempty"`
}

// Subnets is what was found of the traffic between InfiniBand subnets.
type Subnets struct {
	Free  bool           `json:"free"`
	Pairs []depend.Reach `json:"pairs"` // that talk, in both directions
	Cycle []string       `json:"cycle"` // of all their traffic together
}

// Covered says how far an answer reaches.
type Covered struct {
	Policy       string     `json:"policy"`
	Complete     bool       `json:"complete"`
	Priorities   []int      `json:"priorities"`
	Switches     int        `json:"switches"`
	Links        int        `json:"links"`
	Destinations int        `json:"destinations"`
	Ranks        string     `json:"ranks"`
	Ends         string     `json:"ends"`
	Models       []Model    `json:"models"`
	Unrouted     []Unrouted `json:"unrouted"` // the first of them
	Pairs        int        `json:"unrouted_pairs"`
	Leaks        []string   `json:"leaks"` // how an AS plan lets traffic go down and then up again
	NotCovered   []string   `json:"not_covered"`
}

// Model is a kind of states that was proven, and how.
type Model struct {
	Model      string `json:"model"`
	Transition bool   `json:"transition"`
	States     int    `json:"states"`
	Tried      int    `json:"tried"`
	Cyclic     int    `json:"cyclic"`
	Method     string `json:"method"`
	Orbits     int    `json:"orbits,omitempty"` // of method symmetry: how many states were gone through
}

// Unrouted is a switch and a destination that cables join and routes do not.
type Unrouted struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Step is a buffer of a cycle.
type Step struct {
	Link     string       `json:"link"`
	Priority qos.Priority `json:"priority"`
	Because  Because      `json:"because"`
}

// Because is why a buffer waits for the next one.
type Because struct {
	Destination string   `json:"destination"`
	Switch      string   `json:"switch"`
	Failure     []string `json:"failure"` // down in the state whose table is used; empty: nothing
	Flooded     bool     `json:"flooded,omitempty"`
	Detour      bool     `json:"detour,omitempty"` // over the other switch of a host
}

// Remedy is a change against a cycle.
type Remedy struct {
	Name       string        `json:"name"`
	Summary    string        `json:"summary"`
	Proven     bool          `json:"proven"` // prevents the cycle: the proof was run again with it
	Proof      string        `json:"proof,omitempty"`
	Priorities int           `json:"priorities,omitempty"`
	Rules      []depend.Bump `json:"rules,omitempty"`
}

// AnswerOf is the answer to a proof, and to that of the InfiniBand subnets; nil: the inventory has none.
func AnswerOf(d Dependencies, v depend.Verdict, remedies []depend.Remedy, subnets *depend.Interchange) Answer {
	n := d.Network
	priorities := d.Priorities.All()
	alike := len(priorities) // how many times the buffers of one priority are there
	if d.Mixed() {
		alike = 1
	}
	out := Answer{
		Format: 1, Free: v.Free && v.UnroutedPairs == 0, Nodes: v.Nodes * alike, Turns: v.Turns * alike,
		Cycle: []Step{}, Remedies: []Remedy{}, Subnets: subnetsOf(subnets),
		Covered: Covered{
			Policy: d.Routes(), Complete: v.Complete, Priorities: []int{}, Switches: len(n.Switches),
			Links: len(n.Links), Destinations: len(n.Destinations), Ranks: d.Ranks, Ends: d.Ends,
			Models: []Model{}, Unrouted: []Unrouted{}, Pairs: v.UnroutedPairs, Leaks: []string{}, NotCovered: d.Left(v),
		},
	}
	for _, p := range priorities {
		out.Covered.Priorities = append(out.Covered.Priorities, int(p))
	}
	for _, m := range v.Covered {
		out.Covered.Models = append(out.Covered.Models, Model{string(m.Model), m.Transition, m.States, m.Tried, m.Cyclic, string(m.Method), m.Orbits})
	}
	for _, u := range v.Unrouted {
		out.Covered.Unrouted = append(out.Covered.Unrouted, Unrouted{n.Switches[u.Switch].Name, n.Destinations[u.Destination].Name})
	}
	for _, k := range v.Leaks {
		out.Covered.Leaks = append(out.Covered.Leaks, k.Why)
	}
	if v.Cycle == nil {
		return out
	}
	out.Found = v.Found.State()
	for _, s := range v.Cycle {
		because := Because{n.Destinations[s.Destination].Name, n.Switches[s.Switch].Name, append([]string{}, s.Down...), s.Flooded, s.Bounced}
		out.Cycle = append(out.Cycle, Step{n.ArcName(s.Arc), d.Priority(s), because})
	}
	for _, r := range remedies {
		out.Remedies = append(out.Remedies, Remedy{r.Name, r.Summary, true, r.Proof, r.Priorities, r.Rules})
	}
	out.Remedies = append(out.Remedies, Remedy{Name: "watchdog", Summary: d.SecondLine(v)})
	return out
}

func subnetsOf(x *depend.Interchange) *Subnets {
	if x == nil {
		return nil
	}
	out := &Subnets{Free: x.Free, Pairs: append([]depend.Reach{}, x.Reaches...), Cycle: []string{}}
	for _, s := range x.Verdict.Cycle {
		out.Cycle = append(out.Cycle, x.Network.ArcName(s.Arc))
	}
	return out
}
