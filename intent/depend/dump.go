package depend

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
)

// place is where something stands in a file. Columns are counted in bytes from 1.
type place struct{ line, column int }

func (p place) String() string { return fmt.Sprintf("line %d, column %d", p.line, p.column) }

// dump is the rows of a FIB as they are read.
type dump struct {
	*Network
	names    Names
	switches map[string]int
	ports    map[portName]Arc
	links    map[[2]int][]Arc        // by switch and neighbour
	named    []map[string]*row       // by switch: routes to a switch, by its name
	prefixed []map[netip.Prefix]*row // by switch: routes to a prefix
	errs     []error
	said     map[string]bool // errors, without their places
}

type portName struct {
	sw   int
	port string
}

// row is the next hops of one route of a switch.
type row struct {
	hops []string
	at   []place
}

func newDump(n *Network, names Names) *dump {
	d := &dump{
		Network: n, names: names, switches: map[string]int{}, ports: map[portName]Arc{}, links: map[[2]int][]Arc{}, said: map[string]bool{},
		named: make([]map[string]*row, len(n.Switches)), prefixed: make([]map[netip.Prefix]*row, len(n.Switches)),
	}
	for i, s := range n.Switches {
		d.switches[s.Name] = i
		d.named[i], d.prefixed[i] = map[string]*row{}, map[netip.Prefix]*row{}
	}
	for i, l := range n.Links {
		d.ports[portName{l.A, l.PortA}], d.ports[portName{l.B, l.PortB}] = Arc(2*i), Arc(2*i+1)
		d.links[[2]int{l.A, l.B}] = append(d.links[[2]int{l.A, l.B}], Arc(2*i))
		d.links[[2]int{l.B, l.A}] = append(d.links[[2]int{l.B, l.A}], Arc(2*i+1))
	}
	return d
}

// bad keeps an error, once.
func (d *dump) bad(at place, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !d.said[text] {
		d.said[text] = true
		d.errs = append(d.errs, fmt.Errorf("%s: %s", at, text))
	}
}

// row takes a next hop of a route. The places are those of its three words.
func (d *dump) row(at [3]place, sw, destination, hop string) {
	v, ok := d.switches[sw]
	if !ok {
		d.bad(at[0], "there is no switch %q: write its name as in the inventory", sw)
		return
	}
	add := func(hops *row) *row {
		if hops == nil {
			hops = &row{}
		}
		hops.hops, hops.at = append(hops.hops, hop), append(hops.at, at[2])
		return hops
	}
	if _, known := d.switches[destination]; known {
		d.named[v][destination] = add(d.named[v][destination])
		return
	}
	prefixes := []netip.Prefix{netip.PrefixFrom(netip.IPv4Unspecified(), 0), netip.PrefixFrom(netip.IPv6Unspecified(), 0)}
	if destination != "default" {
		p, err := netip.ParsePrefix(destination)
		if a, bare := netip.ParseAddr(destination); err != nil && bare == nil {
			p, err = netip.PrefixFrom(a, a.BitLen()), nil
		}
		if err != nil {
			d.bad(at[1], "%q is no switch and no prefix: write the name of the switch that has the hosts, a prefix like 10.1.2.0/24, or default", destination)
			return
		}
		prefixes = []netip.Prefix{p.Masked()}
	}
	for _, p := range prefixes {
		d.prefixed[v][p] = add(d.prefixed[v][p])
	}
}

// fib puts the routes of every switch and destination in order.
func (d *dump) fib() (*FIB, error) {
	f := NewFIB(d.Network)
	prefixes := d.owned()
	for sw := range d.Switches {
		lengths := map[int]bool{}
		for p := range d.prefixed[sw] {
			lengths[p.Bits()] = true
		}
		falling := slices.Sorted(maps.Keys(lengths))
		slices.Reverse(falling)
		for i, dest := range d.Destinations {
			if slices.Contains(dest.At, sw) {
				continue
			}
			for _, routes := range d.chain(sw, dest, prefixes[i], falling) {
				var hops []Arc
				for _, r := range routes {
					hops = append(hops, d.hops(sw, r)...)
				}
				f.Add(sw, i, hops...)
			}
		}
	}
	return f, errors.Join(d.errs...)
}

// owned are the prefixes of every destination that any switch has a route to.
func (d *dump) owned() [][]netip.Prefix {
	all := map[netip.Prefix]bool{}
	for _, routes := range d.prefixed {
		for p := range routes {
			all[p] = true
		}
	}
	bySwitch := make([][]netip.Prefix, len(d.Switches))
	for _, p := range slices.SortedFunc(maps.Keys(all), netip.Prefix.Compare) {
		if d.names.Owner == nil {
			break
		}
		name, ok := d.names.Owner(p)
		if !ok || p.Bits() == 0 {
			continue
		}
		sw, known := d.switches[name]
		if !known {
			d.errs = append(d.errs, fmt.Errorf("%s belongs to %s, and there is no such switch", p, name))
			continue
		}
		bySwitch[sw] = append(bySwitch[sw], p)
	}
	out := make([][]netip.Prefix, len(d.Destinations))
	for i, dest := range d.Destinations {
		for _, sw := range dest.At {
			out[i] = append(out[i], bySwitch[sw]...)
		}
	}
	return out
}

// chain is the routes of a switch to a destination, the most specific first: at each place those of all its prefixes.
func (d *dump) chain(sw int, dest Destination, prefixes []netip.Prefix, falling []int) [][]*row {
	var out [][]*row
	put := func(at int, r *row) {
		if at == len(out) {
			out = append(out, nil)
		}
		if !slices.Contains(out[at], r) {
			out[at] = append(out[at], r)
		}
	}
	first := 0
	for _, at := range dest.At {
		if r := d.named[sw][d.Switches[at].Name]; r != nil {
			put(0, r)
			first = 1
		}
	}
	if len(prefixes) == 0 { // only a default route covers what is known by its name alone
		for _, p := range []netip.Prefix{netip.PrefixFrom(netip.IPv4Unspecified(), 0), netip.PrefixFrom(netip.IPv6Unspecified(), 0)} {
			if r := d.prefixed[sw][p]; r != nil {
				put(first, r)
			}
		}
		return out
	}
	for _, p := range prefixes {
		at := first
		for _, length := range falling {
			if length > p.Bits() {
				continue
			}
			cover, err := p.Addr().Prefix(length)
			if err != nil {
				continue // longer than the addresses of its family
			}
			if r := d.prefixed[sw][cover]; r != nil {
				put(at, r)
				at++
			}
		}
	}
	return out
}

// hops are the links of a route's next hops.
func (d *dump) hops(sw int, r *row) []Arc {
	var out []Arc
	for i, hop := range r.hops {
		if hop == Discard {
			continue
		}
		if a, ok := d.ports[portName{sw, hop}]; ok && hop != "" {
			out = append(out, a)
			continue
		}
		to, known := d.switches[hop]
		var links []Arc
		if known {
			links = d.links[[2]int{sw, to}]
		}
		out = append(out, links...)
		switch name := d.Switches[sw].Name; {
		case len(links) > 0 || d.names.HostPort != nil && d.names.HostPort(name, hop):
		case known:
			d.bad(r.at[i], "%s has no link to %s: write the name of a neighbour or of a port", name, hop)
		default:
			d.bad(r.at[i], "%q is no switch and no port of %s: write the name of a neighbour, of a port, or %s", hop, name, Discard)
		}
	}
	return out
}
