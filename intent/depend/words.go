package depend

import (
	"fmt"
	"strings"
)

// State spells where the cycle was found, as the end of a sentence that begins with the cycle.
func (f Found) State() string {
	down := strings.Join(f.Down, " and ")
	switch {
	case f.Model == Healthy:
		return "with every link and switch up"
	case f.Model == GivenTables && f.Transition:
		return "while the routes change from one of the given tables to another"
	case f.Model == GivenTables:
		return "with the given tables"
	case f.Transition:
		return fmt.Sprintf("while the routes change because %s goes down or comes back", down)
	}
	return fmt.Sprintf("with %s down", down)
}

// Because says why the buffer at the end of a step's link waits for the next one.
func (s Step) Because(n *Network, next Arc) string {
	sw, to := n.Switches[s.Switch].Name, n.Destinations[s.Destination].Name
	priority := ""
	if s.Priority != s.NextPriority {
		priority = fmt.Sprintf(" in priority %d, no longer %d", s.NextPriority, s.Priority)
	}
	table := "its table with nothing down"
	switch {
	case s.Flooded:
		return fmt.Sprintf("%s floods traffic to %s, also over %s%s", sw, to, n.ArcName(next), priority)
	case len(s.Down) > 0:
		table = fmt.Sprintf("its table with %s down", strings.Join(s.Down, " and "))
	case s.State != "":
		table = "its table of " + s.State
	}
	if s.Bounced {
		return fmt.Sprintf("%s sends traffic to a host that it has lost on to %s over %s%s, by %s", sw, to, n.ArcName(next), priority, table)
	}
	return fmt.Sprintf("%s sends traffic to %s on over %s%s, by %s", sw, to, n.ArcName(next), priority, table)
}

// OneLoop says whether the whole cycle is made by traffic to one destination that goes round in it: a routing loop.
func (v Verdict) OneLoop() bool {
	for _, s := range v.Cycle {
		if s.Destination != v.Cycle[0].Destination {
			return false
		}
	}
	return len(v.Cycle) > 0
}

// String spells what was covered: one link down, in transition: 32 of 32.
func (c Coverage) String() string {
	what := string(c.Model)
	switch {
	case c.Model == Healthy:
	case c.Transition:
		what += ", in transition"
	case c.Model != GivenTables:
		what += ", converged"
	}
	switch {
	case c.Method == Certificate:
		return fmt.Sprintf("%s: %d by certificate", what, c.States)
	case c.Method == Orbits && c.Cyclic > 0:
		return fmt.Sprintf("%s: %d of %d by symmetry, %d gone through, %d with a cycle", what, c.Tried, c.States, c.Orbits, c.Cyclic)
	case c.Method == Orbits:
		return fmt.Sprintf("%s: %d of %d by symmetry, %d gone through", what, c.Tried, c.States, c.Orbits)
	case c.Cyclic > 0:
		return fmt.Sprintf("%s: %d of %d gone through, %d with a cycle", what, c.Tried, c.States, c.Cyclic)
	}
	return fmt.Sprintf("%s: %d of %d gone through", what, c.Tried, c.States)
}
