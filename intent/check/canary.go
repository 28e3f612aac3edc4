package check

import (
	"fmt"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
)

// enoughToTryOne is from how many switches with hosts on a canary is worth choosing: with two, whichever goes first is half of
// the fabric.
const enoughToTryOne = 3

// chosenCanary asks for a canary in a fabric that is large enough for one to matter.
func chosenCanary(f *fabric.Fabric) diag.List {
	edges := 0
	for _, sw := range f.Switches {
		for _, p := range sw.Ports {
			if p.Peer != nil && p.Peer.Host && p.PFC != 0 {
				edges++
				break
			}
		}
	}
	if f.Intent.Apply.Canary.Set() || edges < enoughToTryOne {
		return nil
	}
	return diag.List{finding(diag.Note, fmt.Sprintf("nothing says which of %d switches with hosts is changed first", edges),
		"A wave that makes the counters bad is undone and stops the run, and its hosts have felt it. Without a choice the first switch of the lowest tier by name goes first: "+
			"name one whose hosts can bear it, apply: {canary: NAME}.", []diag.Pos{f.Intent.Name.At})}
}
