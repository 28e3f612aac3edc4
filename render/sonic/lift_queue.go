package sonic

import (
	"slices"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
)

// queues lifts the queues of a port. A queue is lossless when PAUSE of some priority with PFC stops it.
func (l *lifter) queues(p *fabric.Port) {
	port := addr.Port(l.sw.Name, p.Name)
	stopped := qos.PrioritySet(0)
	settled := l.Settled(port.Of(addr.PFC, ""))
	for _, n := range p.PFC.All() {
		settled = settled && l.Settled(l.sw.Address().Of(addr.Map, "pfc-to-queue/"+digits[n]))
		stopped |= qos.Priorities(qos.Priority(l.sw.Maps.PriorityToQueue[n]))
	}
	if !settled {
		l.Derived(port.Of(addr.Queue, "").With("lossless"), "", "which priorities stop it follows from PFC and the map of priorities to queues")
	}
	for i := range p.Queues {
		q := &p.Queues[i]
		at := port.Of(addr.Queue, digits[i])
		q.Lossless = stopped.Has(qos.Priority(i))
		key, row := l.row(tableQueue, l.db.Queue, p.Name, i, at)
		l.only(tableQueue, key, row, at, "scheduler", "wred_profile")
		l.scheduler(p, q, key, row["scheduler"], at)
		if name := row["wred_profile"]; name != "" {
			q.WRED = l.curve(key, name, at)
		}
		l.queueAlpha(p, q, at.With("alpha"))
	}
}

// scheduler lifts how a queue shares its port. Weights are relative; those of WRR count packets, and those of the model bytes.
func (l *lifter) scheduler(p *fabric.Port, q *fabric.Queue, key, name string, at addr.Addr) {
	share := []addr.Addr{at.With("strict"), at.With("weight"), at.With("guaranteed")}
	row, known := l.db.Scheduler[normal(tableQueue, "scheduler", name)]
	switch {
	case name == "":
		for _, a := range share {
			l.Unset(a)
		}
		return
	case !known:
		l.Strange(quote(tableQueue, key, "scheduler", name), share...)
		return
	}
	name = normal(tableQueue, "scheduler", name)
	l.only(tableScheduler, name, row, at, "type", "weight", "cir", "meter_type")
	weight, ok := integer(row["weight"], 1, 100)
	if row["weight"] == "" {
		weight, ok = 1, true
	}
	switch kind := row["type"]; {
	case kind == "STRICT":
		if q.Scheduler.Strict = true; row["weight"] != "" {
			l.Strange(quote(tableScheduler, name, "weight", row["weight"]), at.With("weight"))
		}
	case kind == "DWRR" && ok:
		if q.Scheduler.Weight = qos.Percent(weight); row["weight"] == "" {
			l.Derived(at.With("weight"), q.Scheduler.Weight.String(), "sonic-scheduler.yang, default of weight")
		}
	case kind == "DWRR":
		l.Strange(quote(tableScheduler, name, "weight", row["weight"]), at.With("weight"))
	case kind == "WRR" || kind == "":
		l.Inexpressible(at.With("weight"), "type WRR, the default of sonic-scheduler.yang, shares by packets and not by bytes")
	default:
		l.Strange(quote(tableScheduler, name, "type", kind), share...)
	}
	l.guaranteed(p, q, name, row, at.With("guaranteed"))
}

// guaranteed lifts cir, which is a rate in bytes a second, as a percentage of the port's speed.
func (l *lifter) guaranteed(p *fabric.Port, q *fabric.Queue, name string, row map[string]string, at addr.Addr) {
	if meter := row["meter_type"]; meter != "" && meter != "bytes" {
		l.Strange(quote(tableScheduler, name, "meter_type", meter), at)
		return
	}
	if row["cir"] == "" {
		if row["meter_type"] != "" {
			l.Unset(at)
		}
		return
	}
	rate, ok := natural(row["cir"])
	switch {
	case !ok:
		l.Strange(quote(tableScheduler, name, "cir", row["cir"]), at)
	case p.Speed == 0:
		l.Inexpressible(at, "the speed of the port is not known, and cir is a rate")
	default:
		q.Guaranteed = qos.Percent(float64(rate) * 8 * 100 / float64(p.Speed))
		if row["meter_type"] == "" {
			l.Derived(at, q.Guaranteed.String(), "sonic-scheduler.yang, default of meter_type: cir is in bytes")
		}
	}
}

// curve lifts a WRED profile by what it does to green packets: nothing that weir reads colours any other. What other colours have of
// their own is told of and hides nothing.
func (l *lifter) curve(key, name string, at addr.Addr) *qos.WRED {
	name = normal(tableQueue, "wred_profile", name)
	row, known := l.db.WRED[name]
	ecn := []addr.Addr{at.With("ecn"), at.With("ecn-min"), at.With("ecn-max"), at.With("ecn-probability")}
	if !known {
		l.Strange(quote(tableQueue, key, "wred_profile", name), ecn...)
		return nil
	}
	l.otherColours(name, row, at.With("ecn-colours"))
	green := colours[0]
	switch normal(tableWRED, green.enable, row[green.enable]) {
	case "true":
	case "false":
		return nil
	case "":
		l.Derived(at.With("ecn"), "off", "sonic-wred-profile.yang, default of "+green.enable)
		return nil
	default:
		l.Strange(quote(tableWRED, name, green.enable, row[green.enable]), ecn...)
		return nil
	}
	w := &qos.WRED{Min: l.threshold(name, row, green.min, at.With("ecn-min")), Max: l.threshold(name, row, green.max, at.With("ecn-max"))}
	w.Probability = 100
	if text := row[green.probability]; text == "" {
		l.Derived(at.With("ecn-probability"), w.Probability.String(), "sonic-wred-profile.yang, default of "+green.probability)
	} else if n, ok := integer(text, 0, 100); ok {
		w.Probability = qos.Percent(n)
	} else {
		l.Strange(quote(tableWRED, name, green.probability, text), at.With("ecn-probability"))
	}
	switch {
	case slices.Contains(marksGreen, row["ecn"]):
		w.ECN = true
	case row["ecn"] == "":
		l.Derived(at.With("ecn"), "drops", "sonic-wred-profile.yang, default of ecn")
	case !slices.Contains(marksOthers, row["ecn"]):
		l.Strange(quote(tableWRED, name, "ecn", row["ecn"]), at.With("ecn"))
	}
	return w
}

// What ecn of a WRED profile marks (sonic-wred-profile.yang): values that have green packets marked, and values that do not.
var (
	marksGreen  = []string{"ecn_all", "ecn_green", "ecn_green_yellow", "ecn_green_red"}
	marksOthers = []string{"ecn_none", "ecn_yellow", "ecn_red", "ecn_yellow_red"}
)

// threshold reads bytes.
func (l *lifter) threshold(name string, row map[string]string, field string, at addr.Addr) qos.Bytes {
	n, ok := natural(row[field])
	if row[field] == "" {
		l.Unset(at)
	} else if !ok {
		l.Strange(quote(tableWRED, name, field, row[field]), at)
	}
	return qos.Bytes(n)
}

// otherColours notes where yellow and red are treated otherwise than green, and fields that are not known.
func (l *lifter) otherColours(name string, row map[string]string, at addr.Addr) {
	known := []string{"ecn"}
	green := colours[0]
	for _, c := range colours {
		for _, f := range [][2]string{{c.min, green.min}, {c.max, green.max}, {c.probability, green.probability}, {c.enable, green.enable}} {
			known = append(known, f[0])
			if here, there := row[f[0]], row[f[1]]; normal(tableWRED, f[0], here) != normal(tableWRED, f[1], there) {
				l.Strange(quote(tableWRED, name, f[0], here), at)
			}
		}
	}
	if row["ecn"] != "ecn_all" && row["ecn"] != "ecn_none" && row["ecn"] != "" {
		l.Strange(quote(tableWRED, name, "ecn", row["ecn"]), at)
	}
	l.only(tableWRED, name, row, at, known...)
}

// queueAlpha lifts how much of the shared buffer a queue may have, which is the platform's to say.
func (l *lifter) queueAlpha(p *fabric.Port, q *fabric.Queue, at addr.Addr) {
	key, row := l.row(tableQueueBuffer, l.db.QueueBuffer, p.Name, int(q.ID), at)
	name := normal(tableQueueBuffer, fieldProfile, row[fieldProfile])
	profile, known := l.db.Profile[name]
	alpha, ok := integer(profile["dynamic_th"], -8, 7)
	switch {
	case name == "":
		l.Unset(at)
	case !known:
		l.Strange(quote(tableQueueBuffer, key, fieldProfile, name), at)
	case ok && profile["static_th"] == "":
		q.Alpha = qos.AlphaShift(alpha)
	case profile["dynamic_th"] == "":
		l.Inexpressible(at, "BUFFER_PROFILE|"+name+" has a static threshold, or none")
	default:
		l.Strange(quoteRow(tableProfile, name, profile), at)
	}
}
