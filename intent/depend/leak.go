package depend

import (
	"fmt"
	"slices"
	"strings"
)

// Leak is a way on which an AS plan lets traffic go down or sideways and up again.
type Leak struct {
	Route   string // the destination or the covering route that it is about; empty: any
	Path    []int  // switches in the order in which traffic passes them; it turns at the second, or is at the first by a covering route
	Accepts int    // the switch that takes the route though it should not
	Why     string
}

// maxLeaks is how many are listed.
const maxLeaks = 10

// leaks are the first ways around the plan's order. Where there are none, every state of the network routes up, at most once
// sideways, and down, and no turn lowers the potential.
//
// The plan has the order if for every switch v and the switches above or beside it that it has sessions with:
//
//  1. what v learned from one of them, none of them takes: v does not pass it on, or it holds the AS of who would take it;
//  2. a route to what is cabled below v that comes from one of them holds v's own AS, so that v does not take it: without the
//     switches of v's AS nothing leads from them to where the route begins;
//  3. an aggregate or default route that v originates leads down to v only what is cabled below v, or is taken only by switches
//     that originate it themselves.
//
// Theorem: then, whatever is down and whichever paths BGP has heard of or still tries, a destination that comes to v from above
// or from the side is cabled below v, and v sends it down, delivers it or drops it. Proof: a switch takes a route from a v that
// is below or beside it only where v originates it or, by 1, learned it from below, and so on down to who originates it; the
// cables of that chain lead down from v, and by 3 the destination is below its end. So it is cabled below v. By 2 v has a route
// to it from below or none. The conditions speak of the ASes on any path, not of which paths there are in a state: they hold
// for old and new tables, and for every mixture of them.
func (b *Plan) leaks(l *layout) []Leak {
	p := &order{layout: l, plan: b, propagation: b.propagation(l, failure{})}
	p.turning()
	p.covering()
	p.climbing()
	return p.found
}

// order looks for leaks.
type order struct {
	*layout
	plan *Plan
	*propagation
	found []Leak
}

func (o *order) full() bool { return len(o.found) >= maxLeaks }

func (o *order) add(k Leak) {
	if !o.full() {
		o.found = append(o.found, k)
	}
}

func (o *order) name(sw int) string { return o.Switches[sw].Name }

// over are the arcs from a switch to those above or beside it that it has sessions with.
func (o *order) over(v int) []Arc {
	var out []Arc
	for _, a := range o.out[v] {
		if o.direction[a] != Down && o.session[a] {
			out = append(out, a)
		}
	}
	return out
}

// turning finds what breaks the first condition.
func (o *order) turning() {
	for v := range o.Switches {
		if slices.Contains(o.plan.NoExportUp, v) {
			continue
		}
		over := o.over(v)
		for i, a := range over {
			if o.full() {
				return
			}
			for j, b := range over {
				x, y := int(o.head[a]), int(o.head[b])
				as := o.plan.AS[x]
				if as == o.plan.AS[y] && o.plan.allow(x) == 0 || i == j && o.plan.allow(x) == 0 {
					continue
				}
				why := fmt.Sprintf("%s takes from %s what that learned from %s: AS %d of %s is not on the path", o.name(x), o.name(v), o.name(y), as, o.name(x))
				if as == o.plan.AS[y] {
					why = fmt.Sprintf("%s takes from %s what that learned from %s: AS %d of both is on the path, and allowas-in %d of %s lets it through",
						o.name(x), o.name(v), o.name(y), as, o.plan.allow(x), o.name(x))
				}
				o.add(Leak{Path: []int{x, v, y}, Accepts: x, Why: why})
				break
			}
		}
	}
}

// origin is a route and who originates it.
type origin struct {
	name string
	of   []int // the destinations that follow it
	at   []int
}

// covers are the covering routes.
func (o *order) covers() []origin {
	var out []origin
	for _, a := range o.plan.Aggregates {
		out = append(out, origin{"aggregate " + a.Name, a.Of, a.At})
	}
	if len(o.plan.Default) > 0 {
		all := make([]int, len(o.Destinations))
		for i := range all {
			all[i] = i
		}
		out = append(out, origin{"the default route", all, o.plan.Default})
	}
	return out
}

// covering finds what breaks the third condition.
func (o *order) covering() {
	cones := o.cones(o.everything())
	for _, c := range o.covers() {
		for _, v := range c.at {
			outside := slices.IndexFunc(c.of, func(d int) bool { return cones.row(v)[d/64]>>(d%64)&1 == 0 })
			if outside < 0 {
				continue
			}
			for _, a := range o.over(v) {
				if x := int(o.head[a]); !slices.Contains(c.at, x) {
					o.add(Leak{Route: c.name, Path: []int{x, v}, Accepts: x, Why: fmt.Sprintf("%s follows %s down to %s, and %s is not below that: where %s has lost it, it sends it down to turn up again",
						o.name(x), c.name, o.name(v), o.Destinations[c.of[outside]].Name, o.name(x))})
					break
				}
			}
		}
	}
}

func (o *order) everything() []int {
	all := make([]int, len(o.Destinations))
	for i := range all {
		all[i] = i
	}
	return all
}

// climbing finds what breaks the second condition, for every AS by itself: the network without its switches falls into parts,
// and no part may hold both who originates a route and a switch above or beside one that stands above the route's end.
func (o *order) climbing() {
	cones := o.cones(o.everything())
	byAS := map[uint32][]int{}
	var ases []uint32
	for v := range o.Switches {
		if as := o.plan.AS[v]; len(o.over(v)) > 0 && len(o.below(cones, v)) > 0 {
			if byAS[as] == nil {
				ases = append(ases, as)
			}
			byAS[as] = append(byAS[as], v)
		}
	}
	covers := o.covers()
	for _, as := range ases {
		if o.full() {
			return
		}
		part := o.parts(as)
		for _, v := range byAS[as] {
			o.climb(v, part, o.below(cones, v), covers)
		}
	}
}

// below are the destinations that are cabled below a switch and not at it.
func (o *order) below(cones sets, v int) []int {
	return slices.DeleteFunc(members(cones.row(v)), func(d int) bool { return slices.Contains(o.Destinations[d].At, v) })
}

// climb finds routes to what is below v that v takes from above or from the side.
func (o *order) climb(v int, part []int, below []int, covers []origin) {
	for _, a := range o.over(v) {
		w := int(o.head[a])
		for _, d := range below {
			if o.full() {
				return
			}
			routes := []origin{{o.Destinations[d].Name, []int{d}, o.Destinations[d].At}}
			for _, c := range covers {
				if slices.Contains(c.of, d) && !slices.Contains(c.at, v) {
					routes = append(routes, c)
				}
			}
			for _, r := range routes {
				i := slices.IndexFunc(r.at, func(at int) bool {
					return o.plan.allow(v) > 0 && at != v || part[at] != 0 && part[at] == part[w]
				})
				if i < 0 {
					continue
				}
				why := fmt.Sprintf("AS %d of %s is on no such path", o.plan.AS[v], o.name(v))
				if part[r.at[i]] == 0 || part[r.at[i]] != part[w] {
					why = fmt.Sprintf("allowas-in %d of %s lets it through", o.plan.allow(v), o.name(v))
				}
				via := ""
				if r.name != o.Destinations[d].Name {
					via = ", by " + r.name
				}
				o.add(Leak{Route: r.name, Path: []int{v, w}, Accepts: v, Why: strings.Join([]string{
					fmt.Sprintf("%s stands above %s and takes a route to it from %s%s", o.name(v), o.Destinations[d].Name, o.name(w), via), why}, ": ")})
				return
			}
		}
	}
}

// parts numbers the parts of the network that sessions join without the switches of an AS; these have 0.
func (o *order) parts(as uint32) []int {
	part := make([]int, len(o.Switches))
	count := 0
	for first := range o.Switches {
		if part[first] != 0 || o.plan.AS[first] == as {
			continue
		}
		count++
		part[first] = count
		for queue := []int{first}; len(queue) > 0; queue = queue[1:] {
			for _, a := range o.out[queue[0]] {
				if w := int(o.head[a]); part[w] == 0 && o.plan.AS[w] != as && o.session[a] {
					part[w] = count
					queue = append(queue, w)
				}
			}
		}
	}
	return part
}
