package control

import (
	"fmt"
	"slices"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/proof/deadlock"
	"github.com/weirfabric/weir/intent/proof/path"
	"github.com/weirfabric/weir/intent/qos"
)

// boundaryCheck is the name under which a plan reports what a state between its waves takes from senders.
const boundaryCheck = "boundary"

// boundaries looks at every state of the fabric that the waves of a plan pass through: each device as it was read, and as the intent
// wants it. Where such a state drops what is lossless now, the plan is refused. What is not known of the devices as they are is said.
func boundaries(waves [][]plan.Step, before, after *fabric.Fabric) diag.List {
	wave := map[string]int{}
	because := map[string][]plan.Change{}
	for n, steps := range waves {
		for _, s := range steps {
			wave[s.Device], because[s.Device] = n, s.Changes
		}
	}
	var findings diag.List
	w := path.Passage{Before: before, After: after, Wave: wave}
	for _, group := range byKind(w.Judge()) {
		findings.Add(unsafe(group, because, before, after))
	}
	findings = append(findings, unheard(w.Unheard())...)
	return append(findings, circles(before, after)...)
}

// circles looks for buffers that wait for each other by the old priorities and the new ones together. Where traffic keeps its priority
// on the whole way there is nothing to look for: a circle is one of links then, and the proof of either fabric has found it.
func circles(before, after *fabric.Fabric) diag.List {
	d := deadlock.DependenciesOf(after)
	both := d.Joined(before)
	if !d.Mixed() || d.Findings.HasErrors() || both.Priorities == d.Priorities && both.Begin == d.Begin {
		return nil
	}
	q := both.Question(0)
	q.Limit = boundaryLimit
	verdict, _, err := both.Prove(q)
	found := diag.Diagnostic{Severity: diag.Warning, Check: boundaryCheck, At: []diag.Pos{after.Intent.Routing.Policy.At}}
	switch {
	case err != nil:
		found.Summary, found.Detail = "whether buffers wait for each other in a circle between the waves is not proven", err.Error()
	case verdict.Cycle != nil:
		if alone, _, err := d.Prove(d.Question(0)); err != nil || alone.Cycle != nil {
			return nil // it is that of what is wanted, which the check of it says
		}
		found.Severity, found.Summary = diag.Error, fmt.Sprintf("between the waves buffers of priority %s can wait for each other in a circle", both.Priorities)
		found.Detail = "The old priorities and the new ones are lossless side by side until the last wave is done. Remove the old class first, and apply; then add the new one."
	default:
		return nil
	}
	return diag.List{found}
}

// boundaryLimit bounds the work of a proof of states in between, as depend.Question counts it: about two seconds.
const boundaryLimit = 300_000_000

// byKind puts together what differs in nothing but the cable and the waves. Of the waves the whole span is taken.
func byKind(all []path.Unsafe) [][]path.Unsafe {
	type kind struct {
		what            string
		stream, was, is path.Stream
		known           bool
	}
	var out [][]path.Unsafe
	index := map[kind]int{}
	for _, u := range all {
		k := kind{u.What, u.Stream, u.Was, u.Is, u.Known}
		at, ok := index[k]
		if !ok {
			at = len(out)
			index[k] = at
			out = append(out, nil)
		}
		out[at] = append(out[at], u)
	}
	return out
}

// unsafe is the finding about one kind of state.
func unsafe(group []path.Unsafe, because map[string][]plan.Change, before, after *fabric.Fabric) diag.Diagnostic {
	u := group[0]
	cables := map[[2]addr.Addr]bool{}
	for _, other := range group {
		u.Since, u.Until = min(u.Since, other.Since), max(u.Until, other.Until)
		cables[[2]addr.Addr{other.From, other.To}] = true
	}
	when := fmt.Sprintf("between wave %d and wave %d", u.Since+1, u.Until+1)
	if u.Since == u.Until {
		when = fmt.Sprintf("within wave %d", u.Since+1)
	}
	sent := fmt.Sprintf("DSCP %d", u.Stream.DSCP)
	if u.Stream.Answer {
		sent = fmt.Sprintf("CNPs (DSCP %d)", u.Stream.DSCP)
	}
	if u.Sender != (addr.Addr{}) {
		sent += " from " + u.Sender.String()
		if u.Senders > 1 {
			sent += " and others"
		}
	}
	d := diag.Diagnostic{Severity: diag.Error, Check: boundaryCheck, Addr: u.At, At: causes(group, because)}
	d.Summary = fmt.Sprintf("%s, of %s: %s", when, sent, u.What)
	places := ""
	if n := len(cables); n > 1 {
		places = fmt.Sprintf("So it is on %d cables, of which the first is %s to %s. ", n, u.From, u.To)
	}
	switch {
	case !u.Known:
		d.Severity = diag.Warning
		d.Detail = places + "Whether it is lossless there now, and stays so in between, is not known from what the devices say. " + u.Why
	case u.Stream.Answer:
		d.Detail = places + "CNPs pass there now. " + u.Why + " " + safely(u, before, after)
	default:
		d.Detail = places + "The cable is lossless for it now, and in between it is not. " + u.Why + " " + safely(u, before, after)
	}
	return d
}

// safely is what to do in place of a step that is unsafe.
func safely(u path.Unsafe, before, after *fabric.Fabric) string {
	name, was, is := u.Is.Class, u.Was.DSCP, u.Is.DSCP
	now, stays := carrying(before, was), carrying(after, was)
	then := after.Class(name)
	switch {
	case was != is && stays != nil && stays.Name != name:
		return fmt.Sprintf("Write class %s alone first, so that everything accepts it, and apply; then let the hosts send in it.", name)
	case was != is && now != nil && then != nil && now.Priority != then.Priority:
		return fmt.Sprintf("Let the hosts send in class %s first, beside the class that they send in now, and apply; then remove that one.", name)
	case was != is:
		return fmt.Sprintf("Let everything accept both first: write both DSCPs in class %s, dscp: [%d, %d], and apply; then dscp: [%d, %d], by which hosts send the new one, and apply; then the new one alone.",
			name, was, is, is, was)
	}
	return "Lead there in steps of which each is safe, and apply each: first what accepts packets, then what sends them, then what goes. " +
		"For another priority add a second class with that priority and a DSCP of its own; then let the hosts send in it; then remove the old one."
}

// carrying is the class of a fabric that a DSCP is of; nil where it goes with all that no class names.
func carrying(f *fabric.Fabric, d qos.DSCP) *fabric.Class {
	i := slices.IndexFunc(f.Classes, func(c fabric.Class) bool { return slices.Contains(c.DSCP, d) })
	if i < 0 || !f.Runs && &f.Classes[i] == fabric.DefaultClass(f.Classes) {
		return nil
	}
	return &f.Classes[i]
}

// causes are the places of the repo that ask for what changes at the ends of the cables, in the same kind of setting where there are any.
func causes(group []path.Unsafe, because map[string][]plan.Change) []diag.Pos {
	u := group[0] // one stands for all: they change alike
	all := slices.Concat(because[u.From.Device], because[u.To.Device], because[u.Sender.Device])
	var near, other []diag.Pos
	for _, c := range all {
		if c.Addr.Kind == u.At.Kind {
			near = append(near, c.Because...)
		} else {
			other = append(other, c.Because...)
		}
	}
	if len(near) == 0 {
		near = other
	}
	slices.SortFunc(near, diag.ComparePos)
	return slices.Compact(near)
}

// unheard says of which hosts that change it is not known what they send now.
func unheard(nics []addr.Addr) diag.List {
	if len(nics) == 0 {
		return nil
	}
	return diag.List{{Severity: diag.Warning, Check: boundaryCheck, Summary: "what hosts that change send now is not known",
		Detail: diag.First(addresses(nics), listedObjects) + ": they have PFC on and do not say what they mark. Whether the states between the waves carry it is not known."}}
}
