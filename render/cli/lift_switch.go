package cli

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
)

// whole is what is said of the switch as a whole, and holds for its ports.
type whole struct {
	noPFC    bool
	watchdog qos.Watchdog
	said     map[string]bool // of the watchdog: detection, poll, restoration, action; sizeOfPool
	uses     []clause        // objects that hold for all ports
}

// lift puts what was read into the model: what the switch says, then each port with the objects that it names.
func (t *lifter) lift() {
	w := &whole{said: map[string]bool{}}
	device := t.sw.Address()
	for _, u := range t.global.unknown {
		t.Strange(u.line, within(device, u.at))
	}
	mapped := map[string]bool{}
	for _, s := range t.global.said {
		switch {
		case s.uses != "":
			w.uses = append(slices.DeleteFunc(w.uses, func(o clause) bool { return o.at == s.at }), s)
		case s.at.Kind == addr.Map:
			t.entry(s, mapped)
		case !t.ofSwitch(w, s):
			t.Strange(s.line, within(device, s.at))
		}
	}
	t.maps(mapped)
	if !w.said[sizeOfPool] {
		t.Unset(device.Of(addr.Pool, "headroom").With("oversubscribe"))
	}
	delete(w.said, sizeOfPool)
	if len(w.said) > 0 {
		t.sw.Watchdog = &w.watchdog
	}
	t.Inexpressible(device.Of(addr.Cable, ""), "its language has no words for the length of a cable")
	if t.pack.WatchdogOnly != "" {
		t.onlyWatchdog(w)
		return
	}
	for _, p := range t.sw.Ports {
		t.port(w, p)
	}
	t.sw.Summarise()
}

// sizeOfPool is what the switch says beside the watchdog.
const sizeOfPool = "pool"

// within is an address below the device or the port as one of its own.
func within(of, at addr.Addr) addr.Addr {
	at.Device, at.Port = of.Device, of.Port
	return at
}

// entry lifts one entry of a map. The last line about it holds.
func (t *lifter) entry(s clause, mapped map[string]bool) {
	name, from, _ := strings.Cut(s.at.Name, "/")
	f, err := strconv.Atoi(from)
	to, bad := strconv.Atoi(s.value)
	if err != nil || bad != nil || !t.sw.Maps.Put(name, f, to) {
		t.Strange(s.line, within(t.sw.Address(), s.at))
	}
	mapped[s.at.Name] = true
}

// maps notes what no line said. A map that the language has no words for leaves numbers as they are, as far as is known: a gap says
// so. So does the traffic class of the switch's own protocols.
func (t *lifter) maps(mapped map[string]bool) {
	device := t.sw.Address()
	for _, name := range fabric.MapNames() {
		sayable := t.any.says(addr.Map, name)
		for from := range fabric.MapSize(name) {
			entry := name + "/" + strconv.Itoa(from)
			at := device.Of(addr.Map, entry)
			own := t.pack.Control != nil && name == tcToQueue && from == int(t.pack.Control.TC)
			switch {
			case mapped[entry]:
			case own:
				t.sw.Maps.Put(name, from, int(t.pack.Control.Queue))
				t.Inexpressible(at, "the queue of the switch's own protocols is not chosen")
			case !sayable:
				t.sw.Maps.Put(name, from, from)
				t.Inexpressible(at, "its language has no such map: numbers are taken to stay what they are, which is not verified")
			default:
				t.Unset(at)
			}
		}
	}
}

// tcToQueue is what fabric.Maps calls the map that Control is about.
const tcToQueue = "tc-to-queue"

// says whether some rule is about a kind of thing, and the one of that name.
func (s *scope) says(k addr.Kind, name string) bool {
	for _, r := range s.rules {
		at := spell(addr.Addr{}, r.item.At)
		if at.Kind == k && (name == "" || strings.HasPrefix(at.Name, name+"/")) || r.inside != nil && r.inside.says(k, name) {
			return true
		}
	}
	return false
}

// ofSwitch lifts a line that holds for the whole switch, and says whether it is understood.
func (t *lifter) ofSwitch(w *whole, s clause) bool {
	switch s.at.Kind {
	case addr.PFC:
		w.noPFC = true
		return s.at.Leaf == "all"
	case addr.Pool:
		t.Inexpressible(within(t.sw.Address(), s.at).With("oversubscribe"), "the pool has "+s.value+" bytes, and how many times it is promised is not said")
		w.said[sizeOfPool] = true
		_, err := strconv.ParseUint(s.value, 10, 63)
		return err == nil
	case addr.Watchdog:
		return t.switchWatchdog(w, s)
	}
	return false
}

func (t *lifter) switchWatchdog(w *whole, s clause) bool {
	var ok bool
	switch s.at.Leaf {
	case "detection":
		w.watchdog.Detection, ok = seconds(s.value)
	case "poll":
		w.watchdog.Poll, ok = seconds(s.value)
	case "restoration":
		w.watchdog.Restoration, ok = seconds(s.value)
	case "action":
		var action string
		action, ok = reversed(t.pack.Watchdog.Actions, s.value)
		w.watchdog.Action = qos.WatchdogAction(action)
	case "timer":
		return t.priorityWatchdog(w, s)
	default:
		return false
	}
	w.said[s.at.Leaf] = ok
	return ok
}

// priorityWatchdog lifts the watchdog of a language that has one line for each priority and counts looks.
func (t *lifter) priorityWatchdog(w *whole, s clause) bool {
	parts, ok := s.rule.reads.match(strings.Fields(s.value))
	if !ok {
		return false
	}
	looks, err := strconv.Atoi(parts["looks"])
	ms, bad := strconv.Atoi(parts["milliseconds"])
	own := qos.Watchdog{
		Detection: time.Duration(looks) * t.pack.Watchdog.Only, Restoration: time.Duration(ms) * time.Millisecond,
		Poll: t.pack.Watchdog.Only, Action: qos.WatchdogAction(t.pack.Watchdog.Action),
	}
	if err != nil || bad != nil || w.said[s.at.Leaf] && w.watchdog != own {
		return false
	}
	w.watchdog, w.said[s.at.Leaf] = own, true
	return true
}

// onlyWatchdog lifts a switch of whose language no more is known. Which priorities are watched, the model has no place for.
func (t *lifter) onlyWatchdog(w *whole) {
	for _, kind := range []addr.Kind{addr.Map, addr.Pool, addr.MTU, addr.Trust, addr.FlowControl, addr.PFC, addr.Queue, addr.PG} {
		t.Inexpressible(t.sw.Address().Of(kind, ""), t.pack.WatchdogOnly)
	}
	for _, p := range t.sw.Ports {
		if len(w.said) > 0 {
			own := w.watchdog
			p.Watchdog = &own
		}
	}
}

// seconds reads a decimal number of seconds.
func seconds(text string) (time.Duration, bool) {
	n, err := strconv.ParseFloat(text, 64)
	d := time.Duration(n*1e6+0.5) * time.Microsecond
	return d, err == nil && n >= 0 && n < 1e6
}

// reversed is the key that has the value.
func reversed(words map[string]string, value string) (string, bool) {
	for key, word := range words {
		if word == value {
			return key, true
		}
	}
	return "", false
}
