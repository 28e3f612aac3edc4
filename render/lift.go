package render

import (
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
)

// Lifter is a language read back: what runs on a device in standard words, whoever configured it and by whatever names. It follows
// what refers to what, from the port to its map to the rows of that, and knows no names of weir's.
type Lifter[D any] interface {
	// Discover asks a device who it is.
	Discover() []plan.Query
	// Identify reads what it answered. An error means that an answer is not in this language at all.
	Identify([]plan.Answer) (Identity, error)
	// Survey is what must be asked to lift the device. Answers to Queries have the same names, and serve as far as they go.
	Survey(Identity) []plan.Query
	// Lift reads raw answers. Nothing is guessed: what was not said, has no words or is not understood is a gap of what is lifted,
	// and the ports are those of the identity. A finding names what is not understood, or why nothing could be read.
	Lift(Identity, []plan.Answer) (fabric.Lifted[D], diag.List)
	// Exclusions are the settings that are not lifted as Write was given them.
	Exclusions() []Exclusion
}
