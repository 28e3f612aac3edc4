package check

import (
	"fmt"
	"slices"
	"time"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/source"
)

// Waiver is the name under which findings about waivers are reported.
const Waiver = "waiver"

// Waivers are what the operator accepted. It is for one goroutine at a time.
type Waivers struct {
	list  []waiver
	known []string // what may be accepted
}

type waiver struct {
	intent.Waiver
	addr    addr.Addr
	expired bool
	bad     error
	used    int
}

// Stage is a name under which something is found after the checks have run, when devices are looked at. A waiver accepts it as it
// accepts the findings of a check. Beside these, each platform of the inventory is one: its language may find something.
type Stage struct {
	Name string
	Doc  string // what is found
}

// Stages are those names, in the order of docs/checks.md.
func Stages() []Stage {
	return []Stage{
		{Drift, "What runs differs from the intent. `weir drift` counts what is accepted and shows the rest; a plan leads back both."},
		{"boundary", "Between two waves of a plan something would be dropped that is lossless now, or whether it would is not known."},
		{"ownership", "A shared object must change that others use as well; without the change the rest of the plan is made."},
		{"language", "The language of a device cannot say something, or only with a doubt."},
		{"plan", "Something that a plan leaves out or does beside what was asked for."},
		{"orphan", "A device is not weir's any more, and what weir made still stands on it."},
	}
}

// Drift is the stage that compares what runs with the intent.
const Drift = "drift"

// WaiversOf are the waivers of a fabric's intent as they count at a time.
func WaiversOf(f *fabric.Fabric, now time.Time) *Waivers {
	w := &Waivers{}
	for _, c := range All() {
		w.known = append(w.known, c.Name)
	}
	for _, s := range Stages() {
		w.known = append(w.known, s.Name)
	}
	for _, d := range f.Inventory.Devices {
		if !slices.Contains(w.known, d.Platform.V) {
			w.known = append(w.known, d.Platform.V)
		}
	}
	for _, accept := range f.Intent.Accept {
		v := waiver{Waiver: accept}
		if accept.Address.V != "" {
			v.addr, v.bad = addr.Parse(accept.Address.V)
		}
		end := accept.Expires.V.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1)
		v.expired = accept.Expires.Set() && !now.Before(end)
		w.list = append(w.list, v)
	}
	return w
}

// Cover says whether a waiver that has not expired accepts what a check or stage finds at an address. An expired one that would
// have is noted as used, so that it is not reported twice over.
func (w *Waivers) Cover(check string, at addr.Addr) bool {
	covered := false
	for i := range w.list {
		v := &w.list[i]
		if v.bad == nil && v.Check.V == check && v.addr.Contains(at) {
			v.used++
			covered = covered || !v.expired
		}
	}
	return covered
}

// Without are the findings that no waiver accepts.
func (w *Waivers) Without(l diag.List) diag.List {
	return slices.DeleteFunc(slices.Clone(l), func(d diag.Diagnostic) bool { return w.Cover(d.Check, d.Addr) })
}

// findings are those about the waivers themselves.
func (w *Waivers) findings() diag.List {
	var l diag.List
	for _, v := range w.list {
		d := diag.Diagnostic{Check: Waiver, Addr: v.addr, At: []diag.Pos{v.At}}
		switch {
		case !slices.Contains(w.known, v.Check.V):
			d.Severity, d.Summary = diag.Error, fmt.Sprintf("a waiver accepts %q, and there is no such check", v.Check.V)+source.DidYouMean(v.Check.V, w.known)
			d.Detail, d.At = "docs/checks.md lists the checks, and what else can be accepted.", []diag.Pos{v.Check.At}
		case v.bad != nil:
			d.Severity, d.Summary, d.At = diag.Error, "a waiver names no address: "+v.bad.Error(), []diag.Pos{v.Address.At}
			d.Detail = "Leave the address out to accept the finding everywhere."
		case v.expired && !checked(v.Check.V):
			d.Severity = diag.Warning
			d.Summary = fmt.Sprintf("the waiver of %s expired on %s", v.Check.V, v.Expires.V.Format(time.DateOnly))
			d.Detail, d.At = "What it accepted counts again: mend the cause, weigh it again and set a later date, or remove the waiver.", []diag.Pos{v.Expires.At}
		case v.expired && v.used > 0:
			d.Severity = diag.Warning
			d.Summary = fmt.Sprintf("the waiver of %s expired on %s, and the finding is still there", v.Check.V, v.Expires.V.Format(time.DateOnly))
			d.Detail, d.At = "Mend the cause, or weigh the finding again and set a later date.", []diag.Pos{v.Expires.At}
		case v.expired:
			d.Severity = diag.Warning
			d.Summary = fmt.Sprintf("the waiver of %s expired on %s", v.Check.V, v.Expires.V.Format(time.DateOnly))
			d.Detail, d.At = "Nothing needs it any more: remove it.", []diag.Pos{v.Expires.At}
		case v.used == 0 && checked(v.Check.V):
			d.Severity, d.Summary = diag.Note, fmt.Sprintf("a waiver of %s accepts nothing", v.Check.V)
			d.Detail = "There is no such finding: remove the waiver."
		default:
			continue
		}
		l.Add(d)
	}
	return l
}

// checked says whether a name is that of a check, whose findings are known when Run ends.
func checked(name string) bool {
	return slices.ContainsFunc(All(), func(c Check) bool { return c.Name == name })
}
