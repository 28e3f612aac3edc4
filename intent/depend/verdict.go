package depend

// Model is a set of states of the network.
type Model string

// The models.
const (
	Healthy     Model = "healthy"
	OneLink     Model = "one link down"
	OneSwitch   Model = "one switch down"
	Two         Model = "two links or switches down"
	GivenTables Model = "the given tables"
)

// Method is how a model was proven.
type Method string

// The methods.
const (
	// Certificate is a potential that rises at every turn, in every state of the model and every mixture of tables.
	Certificate Method = "certificate"
	// Exhaustion is that every state was gone through.
	Exhaustion Method = "exhaustion"
	// Orbits is that one state was gone through of each set that the network's own symmetry makes alike.
	Orbits Method = "symmetry"
)

// Coverage is how far one model was proven.
type Coverage struct {
	Model Model
	// Transition says that the states are mixtures: each switch forwards by its table from before the failure or from after,
	// and changes from one to the other at any time. Of two failures each may be known to some switches and not to others.
	Transition            bool
	States, Tried, Cyclic int
	Method                Method
	Orbits                int // of method symmetry: how many states were gone through for those that were tried
}

// Complete says whether every state was tried.
func (c Coverage) Complete() bool { return c.Tried == c.States }

// Verdict is the answer.
type Verdict struct {
	Free         bool // no cycle was found, and the proof is complete
	Complete     bool // every state that was asked for was tried
	Nodes, Turns int  // of the healthy network, or of the mixture of all given tables, for one priority
	Covered      []Coverage
	Cycle        []Step // a shortest cycle of the gravest state that has one; nil where none was found
	Found        *Found // where the cycle was found; nil where none was
	// Unrouted are the first pairs that cables join and that have no route in the healthy network, and UnroutedPairs is how
	// many there are: the proof says nothing about traffic between them.
	Unrouted      []Unrouted
	UnroutedPairs int
	// Leaks are the first ways on which the AS plan lets traffic turn up again, where it does. They need not make a cycle.
	Leaks []Leak
}

// Found is the state in which a cycle was found.
type Found struct {
	Model      Model
	Transition bool
	Down       []string // the links and switches that are down, or in transition may be
	failure    failure
}

// Step is one buffer of a cycle, and why it waits for the next one.
type Step struct {
	Arc         Arc
	Destination int      // of traffic that comes in over Arc and leaves over the arc of the next step
	Switch      int      // that forwards it
	Down        []string // what is down in the state whose table sends it there; nil: nothing
	State       string   // of given tables: the state
	// Priority and NextPriority are those of the two buffers, or their virtual lanes, where the question tells them apart.
	Priority, NextPriority int
	Flooded                bool // the switch floods what comes over Arc
	Bounced                bool // the switch sends on what is for a host of its own, to another switch that the host is joined to
}

// Unrouted is a switch with hosts that has no next hop for a destination.
type Unrouted struct{ Switch, Destination int }

// maxUnrouted is how many pairs without a route are listed.
const maxUnrouted = 100
