package check

import (
	"fmt"
	"strings"
	"time"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/lossless"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/inventory/catalog"
)

// watchdog says that every port with PFC has one, that it acts, and that it does not look less often than it is to act.
func watchdog(f *fabric.Fabric) diag.List {
	var l diag.List
	ports(f, func(sw *fabric.Switch, p *fabric.Port) {
		if p.PFC == 0 {
			return
		}
		for _, d := range watches(p) {
			d.Addr = portAddr(sw, p).Of(addr.Watchdog, "")
			l.Add(d)
		}
	})
	return l
}

func watches(p *fabric.Port) (l diag.List) {
	w, at := p.Watchdog, p.Origin.Watchdog
	switch {
	case w == nil && p.Peer != nil && p.Peer.Host:
		l.Add(finding(diag.Warning, fmt.Sprintf("PFC is on towards host %s and the watchdog is off", p.Peer.Device),
			"A NIC that does not stop sending PAUSE, because its host hangs or its firmware fails, can stop the whole fabric: one did so with half of a customer's servers. Leave the watchdog on.", at))
		return l
	case w == nil:
		l.Add(finding(diag.Warning, "PFC is on and the watchdog is off",
			"A NIC or a switch that does not stop sending PAUSE can stop the whole fabric. Leave the watchdog on.", at))
		return l
	case w.Detection == 0 || w.Poll == 0:
		l.Add(finding(diag.Error, "a time of the watchdog is 0", "Write detection and poll as durations, like 200ms.", at))
		return l
	case w.Poll > w.Detection || w.Restoration > 0 && w.Poll > w.Restoration:
		l.Add(finding(diag.Error, fmt.Sprintf("the watchdog looks every %s, and is to detect in %s and restore in %s", w.Poll, w.Detection, w.Restoration),
			"It cannot be quicker than it looks: lower watchdog.poll.", at))
	}
	if w.Action == qos.Alert {
		l.Add(finding(diag.Warning, "the watchdog only reports what it finds (action alert)",
			"That is no recovery: a deadlock or a storm then lasts until a person ends it, and stops everything behind it. Write watchdog.action drop or forward.", at))
	} else if w.Restoration == 0 {
		l.Add(finding(diag.Warning, "the watchdog never gives a queue back (restoration 0s)",
			"After the first storm the queue is no longer lossless until a person restarts the watchdog. Write watchdog.restoration.", at))
	}
	return l
}

// watchdogLimits says what a platform's watchdog cannot be told.
func watchdogLimits(f *fabric.Fabric) diag.List {
	var l diag.List
	for _, sw := range f.Switches {
		row := catalog.WatchdogOf(sw.Platform)
		if row == nil {
			continue
		}
		source := "The limits are those of " + row.Source + "."
		if row.Unverified {
			source = "This is not verified: it rests on " + row.Source + "."
		}
		for _, p := range sw.Ports {
			if p.PFC == 0 || p.Watchdog == nil {
				continue
			}
			for _, d := range beyond(row, p, source) {
				d.Addr = portAddr(sw, p).Of(addr.Watchdog, "")
				l.Add(d)
			}
		}
	}
	return l
}

// beyond is which times are out of the platform's limits. Where these are not verified it warns only.
func beyond(row *catalog.Watchdog, p *fabric.Port, source string) (l diag.List) {
	w, at, severity := p.Watchdog, p.Origin.Watchdog, diag.Error
	if row.Unverified {
		severity = diag.Warning
	}
	var out []string
	for _, t := range []struct {
		name string
		is   time.Duration
		may  catalog.Times
	}{{"detection", w.Detection, row.Detection}, {"restoration", w.Restoration, row.Restoration}, {"poll", w.Poll, row.Poll}} {
		if t.is > 0 && !t.may.Holds(t.is) {
			out = append(out, fmt.Sprintf("watchdog.%s is %s where it takes %s", t.name, t.is, span(t.may)))
		}
	}
	if len(out) > 0 {
		l.Add(finding(severity, fmt.Sprintf("platform %s cannot be told this: %s", row.Platform, strings.Join(out, ", ")), source, at))
	}
	least := w.Detection
	if w.Restoration > 0 {
		least = min(least, w.Restoration)
	}
	if row.PollShare > 0 && w.Poll <= least && w.Poll > least/time.Duration(row.PollShare) {
		l.Add(finding(severity, fmt.Sprintf("the watchdog looks every %s, and platform %s wants at most 1/%d of detection and restoration, %s",
			w.Poll, row.Platform, row.PollShare, least/time.Duration(row.PollShare)), "The switch would work out an interval of its own. "+source, at))
	}
	return l
}

func span(t catalog.Times) string {
	switch {
	case t.Min == t.Max:
		return fmt.Sprintf("%s only", t.Min)
	case t.Max == 0:
		return fmt.Sprintf("at least %s", t.Min)
	}
	return fmt.Sprintf("%s to %s", t.Min, t.Max)
}

// legalPauses is how many PAUSE frames of the longest time a watchdog must sit out before it takes them for a storm: the
// example of Ruijie looks ten times before it is sure.
const legalPauses = 10

// watchdogPause compares detection with what a healthy port may be stopped for. One PAUSE frame may ask for 65535 quanta of
// 512 bit times, and a switch behind an incast needs the time to send its whole buffer out of one port.
func watchdogPause(f *fabric.Fabric) diag.List {
	var l diag.List
	hold := map[string]time.Duration{}
	for _, sw := range f.Switches {
		hold[sw.Name] = drain(sw)
	}
	ports(f, func(sw *fabric.Switch, p *fabric.Port) {
		w := p.Watchdog
		if p.PFC == 0 || w == nil || w.Detection == 0 {
			return
		}
		pause, at := lossless.PauseTime(p.Speed), p.Origin.Watchdog
		var d diag.Diagnostic
		switch {
		case w.Detection <= pause:
			d = finding(diag.Error, fmt.Sprintf("the watchdog detects in %s, and one legal PAUSE frame stops a %s port for %s", w.Detection, p.Speed, brief(pause)),
				"A frame may ask for 65535 quanta of 512 bit times: the watchdog would take each for a storm, and drop what PFC is to keep. Raise watchdog.detection.", at)
		case w.Detection < legalPauses*pause:
			d = finding(diag.Warning, fmt.Sprintf("the watchdog detects in %s, and %d legal PAUSE frames in a row stop a %s port for %s", w.Detection, legalPauses, p.Speed, brief(legalPauses*pause)),
				"A frame may ask for 65535 quanta of 512 bit times, and a receiver that is busy sends several. Raise watchdog.detection.", at)
		case p.Peer != nil && w.Detection < 2*hold[p.Peer.Device]:
			d = finding(diag.Warning, fmt.Sprintf("the watchdog detects in %s, and %s may need %s to send a full buffer out of one port", w.Detection, p.Peer.Device, brief(hold[p.Peer.Device])),
				"So long an incast may hold a healthy port, and as long again where the next switch is full as well. Raise watchdog.detection to twice that.", at)
		default:
			return
		}
		d.Addr = portAddr(sw, p).Of(addr.Watchdog, "")
		l.Add(d)
	})
	return l
}

// brief is a duration to the microsecond.
func brief(d time.Duration) string { return d.Round(time.Microsecond).String() }

// drain is how long a switch needs to send its whole buffer out of the slowest of its lossless ports; 0 where its buffer is
// not known.
func drain(sw *fabric.Switch) time.Duration {
	if sw.ASIC == nil {
		return 0
	}
	slowest := qos.Rate(0)
	for _, p := range sw.Ports {
		if p.PFC != 0 && p.Peer != nil && (slowest == 0 || p.Speed < slowest) {
			slowest = p.Speed
		}
	}
	if slowest == 0 {
		return 0
	}
	return slowest.Time(sw.ASIC.Buffer)
}

// watchdogOrder says that the ports towards hosts detect no later than those between switches: PAUSE of a host stops its
// leaf's port first, then the leaf's buffer fills and stops the ports behind it. The port that is cut must be the host's.
func watchdogOrder(f *fabric.Fabric) diag.List {
	var quick fabric.End
	ports(f, func(sw *fabric.Switch, p *fabric.Port) {
		if p.PFC != 0 && p.Watchdog != nil && p.Peer != nil && !p.Peer.Host && (quick.Port == nil || p.Watchdog.Detection < quick.Port.Watchdog.Detection) {
			quick = fabric.End{Switch: sw, Port: p}
		}
	})
	if quick.Port == nil {
		return nil
	}
	var l diag.List
	ports(f, func(sw *fabric.Switch, p *fabric.Port) {
		w := p.Watchdog
		if p.PFC == 0 || w == nil || p.Peer == nil || !p.Peer.Host || w.Detection <= quick.Port.Watchdog.Detection {
			return
		}
		d := finding(diag.Warning, fmt.Sprintf("the watchdog towards host %s detects in %s, and that of %s, between switches, in %s already",
			p.Peer.Device, w.Detection, quick.Address(), quick.Port.Watchdog.Detection),
			"Where a host sends PAUSE without end, the buffers behind its port fill and stop the ports between switches. Those would then be cut first, and with them the traffic of every other host. "+
				"Let host ports detect no later than the others.", p.Origin.Watchdog, quick.Port.Origin.Watchdog)
		d.Addr = portAddr(sw, p).Of(addr.Watchdog, "")
		l.Add(d)
	})
	return l
}

// watchdogBandwidth is about platforms whose watchdog watches only queues with guaranteed bandwidth.
func watchdogBandwidth(f *fabric.Fabric) diag.List {
	var l diag.List
	for _, sw := range f.Switches {
		platform := catalog.ByPlatform(sw.Platform)
		if platform == nil || !platform.WatchdogNeedsGuarantee {
			continue
		}
		caveat := ""
		if platform.Unverified {
			caveat = " This is not verified: it rests on " + platform.Source + "."
		}
		for _, p := range sw.Ports {
			for i := range p.Queues {
				q := &p.Queues[i]
				if !q.Lossless || q.Guaranteed > 0 || p.Watchdog == nil || p.PFC == 0 {
					continue
				}
				d := finding(diag.Warning, fmt.Sprintf("class %s has no guaranteed bandwidth, and the watchdog may not watch its queue", q.Class),
					"On this platform the watchdog is said to watch only queues with guaranteed bandwidth: write guaranteed: 10% in the class."+caveat, p.Origin.Class[q.Class])
				d.Addr = portAddr(sw, p).Of(addr.Queue, fmt.Sprint(i))
				l.Add(d)
			}
		}
	}
	return l
}
