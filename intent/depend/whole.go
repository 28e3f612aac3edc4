package depend

import (
	"fmt"
	"slices"
)

// whole is all subnets and routers as one network.
type whole struct {
	Interconnect
	network *Network
	first   map[string]int // by subnet: its first switch
	link    map[string]int // by subnet: its first link
	plug    map[[2]int]Arc // by router and its join: the arc from the switch to the router
	router  map[string]int // by name: its switch
	to      map[string]*Tables
	hops    [][]Arc // by destination of the whole
}

func (w *whole) part(name string) *Part {
	i := slices.IndexFunc(w.Subnets, func(p Part) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &w.Subnets[i]
}

// join puts the subnets beside each other and the routers between them, and works out the routes of each subnet to its own
// destinations and, behind these, to each join.
func (w *whole) join() error {
	w.link, w.plug, w.to = map[string]int{}, map[[2]int]Arc{}, map[string]*Tables{}
	for _, g := range w.Routers {
		for _, j := range g.Joins {
			if p := w.part(j.Subnet); p == nil || p.Network == nil || j.Switch < 0 || j.Switch >= len(p.Network.Switches) {
				return fmt.Errorf("router %s joins switch %d of subnet %q, which is not there", g.Name, j.Switch, j.Subnet)
			}
		}
	}
	for _, p := range w.Subnets {
		if p.Network == nil || w.to[p.Name] != nil {
			return fmt.Errorf("subnet %q has no network, or its name is there twice", p.Name)
		}
		w.first[p.Name], w.link[p.Name] = len(w.network.Switches), len(w.network.Links)
		for _, s := range p.Network.Switches {
			s.Name = p.Name + "/" + s.Name
			w.network.Switches = append(w.network.Switches, s)
		}
		for _, l := range p.Network.Links {
			l.A, l.B = l.A+w.first[p.Name], l.B+w.first[p.Name]
			w.network.Links = append(w.network.Links, l)
		}
		t, err := w.tables(p)
		if err != nil {
			return fmt.Errorf("subnet %s: %w", p.Name, err)
		}
		w.to[p.Name] = t
	}
	for _, pair := range w.Talk {
		for _, name := range pair {
			if w.part(name) == nil {
				return fmt.Errorf("%s and %s talk, and there is no subnet %s", pair[0], pair[1], name)
			}
		}
	}
	for r, g := range w.Routers {
		w.router[g.Name] = len(w.network.Switches)
		w.network.Switches = append(w.network.Switches, Switch{Name: g.Name})
		for i, j := range g.Joins {
			w.plug[[2]int{r, i}] = Arc(2 * len(w.network.Links))
			w.network.Links = append(w.network.Links, Link{A: w.first[j.Subnet] + j.Switch, B: w.router[g.Name]})
		}
	}
	return nil
}

// tables are the routes of a subnet. Those to joins stand behind its own destinations where they are worked out.
func (w *whole) tables(p Part) (*Tables, error) {
	if p.Tables != nil {
		return p.Tables, nil
	}
	n := *p.Network
	n.Destinations = slices.Clone(n.Destinations)
	for _, j := range w.joins(p.Name) {
		n.Destinations = append(n.Destinations, Destination{Name: "a router", At: []int{j.Switch}})
	}
	return Routes(&n, p.Policy)
}

// joins are all ports of routers in a subnet.
func (w *whole) joins(subnet string) []Join {
	var out []Join
	for _, g := range w.Routers {
		for _, j := range g.Joins {
			if j.Subnet == subnet {
				out = append(out, j)
			}
		}
	}
	return out
}

// destination is the number of a join's destination in the tables of its subnet.
func (w *whole) destination(router, join int) int {
	g := w.Routers[router]
	p := w.part(g.Joins[join].Subnet)
	if p.Tables != nil {
		return g.Joins[join].Destination
	}
	number := len(p.Network.Destinations)
	for r, other := range w.Routers {
		for i, j := range other.Joins {
			if r == router && i == join {
				return number
			}
			if j.Subnet == p.Name {
				number++
			}
		}
	}
	return number
}

// add makes a destination of the whole.
func (w *whole) add(d Destination, hops []Arc) {
	w.network.Destinations = append(w.network.Destinations, d)
	w.hops = append(w.hops, hops)
}

// over are the links of a subnet, in the whole, that lead to one of its destinations.
func (w *whole) over(subnet string, d int) []Arc {
	p, t := w.part(subnet), w.to[subnet]
	var out []Arc
	for a := range Arc(2 * len(p.Network.Links)) {
		if t.Has(d, a) {
			out = append(out, a+Arc(2*w.link[subnet]))
		}
	}
	return out
}

func (w *whole) shift(subnet string, switches []int) []int {
	out := make([]int, len(switches))
	for i, sw := range switches {
		out[i] = sw + w.first[subnet]
	}
	return out
}

// inside takes the traffic inside a subnet.
func (w *whole) inside(p Part) {
	from := w.hosts(p.Name)
	for d, dest := range p.Network.Destinations {
		at := w.shift(p.Name, dest.At)
		begins := slices.DeleteFunc(slices.Clone(from), func(sw int) bool { return slices.Contains(at, sw) })
		w.add(Destination{Name: p.Name + "/" + dest.Name, At: at, From: begins}, w.over(p.Name, d))
	}
}

// hosts are the switches of a subnet that have hosts, in the whole.
func (w *whole) hosts(subnet string) []int {
	out := []int{}
	for i, s := range w.part(subnet).Network.Switches {
		if s.Ends {
			out = append(out, i+w.first[subnet])
		}
	}
	return out
}

// reach takes the traffic from one subnet to another: every way over a port of a router into it and a port out of it.
func (w *whole) reach(from, to string) Reach {
	var list []router
	for _, g := range w.Routers {
		r := router{name: g.Name}
		for _, j := range g.Joins {
			r.subnets = append(r.subnets, j.Subnet)
		}
		list = append(list, r)
	}
	out := Reach{From: from, To: to, Via: hops(list, from, to), Routers: []string{}, Valleys: []ValleyPath{}, Unrouted: []string{}}
	arrives := map[int]bool{} // switches that some router leads on from, and to
	for r, g := range w.Routers {
		found := false
		for i, in := range g.Joins {
			for o, on := range g.Joins {
				if in.Subnet != from || on.Subnet != to || from == to {
					continue
				}
				if !found {
					found, out.Routers = true, append(out.Routers, g.Name)
				}
				w.through(r, i, o, &out, arrives)
			}
		}
	}
	for _, subnet := range []string{from, to} {
		for _, sw := range w.hosts(subnet) {
			if len(out.Routers) > 0 && !arrives[sw] {
				out.Unrouted = append(out.Unrouted, w.network.Switches[sw].Name)
			}
		}
	}
	return out
}

// through takes the traffic that goes in at one port of a router and out at another.
func (w *whole) through(r, in, on int, out *Reach, arrives map[int]bool) {
	g := w.Routers[r]
	up := append(w.over(out.From, w.destination(r, in)), w.plug[[2]int{r, in}])
	p := w.part(out.To)
	for d, dest := range p.Network.Destinations {
		hops := append(slices.Clone(up), w.plug[[2]int{r, on}].Reverse())
		hops = append(hops, w.over(out.To, d)...)
		begins := w.hosts(out.From)
		w.add(Destination{Name: out.To + "/" + dest.Name + " over " + g.Name, At: w.shift(out.To, dest.At), From: begins}, hops)
		valley := w.walk(begins, w.shift(out.To, dest.At), hops, arrives)
		if valley != nil && !slices.ContainsFunc(out.Valleys, func(v ValleyPath) bool { return v.Router == g.Name }) {
			valley.Router = g.Name
			out.Valleys = append(out.Valleys, *valley)
		}
	}
}

// spot is a switch on a way, and whether the way has gone down.
type spot struct {
	sw   int
	fell bool
}

// walk follows the routes to one destination from where its traffic begins, and gives the first way that goes down and then
// up, to its end; nil where there is none. Switches that it begins at and leads from, and ends at, arrive.
func (w *whole) walk(from, at []int, hops []Arc, arrives map[int]bool) *ValleyPath {
	next := map[int][]Arc{}
	for _, a := range hops {
		next[w.network.Tail(a)] = append(next[w.network.Tail(a)], a)
	}
	before := map[spot]spot{}
	var valley *ValleyPath
	for _, begin := range from {
		start := spot{begin, false}
		if _, seen := before[start]; !seen {
			before[start] = start
		}
		reached := map[spot]bool{start: true}
		for queue := []spot{start}; len(queue) > 0; queue = queue[1:] {
			here := queue[0]
			if slices.Contains(at, here.sw) {
				arrives[begin], arrives[here.sw] = true, true
				continue
			}
			for _, a := range next[here.sw] {
				there := spot{w.network.Head(a), here.fell || w.climb(a) < 0}
				if here.fell && w.climb(a) > 0 && valley == nil {
					valley = w.told(here, a, before, next, at)
				}
				if !reached[there] {
					reached[there] = true
					if _, seen := before[there]; !seen {
						before[there] = here
					}
					queue = append(queue, there)
				}
			}
		}
	}
	return valley
}

// told spells a way: from its beginning to where it turns up over an arc, and on to its end.
func (w *whole) told(turn spot, up Arc, before map[spot]spot, next map[int][]Arc, at []int) *ValleyPath {
	v := &ValleyPath{At: w.network.Switches[turn.sw].Name}
	for here := turn; ; here = before[here] {
		v.Path = append(v.Path, w.network.Switches[here.sw].Name)
		if before[here] == here {
			break
		}
	}
	slices.Reverse(v.Path)
	seen := map[int]bool{}
	for here := w.network.Head(up); !seen[here]; {
		seen[here] = true
		v.Path = append(v.Path, w.network.Switches[here].Name)
		if slices.Contains(at, here) || len(next[here]) == 0 {
			break
		}
		here = w.network.Head(next[here][0])
	}
	return v
}

// climb is 1 for an arc that leads up, -1 for one that leads down, and 0 for one that does neither.
func (w *whole) climb(a Arc) int {
	tail, head := w.network.Tail(a), w.network.Head(a)
	if tail >= w.routers() || head >= w.routers() {
		if tail >= w.routers() {
			return -w.climb(a.Reverse())
		}
		if w.top(tail) {
			return 1
		}
		return -1
	}
	switch from, to := w.network.Switches[tail].Rank, w.network.Switches[head].Rank; {
	case to > from:
		return 1
	case to < from:
		return -1
	}
	return 0
}

// routers is the number of the first router among the switches.
func (w *whole) routers() int { return len(w.network.Switches) - len(w.Routers) }

// top says whether a switch is of the highest rank of its subnet.
func (w *whole) top(sw int) bool {
	for _, p := range w.Subnets {
		if at := sw - w.first[p.Name]; at >= 0 && at < len(p.Network.Switches) {
			return !slices.ContainsFunc(p.Network.Switches, func(s Switch) bool { return s.Rank > p.Network.Switches[at].Rank })
		}
	}
	return false
}
