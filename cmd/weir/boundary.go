package main

import (
	"fmt"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
)

// boundaries looks at the fabric as it stands between the waves of a plan. A link whose two ends change what is lossless, each
// from something and in different waves, pauses on one priority at one end and on another at the other in between: what
// travels there is dropped. Such a plan is refused. A link that becomes lossless from nothing is safe in between, because the
// hosts, which mark, go last; unless they mark already, which is said.
func boundaries(p plan.Plan, f *fabric.Fabric) diag.List {
	at := map[addr.Addr]turn{}
	marking := map[string]bool{}
	for n, wave := range p.Waves {
		for _, s := range wave {
			for _, c := range s.Changes {
				if c.Addr.Kind == addr.PFC && c.Addr.Port != "" {
					at[addr.Port(c.Addr.Device, c.Addr.Port)] = turn{wave: n, change: c, before: at[addr.Port(c.Addr.Device, c.Addr.Port)].before || c.Before != ""}
				}
				if c.Addr.Kind == addr.RoCE && c.Action == plan.Create {
					marking[c.Addr.Device] = true
				}
			}
		}
	}
	var findings diag.List
	for _, l := range f.Links {
		a, b := l.A.Address(), l.B.Address()
		ta, changesA := at[a]
		tb, changesB := at[b]
		switch {
		case changesA && changesB && ta.wave != tb.wave && ta.before && tb.before && ta.change.Before == tb.change.Before:
			findings.Add(diag.Diagnostic{
				Severity: diag.Error, Check: "boundary", Addr: a,
				Summary: fmt.Sprintf("its lossless priorities change in wave %d and those of %s at the other end in wave %d", ta.wave+1, b, tb.wave+1),
				Detail: "Between the two waves the ends pause different priorities, and what travels on the link in the class is dropped. First add the new " +
					"priority as a second lossless class and apply; move the class; then remove the old one.",
				At: append(append([]diag.Pos{}, ta.change.Because...), tb.change.Because...),
			})
		case changesA != changesB && (l.A.Host != nil || l.B.Host != nil) && !marking[hostOf(l)] && len(p.Waves) > 0 && becomes(ta, changesA, tb):
			findings.Add(diag.Diagnostic{
				Severity: diag.Warning, Check: "boundary", Addr: addr.Device(hostOf(l)),
				Summary: fmt.Sprintf("it sends in the class already, and its link between %s and %s is not lossless yet", a, b),
				Detail:  "What it sends meanwhile may be dropped, as it may be now.",
			})
		}
	}
	return findings
}

// turn is the wave in which the PFC of a port changes.
type turn struct {
	wave   int
	change plan.Change
	before bool // some priority was lossless before
}

// becomes says whether the end that changes gets its first lossless priority.
func becomes(a turn, aChanges bool, b turn) bool {
	if aChanges {
		return !a.before
	}
	return !b.before
}

func hostOf(l *fabric.Link) string {
	if l.A.Host != nil {
		return l.A.Host.Name
	}
	if l.B.Host != nil {
		return l.B.Host.Name
	}
	return ""
}
