package sonic

import (
	"fmt"
	"math"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
)

// counterGroups are the groups that weir's telemetry reads. The last one is off unless it is switched on
// (sonic-buildimage issue 23170). Their intervals stay as they are on the device.
var counterGroups = [...]string{
	"BUFFER_POOL_WATERMARK", "PFCWD", "PG_DROP", "PG_WATERMARK", "PORT", "QUEUE", "QUEUE_WATERMARK", "WRED_ECN_QUEUE",
}

// shared writes the rows that the ports' rows refer to, and the switch's own.
func (w *writer) shared() {
	for _, s := range w.schedulers.order {
		w.scheduler(w.schedulers.of[s], s)
	}
	for _, c := range w.curves.order {
		w.curve(w.curves.of[c], c)
	}
	if poll := pollOf(w.sw); poll > 0 {
		w.add(tableWatchdog, global, fieldPoll, milliseconds(poll), object(tableWatchdog, global))
	}
	for _, group := range counterGroups {
		w.add(tableCounters, group, fieldStatus, "enable", object(tableCounters, group))
	}
}

func (w *writer) scheduler(name string, s scheduler) {
	object := object(tableScheduler, name)
	if s.strict {
		w.add(tableScheduler, name, "type", "STRICT", object)
	} else {
		w.add(tableScheduler, name, "type", "DWRR", object)
		w.add(tableScheduler, name, "weight", number(int64(s.weight)), object)
	}
	if s.guaranteed > 0 {
		// cir becomes the scheduler's minimum bandwidth (sonic-swss qosorch.cpp), in bytes a second.
		w.add(tableScheduler, name, "cir", number(s.guaranteed), object)
		w.add(tableScheduler, name, "meter_type", "bytes", object)
	}
}

// maxThreshold is the largest WRED threshold: orchagent reads them with stoi (sonic-swss qosorch.cpp WredMapHandler).
const maxThreshold = math.MaxInt32

// curve writes a WRED profile, the same for all three colours: a colour that is not enabled is not marked, and `ecn` alone
// does nothing (sonic-swss qosorch.cpp WredMapHandler, sonic-buildimage issue 4545).
func (w *writer) curve(name string, c curve) {
	if c.wred.Max > maxThreshold || c.wred.Min > maxThreshold {
		w.refuseCurve(c, fmt.Sprintf("a threshold of %s cannot be said: SONiC reads less than 2147483648 bytes", max(c.wred.Max, c.wred.Min)))
	}
	if c.wred.Probability != qos.Percent(math.Trunc(float64(c.wred.Probability))) {
		w.refuseCurve(c, fmt.Sprintf("a marking probability of %s cannot be said: SONiC takes whole percent", c.wred.Probability))
	}
	object := object(tableWRED, name)
	ecn := "ecn_none"
	if c.wred.ECN {
		ecn = "ecn_all"
	}
	w.add(tableWRED, name, "ecn", ecn, object)
	low, high, probability := number(c.wred.Min), number(c.wred.Max), number(int64(c.wred.Probability))
	for _, colour := range colours {
		w.add(tableWRED, name, colour.min, low, object)
		w.add(tableWRED, name, colour.max, high, object)
		w.add(tableWRED, name, colour.probability, probability, object)
		w.add(tableWRED, name, colour.enable, "true", object)
	}
}

// colours are the fields of a WRED profile that each colour has.
var colours = [...]struct{ name, min, max, probability, enable string }{
	{"green", "green_min_threshold", "green_max_threshold", "green_drop_probability", "wred_green_enable"},
	{"yellow", "yellow_min_threshold", "yellow_max_threshold", "yellow_drop_probability", "wred_yellow_enable"},
	{"red", "red_min_threshold", "red_max_threshold", "red_drop_probability", "wred_red_enable"},
}

func (w *writer) refuseCurve(c curve, summary string) {
	w.findings.Add(diag.Diagnostic{
		Severity: diag.Error, Check: check, Addr: w.sw.Address(), Summary: "class " + c.class + ": " + summary, At: classPlaces(w.sw, c.class),
	})
}

// classPlaces are where a class of the switch is defined and overridden, as its first port has it.
func classPlaces(sw *fabric.Switch, class string) []diag.Pos {
	for _, p := range sw.Ports {
		if at := origin(p).Class[class]; len(at) > 0 {
			return at
		}
	}
	return nil
}

// buffers writes what the dynamic buffer model needs to know, and the profiles of headroom that the operator wrote.
func (w *writer) buffers() {
	lossless := false
	stated := map[string]fabric.Group{}
	derived := map[string]*fabric.Port{}
	for _, p := range w.sw.Ports {
		if losslessGroups(p) == 0 {
			continue
		}
		lossless = true
		g := statedHeadroom(p)
		if g == nil {
			derived[derivedProfile(p)] = p
			continue
		}
		want := fabric.Group{Alpha: g.Alpha, Reserved: g.Reserved, XON: g.XON, Headroom: g.Headroom}
		if was, known := stated[derivedProfile(p)]; known && !sameHeadroom(was, want) {
			w.cannot(p, fmt.Sprintf("headroom of %s cannot be said: another port with %s and %s of cable has %s, and SONiC has one profile for them",
				want.Headroom, p.Speed, p.Cable, was.Headroom), origin(p).Headroom)
			continue
		}
		stated[derivedProfile(p)] = want
	}
	for _, p := range w.sw.Ports {
		name := derivedProfile(p)
		g, known := stated[name]
		if !known {
			continue
		}
		delete(stated, name)
		w.profile(name, g)
		if other := derived[name]; other != nil {
			w.cannot(other, fmt.Sprintf("headroom cannot be left to the device: another port with %s and %s of cable has %s, and SONiC has one profile for them",
				other.Speed, other.Cable, g.Headroom), origin(other).Headroom)
		}
	}
	if !lossless {
		return
	}
	object := object(tableDefault, azure)
	w.add(tableDefault, azure, fieldAlpha, number(int64(w.sw.LosslessAlpha)), object)
	if w.sw.Oversubscribe > 0 {
		w.add(tableDefault, azure, fieldRatio, number(int64(w.sw.Oversubscribe)), object)
	}
}

// sameHeadroom compares what a profile holds of a group.
func sameHeadroom(a, b fabric.Group) bool {
	return a.Alpha == b.Alpha && a.Reserved == b.Reserved && a.XON == b.XON && a.Headroom == b.Headroom
}

// profile writes headroom in bytes, under the name that the device would give to its own profile for the same ports.
func (w *writer) profile(name string, g fabric.Group) {
	object := object(tableProfile, name)
	w.add(tableProfile, name, "dynamic_th", number(int64(g.Alpha)), object)
	w.add(tableProfile, name, "pool", losslessPool, object)
	w.add(tableProfile, name, "size", number(g.Reserved), object)
	w.add(tableProfile, name, "xoff", number(g.Headroom), object)
	w.add(tableProfile, name, "xon", number(g.XON), object)
}
