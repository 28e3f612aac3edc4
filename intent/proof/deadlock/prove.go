package deadlock

import (
	"errors"
	"slices"

	"github.com/weirfabric/weir/intent/depend"
	"github.com/weirfabric/weir/intent/qos"
)

// ErrNotRouted is the error about switches that are one layer-2 domain whose cables have loops.
var ErrNotRouted = errors.New("routing.routed is false and the cables have loops: the proof is for routed fabrics, and does not know which ports a spanning tree blocks")

// Question asks for the proof with so many failures at once. What it costs at most is up to the caller.
func (d Dependencies) Question(failures int) depend.Question {
	q := depend.Question{
		Network: d.Network, Policy: d.Policy, Plan: d.Plan, FIB: d.FIB, States: d.States, Virtual: d.Virtual, Failures: failures,
		Flooded: d.Flooded, Bounces: d.Bounces,
	}
	if len(d.States) > 0 {
		q.Failures = 0
	}
	n := len(d.Network.Links) + len(d.Network.Switches)
	q.Symmetry = failures == 1 && n > exhaustiveStates || failures == 2 && n*(n-1)/2 > exhaustiveStates
	if len(d.Flooded)+len(d.Bounces) > 0 {
		q.Lossless, q.Begin = ints(d.Priorities), ints(d.Begin)
	}
	return q
}

// FailureStates is how many states the fabric has with at least one and at most so many failures, of which there may be two.
func (d Dependencies) FailureStates(failures int) int {
	if failures <= 0 {
		return 0
	}
	n := len(d.Network.Links) + len(d.Network.Switches)
	return n + (failures-1)*n*(n-1)/2
}

// Prove asks the engine, and for what would prevent a cycle that it found. A fabric in which nothing can go round is free
// without being asked about. The error is ErrNotRouted, or one of the engine.
func (d Dependencies) Prove(q depend.Question) (depend.Verdict, []depend.Remedy, error) {
	switch {
	case d.Priorities == 0 || !d.Routed && d.Network.Forest():
		return depend.Verdict{Free: true, Complete: true}, nil, nil
	case !d.Routed:
		return depend.Verdict{}, nil, ErrNotRouted
	}
	verdict, err := depend.Prove(q)
	if err != nil {
		return depend.Verdict{}, nil, err
	}
	q.Progress = nil
	remedies, err := depend.Remedies(q, verdict)
	return verdict, remedies, err
}

// Left is what a verdict says nothing about: what no proof covers, and what the way in which it was found leaves open. With a
// certificate every path that BGP may try is covered.
func (d Dependencies) Left(v depend.Verdict) []string {
	out := slices.Clone(d.NotCovered)
	searched := func(c depend.Coverage) bool { return c.Transition && c.Method != depend.Certificate }
	if d.Policy == depend.BGP && slices.ContainsFunc(v.Covered, searched) {
		out = append(out, triedNotCovered)
	}
	return out
}

// exhaustiveStates is up to how many states each is gone through; of more, one of each set that is alike by symmetry.
const exhaustiveStates = 5000

func ints(set qos.PrioritySet) []int {
	var out []int
	for _, p := range set.All() {
		out = append(out, int(p))
	}
	return out
}
