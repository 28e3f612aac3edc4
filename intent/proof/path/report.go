package path

import (
	"slices"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/depend"
	"github.com/weirfabric/weir/intent/diag"
)

// report collects what is found along a path.
type report struct {
	breaks  []found
	seen    map[seen]bool
	assumes []Assumption
	// arc and answers say where the path is; arc is none outside the switches.
	arc     depend.Arc
	answers bool
	// hidden says of a break whether it follows from what is not known, which is said itself; nil: of none.
	hidden func(*Break) bool
}

// found is a break and the step of the path at which it was found.
type found struct {
	Break
	arc     depend.Arc
	answers bool
}

// none is no arc.
const none depend.Arc = -1

type seen struct {
	at   addr.Addr
	what string
}

// add notes a break once. Places that nobody wrote are left out.
func (r *report) add(b Break, places ...[]diag.Pos) {
	if r.hidden != nil && r.hidden(&b) || !r.first(b.At, b.What) {
		return
	}
	b.Places = []diag.Pos{}
	for _, at := range slices.Concat(places...) {
		if at.File != "" && !intent.IsDefault(at) && !slices.Contains(b.Places, at) {
			b.Places = append(b.Places, at)
		}
	}
	r.breaks = append(r.breaks, found{b, r.arc, r.answers})
}

// merge takes over the breaks of another report.
func (r *report) merge(breaks []found) {
	for _, b := range breaks {
		r.add(b.Break, b.Places)
	}
}

// grant takes over what another report assumes.
func (r *report) grant(assumes []Assumption) {
	for _, a := range assumes {
		for _, at := range a.At {
			r.assume(at, a.What)
		}
	}
}

// assume notes what is taken for granted at an address.
func (r *report) assume(at addr.Addr, what string) {
	if !r.first(at, what) {
		return
	}
	i := slices.IndexFunc(r.assumes, func(a Assumption) bool { return a.What == what })
	if i < 0 {
		r.assumes = append(r.assumes, Assumption{What: what})
		i = len(r.assumes) - 1
	}
	a := &r.assumes[i]
	if a.Count++; len(a.At) < listedAddresses {
		a.At = append(a.At, at)
	}
}

// first says whether this was not said of the address before.
func (r *report) first(at addr.Addr, what string) bool {
	if r.seen == nil {
		r.seen = map[seen]bool{}
	}
	key := seen{at, what}
	before := r.seen[key]
	r.seen[key] = true
	return !before
}
