package render

import (
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/proof/deadlock"
)

// Rewrite is a rule against cycles of buffers, for one switch: lossless traffic that comes in over one of In, from above or
// from the side, and leaves over one of Out, up or to the side, goes on in the next lane of its chain, and after the last in
// Off. Traffic that leaves elsewhere keeps its lane. The ports of Out must be those of In.
type Rewrite struct {
	In, Out []string
	Chains  [][]deadlock.Lane // each begins with a class that hosts send in
	Off     deadlock.Lane     // of the default class: lossy
}

// Rewriter is a language that has words for rules of priority bumping. What it cannot say is a finding; files that are not
// complete say so in themselves.
type Rewriter interface {
	Rewrite(*fabric.Switch, Rewrite) ([]File, diag.List)
}
