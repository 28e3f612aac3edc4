package check

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
)

// What a joined finding lists of its addresses and places, and from how many findings of one kind on they are joined even
// where their places differ.
const (
	listedAddresses = 3
	listedPlaces    = 8
	flood           = 16
)

// gather joins findings that have one cause, so that a mistake in one line of the intent is one finding and not one for
// every port. Of one cause are findings on devices with the same severity, detail and places; the summaries may differ, and
// that of the first address stands for all. The zero value is ready to use.
type gather struct {
	index  map[cause]int
	joined []joined
}

// cause is what findings that are joined have in common. About and summary are set for findings that are not about a
// device: those stay apart.
type cause struct {
	severity                diag.Severity
	detail, places, summary string
	about                   addr.Addr
}

type joined struct {
	diag.Diagnostic
	addrs   []addr.Addr // the first few in address order, the finding's own included
	count   int
	devices map[string]bool // all that it concerns
}

// concerned are the devices that one finding concerns.
func concerned(d diag.Diagnostic) map[string]bool {
	out := map[string]bool{}
	for _, name := range d.Devices {
		out[name] = true
	}
	if d.Devices == nil {
		out[d.Addr.Device] = true
	}
	return out
}

func (g *gather) add(d diag.Diagnostic) {
	var where []byte
	for _, p := range d.At {
		where = append(append(where, p.File...), ':')
		where = append(strconv.AppendInt(where, int64(p.Line), 10), ':')
		where = append(strconv.AppendInt(where, int64(p.Column), 10), ' ')
	}
	g.join(joined{d, []addr.Addr{d.Addr}, 1, concerned(d)}, string(where))
}

// join adds findings to those of the same cause.
func (g *gather) join(j joined, where string) {
	key := cause{severity: j.Severity, detail: j.Detail, places: where}
	if j.Addr.Device == "" {
		key.about, key.summary = j.Addr, j.Summary
	}
	i, ok := g.index[key]
	if !ok {
		if g.index == nil {
			g.index = map[cause]int{}
		}
		g.index[key] = len(g.joined)
		j.At = places(nil, j.At)
		g.joined = append(g.joined, j)
		return
	}
	to := &g.joined[i]
	if addr.Compare(j.Addr, to.Addr) < 0 {
		to.Addr, to.Summary = j.Addr, j.Summary
	}
	to.count += j.count
	maps.Copy(to.devices, j.devices)
	to.At = places(to.At, j.At)
	for _, a := range j.addrs {
		at, _ := slices.BinarySearchFunc(to.addrs, a, addr.Compare)
		if at <= listedAddresses {
			to.addrs = slices.Insert(to.addrs, at, a)
			to.addrs = to.addrs[:min(len(to.addrs), listedAddresses+1)]
		}
	}
}

// places adds those of b that a lacks and that the operator wrote, as far as they are listed, in order.
func places(a, b []diag.Pos) []diag.Pos {
	for _, p := range b {
		if p.File != "" && !intent.IsDefault(p) && len(a) < listedPlaces && !slices.Contains(a, p) {
			a = append(a, p)
		}
	}
	slices.SortFunc(a, diag.ComparePos)
	return a
}

// list gives the findings, each at its first address, with the number of the others in the summary and the next of them in
// the detail.
func (g *gather) list() diag.List {
	var out diag.List
	for _, j := range g.dammed() {
		d := j.Diagnostic
		d.Devices = slices.SortedFunc(maps.Keys(j.devices), addr.Natural)
		if slices.Equal(d.Devices, []string{d.Addr.Device}) {
			d.Devices = nil
		}
		if j.count > 1 {
			d.Summary = fmt.Sprintf("%s (and at %d more)", d.Summary, j.count-1)
			var also []string
			for _, a := range j.addrs[1:] {
				also = append(also, a.String())
			}
			if left := j.count - len(j.addrs); left > 0 {
				also = append(also, fmt.Sprintf("and %d more", left))
			}
			d.Detail = strings.TrimLeft(d.Detail+"\nAlso at "+strings.Join(also, ", ")+".", "\n")
		}
		out.Add(d)
	}
	return out
}

// dammed joins those kinds of findings whose causes are too many to list.
func (g *gather) dammed() []joined {
	kinds := map[cause]int{}
	for _, j := range g.joined {
		kinds[cause{severity: j.Severity, detail: j.Detail}]++
	}
	var out gather
	for i, j := range g.joined {
		where := ""
		if kinds[cause{severity: j.Severity, detail: j.Detail}] < flood {
			where = strconv.Itoa(i)
		}
		out.join(j, where)
	}
	return out.joined
}
