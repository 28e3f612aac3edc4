package control

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/qos"
)

// boundaries looks at the fabric as it stands between the waves of a plan. Where the first end of a link to change gives a
// lossless class a priority that the other end does not pause yet, what travels there in between may be dropped. Where the
// link was lossless before, that takes away what somebody relies on: the plan is refused. Where it was not, nothing gets worse:
// the hosts, which mark, go last.
func boundaries(p plan.Plan, f *fabric.Fabric) diag.List {
	wave := map[string]int{}
	before := map[addr.Addr]qos.PrioritySet{}
	changed, changes := map[addr.Addr][]diag.Pos{}, map[addr.Addr]bool{}
	for _, l := range f.Links {
		before[l.A.Address()], before[l.B.Address()] = l.A.PFC(), l.B.PFC()
	}
	for n, steps := range p.Waves {
		for _, s := range steps {
			wave[s.Device] = n
			for _, c := range s.Changes {
				if at := addr.Port(c.Addr.Device, c.Addr.Port); c.Addr.Kind == addr.PFC && c.Addr.Port != "" && c.Addr.Leaf == "" {
					before[at] = pausedBefore(before[at], c)
					changed[at], changes[at] = c.Because, true
				}
			}
		}
	}
	var findings diag.List
	for _, l := range f.Links {
		first, second := l.A, l.B
		a, b := first.Address(), second.Address()
		if !changes[a] || !changes[b] || wave[a.Device] == wave[b.Device] {
			continue // where one end alone changes, no state stands between two waves
		}
		if wave[b.Device] < wave[a.Device] {
			first, a, b = second, b, a
		}
		if missing := f.LosslessPriorities() & first.PFC() &^ before[b]; missing != 0 && before[a]&before[b] != 0 {
			findings.Add(diag.Diagnostic{
				Severity: diag.Error, Check: "boundary", Addr: a,
				Summary: fmt.Sprintf("after wave %d it pauses priority %s, and %s at the other end does not before wave %d", wave[a.Device]+1, missing, b, wave[b.Device]+1),
				Detail: "The link is lossless for priority " + (before[a] & before[b]).String() + " now. In between, what travels there in the class is dropped. First add the new priority as a " +
					"second lossless class and apply; then move the class; then remove the old one.",
				At: slices.Concat(changed[a], changed[b]),
			})
		}
	}
	return findings
}

// pausedBefore is what a port pauses before a change. A language says it in one value that lists priorities, or in one value for
// each priority.
func pausedBefore(set qos.PrioritySet, c plan.Change) qos.PrioritySet {
	if listed, ok := parsePriorities(c.Before); ok {
		return listed
	}
	one, ok := parsePriorities(c.Addr.Name)
	switch {
	case !ok:
		return set
	case c.Before == "" || c.Before == "off" || c.Before == "drop":
		return set &^ one
	}
	return set | one
}

// parsePriorities reads 3 or 3,4.
func parsePriorities(list string) (qos.PrioritySet, bool) {
	var set qos.PrioritySet
	for word := range strings.SplitSeq(list, ",") {
		n, err := strconv.ParseUint(word, 10, 3)
		if err != nil {
			return 0, false
		}
		set |= qos.Priorities(qos.Priority(n))
	}
	return set, true
}
