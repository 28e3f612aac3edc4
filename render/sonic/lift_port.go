package sonic

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
)

// portMap is what a port's row of PORT_QOS_MAP says beyond the port's own settings: the maps that it names, by table, and the
// priorities that are watched.
type portMap struct {
	names   map[string]string
	watched qos.PrioritySet
}

// port lifts what one port has of its own.
func (l *lifter) port(p *fabric.Port) portMap {
	at := addr.Port(l.sw.Name, p.Name)
	l.mtu(p, at.Of(addr.MTU, ""))
	l.cable(p, at.Of(addr.Cable, ""))
	return l.classified(p, at)
}

// mtu is the port's own, or that of the port channel that it is in (sonic-swss teammgr.cpp addLagMember).
func (l *lifter) mtu(p *fabric.Port, at addr.Addr) {
	table, key, row := tablePort, p.Name, l.db.Port[p.Name]
	for member := range l.db.ChannelPorts {
		if channel, port, _ := strings.Cut(member, "|"); port == p.Name {
			table, key, row = tableLAG, channel, l.db.PortChannel[channel]
		}
	}
	text := row[fieldMTU]
	if text == "" {
		p.MTU, _ = qos.ParseBytes(l.Unset(at))
		return
	}
	mtu, ok := natural(text)
	if !ok {
		l.Strange(quote(table, key, fieldMTU, text), at)
		return
	}
	p.MTU = qos.Bytes(mtu)
}

// cable is the length that headroom is for, from whatever row has the port: buffermgrd looks at no name (sonic-swss buffermgr.cpp).
func (l *lifter) cable(p *fabric.Port, at addr.Addr) {
	found := 0
	for _, key := range sortedKeys(l.db.Cable) {
		text, there := l.db.Cable[key][p.Name]
		if !there {
			continue
		}
		found++
		metres, ok := natural(strings.TrimSuffix(text, "m"))
		if !ok || !strings.HasSuffix(text, "m") || found > 1 {
			l.Strange(quote(tableCable, key, p.Name, text), at)
			continue
		}
		p.Cable = qos.Metres(metres)
	}
	if found == 0 {
		l.Unset(at)
	}
}

// classified reads the port's row of PORT_QOS_MAP. Trust is which of the two maps the row has; a port with neither has the DSCP map
// of the switch, where there is one.
func (l *lifter) classified(p *fabric.Port, at addr.Addr) portMap {
	out := portMap{names: map[string]string{}}
	key, row := l.row(tablePortMap, l.db.PortMap, p.Name, -1, at)
	for field := range row {
		if to := reference(tablePortMap, field); to != "" && to != tableScheduler {
			out.names[to] = normal(tablePortMap, field, row[field])
		}
	}
	l.only(tablePortMap, key, row, at, "dscp_to_tc_map", "dot1p_to_tc_map", "tc_to_queue_map", "tc_to_pg_map", "pfc_to_queue_map",
		"pfc_to_pg_map", fieldPFC, fieldWatched)
	if name := l.db.PortMap[everywhere]["dscp_to_tc_map"]; out.names[tableDSCP] == "" && out.names[tablePCP] == "" && name != "" {
		out.names[tableDSCP] = normal(tablePortMap, "dscp_to_tc_map", name)
	}
	switch dscp, pcp := out.names[tableDSCP] != "", out.names[tablePCP] != ""; {
	case dscp && pcp: // which of them wins, no source says
		l.Strange(quoteRow(tablePortMap, key, row), at.Of(addr.Trust, ""))
	case dscp:
		p.Trust = qos.TrustDSCP
	case pcp:
		p.Trust = qos.TrustPCP
	default:
		l.Unset(at.Of(addr.Trust, ""))
	}
	if p.PFC = l.priorities(key, row, fieldPFC, at.Of(addr.PFC, "")); !has(row, fieldPFC) {
		l.Unset(at.Of(addr.PFC, ""))
	}
	if out.watched = l.priorities(key, row, fieldWatched, at.Of(addr.Watchdog, "")); !has(row, fieldWatched) {
		l.Derived(at.Of(addr.Watchdog, "").With("enabled"), "off", "sonic-net/sonic-swss, pfcwdorch.cpp: without pfcwd_sw_enable no priority is watched")
	}
	return out
}

// priorities reads a set like 3,4. Without the field it is empty.
func (l *lifter) priorities(key string, row map[string]string, field string, at addr.Addr) qos.PrioritySet {
	var set qos.PrioritySet
	if row[field] == "" {
		return set
	}
	for word := range strings.SplitSeq(row[field], ",") {
		n := slices.Index(digits[:], word)
		if n < 0 {
			l.Strange(quote(tablePortMap, key, field, row[field]), at)
			return 0
		}
		set |= qos.Priorities(qos.Priority(n))
	}
	return set
}

func has(row map[string]string, field string) bool {
	_, there := row[field]
	return there
}

// watchdog lifts a port's watchdog, which looks after the priorities of pfcwd_sw_enable and needs a detection time (sonic-swss
// pfcwdorch.cpp).
func (l *lifter) watchdog(p *fabric.Port, m portMap) {
	at := addr.Port(l.sw.Name, p.Name).Of(addr.Watchdog, "")
	key, row := l.row(tableWatchdog, l.db.Watchdog, p.Name, -1, at)
	if red := l.db.Watchdog[global]["BIG_RED_SWITCH"]; red != "" && red != "disable" {
		l.Strange(quote(tableWatchdog, global, "BIG_RED_SWITCH", red), at)
	}
	if row == nil {
		if m.watched != 0 {
			l.Derived(at.With("enabled"), "off", "sonic-net/sonic-swss, pfcwdorch.cpp: without a row of PFC_WD nothing is watched")
		}
		return
	}
	l.only(tableWatchdog, key, row, at, "action", "detection_time", "restoration_time", "pfc_stat_history")
	w := &qos.Watchdog{Action: qos.WatchdogAction(row["action"])}
	w.Detection = l.time(key, row, "detection_time", at.With("detection"))
	if row["restoration_time"] != "" { // without it the queue is never given back
		w.Restoration = l.time(key, row, "restoration_time", at.With("restoration"))
	}
	switch w.Action {
	case qos.Drop, qos.Forward, qos.Alert:
	case "":
		w.Action = qos.Drop
		l.Derived(at.With("action"), string(qos.Drop), "sonic-net/sonic-swss e6b0c5b5, pfcwdorch.cpp: the action without one")
	default:
		l.Strange(quote(tableWatchdog, key, "action", row["action"]), at.With("action"))
	}
	poll, set := l.poll()
	if w.Poll = poll; !set {
		l.Unset(at.With("poll"))
	} else if text := l.db.Watchdog[global][fieldPoll]; poll == 0 {
		l.Strange(quote(tableWatchdog, global, fieldPoll, text), at.With("poll"))
	}
	if m.watched != p.PFC {
		l.Strange(quote(tablePortMap, p.Name, fieldWatched, m.watched.String()), at.With("priorities"))
	}
	if row["detection_time"] != "" && m.watched&p.PFC != 0 {
		p.Watchdog = w
	}
}

// time reads whole milliseconds.
func (l *lifter) time(key string, row map[string]string, field string, at addr.Addr) time.Duration {
	ms, ok := natural(row[field])
	if row[field] == "" {
		l.Unset(at)
	} else if !ok {
		l.Strange(quote(tableWatchdog, key, field, row[field]), at)
	}
	return time.Duration(ms) * time.Millisecond
}

// poll is the watchdog's interval, and whether it is set; 0 where it is set to what is no number.
func (l *lifter) poll() (time.Duration, bool) {
	text, set := l.db.Watchdog[global][fieldPoll]
	if !set {
		return 100 * time.Millisecond, false // orchagent's own
	}
	ms, ok := natural(text)
	if !ok {
		return 0, true
	}
	return time.Duration(ms) * time.Millisecond, true
}

// integer reads a whole number from low to high.
func integer(text string, low, high int64) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && n >= low && n <= high && strconv.FormatInt(n, 10) == text
}
