package sonic

import (
	"strconv"
	"strings"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
)

// because is where in the repo the reason for a leaf stands.
func because(sw *fabric.Switch, l plan.Leaf) []diag.Pos {
	table, key, field := l.Path[0], l.Path[1], l.Path[2]
	if l.Object != "" {
		return becauseShared(sw, table, key, field)
	}
	name, index, _ := strings.Cut(key, "|")
	if table == tableCable {
		name = field
	}
	p := portOf(sw, name)
	if p == nil {
		return nil
	}
	o := origin(p)
	switch table {
	case tablePort:
		return o.MTU
	case tableCable:
		if p.Peer != nil && p.Peer.Link != nil {
			return append([]diag.Pos{p.Peer.Link.At}, o.Cable...)
		}
		return o.Cable
	case tableWatchdog:
		return o.Watchdog
	case tableGroup:
		return append(losslessPlaces(sw, p), o.Headroom...)
	case tableQueue:
		if n, err := strconv.Atoi(index); err == nil && n < len(p.Queues) {
			return o.Class[p.Queues[n].Class]
		}
		return sw.Maps.At
	}
	switch field {
	case "dscp_to_tc_map", "dot1p_to_tc_map":
		return o.Trust
	case fieldPFC:
		return append(losslessPlaces(sw, p), o.PFC...)
	case fieldWatched:
		return append(losslessPlaces(sw, p), o.Watchdog...)
	}
	return sw.Maps.At
}

func becauseShared(sw *fabric.Switch, table, key, field string) []diag.Pos {
	switch table {
	case tableDSCP, tablePCP:
		return becauseCodePoint(sw, table, field)
	case tableScheduler, tableWRED:
		return becauseNamed(sw, table, key)
	case tableWatchdog:
		for _, p := range sw.Ports {
			if p.Watchdog != nil {
				return origin(p).Watchdog
			}
		}
	case tableDefault, tableProfile:
		for _, p := range sw.Ports {
			if losslessGroups(p) != 0 {
				return append(append([]diag.Pos{}, origin(p).Alpha...), origin(p).Headroom...)
			}
		}
	case tableCounters:
		return nil
	}
	return sw.Maps.At
}

// becauseCodePoint is the class that a code point is classified into.
func becauseCodePoint(sw *fabric.Switch, table, field string) []diag.Pos {
	n, err := strconv.Atoi(field)
	if err != nil || n < 0 || n > 63 || table == tablePCP && n > 7 {
		return sw.Maps.At
	}
	tc := sw.Maps.DSCPToTC[n]
	if table == tablePCP {
		tc = sw.Maps.PCPToTC[n]
	}
	queue := sw.Maps.TCToQueue[tc&7]
	for _, p := range sw.Ports {
		if int(queue) < len(p.Queues) && p.Queues[queue].Class != "" {
			return classPlaces(sw, p.Queues[queue].Class)
		}
	}
	return sw.Maps.At
}

// becauseNamed is the class that a scheduler or a WRED profile of weir is named after.
func becauseNamed(sw *fabric.Switch, table, key string) []diag.Pos {
	for _, p := range sw.Ports {
		for i := range p.Queues {
			q := &p.Queues[i]
			base := schedulerOf(p, q).base(p.Speed)
			if table == tableWRED {
				base = curve{class: q.Class, speed: p.Speed}.base()
			}
			if q.Class != "" && named(key, base) {
				return origin(p).Class[q.Class]
			}
		}
	}
	return sw.Maps.At
}

// named says whether a name is base, or base with a number.
func named(name, base string) bool {
	number, found := strings.CutPrefix(name, base+"_")
	return name == base || found && strings.Trim(number, "0123456789") == ""
}

// losslessPlaces are where the lossless classes of a port stand.
func losslessPlaces(sw *fabric.Switch, p *fabric.Port) []diag.Pos {
	var at []diag.Pos
	for _, priority := range p.PFC.All() {
		queue := sw.Maps.PriorityToQueue[priority]
		if int(queue) < len(p.Queues) {
			at = append(at, origin(p).Class[p.Queues[queue].Class]...)
		}
	}
	return at
}

func portOf(sw *fabric.Switch, name string) *fabric.Port {
	for _, p := range sw.Ports {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// expected is a lossless group of the port as weir works it out; nil without any.
func expected(p *fabric.Port) *fabric.Group {
	for i := range p.Groups {
		if p.Groups[i].Lossless {
			return &p.Groups[i]
		}
	}
	return nil
}
