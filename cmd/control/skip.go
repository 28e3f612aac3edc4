package control

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/inventory"
)

// errNotObserved says that a folder of observations holds nothing of a device.
var errNotObserved = errors.New("nothing was observed of it")

// unreachable says whether a device is away, and not one that answers and is not understood, or that does not let weir in.
func unreachable(err error) bool {
	var away *drivers.UnreachableError
	return errors.As(err, &away) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errNotObserved)
}

// readable are the devices that were read, and those that were not where they may be left out.
func readable(names []string, seen map[string]Observation, skip bool) (read []string, skipped []plan.Skipped, err error) {
	var failed []error
	away := 0
	for _, name := range names {
		switch err := seen[name].Err; {
		case err == nil:
			read = append(read, name)
		case unreachable(err) && skip:
			skipped = append(skipped, plan.Skipped{Device: name, Why: strings.TrimPrefix(err.Error(), name+": ")})
		default:
			failed = append(failed, err)
			if unreachable(err) {
				away++
			}
		}
	}
	switch {
	case len(failed) > 0 && away == len(failed) && away < len(names):
		return nil, nil, fmt.Errorf("no plan was made:\n%w\n--skip-unreachable plans the others; state: maintenance in the inventory leaves a device out until it is back", errors.Join(failed...))
	case len(failed) > 0:
		return nil, nil, fmt.Errorf("no plan was made:\n%w", errors.Join(failed...))
	case len(read) == 0:
		return nil, nil, errors.New("no plan was made: none of the devices could be reached")
	}
	return read, skipped, nil
}

// leftOut are the findings about devices that a plan leaves as they are: those that could not be reached, and those in maintenance that
// are linked to devices which change. The other end of such a link is not known.
func (r *Repo) leftOut(p plan.Plan) diag.List {
	changed := map[string]bool{}
	for _, name := range p.Devices() {
		changed[name] = true
	}
	var findings diag.List
	add := func(device, summary, detail string) {
		findings.Add(diag.Diagnostic{Severity: diag.Warning, Check: planCheck, Summary: summary, Detail: detail, Addr: addr.Device(device)})
	}
	for _, s := range p.Skipped {
		detail := "What it holds is not known, and it stays as it is: " + s.Why
		if links := r.linksBetween(s.Device, changed); links != "" {
			detail += "\n" + links
		}
		add(s.Device, "it is left out of the plan: it could not be reached", detail)
	}
	for _, name := range r.InState(inventory.Maintenance) {
		if links := r.linksBetween(name, changed); links != "" {
			add(name, "it is left out of the plan: it is in maintenance", links)
		}
	}
	return findings
}

// linksBetween names the links between a device that stays as it is and devices that change, and what that means; empty where there
// are none.
func (r *Repo) linksBetween(device string, changed map[string]bool) string {
	var links []string
	for _, l := range r.Fabric.Links {
		a, b := l.A.Address(), l.B.Address()
		if a.Device == device && changed[b.Device] || b.Device == device && changed[a.Device] {
			links = append(links, l.String())
		}
	}
	if len(links) == 0 {
		return ""
	}
	return fmt.Sprintf("Devices that change are linked to it: %s.\nBoth ends of a link must agree before a class is lossless there: plan it as soon as it is back.", diag.First(links, listedLinks))
}

// listedLinks is how many links a finding names.
const listedLinks = 8

// without is the repo for a run that leaves devices out: nothing is asked of them, and no wave waits for their counters or for those
// of ports towards them.
func (r *Repo) without(skipped []plan.Skipped) *Repo {
	if len(skipped) == 0 {
		return r
	}
	less := *r
	less.skipped = maps.Clone(r.skipped)
	if less.skipped == nil {
		less.skipped = map[string]bool{}
	}
	for _, s := range skipped {
		less.skipped[s.Device] = true
	}
	return &less
}
