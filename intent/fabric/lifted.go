package fabric

import (
	"cmp"
	"slices"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/inventory/catalog"
)

// Lifted is a device as it runs: the model, read back from what the device said, without an intent. D is *Switch or *Host. What no gap
// covers was read. What one covers is not known, and stands in the model as nothing or as the platform's default.
//
// Names of classes, places in the repo, labels and peers are nobody's configuration: they are empty.
type Lifted[D any] struct {
	Device D
	Gaps   []Gap // sorted by address
}

// Reading is how a setting of a lifted device is known.
type Reading string

// The readings.
const (
	Known         Reading = "known"
	Unset         Reading = "unset"          // the device says nothing of it: the platform's default holds
	Inexpressible Reading = "inexpressible"  // its language has no words for it, or weir does not know them
	Strange       Reading = "not-understood" // a line may be about it that weir does not understand
)

// Gap is settings that were not read, and why.
type Gap struct {
	At      addr.Addr `json:"address"` // a setting, or all that it contains
	Reading Reading   `json:"reading"` // not Known
	Default string    `json:"default"` // that holds, as a Setting spells it, and is what the model has; empty: not known
	Source  string    `json:"source"`  // of the default, or why there is no word for it
	Line    string    `json:"line"`    // that is not understood, as the device says it
}

// Of is how a setting is known, and the gap that covers it; of several the gravest. Without a gap it is Known.
func (l Lifted[D]) Of(a addr.Addr) (Reading, Gap) { return gapAt(l.Gaps, a) }

// gapAt looks among gaps in their order: those of the device stand before those of its ports.
func gapAt(gaps []Gap, a addr.Addr) (Reading, Gap) {
	worst, found := 0, Gap{Reading: Known}
	look := func(port string) {
		first, _ := slices.BinarySearchFunc(gaps, port, func(g Gap, port string) int { return addr.Natural(g.At.Port, port) })
		for _, g := range gaps[first:] {
			if g.At.Port != port {
				return
			}
			if n := g.Reading.gravity(); n > worst && g.At.Contains(a) {
				worst, found = n, g
			}
		}
	}
	if look(""); a.Port != "" {
		look(a.Port)
	}
	return found.Reading, found
}

// Settled says whether it is known what a setting is: it was read, or its default is known.
func (l Lifted[D]) Settled(a addr.Addr) bool {
	_, g := l.Of(a)
	return g.settled()
}

func (g Gap) settled() bool { return g.Reading == Known || g.Reading != Strange && g.Default != "" }

// Unread is the gap of a setting of a device that is not known; false where it is, as all are of a device that the intent wants.
func (d *Device) Unread(a addr.Addr) (Gap, bool) {
	if len(d.Gaps) == 0 {
		return Gap{}, false
	}
	_, g := gapAt(d.Gaps, a)
	return g, !g.settled()
}

// NotUnderstood are the lines that are not understood, each once, in the order of the gaps.
func (l Lifted[D]) NotUnderstood() []Gap {
	var out []Gap
	for _, g := range l.Gaps {
		if g.Reading == Strange && !slices.ContainsFunc(out, func(o Gap) bool { return o.Line == g.Line }) {
			out = append(out, g)
		}
	}
	return out
}

// gravity orders the readings: of what two gaps cover the graver holds. A default that is known is the least.
func (r Reading) gravity() int {
	return slices.Index([]Reading{Known, Inexpressible, Unset, Strange}, r)
}

// Gaps collects the gaps of one device.
type Gaps struct {
	Platform, SKU, Release string // whose defaults hold
	list                   []Gap
}

// Unset notes that the device says nothing of a setting, and gives the platform's default; empty where it is not known.
func (g *Gaps) Unset(at addr.Addr) string {
	gap := Gap{At: at, Reading: Unset}
	if d := catalog.DefaultOf(g.Platform, g.SKU, g.Release, at); d != nil {
		gap.Default, gap.Source = d.Value, d.Source
	}
	g.list = append(g.list, gap)
	return gap.Default
}

// Derived notes that the device works a setting out by itself and does not show it, and what it is expected to be; empty: not known.
func (g *Gaps) Derived(at addr.Addr, expected, why string) {
	g.list = append(g.list, Gap{At: at, Reading: Unset, Default: expected, Source: why})
}

// Inexpressible notes that the language has no words for a setting. Where the platform has it all the same, its default holds.
func (g *Gaps) Inexpressible(at addr.Addr, why string) {
	gap := Gap{At: at, Reading: Inexpressible, Source: why}
	if d := catalog.DefaultOf(g.Platform, g.SKU, g.Release, at); d != nil {
		gap.Default, gap.Source = d.Value, d.Source
	}
	g.list = append(g.list, gap)
}

// Strange notes a line that is not understood, and the settings that it may be about.
func (g *Gaps) Strange(line string, at ...addr.Addr) {
	for _, a := range at {
		g.list = append(g.list, Gap{At: a, Reading: Strange, Line: line})
	}
}

// Settled says whether it is known so far what a setting is.
func (g *Gaps) Settled(a addr.Addr) bool {
	return !slices.ContainsFunc(g.list, func(gap Gap) bool { return !gap.settled() && gap.At.Contains(a) })
}

// Sorted are the gaps in their order, each once.
func (g *Gaps) Sorted() []Gap {
	slices.SortFunc(g.list, func(a, b Gap) int {
		return cmp.Or(addr.Compare(a.At, b.At), cmp.Compare(a.Reading, b.Reading), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Source, b.Source))
	})
	g.list = slices.Compact(g.list)
	return g.list
}

// Report says in one finding what is not understood; none where everything is.
func (l Lifted[D]) Report(device addr.Addr) diag.List {
	var lines []string
	for _, g := range l.NotUnderstood() {
		lines = append(lines, g.Line)
	}
	if len(lines) == 0 {
		return nil
	}
	return diag.List{{
		Severity: diag.Warning, Check: "lift", Addr: device, Summary: "lines of the device are not understood: " + diag.First(lines, shownLines),
		Detail: "What they may be about counts as not known, and nothing is proven of it.",
	}}
}

// shownLines are how many lines a finding quotes.
const shownLines = 4

// Summarise fills in what a switch has as a whole: what most of its ports have. Languages that say it for the switch have filled
// it in already.
func (s *Switch) Summarise() {
	trusts, watchdogs, said := map[qos.Trust]int{}, map[qos.Watchdog]int{}, s.Watchdog != nil
	for _, p := range s.Ports {
		trusts[p.Trust]++
		if p.Watchdog != nil {
			watchdogs[*p.Watchdog]++
		}
	}
	for _, p := range s.Ports { // in their order, so that of equal counts the first port's stands
		if trusts[p.Trust] > trusts[s.Trust] {
			s.Trust = p.Trust
		}
		if p.Watchdog != nil && !said && (s.Watchdog == nil || watchdogs[*p.Watchdog] > watchdogs[*s.Watchdog]) {
			w := *p.Watchdog
			s.Watchdog = &w
		}
	}
}
