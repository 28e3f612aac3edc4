package fabric

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/weirfabric/weir/intent/diag"
)

// Ranks are how high the switches of a fabric stand above its hosts: leaves at 1, spines at 2. What leads to a higher rank is
// a way up.
type Ranks struct {
	Of       map[*Switch]int
	From     string    // where the heights come from, in words
	Findings diag.List // what is wrong about the heights that were written
}

// The label by which an operator says how high a switch stands, and the roles of a Clos in that order.
const rankLabel = "rank"

var roleRanks = map[string]int{"leaf": 1, "tor": 1, "spine": 2, "agg": 2, "aggregation": 2, "core": 3, "superspine": 3}

// Ranks gives every switch its height: by its label, by its role where all roles are those of a Clos, and else by the
// distance of its role from the hosts.
func (f *Fabric) Ranks() Ranks {
	r := Ranks{Of: make(map[*Switch]int, len(f.Switches)), From: "the roles leaf, spine and core"}
	byRole, labels := true, 0
	for _, sw := range f.Switches {
		known, ok := roleRanks[sw.Role]
		byRole = byRole && ok
		r.Of[sw] = known
		if sw.Labels[rankLabel] != "" {
			labels++
		}
	}
	if !byRole {
		r.From = "the distance of each role from the hosts"
		r.byDistance(f)
	}
	if labels > 0 {
		r.From += ", and the label rank"
		r.byLabel(f.Switches)
	}
	return r
}

// byLabel takes the ranks that are written over those that were worked out.
func (r *Ranks) byLabel(switches []*Switch) {
	for _, sw := range switches {
		text := sw.Labels[rankLabel]
		rank, err := strconv.Atoi(text)
		if err == nil {
			r.Of[sw] = rank
		} else if text != "" {
			r.Findings.Add(diag.Diagnostic{
				Severity: diag.Error, Summary: fmt.Sprintf("the label rank is %q", text),
				Detail: "How high a switch stands is a whole number: leaves 1, spines 2.", Addr: sw.Address(), At: []diag.Pos{sw.At},
			})
		}
	}
}

// byDistance gives every role the least distance that a switch of it has from a host. Switches without a role stand by
// themselves, and those that no host can reach at the bottom.
func (r *Ranks) byDistance(f *Fabric) {
	distance := f.HostDistances()
	least := map[string]int{}
	for _, sw := range f.Switches {
		distance[sw] = max(distance[sw], 1)
		if nearest, ok := least[sw.Role]; sw.Role != "" && (!ok || distance[sw] < nearest) {
			least[sw.Role] = distance[sw]
		}
	}
	for _, sw := range f.Switches {
		r.Of[sw] = distance[sw]
		if sw.Role != "" {
			r.Of[sw] = least[sw.Role]
		}
	}
}

// HostDistances are how many links each switch is from the nearest host, by cables alone and whatever its rank: 1 for a switch
// with a host of its own. A switch that no host can reach has none.
func (f *Fabric) HostDistances() map[*Switch]int {
	near := make(map[*Switch][]*Switch, len(f.Switches))
	distance := make(map[*Switch]int, len(f.Switches))
	var queue []*Switch
	for _, l := range f.Links {
		for _, ends := range [][2]End{{l.A, l.B}, {l.B, l.A}} {
			here, there := ends[0].Switch, ends[1].Switch
			switch {
			case here == nil:
			case there != nil && !slices.Contains(near[here], there):
				near[here] = append(near[here], there)
			case there == nil && distance[here] == 0:
				distance[here] = 1
				queue = append(queue, here)
			}
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		for _, sw := range near[queue[0]] {
			if distance[sw] == 0 {
				distance[sw] = distance[queue[0]] + 1
				queue = append(queue, sw)
			}
		}
	}
	return distance
}
