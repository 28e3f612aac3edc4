package render

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/plan"
)

// check is the name of the findings about a difference as a whole.
const check = "standing"

// shrinks tells of what stands on the device, was right for somebody, and would become less or another thing: lengths of cables and
// MTUs that go down, and code points that somebody gave a class and that go to the one for all the rest. Often nobody has written
// the new value: it is a default.
func shrinks(device string, have plan.State, deltas []plan.Delta) diag.List {
	down := map[string][]addr.Addr{}
	for _, d := range deltas {
		what := map[addr.Kind]string{addr.MTU: "MTU", addr.Cable: "length of the cable"}[d.Leaf.Addr.Kind]
		from, ok := number(d.Before)
		to, also := number(d.Leaf.Value)
		if what != "" && d.Action == plan.Update && ok && also && to < from {
			summary := fmt.Sprintf("the %s goes down from %s to %s", what, d.Before, d.Leaf.Value)
			down[summary] = append(down[summary], d.Leaf.Addr)
		}
	}
	var findings diag.List
	for _, summary := range slices.Sorted(maps.Keys(down)) {
		at := down[summary]
		f := diag.Diagnostic{Severity: diag.Warning, Check: check, Addr: at[0], Summary: summary,
			Detail: "Where nobody wrote it, it is a default: write what is right into the intent, or the port's link into the inventory."}
		if len(at) > 1 {
			var others []string
			for _, a := range at[1:] {
				others = append(others, a.Port)
			}
			f.Detail += "\nThe same holds for " + strings.Join(others, ", ") + "."
		}
		findings.Add(f)
	}
	return append(findings, reclassified(device, have, deltas)...)
}

// number is the number that a value begins with: 300m is 300.
func number(value string) (int64, bool) {
	end := strings.IndexFunc(value, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(value)
	}
	n, err := strconv.ParseInt(value[:end], 10, 64)
	return n, err == nil
}

// codePoints begins the name of a map's entry that says the class of a DSCP.
const codePoints = "dscp-to-tc/"

// reclassified names the code points that stand in a class of their own, by which is meant another one than most have, and would go
// to the class that most have then. Where no class has most of them, as in the factory's map of EOS, nothing tells what somebody
// mapped.
func reclassified(device string, have plan.State, deltas []plan.Delta) diag.List {
	before := map[string]string{}
	for _, l := range have.Owned {
		if l.Addr.Kind == addr.Map && strings.HasPrefix(l.Addr.Name, codePoints) {
			before[l.Addr.Name] = l.Value
		}
	}
	after := maps.Clone(before)
	var moved []plan.Delta
	for _, d := range deltas {
		if d.Leaf.Addr.Kind == addr.Map && strings.HasPrefix(d.Leaf.Addr.Name, codePoints) && d.Action != plan.Delete {
			after[d.Leaf.Addr.Name] = d.Leaf.Value
			if d.Action == plan.Update {
				moved = append(moved, d)
			}
		}
	}
	was, is := most(before), most(after)
	if was == "" || is == "" {
		return nil
	}
	var names []string
	for _, d := range moved {
		if d.Before != was && d.Leaf.Value == is {
			names = append(names, fmt.Sprintf("%s (class %s)", strings.TrimPrefix(d.Leaf.Addr.Name, codePoints), d.Before))
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.SortFunc(names, addr.Natural)
	return diag.List{{Severity: diag.Warning, Check: check, Addr: addr.Device(device),
		Summary: fmt.Sprintf("DSCPs that have a class of their own on the device go to the class of all others, %s: %s", is, diag.First(names, 8)),
		Detail:  "No class of the intent lists them. List those that are in use."}}
}

// most is the value that more than half of them have; empty: none.
func most(values map[string]string) string {
	count := map[string]int{}
	for _, v := range values {
		if count[v]++; 2*count[v] > len(values) {
			return v
		}
	}
	return ""
}
