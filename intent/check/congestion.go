package check

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/source"
)

// oversubscription compares every switch with the ratio that the operator wants, healthy and with its fastest link upwards
// down. Nothing is asked of the second unless it is written: n equal links that just keep a ratio are above it by n/(n-1)
// when one of them is down, in every fabric.
func oversubscription(f *fabric.Fabric) diag.List {
	var l diag.List
	healthy, degraded := f.Intent.Routing.Oversubscription, f.Intent.Routing.OneUplinkDown
	if !healthy.Set() && !degraded.Set() {
		return nil
	}
	for _, load := range f.Loads(f.Ranks()) {
		if d, ok := overloaded(load, healthy, degraded); ok && !load.Top && load.Up.Links+load.Down.Links > 0 {
			d.Addr = load.Switch.Address()
			l.Add(d)
		}
	}
	return l
}

// overloaded compares one switch.
func overloaded(load fabric.Load, healthy, degraded source.Value[intent.Ratio]) (diag.Diagnostic, bool) {
	either := []diag.Pos{cmp.Or(healthy.At, degraded.At), load.Switch.At}
	switch {
	case !load.Known():
		return finding(diag.Note, "oversubscription cannot be checked: "+unknownLoad(load),
			"The ratio is the sum of the links from below by the sum of the links upwards. Write the hosts, their links and all speeds into the inventory.", either), true
	case load.Up.Links == 0:
		return finding(diag.Error, fmt.Sprintf("%s from below (%s), and no link leads upwards", load.Down.Rate, count(load.Down.Links, "link")),
			"Other switches of its rank have links upwards. Write its links into the inventory, or its rank as a label.", either), true
	case healthy.Set() && above(load.Ratio(), healthy.V):
		return finding(diag.Error, fmt.Sprintf("%s from below (%s) for %s upwards (%s): %s, and at most %s is wanted",
			load.Down.Rate, count(load.Down.Links, "link"), load.Up.Rate, count(load.Up.Links, "link"), intent.Ratio(load.Ratio()), healthy.V),
			"When everybody sends upwards at once, each gets no more than its part of the links there; queues and PAUSE share the lack, and do not end it. Add links upwards, take hosts away, or want less.",
			[]diag.Pos{healthy.At, load.Switch.At}), true
	case degraded.Set() && above(load.OneDown(), degraded.V):
		left := fmt.Sprintf("%s is left for %s from below: %s", load.Up.Rate-load.Fastest, load.Down.Rate, intent.Ratio(load.OneDown()))
		if load.Up.Links == 1 {
			left = fmt.Sprintf("nothing is left for %s from below", load.Down.Rate)
		}
		return finding(diag.Error, fmt.Sprintf("while the fastest link upwards (%s) is down, %s, and at most %s is wanted", load.Fastest, left, degraded.V),
			"Every fabric has a link down at some time. The same bandwidth in more links loses less with one of them; else add links upwards, or want less of this state.",
			[]diag.Pos{degraded.At, load.Switch.At}), true
	}
	return diag.Diagnostic{}, false
}

func above(ratio float64, limit intent.Ratio) bool { return ratio > float64(limit)*(1+1e-9) }

// unknownLoad says why a switch has no ratio.
func unknownLoad(l fabric.Load) string {
	if l.Speedless > 0 {
		return count(l.Speedless, "link") + " of the switch without a speed in the inventory"
	}
	return "the inventory has no link to a host or lower switch here"
}

// count writes a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func polarisation(f *fabric.Fabric) diag.List {
	if len(f.Intent.Routing.Hash) == 0 {
		return nil
	}
	l := hashRoles(f)
	for _, low := range f.FanOuts(f.Loads(f.Ranks())) {
		for _, high := range low.Next {
			a, b := f.HashOf(low.Role), f.HashOf(high.Role)
			if alike, _ := fabric.HashedAlike(a, b); !alike || high.Used >= high.Links {
				continue
			}
			d := finding(diag.Warning, fmt.Sprintf("role %s hashes as role %s does: for what comes from here, a %s uses %d of its %d links upwards (%d / gcd(%d, %d))",
				high.Role, low.Role, high.Role, high.Used, high.Links, high.Links, low.Links, high.Links),
				fmt.Sprintf("The hash has the seed %s in both tiers. A switch above gets from here only the flows for which the hash chose that switch. Asking the same hash again, it gets few different answers, and its other links stay idle. Set another seed or hash function at the switches of role %s, and write it here.",
					a.Seed.V, high.Role), []diag.Pos{a.Seed.At, b.Seed.At})
			d.Addr = low.First.Address()
			l.Add(d)
		}
	}
	return l
}

// hashRoles finds roles that no switch has, and those that are written twice.
func hashRoles(f *fabric.Fabric) diag.List {
	var l diag.List
	var roles []string
	for _, sw := range f.Switches {
		if sw.Role != "" && !slices.Contains(roles, sw.Role) {
			roles = append(roles, sw.Role)
		}
	}
	for i := range f.Intent.Routing.Hash {
		h := &f.Intent.Routing.Hash[i]
		if !slices.Contains(roles, h.Role.V) {
			l.Add(finding(diag.Error, fmt.Sprintf("no switch has the role %s", h.Role.V)+source.DidYouMean(h.Role.V, roles),
				"routing.hash is about the switches of a role in the inventory.", []diag.Pos{h.Role.At}))
		}
		if before := f.HashOf(h.Role.V); before != h {
			l.Add(finding(diag.Error, fmt.Sprintf("the hash of role %s is written twice", h.Role.V), "Keep one of the two.", []diag.Pos{before.Role.At, h.Role.At}))
		}
	}
	return l
}

// queuePair is the field of a hash that tells RoCE flows apart.
const queuePair = "qp"

func hashFields(f *fabric.Fabric) diag.List {
	var l diag.List
	fans := f.FanOuts(f.Loads(f.Ranks()))
	for i := range f.Intent.Routing.Hash {
		h := &f.Intent.Routing.Hash[i]
		fan := slices.IndexFunc(fans, func(o fabric.FanOut) bool { return o.Role == h.Role.V && o.Links > 1 })
		if len(h.Fields) == 0 || slices.ContainsFunc(h.Fields, func(v source.Value[string]) bool { return v.V == queuePair }) || fan < 0 {
			continue
		}
		d := finding(diag.Note, fmt.Sprintf("the hash of role %s does not read the destination queue pair", h.Role.V),
			"RoCE has few and large flows, and those between two NICs differ in little else: several fall on one link while others are idle. Where the switch can, let the hash read the queue pair (qp) too; else give each transfer several queue pairs with UDP source ports of their own.",
			[]diag.Pos{h.Fields[0].At})
		d.Addr = fans[fan].First.Address()
		l.Add(d)
	}
	return l
}
