package cli

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/templates/pack"
)

// view is what the layout is given: every decision made, every number in the units of the language, as text.
type view struct {
	Words    map[string]string // of the family
	Watchdog *watchdogView     // nil: off
	DSCP     []mapping         // to traffic class
	PCP      []mapping         // to traffic class
	TC       []mapping         // to queue
	Profiles []*profileView
	Ports    []portView
	Buffers  *buffersView // nil: not written

	Deadlocks []deadlockView // the watchdog by priority, in a language that says nothing else
}

// mapping is what goes to one target: From is a list, in rising order.
type mapping struct {
	From string
	To   int
}

type portView struct {
	Name    string
	MTU     string // empty: cannot be said
	Profile string // empty: cannot be said
}

// watchdogView has times in seconds. An empty text is not said.
type watchdogView struct {
	Timeout, Recovery, Poll, Action string
}

// viewer makes the view of one switch and collects what cannot be said.
type viewer struct {
	*Language
	sw       *fabric.Switch
	family   *pack.Family
	findings diag.List
	said     map[string]bool // findings that were made already, by their words
}

func (l *Language) view(sw *fabric.Switch) (*view, diag.List) {
	v := &viewer{Language: l, sw: sw, said: map[string]bool{}}
	if l.pack.WatchdogOnly != "" {
		return v.narrow(), v.findings
	}
	if v.family = l.family(sw); v.family == nil {
		v.report(diag.Error, sw.Address(), []diag.Pos{sw.At},
			fmt.Sprintf("the chip of SKU %q is not known, so it cannot be said how its queues are called", sw.SKU),
			"Write the switch's SKU in the inventory as its vendor spells it.")
		v.family = &pack.Family{}
	}
	out := &view{Words: v.family.Words, Watchdog: v.switchWatchdog()}
	out.DSCP = grouped(len(sw.Maps.DSCPToTC), func(i int) int { return int(sw.Maps.DSCPToTC[i]) })
	out.PCP = grouped(len(sw.Maps.PCPToTC), func(i int) int { return int(sw.Maps.PCPToTC[i]) })
	out.TC = v.queues()
	var profiles []string
	out.Profiles, profiles = v.profiles()
	for i, p := range sw.Ports {
		out.Ports = append(out.Ports, portView{Name: p.Name, MTU: v.mtu(p), Profile: profiles[i]})
		if p.FlowControl {
			v.report(diag.Warning, addr.Port(sw.Name, p.Name).Of(addr.FlowControl, ""), originOf(p).FlowControl, "802.3x flow control cannot be switched on",
				"How this language says it for both directions is not verified. It stays as it is.")
		}
	}
	out.Buffers = v.buffers()
	return out, v.findings
}

// report makes a finding, once for the same words.
func (v *viewer) report(s diag.Severity, a addr.Addr, at []diag.Pos, summary, detail string) {
	if !v.said[summary] {
		v.said[summary] = true
		v.findings.Add(diag.Diagnostic{Severity: s, Check: check, Summary: summary, Detail: detail, Addr: a, At: at})
	}
}

// family is that of the switch's SKU, or else of its chip; nil where neither is known.
func (l *Language) family(sw *fabric.Switch) *pack.Family {
	for i := range l.pack.Families {
		if f := &l.pack.Families[i]; sw.SKU != "" && anyGlob(f.SKUs, sw.SKU) {
			return f
		}
	}
	for i := range l.pack.Families {
		if f := &l.pack.Families[i]; sw.ASIC != nil && anyGlob(f.ASICs, sw.ASIC.Name) {
			return f
		}
	}
	return nil
}

func anyGlob(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(glob string) bool {
		ok, err := path.Match(glob, name)
		return ok && err == nil
	})
}

// grouped puts the indices with the same target together, by rising target.
func grouped(n int, target func(int) int) []mapping {
	var from [8][]string
	for i := range n {
		t := target(i) & 7
		from[t] = append(from[t], strconv.Itoa(i))
	}
	var out []mapping
	for t, list := range from {
		if len(list) > 0 {
			out = append(out, mapping{strings.Join(list, " "), t})
		}
	}
	return out
}

// queues maps traffic classes to queues, but for the one whose queue is the device's own choice.
func (v *viewer) queues() []mapping {
	var out []mapping
	for tc, queue := range v.sw.Maps.TCToQueue {
		c := v.pack.Control
		if c == nil || tc != int(c.TC) {
			out = append(out, mapping{strconv.Itoa(tc), int(queue)})
			continue
		}
		if uint8(queue) != c.Queue {
			v.report(diag.Error, v.sw.Address().Of(addr.Map, fmt.Sprintf("tc-to-queue/%d", tc)), v.sw.Maps.At,
				fmt.Sprintf("traffic class %d cannot go to queue %d: the switch keeps both for its own control traffic", tc, queue),
				fmt.Sprintf("Leave queue %d to traffic class %d.", c.Queue, tc))
		}
	}
	return out
}

// mtu is the IP MTU, which is what the language counts as well.
func (v *viewer) mtu(p *fabric.Port) string {
	if mtu := int64(p.MTU); mtu < v.pack.MTU.Min || mtu > v.pack.MTU.Max {
		v.report(diag.Error, addr.Port(v.sw.Name, p.Name).Of(addr.MTU, ""), originOf(p).MTU,
			fmt.Sprintf("an IP MTU of %d bytes cannot be set", p.MTU),
			fmt.Sprintf("The switch takes %d to %d.", v.pack.MTU.Min, v.pack.MTU.Max))
		return ""
	}
	return strconv.FormatInt(int64(p.MTU), 10)
}

// switchWatchdog is the watchdog of the switch as a whole. An action that only a port can have is left to the ports.
func (v *viewer) switchWatchdog() *watchdogView {
	w := v.sw.Watchdog
	if w == nil {
		return nil
	}
	out := v.times(w, v.sw.Address().Of(addr.Watchdog, ""), v.watchdogAt())
	out.Action = v.pack.Watchdog.Actions[string(w.Action)]
	return out
}

func (v *viewer) watchdogAt() []diag.Pos {
	for _, p := range v.sw.Ports {
		if p.Origin != nil {
			return p.Origin.Watchdog
		}
	}
	return nil
}

// times are the watchdog's, rounded to the steps of the language.
func (v *viewer) times(w *qos.Watchdog, a addr.Addr, at []diag.Pos) *watchdogView {
	seconds := func(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }
	p := v.pack.Watchdog
	return &watchdogView{
		Timeout: seconds(v.rounded("detection", w.Detection, p.Timer, a, at)), Recovery: seconds(v.rounded("restoration", w.Restoration, p.Timer, a, at)),
		Poll: seconds(v.rounded("poll", w.Poll, p.Poll, a, at)),
	}
}

// rounded is a time of the watchdog in whole steps of the language.
func (v *viewer) rounded(name string, d, step time.Duration, a addr.Addr, at []diag.Pos) time.Duration {
	out := inSteps(d, step)
	switch {
	case d == 0:
		v.report(diag.Error, a.With(name), at, fmt.Sprintf("a %s of 0s, never, cannot be said", name), "No source shows how this language says it: write a time.")
	case out != d:
		v.report(diag.Warning, a.With(name), at, fmt.Sprintf("%s cannot be said exactly: it is rounded to %s", d, out),
			fmt.Sprintf("The language counts it in steps of %s.", step))
	}
	return out
}

// inSteps is a time in whole steps of the language, one at least.
func inSteps(d, step time.Duration) time.Duration { return max(step, d.Round(step)) }

// wholePercent is a share as a whole number from 1 on.
func wholePercent(share qos.Percent) int { return max(1, int(share+0.5)) }

// whole is a percentage as a whole number from 1 to 100.
func (v *viewer) whole(share qos.Percent, a addr.Addr, at []diag.Pos) string {
	n := wholePercent(share)
	if qos.Percent(n) != share {
		v.report(diag.Warning, a, at, fmt.Sprintf("%s cannot be said exactly: it is rounded to %d%%", share, n),
			"The language takes whole numbers from 1 to 100.")
	}
	return strconv.Itoa(n)
}

// originOf is never nil.
func originOf(p *fabric.Port) *fabric.Origin { return cmp.Or(p.Origin, &fabric.Origin{}) }
