package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
)

// profileView is what all ports of one kind have in common.
type profileView struct {
	Name     string
	Trust    string // empty: cannot be said
	PFC      []int  // priorities; empty: off
	Queues   []queueView
	Watched  bool
	Watchdog *watchdogView // of the ports, where it is not that of the switch; without times only the action differs
}

// queueView has shares in percent. An empty text is not said.
type queueView struct {
	ID                int
	Strict            bool
	Weight, Guarantee string
	WRED              *wredView
}

type wredView struct {
	ECN         bool
	Min, Max    int64
	Unit        string
	Probability string
}

// kind is all that makes the profile of a port.
type kind struct {
	speed    qos.Rate
	trust    qos.Trust
	pfc      qos.PrioritySet
	watched  bool
	watchdog qos.Watchdog
	queues   string
}

// profiles are those of the switch, and the name of each port's.
func (v *viewer) profiles() (views []*profileView, names []string) {
	if v.family.Name == "" {
		return nil, make([]string, len(v.sw.Ports))
	}
	names, firsts := v.assign(v.sw)
	for _, p := range firsts {
		views = append(views, v.profile(names[p], v.sw.Ports[p]))
	}
	return views, names
}

// assign puts ports that are set alike into profiles: the name of each port's, and the first port of each profile. The
// profile of most ports of a speed is named after the speed alone, so that an override of a few ports does not rename it.
func (l *Language) assign(sw *fabric.Switch) (names []string, firsts []int) {
	members := map[kind][]int{}
	usual := map[qos.Rate]kind{}
	seen := map[*fabric.Queue]string{}
	var kinds []kind
	for i, p := range sw.Ports {
		k := kind{speed: p.Speed, trust: p.Trust, pfc: p.PFC, queues: signature(p.Queues, seen)}
		if p.Watchdog != nil {
			k.watched, k.watchdog = true, *p.Watchdog
		}
		if members[k] == nil {
			kinds = append(kinds, k)
		}
		members[k] = append(members[k], i)
	}
	for _, k := range kinds {
		if most, ok := usual[k.speed]; !ok || len(members[k]) > len(members[most]) {
			usual[k.speed] = k
		}
	}
	names = make([]string, len(sw.Ports))
	for _, k := range kinds {
		first, name := members[k][0], l.pack.Variant
		if usual[k.speed] == k {
			name = l.pack.Profile
		}
		name = fill(name, binding{"speed": k.speed.String(), "port": strings.ReplaceAll(sw.Ports[first].Name, "/", "-")})
		for _, i := range members[k] {
			names[i] = name
		}
		firsts = append(firsts, first)
	}
	return names, firsts
}

// signature is the same text for the same queues. Ports mostly share theirs.
func signature(queues []fabric.Queue, seen map[*fabric.Queue]string) string {
	if len(queues) == 0 {
		return ""
	}
	if s, ok := seen[&queues[0]]; ok {
		return s
	}
	var b strings.Builder
	for _, q := range queues {
		fmt.Fprintf(&b, "%d %v %v ", q.ID, q.Scheduler, q.Guaranteed)
		if q.WRED != nil {
			fmt.Fprintf(&b, "%v", *q.WRED)
		}
		b.WriteByte(';')
	}
	seen[&queues[0]] = b.String()
	return b.String()
}

// profile is written from one of its ports.
func (v *viewer) profile(name string, p *fabric.Port) *profileView {
	origin, port := originOf(p), addr.Port(v.sw.Name, p.Name)
	out := &profileView{Name: name, Trust: v.pack.Trust[string(p.Trust)]}
	if out.Trust == "" {
		v.report(diag.Error, port.Of(addr.Trust, ""), origin.Trust, fmt.Sprintf("trust %q cannot be said", p.Trust), "")
	}
	for _, priority := range p.PFC.All() {
		out.PFC = append(out.PFC, int(priority))
	}
	for _, q := range p.Queues {
		out.Queues = append(out.Queues, v.queue(p, q))
	}
	if p.Watchdog != nil && p.PFC != 0 {
		out.Watched, out.Watchdog = true, v.portWatchdog(p)
	}
	return out
}

// queue states every queue: one that no class uses shares without a share, but for that of the switch's own control traffic.
func (v *viewer) queue(p *fabric.Port, q fabric.Queue) queueView {
	a := addr.Port(v.sw.Name, p.Name).Of(addr.Queue, strconv.Itoa(int(q.ID)))
	at := originOf(p).Class[q.Class]
	out := queueView{ID: int(q.ID), Strict: q.Scheduler.Strict}
	if c := v.pack.Control; c != nil && q.ID == qos.Queue(c.Queue) && q.Class == "" {
		out.Strict = true
	}
	if !out.Strict && q.Scheduler.Weight > 0 {
		out.Weight = v.whole(q.Scheduler.Weight, a.With("share"), at)
	}
	if q.Guaranteed > 0 {
		out.Guarantee = v.whole(q.Guaranteed, a.With("guaranteed"), at)
	}
	if q.WRED != nil {
		out.WRED = v.wred(q.WRED, a, at)
	}
	return out
}

// wred is the marking curve, in the first unit that says both thresholds exactly, else in the last one.
func (v *viewer) wred(w *qos.WRED, a addr.Addr, at []diag.Pos) *wredView {
	out := &wredView{ECN: w.ECN, Probability: v.whole(w.Probability, a.With("ecn-probability"), at)}
	for _, u := range v.pack.ECN {
		least, most := int64(w.Min), int64(w.Max)
		out.Unit, out.Min, out.Max = u.Name, (least+u.Bytes/2)/u.Bytes, (most+u.Bytes/2)/u.Bytes
		if least%u.Bytes == 0 && most%u.Bytes == 0 {
			return out
		}
	}
	v.report(diag.Warning, a.With("ecn"), at, fmt.Sprintf("thresholds of %s and %s are rounded to %d and %d %s", w.Min, w.Max, out.Min, out.Max, out.Unit), "")
	return out
}

// portWatchdog is what a port's watchdog has of its own; nil where it is the switch's in all.
func (v *viewer) portWatchdog(p *fabric.Port) *watchdogView {
	whole, own := v.sw.Watchdog, p.Watchdog
	a, at := addr.Port(v.sw.Name, p.Name).Of(addr.Watchdog, ""), originOf(p).Watchdog
	out := &watchdogView{}
	if whole == nil || whole.Detection != own.Detection || whole.Restoration != own.Restoration || whole.Poll != own.Poll {
		out = v.times(own, a, at)
	}
	if _, said := v.pack.Watchdog.Actions[string(own.Action)]; whole == nil || whole.Action != own.Action || !said {
		if out.Action = v.pack.Watchdog.Ports[string(own.Action)]; out.Action == "" {
			v.report(diag.Error, a.With("action"), at, fmt.Sprintf("watchdog action %q cannot be said for one port", own.Action),
				"Give the whole switch this action, or the port another one.")
		}
	}
	if *out == (watchdogView{}) {
		return nil
	}
	return out
}
