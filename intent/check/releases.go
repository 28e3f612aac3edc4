package check

import (
	"fmt"
	"slices"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/inventory/catalog"
)

// knownBugs names the published faults of the software of every switch with a lossless class.
func knownBugs(f *fabric.Fabric) diag.List {
	var l diag.List
	type kind struct{ platform, asic, release string }
	found := map[kind][]catalog.Bug{}
	for _, sw := range f.Switches {
		k := kind{platform: sw.Platform, release: sw.Release}
		if sw.ASIC != nil {
			k.asic = sw.ASIC.Name
		}
		bugs, looked := found[k]
		if !looked {
			bugs = f.Inventory.Catalog.Bugs(k.platform, k.asic, k.release)
			found[k] = bugs
		}
		for _, b := range bugs {
			if !meets(sw, b.Action) {
				continue
			}
			summary := "a known fault of this software: " + b.Summary
			if len(b.Releases) > 0 {
				summary = fmt.Sprintf("a known fault of release %s: %s", sw.Release, b.Summary)
			}
			d := finding(diag.Note, summary+" ("+b.Name+")", b.Remedy+"\nDescribed at "+b.Source+".", []diag.Pos{sw.At, b.At})
			d.Addr = sw.Address()
			l.Add(d)
		}
	}
	return l
}

// meets says whether the switch has a lossless port whose watchdog does what a fault needs to show; empty: whatever it does.
func meets(sw *fabric.Switch, action qos.WatchdogAction) bool {
	return slices.ContainsFunc(sw.Ports, func(p *fabric.Port) bool {
		return p.PFC != 0 && (action == "" || p.Watchdog != nil && p.Watchdog.Action == action)
	})
}
