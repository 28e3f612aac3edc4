package render

import (
	"fmt"
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/plan"
)

// Diff lists what must change on a device so that it holds want. Owned leaves that are not wanted are removed. Deltas in a
// shared object that stands on the device and is not in the manifest are marked as adopting. A shared object that foreign
// rows use is not touched: that is a finding.
func Diff(device string, want plan.Document, have plan.State, m plan.Manifest) ([]plan.Delta, diag.List) {
	want, got := want.Sorted(), have.Owned.Sorted()
	var deltas []plan.Delta
	for len(want) > 0 || len(got) > 0 {
		switch c := compareHeads(want, got); {
		case c < 0:
			deltas = append(deltas, plan.Delta{Leaf: want[0], Action: plan.Create})
			want = want[1:]
		case c > 0:
			deltas = append(deltas, plan.Delta{Leaf: got[0], Action: plan.Delete, Before: got[0].Value})
			got = got[1:]
		default:
			if want[0].Value != got[0].Value {
				deltas = append(deltas, plan.Delta{Leaf: want[0], Action: plan.Update, Before: got[0].Value})
			}
			want, got = want[1:], got[1:]
		}
	}
	return own(device, deltas, have, m)
}

// compareHeads compares the first leaves; an exhausted document comes last.
func compareHeads(want, got plan.Document) int {
	switch {
	case len(want) == 0:
		return 1
	case len(got) == 0:
		return -1
	}
	return plan.Compare(want[0], got[0])
}

// own drops the deltas in objects that foreign rows use, and marks those that adopt an object.
func own(device string, deltas []plan.Delta, have plan.State, m plan.Manifest) ([]plan.Delta, diag.List) {
	standing := map[string]bool{}
	for _, l := range have.Owned {
		standing[l.Object] = true
	}
	var findings diag.List
	kept := deltas[:0]
	said := map[string]bool{}
	for _, d := range deltas {
		object := d.Leaf.Object
		users := have.Users[object]
		switch {
		case object == "" || !standing[object]:
			kept = append(kept, d)
		case len(users) == 0:
			d.Adopt = !m.Has(device, object)
			kept = append(kept, d)
		case !said[object]:
			said[object] = true
			findings.Add(inUse(device, object, users))
		}
	}
	return kept, findings
}

func inUse(device, object string, users []string) diag.Diagnostic {
	return diag.Diagnostic{
		Severity: diag.Error, Check: "ownership", Addr: addr.Device(device),
		Summary: fmt.Sprintf("%s must change, but %s, which weir does not manage, also uses it", object, strings.Join(users, ", ")),
		Detail:  "Changing it would change them too. Add those ports to the inventory, or move them to an object of their own.",
	}
}
