package cli

import (
	"fmt"
	"strconv"
	"time"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/render"
)

// Exclusions are what the language does not give back as it was written, as far as its pack decides it.
func (l *Language) Exclusions() []render.Exclusion {
	of := func(k addr.Kind, leaf string) addr.Addr { return addr.Addr{Kind: k, Leaf: leaf} }
	cable := render.Exclusion{Of: of(addr.Cable, ""), Back: "nothing", Silent: true, Why: "The language has no words for the length of a cable: headroom is written in bytes."}
	if l.pack.WatchdogOnly != "" {
		out := []render.Exclusion{cable}
		for _, k := range []addr.Kind{addr.Map, addr.Pool, addr.MTU, addr.Trust, addr.FlowControl, addr.PFC, addr.Queue, addr.PG, addr.Watchdog} {
			out = append(out, render.Exclusion{Of: of(k, ""), Back: "nothing", Silent: true, Why: l.pack.WatchdogOnly})
		}
		return out
	}
	const one = "One buffer profile holds for all ports: the most headroom and guarantee that any of them needs, the lowest threshold of lossless groups, the highest of queues, " +
		"all within the range of the language; where no port has PFC, or for chips whose profiles are not verified, none is written."
	whole := func(leaf, why string) render.Exclusion {
		return render.Exclusion{Of: of(addr.Queue, leaf), Back: "whole percent, 1 at least", As: percentBack, Why: why}
	}
	weight := whole("weight", "A queue without a share, and a strict one, gets none.")
	weight.Silent = true
	out := []render.Exclusion{
		cable, weight, whole("guaranteed", "The language takes whole numbers."), whole("ecn-probability", "The language takes whole numbers."),
		l.rounded("detection", l.pack.Watchdog.Timer), l.rounded("restoration", l.pack.Watchdog.Timer), l.rounded("poll", l.pack.Watchdog.Poll),
		{Of: of(addr.Queue, "alpha"), Back: "that of the switch's profile", Theirs: true, Why: one},
		{Of: of(addr.PG, "alpha"), Back: "that of the switch's profile", Theirs: true, Why: one},
		{Of: of(addr.PG, "headroom"), Back: "that of the switch's profile", Theirs: true, Why: one},
		{Of: of(addr.PG, "reserved"), Back: "that of the switch's profile, without the headroom", Theirs: true, Why: one},
		{Of: of(addr.PG, "xon"), Back: "nothing", Silent: true, Why: "No source shows how it is said."},
		{Of: of(addr.PG, "threshold"), Back: "nothing", Silent: true, Why: "Thresholds are fractions of the free buffer."},
		{
			Of: addr.Addr{Kind: addr.Pool, Name: "headroom", Leaf: "oversubscribe"}, Back: "nothing", Silent: true,
			Why: "The pool is written in bytes, of which the ratio that they were made of cannot be told.",
		},
		{Of: of(addr.FlowControl, ""), Back: "off where the port has PFC, else nothing", Silent: true, Why: "weir does not write IEEE 802.3x here. " + l.pauseWhy()},
	}
	for _, name := range fabric.MapNames() {
		if !l.any.says(addr.Map, name) {
			out = append(out, render.Exclusion{
				Of: addr.Addr{Kind: addr.Map, Name: name}, Back: "every number itself", Silent: true,
				Why: "The language has no such map. That numbers stay what they are is not verified, and is said of each proof that rests on it.",
			})
		}
	}
	if c := l.pack.Control; c != nil {
		out = append(out,
			render.Exclusion{
				Of: addr.Addr{Kind: addr.Map, Name: fmt.Sprintf("%s/%d", tcToQueue, c.TC)}, Back: fmt.Sprintf("queue %d", c.Queue), Silent: true,
				Why: "Traffic class and queue are those of the switch's own protocols, and are not written.",
			},
			render.Exclusion{
				Of: addr.Addr{Kind: addr.Queue, Name: strconv.Itoa(int(c.Queue)), Leaf: "strict"}, Back: "on where no class has the queue", As: func(string) string { return "on" },
				Why: "It is the queue of the switch's own protocols.",
			})
	}
	return out
}

func (l *Language) pauseWhy() string {
	if l.pack.NoPause == "" {
		return "What holds without a line is not known."
	}
	return "A port with PFC ignores it (" + l.pack.NoPause + ")."
}

func percentBack(written string) string {
	share, err := qos.ParsePercent(written)
	if err != nil {
		return written
	}
	return qos.Percent(wholePercent(share)).String()
}

// rounded is a time of the watchdog, which comes back in whole steps.
func (l *Language) rounded(leaf string, step time.Duration) render.Exclusion {
	return render.Exclusion{
		Of: addr.Addr{Kind: addr.Watchdog, Leaf: leaf}, Back: fmt.Sprintf("in steps of %s", step), Why: "The language counts seconds with so many places.",
		As: func(written string) string {
			d, err := time.ParseDuration(written)
			if err != nil {
				return written
			}
			return inSteps(d, step).String()
		},
	}
}
