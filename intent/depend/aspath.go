package depend

import (
	"errors"
	"fmt"
	"slices"
)

// Plan is who has which AS in a network in which every link carries an eBGP session, and what else decides which routes can
// exist. Between two switches of one AS there is no session: it would be iBGP, which passes nothing on.
type Plan struct {
	AS        []uint32 // by switch
	AllowASIn []int    // by switch: how often its own AS may be in a route that it takes; nil: never
	// NoExportUp are switches that mark the routes they learn from above or from the side, and do not pass these on to switches
	// above or beside them (a community that the export policy refuses).
	NoExportUp []int
	Default    []int // switches that originate a default route and drop what they know no other route for
	Aggregates []Aggregate
}

// Aggregate is a route that covers several destinations. Its originators have it while they know one of these, and drop what
// they know no longer route for.
type Aggregate struct {
	Name        string
	At          []int // the switches that originate it
	Of          []int // the destinations that it covers
	SummaryOnly bool  // the originators do not pass on the routes that it covers
}

func (b *Plan) validate(n *Network) error {
	if len(b.AS) != len(n.Switches) {
		return fmt.Errorf("the AS plan is for %d switches, and there are %d", len(b.AS), len(n.Switches))
	}
	if b.AllowASIn != nil && len(b.AllowASIn) != len(n.Switches) {
		return fmt.Errorf("allowas-in is given for %d switches, and there are %d", len(b.AllowASIn), len(n.Switches))
	}
	for _, sw := range slices.Concat(b.NoExportUp, b.Default) {
		if sw < 0 || sw >= len(n.Switches) {
			return fmt.Errorf("the AS plan names switch %d, and there are %d", sw, len(n.Switches))
		}
	}
	for _, a := range b.Aggregates {
		for _, sw := range a.At {
			if sw < 0 || sw >= len(n.Switches) {
				return fmt.Errorf("aggregate %s names switch %d, and there are %d", a.Name, sw, len(n.Switches))
			}
		}
		for _, d := range a.Of {
			if d < 0 || d >= len(n.Destinations) {
				return fmt.Errorf("aggregate %s names destination %d, and there are %d", a.Name, d, len(n.Destinations))
			}
		}
	}
	if len(b.AS) > 0 && slices.Min(b.AS) == 0 {
		return errors.New("the AS plan leaves a switch without an AS: 0 is none")
	}
	return nil
}

// covers says whether routes exist that cover others.
func (b *Plan) covers() bool { return len(b.Default)+len(b.Aggregates) > 0 }

// allow is how often a switch's own AS may be in a route that it takes.
func (b *Plan) allow(sw int) int {
	if b.AllowASIn == nil {
		return 0
	}
	return b.AllowASIn[sw]
}

// route fills the tables of some destinations. A switch without a route to a destination follows one that covers it: an
// aggregate, or else a default route.
func (b *Plan) route(l *layout, destinations []int, dead failure) *Tables {
	t := newTables(l.arcs(), len(destinations))
	s := b.propagation(l, dead)
	covering := b.covering(s)
	for i, d := range destinations {
		has := s.learn(l.Destinations[d].At, b.hider(d), func(a Arc) { t.Add(i, a) })
		if len(covering) > 0 {
			has = slices.Clone(has)
		}
		for _, c := range covering {
			if c.of != nil && !slices.Contains(c.of, d) {
				continue
			}
			for _, a := range c.hops {
				if !has[l.tail[a]] {
					t.Add(i, a)
				}
			}
			for sw, ok := range c.has {
				has[sw] = has[sw] || ok
			}
		}
		l.work += l.arcs()
	}
	return t
}

// hider says which switches do not pass the route to a destination on.
func (b *Plan) hider(d int) func(sw int) bool {
	if len(b.Aggregates) == 0 {
		return func(int) bool { return false }
	}
	hidden := map[int]bool{}
	for _, a := range b.Aggregates {
		if a.SummaryOnly && slices.Contains(a.Of, d) {
			for _, sw := range a.At {
				hidden[sw] = true
			}
		}
	}
	return func(sw int) bool { return hidden[sw] }
}

// cover is a route that covers destinations: those of it, or all where of is nil.
type cover struct {
	of   []int
	hops []Arc
	has  []bool
}

// covering are the routes that cover destinations, those of fewer first.
func (b *Plan) covering(s *propagation) []cover {
	var out []cover
	nobody := func(int) bool { return false }
	for _, a := range b.Aggregates {
		var origins []int
		for _, d := range a.Of {
			has := s.learn(s.Destinations[d].At, b.hider(d), func(Arc) {})
			for _, sw := range a.At {
				if has[sw] {
					origins = append(origins, sw)
				}
			}
		}
		c := cover{of: a.Of}
		c.has = slices.Clone(s.learn(origins, nobody, func(a Arc) { c.hops = append(c.hops, a) }))
		out = append(out, c)
	}
	slices.SortStableFunc(out, func(x, y cover) int { return len(x.of) - len(y.of) })
	if len(b.Default) > 0 {
		c := cover{}
		c.has = slices.Clone(s.learn(b.Default, nobody, func(a Arc) { c.hops = append(c.hops, a) }))
		out = append(out, c)
	}
	return out
}
