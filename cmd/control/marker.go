package control

import (
	"fmt"
	"slices"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/templates/pack"
)

// markless says which devices of a plan hold no marker: nothing keeps a run with another journal off them.
func (r *Repo) markless(p plan.Plan) diag.List {
	var names []string
	for _, name := range p.Devices() {
		session, err := pack.ReadSession(packs, r.Device(name).Platform.V)
		overSSH := r.lab == nil || r.lab.Devices[name].SSH != ""
		if err == nil && (!overSSH || len(session.SSH.Marker.Claim) == 0) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return diag.List{{Severity: diag.Note, Check: planCheck, Summary: fmt.Sprintf("no marker stands on %s while this plan is applied", diag.Count(len(names), "device")),
		Detail: diag.First(names, listedObjects) + ": they have no place for one, or no SSH. Nothing keeps a run with another journal off them: see that there is none."}}
}
