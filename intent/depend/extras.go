package depend

import (
	"errors"
	"fmt"
	"slices"
)

// maxPriorities is how many priorities PFC can tell apart (IEEE 802.1Qbb).
const maxPriorities = 8

// extras says whether the question needs the priorities apart. Where no traffic changes its priority and nothing is flooded or
// bounced, a cycle of buffers of any priorities is a cycle of links, and the proof runs on the links alone.
func (q Question) extras() bool {
	return len(q.Rewrites)+len(q.Flooded)+len(q.Bounces) > 0 || q.Virtual != nil
}

// validateExtras says what of rewrites, floods and bounces makes no sense.
func (q Question) validateExtras() error {
	n := q.Network
	for _, p := range slices.Concat(q.Lossless, q.Begin) {
		if p < 0 || p >= maxPriorities {
			return fmt.Errorf("there is no priority %d: they are 0 to %d", p, maxPriorities-1)
		}
	}
	for _, p := range q.Begin {
		if !slices.Contains(q.lossless(), p) {
			return fmt.Errorf("traffic begins in priority %d, which is not lossless", p)
		}
	}
	for _, r := range q.Rewrites {
		for _, a := range slices.Concat(r.In, r.Out) {
			if a < 0 || int(a) >= 2*len(n.Links) {
				return fmt.Errorf("a rewrite names link %d, and there are %d", a.Link(), len(n.Links))
			}
		}
		if r.From < 0 || r.From >= maxPriorities || r.To >= maxPriorities {
			return fmt.Errorf("a rewrite leads from priority %d to %d: they are 0 to %d", r.From, r.To, maxPriorities-1)
		}
		if r.Switch < 0 || r.Switch >= len(n.Switches) {
			return fmt.Errorf("a rewrite names switch %d, and there are %d", r.Switch, len(n.Switches))
		}
	}
	for _, sw := range q.Flooded {
		if sw < 0 || sw >= len(n.Switches) {
			return fmt.Errorf("a flood names switch %d, and there are %d", sw, len(n.Switches))
		}
	}
	for _, link := range q.Blocked {
		if link < 0 || link >= len(n.Links) {
			return fmt.Errorf("a blocked link is number %d, and there are %d", link, len(n.Links))
		}
	}
	if len(q.Blocked) > 0 && q.Failures > 0 {
		return errors.New("after a failure a spanning tree blocks other links: prove each of its trees without failures")
	}
	for _, b := range q.Bounces {
		for _, sw := range []int{b.From, b.To} {
			if sw < 0 || sw >= len(n.Switches) {
				return fmt.Errorf("a bounce names switch %d, and there are %d", sw, len(n.Switches))
			}
		}
		if b.From == b.To {
			return fmt.Errorf("a bounce leads from %s to itself", n.Switches[b.From].Name)
		}
	}
	if q.Virtual != nil && len(q.Rewrites)+len(q.Bounces)+len(q.Flooded)+len(q.Lossless) > 0 {
		return errors.New("virtual lanes do not go together with rewrites, floods, bounces and lossless priorities, which are of Ethernet")
	}
	return nil
}

// lossless are the priorities whose buffers wait; one where nothing is said of them.
func (q Question) lossless() []int {
	if len(q.Lossless) == 0 {
		return []int{0}
	}
	return q.Lossless
}

// compile works out what the question says beside routes.
func (q Question) compile(l *layout) *extras {
	if q.Virtual != nil {
		x := q.Virtual.compile(l)
		x.floods, x.blocked, x.bounces = q.switches(), q.blocked(), make([][]Bounce, len(l.Switches))
		return x
	}
	priorities := q.labels()
	x := &extras{
		labels: priorities, floods: q.switches(), blocked: q.blocked(), bounces: make([][]Bounce, len(l.Switches)),
		begins: q.lossless(), lossy: slices.Repeat([]bool{true}, priorities),
	}
	if len(q.Begin) > 0 {
		x.begins = q.Begin
	}
	for p := range x.labels {
		x.buffer = append(x.buffer, p)
	}
	for _, p := range q.lossless() {
		x.lossy[p] = false
	}
	x.ignored = slices.Clone(x.lossy)
	for _, r := range q.Rewrites {
		if r.From >= 0 && r.To >= 0 && x.lossy[r.From] && !x.lossy[r.To] {
			x.ignored[r.From] = false // what comes in lossy goes on lossless
			if !slices.Contains(x.begins, r.From) {
				x.begins = append(slices.Clone(x.begins), r.From)
			}
		}
	}
	for _, b := range q.Bounces {
		x.bounces[b.From] = append(x.bounces[b.From], b)
	}
	x.after = rewriting(l, q.Rewrites)
	x.order = q.order()
	if len(q.Flooded) > 0 {
		x.double()
	}
	return x
}

// labels is how many priorities have to be told apart: those up to the highest one that is named.
func (q Question) labels() int {
	highest := slices.Max(q.lossless())
	for _, r := range q.Rewrites {
		highest = max(highest, r.From, r.To)
	}
	return highest + 1
}

// double gives every priority a second label, for flooded copies.
func (x *extras) double() {
	priorities, after := x.labels, x.after
	x.copies, x.labels = priorities, 2*priorities
	x.buffer, x.lossy, x.ignored = slices.Repeat(x.buffer, 2), slices.Repeat(x.lossy, 2), slices.Repeat(x.ignored, 2)
	if x.order != nil {
		x.order = slices.Concat(x.order[:priorities], x.order[:priorities])
	}
	x.after = func(sw int, in, out Arc, label int) int {
		to := after(sw, in, out, label%priorities)
		if label >= priorities && to >= 0 {
			to += priorities
		}
		return to
	}
}

func (q Question) switches() []bool {
	out := make([]bool, len(q.Network.Switches))
	for _, sw := range q.Flooded {
		out[sw] = true
	}
	return out
}

func (q Question) blocked() []bool {
	out := make([]bool, len(q.Network.Links))
	for _, link := range q.Blocked {
		out[link] = true
	}
	return out
}

// rewriting looks a priority up in the rules of its switch.
func rewriting(l *layout, rules []Rewrite) func(sw int, in, out Arc, label int) int {
	port := make([]int, l.arcs()) // the place of an arc among those that leave its tail
	for _, arcs := range l.out {
		for i, a := range arcs {
			port[a] = i
		}
	}
	type limits struct {
		Rewrite
		in, out []bool // by port
	}
	at := make([][]limits, len(l.Switches))
	for _, r := range rules {
		x := limits{Rewrite: r, in: make([]bool, len(l.out[r.Switch])), out: make([]bool, len(l.out[r.Switch]))}
		for _, a := range r.In {
			if int(l.head[a]) == r.Switch {
				x.in[port[a.Reverse()]] = true
			}
		}
		for _, a := range r.Out {
			if int(l.tail[a]) == r.Switch {
				x.out[port[a]] = true
			}
		}
		at[r.Switch] = append(at[r.Switch], x)
	}
	return func(sw int, in, out Arc, label int) int {
		for i := range at[sw] {
			r := &at[sw][i]
			if r.From == label && (r.In == nil || in != noArc && r.in[port[in.Reverse()]]) && (r.Out == nil || r.out[port[out]]) {
				return r.To
			}
		}
		return label
	}
}

// order puts the priorities into an order that rewrites and bounces only go up in; nil where they go round.
func (q Question) order() []int {
	above := make([][]int, maxPriorities)
	lossless := q.lossless()
	step := func(from, to int) {
		if from != to && slices.Contains(lossless, from) && slices.Contains(lossless, to) {
			above[from] = append(above[from], to)
		}
	}
	for _, r := range q.Rewrites {
		step(r.From, r.To)
	}
	for _, b := range q.Bounces {
		for _, p := range lossless {
			step(p, p+b.Shift)
			for _, r := range q.Rewrites {
				if r.Switch == b.From && r.From == p {
					step(p, r.To+b.Shift)
				}
			}
		}
	}
	order := make([]int, maxPriorities)
	for range maxPriorities {
		for from, tos := range above {
			for _, to := range tos {
				order[to] = max(order[to], order[from]+1)
			}
		}
	}
	for from, tos := range above {
		for _, to := range tos {
			if order[to] <= order[from] {
				return nil
			}
		}
	}
	return order
}

// certain says whether every turn that the cables allow raises the priority, or keeps it and raises the potential. Then no
// tables at all make a cycle: priorities cannot fall, and inside one the potential cannot.
func (l *layout) certain(x *extras) bool {
	if x.order == nil {
		return false
	}
	for a := range Arc(l.arcs()) {
		sw := int(l.head[a])
		for _, out := range l.out[sw] {
			for p := range x.labels {
				if x.lossy[p] {
					continue
				}
				if !x.rises(l, turn{a, out}, p, x.after(sw, a, out, p)) {
					return false
				}
				for _, b := range x.bounces[sw] {
					if to := x.after(sw, a, out, p); to >= 0 && !x.rises(l, turn{a, out}, p, x.shift(to, b.Shift)) {
						return false
					}
				}
			}
		}
	}
	return true
}

// rises says whether a turn from one priority to another raises what the certificate is about.
func (x *extras) rises(l *layout, t turn, from, to int) bool {
	if to < 0 || to >= x.labels || x.lossy[to] {
		return true
	}
	return x.order[to] > x.order[from] || x.order[to] == x.order[from] && x.buffer[from] == x.buffer[to] && l.potential[t.out] > l.potential[t.in]
}

// steady says whether turns that routes make cannot lower the priority, and turns beside the routes always raise it. Where
// routes go up, sideways and down only, that is enough.
func (x *extras) steady(l *layout) bool {
	if x.order == nil || slices.Contains(x.floods, true) {
		return false
	}
	for sw, list := range x.bounces {
		for _, b := range list {
			for _, back := range l.out[sw] {
				for _, out := range l.out[sw] {
					for p := range x.labels {
						to := x.after(sw, back.Reverse(), out, p)
						if to >= 0 {
							to = x.shift(to, b.Shift)
						}
						if !x.lossy[p] && to >= 0 && !x.lossy[to] && x.order[to] <= x.order[p] {
							return false
						}
					}
				}
			}
		}
	}
	return true
}
