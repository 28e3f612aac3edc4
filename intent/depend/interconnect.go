package depend

import "fmt"

// Interconnect is InfiniBand subnets and the routers between them.
type Interconnect struct {
	Subnets []Part
	Routers []Gateway
	Talk    [][2]string // the pairs of subnets whose hosts talk to each other
}

// Part is one subnet. Its ranks say what is up in it.
type Part struct {
	Name    string
	Network *Network
	Policy  Policy  // how it is routed
	Tables  *Tables // or by what; then every Join of the subnet names a destination
}

// Gateway is a router and where it is plugged in.
type Gateway struct {
	Name  string
	Joins []Join
}

// Join is a port of a router.
type Join struct {
	Subnet      string
	Switch      int
	Destination int // in a subnet with tables: the destination that is this port's LID
}

// Reach is the answer about the traffic from one subnet to another.
type Reach struct {
	From    string   `json:"from"`
	To      string   `json:"to"`
	Via     []string `json:"via"`     // subnets and routers on the way with the fewest routers; empty: no way
	Routers []string `json:"routers"` // those that join both
	// Valleys are ways that go down and then up again: one for each router that has any.
	Valleys []ValleyPath `json:"valleys"`
	// Unrouted are switches with hosts that no router leads on from, or to.
	Unrouted []string `json:"unrouted"`
}

// SingleHop says whether one router joins both subnets: InfiniBand routers forward over a single hop only.
func (r Reach) SingleHop() bool { return len(r.Routers) > 0 }

// Free says whether hosts of the two subnets reach each other, over one router, and never down and then up.
func (r Reach) Free() bool { return r.SingleHop() && len(r.Valleys)+len(r.Unrouted) == 0 }

// ValleyPath is a way that goes down and then up.
type ValleyPath struct {
	Router string   `json:"router"`
	Path   []string `json:"path"` // switches as SUBNET/SWITCH, and the router
	At     string   `json:"at"`   // where it turns up again
}

// Interchange is the answer about an interconnect.
type Interchange struct {
	Free    bool     // every pair that talks may, and there is no credit loop
	Reaches []Reach  // of every pair that talks, in both directions
	Network *Network // all subnets and routers as one network, for the names in Verdict
	Verdict Verdict  // whether the traffic inside the subnets and between them has a credit loop
}

// Prove checks an interconnect. A router stands above a subnet where it is plugged into the highest rank, and else below it, as
// the two shapes that are known to be safe have it: routers on top of every subnet, and routers on top of one common subnet and
// below the others. Traffic that never goes down and then up has no credit loop; whether other traffic has one, the cycles of
// all routes together say.
func (i Interconnect) Prove() (Interchange, error) {
	w := &whole{Interconnect: i, network: &Network{}, first: map[string]int{}, router: map[string]int{}}
	if err := w.join(); err != nil {
		return Interchange{}, err
	}
	for _, p := range i.Subnets {
		w.inside(p)
	}
	var out Interchange
	for _, pair := range i.Talk {
		for _, way := range [][2]string{pair, {pair[1], pair[0]}} {
			out.Reaches = append(out.Reaches, w.reach(way[0], way[1]))
		}
	}
	tables := NewTables(w.network)
	for d, arcs := range w.hops {
		for _, a := range arcs {
			tables.Add(d, a)
		}
	}
	v, err := Prove(Question{Network: w.network, States: []State{{"now", tables}}})
	if err != nil {
		return Interchange{}, fmt.Errorf("prove all subnets together: %w", err)
	}
	out.Network, out.Verdict, out.Free = w.network, v, v.Free
	for _, r := range out.Reaches {
		out.Free = out.Free && r.Free()
	}
	return out, nil
}
