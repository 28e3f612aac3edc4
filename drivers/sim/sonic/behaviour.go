package sonic

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirfabric/weir/drivers/sim"
	"github.com/weirfabric/weir/intent/qos"
)

// behaviour is what orchagent makes of CONFIG_DB: only what is stated whole has an effect.
func behaviour(db database, s sim.Spec) sim.Behaviour {
	b := sim.Behaviour{Ports: map[string]sim.PortBehaviour{}}
	of := portKeys{}
	for _, table := range []string{"PORT_QOS_MAP", "QUEUE", "BUFFER_PG"} {
		of[table] = keysByPort(db[table])
	}
	trust := db["PORT_QOS_MAP"]["global"]
	for _, p := range s.Ports {
		if row := of.last(db, "PORT_QOS_MAP", p.Name); row["dscp_to_tc_map"] != "" {
			trust = row
			break
		}
	}
	b.Classify = classify(db, trust)
	for _, p := range s.Ports {
		if row, ok := db["PORT"][p.Name]; ok {
			b.Ports[p.Name] = portBehaviour(db, of, p.Name, row)
		}
	}
	return b
}

// classify follows a DSCP through its traffic class to its queue. A DSCP that the map leaves out is in class 0.
func classify(db database, row map[string]string) (c [64]qos.Priority) {
	classes := db["DSCP_TO_TC_MAP"][row["dscp_to_tc_map"]]
	queues := db["TC_TO_QUEUE_MAP"][row["tc_to_queue_map"]]
	for d := range c {
		class := classes[strconv.Itoa(d)]
		queue, mapped := queues[class]
		if !mapped {
			queue = class
		}
		if q, err := strconv.Atoi(queue); err == nil && q >= 0 && q < 8 {
			c[d] = qos.Priority(q)
		}
	}
	return c
}

func portBehaviour(db database, of portKeys, port string, row map[string]string) sim.PortBehaviour {
	qosMap := of.last(db, "PORT_QOS_MAP", port)
	p := sim.PortBehaviour{
		Up:  row["admin_status"] == "up",
		MTU: qos.Bytes(number(row["mtu"])),
		PFC: parsePriorities(qosMap["pfc_enable"]),
	}
	if wd := db["PFC_WD"][port]; wd["detection_time"] != "" {
		p.Watched = parsePriorities(qosMap["pfcwd_sw_enable"])
		p.Watchdog = qos.Watchdog{
			Detection: milliseconds(wd["detection_time"]), Restoration: milliseconds(wd["restoration_time"]),
			Poll: milliseconds(db["PFC_WD"]["GLOBAL"]["POLL_INTERVAL"]), Action: qos.Drop,
		}
		if p.Watchdog.Poll == 0 {
			p.Watchdog.Poll = 100 * time.Millisecond
		}
		if action := wd["action"]; action != "" {
			p.Watchdog.Action = qos.WatchdogAction(action)
		}
	}
	for _, key := range of["QUEUE"][port] {
		for _, q := range span(indexOf(key)) {
			setQueue(&p.Queues[q], db, db["QUEUE"][key])
		}
	}
	for _, key := range of["BUFFER_PG"][port] {
		profile := groupProfile(db, port, db["BUFFER_PG"][key]["profile"])
		for _, g := range span(indexOf(key)) {
			p.Headroom[g], p.Alpha[g] = qos.Bytes(number(profile["xoff"])), qos.AlphaShift(number(profile["dynamic_th"]))
		}
	}
	return p
}

// portKeys are the keys of rows about ports, by table and port.
type portKeys map[string]map[string][]string

// keysByPort are the keys of a table by port, in the order in which they are applied: a row may list several ports, and of those
// that are about one thing the last one holds.
func keysByPort(rows map[string]map[string]string) map[string][]string {
	keys := map[string][]string{}
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		list, _, _ := strings.Cut(key, "|")
		for port := range strings.SplitSeq(list, ",") {
			keys[port] = append(keys[port], key)
		}
	}
	return keys
}

// last is the row that holds for a port in a table with one row a port, or a row that lists it; nil where there is none.
func (k portKeys) last(db database, table, port string) map[string]string {
	keys := k[table][port]
	if len(keys) == 0 {
		return nil
	}
	return db[table][keys[len(keys)-1]]
}

// indexOf is what a key says beside its ports.
func indexOf(key string) string {
	_, index, _ := strings.Cut(key, "|")
	return index
}

// setQueue reads a QUEUE row and what it refers to. ECN needs both wred_green_enable and an ecn that takes in green.
func setQueue(q *sim.QueueBehaviour, db database, row map[string]string) {
	if s, ok := db["SCHEDULER"][row["scheduler"]]; ok {
		q.Strict = s["type"] == "STRICT"
		if q.Weight = float64(number(s["weight"])); q.Weight == 0 && !q.Strict {
			q.Weight = 1
		}
	}
	w, ok := db["WRED_PROFILE"][row["wred_profile"]]
	if !ok || w["wred_green_enable"] != "true" {
		return
	}
	probability := qos.Percent(100)
	if text := w["green_drop_probability"]; text != "" {
		probability = qos.Percent(number(text))
	}
	q.WRED = &qos.WRED{
		Min: qos.Bytes(number(w["green_min_threshold"])), Max: qos.Bytes(number(w["green_max_threshold"])),
		Probability: probability, ECN: strings.Contains(w["ecn"], "green") || w["ecn"] == "ecn_all",
	}
}

// groupProfile is the profile of a priority group. NULL in the dynamic model means one that the switch works out.
func groupProfile(db database, port, name string) map[string]string {
	if name != "NULL" {
		return db["BUFFER_PROFILE"][name]
	}
	in := bufferInputs(db, port)
	r, ok := pgProfile(number(in.speed), number(strings.TrimSuffix(in.cable, "m")))
	if !ok {
		return nil
	}
	th := db["DEFAULT_LOSSLESS_BUFFER_PARAMETER"]["AZURE"]["default_dynamic_th"]
	return map[string]string{"xoff": strconv.FormatInt(int64(r.Headroom), 10), "dynamic_th": th}
}

func milliseconds(s string) time.Duration { return time.Duration(number(s)) * time.Millisecond }

// number reads what YANG has checked already; anything else counts as 0.
func number(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}
