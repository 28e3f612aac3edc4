package path

import (
	"fmt"
	"slices"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/depend"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/proof"
)

// Prover proves paths of one fabric. It remembers what it worked out, so it is for one goroutine at a time, and the fabric
// must not be changed meanwhile.
type Prover struct {
	f       *fabric.Fabric
	network *depend.Network // without destinations
	links   []*fabric.Link  // of the network, by index
	index   map[*fabric.Switch]int
	arcs    [][]depend.Arc // that leave each switch, as people count its ports
	island  []int          // switches of one number are joined by cables
	policy  depend.Policy
	routed  bool // otherwise the switches are one layer-2 domain
	ranks   string

	routes map[int]*depend.Tables // by destination
	needs  map[needKey]need
	full   map[*fabric.Switch]overfull
}

// New makes ready to prove paths of f. Where its routing policy is BGP, its AS plan must be one that proof.ASPlan finds nothing
// wrong with.
func New(f *fabric.Fabric) *Prover {
	ranks := f.Ranks()
	p := &Prover{
		f: f, index: map[*fabric.Switch]int{}, arcs: make([][]depend.Arc, len(f.Switches)), ranks: ranks.From,
		routes: map[int]*depend.Tables{}, needs: map[needKey]need{}, full: map[*fabric.Switch]overfull{},
	}
	p.policy, p.routed = proof.Routing(f)
	p.network, p.links = proof.Network(f, ranks)
	for i, sw := range f.Switches {
		p.index[sw] = i
	}
	for a := range depend.Arc(2 * len(p.links)) {
		tail := p.network.Tail(a)
		p.arcs[tail] = append(p.arcs[tail], a)
	}
	for _, arcs := range p.arcs {
		slices.SortStableFunc(arcs, func(a, b depend.Arc) int {
			return addr.Natural(p.tail(a).Port.Name, p.tail(b).Port.Name)
		})
	}
	if !p.routed {
		p.policy = depend.ShortestPath // in a tree of cables, the only way
	}
	p.islands()
	return p
}

// tail is the port that sends over an arc, head the one that receives.
func (p *Prover) tail(a depend.Arc) fabric.End {
	l := p.links[a.Link()]
	if a&1 == 1 {
		return l.B
	}
	return l.A
}

func (p *Prover) head(a depend.Arc) fabric.End { return p.tail(a.Reverse()) }

// islands numbers the switches by the cables that join them.
func (p *Prover) islands() {
	p.island = make([]int, len(p.arcs))
	number := 0
	for i := range p.island {
		if p.island[i] != 0 {
			continue
		}
		number++
		p.island[i] = number
		for queue := []int{i}; len(queue) > 0; queue = queue[1:] {
			for _, a := range p.arcs[queue[0]] {
				if next := p.network.Head(a); p.island[next] == 0 {
					p.island[next] = number
					queue = append(queue, next)
				}
			}
		}
	}
}

// tables are the routes to some switches: destination i is the switch to[i].
func (p *Prover) tables(to []int) *depend.Tables {
	n := *p.network
	for _, sw := range to {
		n.Destinations = append(n.Destinations, depend.Destination{Name: n.Switches[sw].Name, At: []int{sw}})
	}
	q := depend.Question{Network: &n, Policy: p.policy}
	if p.policy == depend.BGP {
		q.Plan, _ = proof.ASPlan(p.f, n.Destinations) // with findings nothing is proven: see New
	}
	t, err := q.Routes()
	if err != nil {
		panic(err) // the network is made above
	}
	return t
}

// tablesTo are the routes to one switch, as destination 0.
func (p *Prover) tablesTo(to int) *depend.Tables {
	if p.routes[to] == nil {
		p.routes[to] = p.tables([]int{to})
	}
	return p.routes[to]
}

// blocked notes that nobody knows the routes of a layer-2 domain whose cables have loops.
func (p *Prover) blocked(r *report) {
	if !p.routed && !p.network.Forest() {
		r.add(Break{
			What: "the switches are one layer-2 domain whose cables have loops, and which of them are blocked is unknown",
			Why:  "Packets take other routes than those that were gone through.", Change: "Route between the switches (routing.routed), or cable them as a tree.", Unknown: true,
		}, []diag.Pos{p.f.Intent.Routing.Routed.At})
	}
}

// astray is the break of two ends that the policy gives no route.
func (p *Prover) astray(sw *fabric.Switch) Break {
	return Break{
		At: sw.Address(), Port: sw.Address(), What: fmt.Sprintf("%s routes lead nowhere from here to the other end, though cables join them", p.policy),
		Why: fmt.Sprintf("Heights come from %s.", p.ranks), Change: "Correct a role, write the label rank, or the policy that the routes follow.",
	}
}

// walk is every route from one switch to another.
type walk struct {
	arcs []depend.Arc       // on any route, the nearest to the beginning first
	by   map[int]depend.Arc // the arc by which each switch is first reached
	from int
	to   int
	next *depend.Tables
}

// walk goes through every route once; no arcs where there is none.
func (p *Prover) walk(from, to int) walk {
	w := walk{from: from, to: to, by: map[int]depend.Arc{}, next: p.tablesTo(to)}
	for queue := []int{from}; len(queue) > 0; queue = queue[1:] {
		for _, a := range p.arcs[queue[0]] {
			if !w.next.Has(0, a) {
				continue
			}
			w.arcs = append(w.arcs, a)
			head := p.network.Head(a)
			if _, reached := w.by[head]; !reached {
				w.by[head] = a
				queue = append(queue, head)
			}
		}
	}
	return w
}

// through is one route: the first by the names of its ports or, with an arc, one that passes it.
func (p *Prover) through(w walk, a depend.Arc) []depend.Arc {
	var route []depend.Arc
	here := w.from
	if a != none {
		for back := a; ; back = w.by[p.network.Tail(back)] {
			route = append(route, back)
			if p.network.Tail(back) == w.from {
				break
			}
		}
		slices.Reverse(route)
		here = p.network.Head(a)
	}
	for here != w.to {
		i := slices.IndexFunc(p.arcs[here], func(a depend.Arc) bool { return w.next.Has(0, a) })
		route = append(route, p.arcs[here][i])
		here = p.network.Head(p.arcs[here][i])
	}
	return route
}
