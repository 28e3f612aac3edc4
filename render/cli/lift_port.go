package cli

import (
	"slices"
	"strconv"
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
)

// state is what the lines of a port come to, while they are read one after the other.
type state struct {
	*fabric.Port
	at       addr.Addr
	pfc      bool // is on, whatever the priorities
	noDrop   qos.PrioritySet
	watched  bool
	watchdog qos.Watchdog
	said     map[string]bool // addresses without device and port
	counted  qos.PrioritySet // queues whose marked packets are counted
	headroom qos.Bytes
}

// port lifts a port: first what holds for the whole switch, then its profile, then its own lines, which go before the profile's.
func (t *lifter) port(w *whole, p *fabric.Port) {
	s := &state{Port: p, at: addr.Port(t.sw.Name, p.Name), said: map[string]bool{}, watchdog: w.watchdog}
	for leaf := range w.said {
		s.said["watchdog:"+leaf] = true
	}
	own := t.ports[p.Name]
	var objects []clause
	for _, said := range slices.Concat(w.uses, own.said) {
		if said.uses != "" {
			objects = append(objects, said)
		}
	}
	pfc := 0
	for _, o := range objects {
		body, ok := t.objects[o.uses]
		if !ok {
			t.Strange(o.line, s.at)
			continue
		}
		pfc += t.apply(s, body)
	}
	if pfc > 0 && t.apply(s, own) > 0 { // whether they join or one goes before the other, no source says
		for _, said := range own.said {
			if said.at.Kind == addr.PFC {
				t.Strange(said.line, s.at.Of(addr.PFC, ""))
			}
		}
	} else if pfc == 0 {
		t.apply(s, own)
	}
	if s.pfc && !w.noPFC {
		p.PFC = s.noDrop
	}
	t.finish(s)
}

// apply lifts the lines of a body onto a port, and counts those about PFC.
func (t *lifter) apply(s *state, b *body) (pfc int) {
	for _, u := range b.unknown {
		t.Strange(u.line, within(s.at, u.at))
	}
	for _, said := range b.said {
		if said.at.Kind == addr.PFC {
			pfc++
		}
		if said.uses == "" && !t.set(s, said) {
			t.Strange(said.line, within(s.at, said.at))
		}
		s.said[said.at.String()] = true
	}
	return pfc
}

// set lifts one clause, and says whether it is understood.
func (t *lifter) set(s *state, said clause) bool {
	n, err := strconv.ParseInt(said.value, 10, 64)
	number := err == nil && n >= 0
	switch said.at.Kind {
	case addr.MTU:
		s.MTU = qos.Bytes(n)
		return number
	case addr.Trust:
		field, ok := reversed(t.pack.Trust, said.value)
		s.Trust = qos.Trust(field)
		return ok && said.at.Leaf == ""
	case addr.FlowControl:
		s.FlowControl = s.FlowControl || said.value == "on"
		return said.value == "on" || said.value == "off"
	case addr.PFC:
		return s.priority(said)
	case addr.Watchdog:
		return t.portWatchdog(s, said)
	case addr.Queue:
		return t.queueLine(s, said, n, number)
	case addr.PG:
		return s.group(said, n, number)
	}
	return false
}

// priority lifts PFC of a priority, or of the port: without the port's the priorities' do nothing.
func (s *state) priority(said clause) bool {
	off := said.value == said.rule.item.Unsaid
	if said.at.Leaf == "enabled" {
		s.pfc = !off
		return off || said.value == "on"
	}
	i, ok := index(said.at.Name)
	if !ok {
		return false
	}
	if s.noDrop &^= qos.Priorities(qos.Priority(i)); !off {
		s.noDrop |= qos.Priorities(qos.Priority(i))
	}
	return true
}

// index reads the number of a priority, queue or group.
func index(name string) (int, bool) {
	n, err := strconv.Atoi(name)
	return n, err == nil && n >= 0 && n < 8
}

func (t *lifter) portWatchdog(s *state, said clause) bool {
	switch said.at.Leaf {
	case "enabled":
		s.watched = true
		return true
	case "action":
		action, ok := reversed(t.pack.Watchdog.Ports, said.value)
		s.watchdog.Action = qos.WatchdogAction(action)
		return ok
	case "timer":
		parts, ok := said.rule.reads.match(strings.Fields(said.value))
		detection, ok1 := seconds(parts["detection"])
		poll, ok2 := seconds(parts["poll"])
		restoration, ok3 := seconds(parts["restoration"])
		s.watchdog.Detection, s.watchdog.Poll, s.watchdog.Restoration = detection, poll, restoration
		for _, leaf := range []string{"detection", "poll", "restoration"} {
			s.said["watchdog:"+leaf] = true
		}
		return ok && ok1 && ok2 && ok3
	}
	return false
}

// queueLine lifts a line of a queue.
func (t *lifter) queueLine(s *state, said clause, n int64, number bool) bool {
	i, ok := index(said.at.Name)
	if !ok {
		return false
	}
	q := &s.Queues[i]
	switch said.at.Leaf {
	case "scheduler":
		q.Scheduler.Strict = said.value != said.rule.item.OffSays
		return true
	case "share":
		q.Scheduler.Weight = qos.Percent(n)
		return number && n <= 100
	case "guaranteed":
		q.Guaranteed = qos.Percent(n)
		return number && n <= 100
	case "ecn", "wred":
		q.WRED, ok = t.curve(s, said)
		return ok
	case "ecn-count":
		s.counted |= qos.Priorities(qos.Priority(i))
		return true
	case "alpha":
		alpha, err := qos.ParseAlpha(said.value)
		q.Alpha = alpha
		return err == nil
	}
	return false
}

// curve lifts thresholds in the units of the language. A weight of the average is told of: the model has none.
func (t *lifter) curve(s *state, said clause) (*qos.WRED, bool) {
	parts, ok := said.rule.reads.match(strings.Fields(said.value))
	if !ok || parts["unit"] != parts["unitOfMax"] {
		return nil, false
	}
	low, err1 := strconv.ParseInt(parts["min"], 10, 64)
	high, err2 := strconv.ParseInt(parts["max"], 10, 64)
	probability, err3 := strconv.Atoi(parts["probability"])
	unit := int64(0)
	for _, u := range t.pack.ECN {
		if u.Name == parts["unit"] {
			unit = u.Bytes
		}
	}
	if err1 != nil || err2 != nil || err3 != nil || unit == 0 || probability < 0 || probability > 100 {
		return nil, false
	}
	if parts["weight"] != "0" {
		t.Strange(said.line, within(s.at, said.at).With("ecn-weight"))
	}
	return &qos.WRED{Min: qos.Bytes(low * unit), Max: qos.Bytes(high * unit), Probability: qos.Percent(probability), ECN: said.at.Leaf == "ecn"}, true
}

// group lifts a line of a buffer profile about groups.
func (s *state) group(said clause, n int64, number bool) bool {
	if said.at.Leaf == "headroom" && said.at.Name == "" {
		s.headroom = qos.Bytes(n)
		return number
	}
	i, ok := index(said.at.Name)
	if !ok {
		return false
	}
	switch said.at.Leaf {
	case "reserved":
		s.Groups[i].Reserved = qos.Bytes(n)
		return number
	case "alpha":
		alpha, err := qos.ParseAlpha(said.value)
		s.Groups[i].Alpha = alpha
		return err == nil
	}
	return false
}

// finish fills in what follows from the lines of a port, and notes what none of them said.
func (t *lifter) finish(s *state) {
	if !s.said["mtu"] {
		s.MTU = t.unsaidMTU(s)
	}
	if !s.said["trust"] {
		t.Unset(s.at.Of(addr.Trust, ""))
	}
	t.pause(s)
	if s.watched && s.PFC != 0 {
		own := s.watchdog
		s.Watchdog = &own
		for _, leaf := range []string{"detection", "restoration", "poll", "action"} {
			if !s.said["watchdog:"+leaf] {
				t.Unset(s.at.Of(addr.Watchdog, "").With(leaf))
			}
		}
	}
	for i := range s.Queues {
		t.queueGaps(s, &s.Queues[i], strconv.Itoa(i))
		t.groupGaps(s, &s.Groups[i], strconv.Itoa(i))
	}
}

// unsaidMTU is the one that the grammar says is the same as no line.
func (t *lifter) unsaidMTU(s *state) qos.Bytes {
	at := s.at.Of(addr.MTU, "")
	unsaid := t.any.unsaid(addr.MTU)
	n, err := strconv.ParseInt(unsaid, 10, 64)
	if err != nil {
		t.Unset(at)
		return 0
	}
	t.Derived(at, qos.Bytes(n).String(), "its pack: no line says the same as "+unsaid)
	return qos.Bytes(n)
}

// unsaid is the value that is the same as no line about a kind of thing.
func (s *scope) unsaid(k addr.Kind) string {
	for _, r := range s.rules {
		if spell(addr.Addr{}, r.item.At).Kind == k && r.item.Unsaid != "" {
			return r.item.Unsaid
		}
		if r.inside != nil {
			if found := r.inside.unsaid(k); found != "" {
				return found
			}
		}
	}
	return ""
}

// pause lifts IEEE 802.3x, which a port with PFC does not have where the pack says so.
func (t *lifter) pause(s *state) {
	at := s.at.Of(addr.FlowControl, "")
	switch {
	case s.PFC != 0 && t.pack.NoPause != "":
		s.FlowControl = false
		t.Derived(at, "off", "a port with PFC ignores it: "+t.pack.NoPause)
	case !s.said["flowcontrol:receive"] || !s.said["flowcontrol:send"]:
		t.Unset(at)
	}
}

func (t *lifter) queueGaps(s *state, q *fabric.Queue, name string) {
	at := s.at.Of(addr.Queue, name)
	q.Lossless = s.PFC.Has(qos.Priority(q.ID))
	if !s.said["queue/"+name+":scheduler"] {
		t.Unset(at.With("strict"))
	}
	if !s.said["queue/"+name+":share"] && !q.Scheduler.Strict {
		t.Unset(at.With("weight"))
	}
	if !s.said["queue/"+name+":alpha"] {
		t.Unset(at.With("alpha"))
	}
	if q.WRED != nil && q.WRED.ECN && !s.counted.Has(qos.Priority(q.ID)) {
		t.Unset(at.With("ecn-count"))
	}
}

// groupGaps lifts the group of the priority of its number: it has headroom where that has PFC. XON the language does not say.
func (t *lifter) groupGaps(s *state, g *fabric.Group, name string) {
	at := s.at.Of(addr.PG, name)
	g.Priorities = qos.Priorities(qos.Priority(g.ID))
	if !s.said["pg/"+name+":alpha"] {
		t.Unset(at.With("alpha"))
	}
	if !s.said["pg/"+name+":reserved"] {
		t.Unset(at.With("reserved"))
	}
	if g.Lossless = s.PFC.Has(qos.Priority(g.ID)); !g.Lossless {
		return
	}
	if g.Headroom = s.headroom; !s.said["pg:headroom"] {
		t.Unset(at.With("headroom"))
	}
	t.Inexpressible(at.With("xon"), "no source shows how it is said")
}
