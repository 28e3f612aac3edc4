package apply

import "github.com/weirfabric/weir/intent/plan"

// Moved names what is different now from what the step was made for: values, ports and shared objects. It is nil where nothing is.
func Moved(s plan.Step, state plan.State) []string {
	if state.Owned.Digest() == s.Base {
		return nil
	}
	return changedParts(s, state)
}
