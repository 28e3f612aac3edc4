package drivertest

import (
	"strings"

	"github.com/weirfabric/weir/intent/plan"
)

// Leaves are the values of a part of what devices hold, by device and path, for a test to compare.
func Leaves(states map[string]plan.State, part func(plan.State) plan.Document) map[string]string {
	out := map[string]string{}
	for device, s := range states {
		for _, l := range part(s) {
			out[device+" "+strings.Join(l.Path, " ")] = l.Value
		}
	}
	return out
}

// Owned is the part that is weir's.
func Owned(s plan.State) plan.Document { return s.Owned }

// Foreign is the part that is others'.
func Foreign(s plan.State) plan.Document { return s.Foreign }
