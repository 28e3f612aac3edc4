package control

import (
	"cmp"
	"slices"
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
)

// The labels by which an operator says which switches a host has one each of, and which stand for each other below the same hosts.
const (
	railLabel  = "rail"
	planeLabel = "plane"
	rackLabel  = "rack"
)

// placesOf says where each device stands: switches by their rank, so that leaves and spines are told apart without hosts too.
func placesOf(f *fabric.Fabric) map[string]plan.Place {
	places := map[string]plan.Place{}
	for _, h := range f.Hosts {
		places[h.Name] = plan.Place{Host: true, Hosts: []string{h.Name}}
	}
	tiers := tiersOf(f)
	lowest := 0
	for _, tier := range tiers {
		if lowest == 0 || tier < lowest {
			lowest = tier
		}
	}
	for _, sw := range f.Switches {
		p := plan.Place{Tier: tiers[sw], Hosts: sw.Hosts(), Lane: cmp.Or(sw.Labels[railLabel], sw.Labels[planeLabel])}
		if rack := sw.Labels[rackLabel]; rack != "" && p.Tier == lowest {
			p.Hosts = append(p.Hosts, rackLabel+" "+rack)
		}
		places[sw.Name] = p
	}
	for _, l := range f.Links {
		if a, b := l.A.Switch, l.B.Switch; a != nil && b != nil && a != b {
			near(places, a.Name, b.Name)
			near(places, b.Name, a.Name)
		}
	}
	return places
}

// near notes that a switch is cabled to another one.
func near(places map[string]plan.Place, name, other string) {
	p := places[name]
	if !slices.Contains(p.Near, other) {
		p.Near = append(p.Near, other)
		places[name] = p
	}
}

// tiersOf gives switches their rank. Without hosts a fabric whose roles are not those of a Clos has no distances either: there
// the words inside the roles tell, and where they do not, no two switches that are cabled to each other share a wave.
func tiersOf(f *fabric.Fabric) map[*fabric.Switch]int {
	tiers := f.Ranks().Of
	if len(f.Hosts) > 0 {
		return tiers
	}
	for _, sw := range f.Switches {
		if tiers[sw] <= 1 {
			tiers[sw] = max(tiers[sw], tierOfRole(sw.Role))
		}
	}
	return tiers
}

// tierOfRole is the tier that a role like storage-spine names; 1 where it names none.
func tierOfRole(role string) int {
	for word := range strings.FieldsFuncSeq(strings.ToLower(role), func(r rune) bool { return r == '-' || r == '_' || r == '.' }) {
		switch word {
		case "spine", "agg", "aggregation":
			return 2
		case "core", "superspine":
			return 3
		}
	}
	return 1
}

// moving notes of the hosts that change whether what they send does.
func moving(places map[string]plan.Place, before, after *fabric.Fabric) {
	for i, h := range after.Hosts {
		for m, n := range h.NICs {
			was := before.Hosts[i].NICs[m]
			if p := places[h.Name]; was.TOS != n.TOS || was.CNPDSCP != n.CNPDSCP {
				p.Moves = true
				places[h.Name] = p
			}
		}
	}
}

// arrange puts steps into waves: switches before hosts, or where states in between would take more from senders that way the hosts
// before the switches. It sets the timers of devices that undo a change by themselves so that they cover their wave. A wave that they
// cannot cover is an error, as is a state in between that drops what is lossless as it was seen.
func (r *Repo) arrange(steps []plan.Step, size int, seen map[string]Observation) ([][]plan.Step, diag.List) {
	if len(steps) == 0 {
		return nil, nil
	}
	before := r.LiveOf(seen).Fabric
	says := r.Fabric.Intent.Apply
	places := placesOf(r.Fabric)
	moving(places, before, r.Fabric)
	limits := plan.Limits{Canary: says.Canary.V, Size: size, Share: says.Share.V, Pace: plan.Pace{Window: longest(says.Settle.V)}}
	var waves [][]plan.Step
	var findings diag.List
	for _, limits.HostsFirst = range []bool{false, true} {
		arranged, short := limits.Pace.Cover(plan.Arrange(steps, places, limits))
		found := boundaries(arranged, before, r.Fabric)
		for _, u := range short {
			found.Add(diag.Diagnostic{Severity: diag.Error, Check: "timer", Addr: addr.Device(u.Device), Summary: strings.TrimPrefix(u.Error(), u.Device+": "),
				Detail: "Most of it is the time for which the counters are watched. Write a shorter one, apply: {settle: 30s}.", At: []diag.Pos{says.Settle.At}})
		}
		fewer := cmp.Or(cmp.Compare(found.Count(diag.Error), findings.Count(diag.Error)), cmp.Compare(len(found), len(findings)))
		if waves == nil || fewer < 0 {
			waves, findings = arranged, found
		}
		if len(findings) == 0 {
			break
		}
	}
	return waves, findings
}
