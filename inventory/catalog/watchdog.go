package catalog

import "time"

// Watchdog is what the PFC watchdog of a platform takes, and what is known of its habits. A limit of 0 is not known.
type Watchdog struct {
	Platform                     string
	Detection, Restoration, Poll Times
	// PollShare: a poll must be at most this part of detection and restoration, 2 for a half; 0: nothing is said beyond that
	// none of them can be quicker than the poll.
	PollShare int
	// Usual is what the platform's own command sets for every UsualPorts ports of a switch, begun ones included, for all
	// three times; 0: it has no such rule. The poll stays below its limit.
	Usual      time.Duration
	UsualPorts int
	Unverified bool // the limits are not the vendor's own, so that a finding must say so
	Source     string
}

// Times is a range, both ends included.
type Times struct{ Min, Max time.Duration }

// Holds says whether a time is in the range. What is not known holds everything.
func (t Times) Holds(d time.Duration) bool {
	return (t.Min == 0 || d >= t.Min) && (t.Max == 0 || d <= t.Max)
}

// watchdogs are the platforms whose limits a source names.
var watchdogs = []Watchdog{
	{
		Platform:  "sonic",
		Detection: Times{100 * time.Millisecond, 5 * time.Second}, Restoration: Times{100 * time.Millisecond, time.Minute},
		Poll:  Times{100 * time.Millisecond, time.Second},
		Usual: 200 * time.Millisecond, UsualPorts: 32,
		Source: "sonic-net/sonic-buildimage 086b03bd, sonic-pfcwd.yang; sonic-net/sonic-utilities 691b1bbc, pfcwd/main.py, start_default",
	},
	{
		Platform:  "eos",
		Detection: Times{10 * time.Millisecond, time.Minute}, Restoration: Times{10 * time.Millisecond, time.Minute},
		Poll: Times{5 * time.Millisecond, 30 * time.Second}, PollShare: 2, Unverified: true,
		Source: "the examples in the schema of aristanetworks/avd 3cac535c, and a public post of July 2026 on lossless RoCEv2 that quotes the EOS manual; the manual itself was not read",
	},
	{
		Platform: "rgos", Poll: Times{10 * time.Millisecond, 10 * time.Millisecond}, Unverified: true,
		Source: "Ruijie's example for the RG-S6510-48VS8CQ, ten detections of 10 ms each; no manual was read, and no other limit is known",
	},
}

// UsualFor is what the platform's own command would set for a switch of so many ports; 0 where it has no such rule.
func (w *Watchdog) UsualFor(ports int) time.Duration {
	if w == nil || w.UsualPorts == 0 {
		return 0
	}
	return w.Usual * time.Duration(max(1, (ports-1)/w.UsualPorts+1))
}

// WatchdogOf is what is known of a platform's watchdog; nil where nothing is.
func WatchdogOf(platform string) *Watchdog {
	for i := range watchdogs {
		if watchdogs[i].Platform == platform {
			row := watchdogs[i]
			return &row
		}
	}
	return nil
}
