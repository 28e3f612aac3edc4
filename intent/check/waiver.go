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

// waiverCheck is the name under which findings about waivers are reported.
const waiverCheck = "waiver"

// waivers are what the operator accepted.
type waivers struct {
	list []waiver
}

type waiver struct {
	intent.Waiver
	addr    addr.Addr
	expired bool
	bad     error
	used    int
}

func newWaivers(f *fabric.Fabric, now time.Time) *waivers {
	w := &waivers{}
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

// cover says whether a waiver that has not expired accepts the finding. An expired one that would have is noted as used, so
// that it is not reported twice over.
func (w *waivers) cover(d diag.Diagnostic) bool {
	covered := false
	for i := range w.list {
		v := &w.list[i]
		if v.bad == nil && v.Check.V == d.Check && v.addr.Contains(d.Addr) {
			v.used++
			covered = covered || !v.expired
		}
	}
	return covered
}

// findings are those about the waivers themselves.
func (w *waivers) findings() diag.List {
	var known []string
	for _, c := range All() {
		known = append(known, c.Name)
	}
	var l diag.List
	for _, v := range w.list {
		d := diag.Diagnostic{Check: waiverCheck, Addr: v.addr, At: []diag.Pos{v.At}}
		switch {
		case !slices.Contains(known, v.Check.V):
			d.Severity, d.Summary = diag.Error, fmt.Sprintf("a waiver accepts %q, and there is no such check", v.Check.V)+source.DidYouMean(v.Check.V, known)
			d.Detail, d.At = "docs/checks.md lists the checks.", []diag.Pos{v.Check.At}
		case v.bad != nil:
			d.Severity, d.Summary, d.At = diag.Error, "a waiver names no address: "+v.bad.Error(), []diag.Pos{v.Address.At}
			d.Detail = "Leave the address out to accept the finding everywhere."
		case v.expired && v.used > 0:
			d.Severity = diag.Warning
			d.Summary = fmt.Sprintf("the waiver of %s expired on %s, and the finding is still there", v.Check.V, v.Expires.V.Format(time.DateOnly))
			d.Detail, d.At = "Mend the cause, or weigh the finding again and set a later date.", []diag.Pos{v.Expires.At}
		case v.expired:
			d.Severity = diag.Warning
			d.Summary = fmt.Sprintf("the waiver of %s expired on %s", v.Check.V, v.Expires.V.Format(time.DateOnly))
			d.Detail, d.At = "Nothing needs it any more: remove it.", []diag.Pos{v.Expires.At}
		case v.used == 0:
			d.Severity, d.Summary = diag.Note, fmt.Sprintf("a waiver of %s accepts nothing", v.Check.V)
			d.Detail = "There is no such finding: remove the waiver."
		default:
			continue
		}
		l.Add(d)
	}
	return l
}
