package sonic

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
)

// Read sorts CONFIG_DB. A body that is not the whole of one is an error: a JSON object with a table PORT, which every switch has.
func (Language) Read(sw *fabric.Switch, answers []plan.Answer) (plan.State, error) {
	db, err := parse(answers)
	if err != nil {
		return plan.State{}, fmt.Errorf("read CONFIG_DB: %w", err)
	}
	r := reader{sw: sw, db: db, facts: db.facts(), ports: map[string]*fabric.Port{}, users: map[string][]string{}, members: map[string][]string{}}
	for member := range db.ChannelPorts {
		channel, port, _ := strings.Cut(member, "|")
		r.facts[factMember+port] = channel
		r.members[channel] = append(r.members[channel], port)
	}
	for _, p := range sw.Ports {
		r.ports[p.Name] = p
		if statedHeadroom(p) != nil {
			r.stated = append(r.stated, derivedProfile(p))
		}
	}
	n := 192 + 32*len(sw.Ports)
	r.owned, r.derived, r.foreign = newBuilder(sw.Name, n), newBuilder(sw.Name, 16+2*len(sw.Ports)), newBuilder(sw.Name, 64)
	for _, t := range db.sorted() {
		r.table(t.name, t.rows)
	}
	return plan.State{Owned: r.owned.doc, Derived: r.derived.doc, Foreign: r.foreign.doc, Users: r.users, Facts: r.facts}, nil
}

type reader struct {
	sw                      *fabric.Switch
	db                      *database
	facts                   map[string]string
	ports                   map[string]*fabric.Port
	stated                  []string // profiles of headroom that the operator wrote
	owned, derived, foreign *builder
	users                   map[string][]string
	members                 map[string][]string // ports of each port channel
}

func (r *reader) table(name string, t table) {
	keys := make([]string, 0, len(t))
	for key := range t {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	fields := make([]string, 0, 64)
	for _, key := range keys {
		row := t[key]
		fields = fields[:0]
		for field := range row {
			fields = append(fields, field)
		}
		slices.Sort(fields)
		object := object(name, key)
		for _, field := range fields {
			r.leaf(name, key, field, normal(name, field, row[field]), object)
		}
	}
}

// normal is the normal form of a value. Before 202111 references were written [TABLE|name] (sonic-utilities db_migrator),
// and switches are written in any case.
func normal(table, field, value string) string {
	if to := reference(table, field); to != "" && strings.HasPrefix(value, "[") {
		if name, old := strings.CutPrefix(strings.TrimSuffix(value, "]"), "["+to+"|"); old {
			return name
		}
	}
	if table == tableWRED && strings.HasSuffix(field, "_enable") {
		return strings.ToLower(value)
	}
	return value
}

// leaf puts a leaf where it belongs and notes which shared row a foreign one uses.
func (r *reader) leaf(table, key, field, value, object string) {
	switch r.whose(table, key, field, value) {
	case ours:
		r.owned.add(table, key, field, value, object)
	case theDevices:
		r.derived.add(table, key, field, value, object)
	case others:
		r.foreign.add(table, key, field, value, object)
		r.use(table, key, field, value)
	case nobodys:
	}
}

// owner is whose a leaf is.
type owner int

const (
	nobodys owner = iota // not looked at
	ours
	theDevices
	others
)

func (r *reader) whose(table, key, field, value string) owner {
	name, index, _ := strings.Cut(key, "|")
	port := r.ports[name]
	switch table {
	case tableDSCP, tablePCP, tableQueueMap, tableGroupMap, tablePFCQueue, tablePFCGroup, tableScheduler, tableWRED:
		return ours
	case tableDefault:
		return oursIf(r.facts[FactBufferModel] != traditional && key == azure && (field == fieldAlpha || field == fieldRatio))
	case tableCounters:
		return oursIf(field == fieldStatus && slices.Contains(counterGroups[:], key))
	case tableCable:
		return oursIf(key == azure && r.ports[field] != nil)
	case tableQueue:
		return oursIf(port != nil && reference(table, field) != "")
	case tablePortMap:
		return oursIf(port != nil && r.classifies(field))
	case tableWatchdog:
		if key == global {
			return oursIf(field == fieldPoll)
		}
		return oursIf(port != nil && (field == "action" || field == "detection_time" || field == "restoration_time"))
	case tablePort:
		return r.whosePort(port, field)
	case tableGroup:
		return r.whoseGroup(port, index, value)
	case tableProfile:
		return r.whoseProfile(key)
	case tableTunnel:
		if tunnelMaps[field] == "" {
			return nobodys
		}
	}
	return others
}

func oursIf(owned bool) owner {
	if owned {
		return ours
	}
	return others
}

// classifies says whether a field of PORT_QOS_MAP is weir's. pfc_to_pg_map is where weir writes that map.
func (r *reader) classifies(field string) bool {
	switch field {
	case fieldPFC, fieldWatched, "dscp_to_tc_map", "dot1p_to_tc_map", "tc_to_queue_map", "tc_to_pg_map", "pfc_to_queue_map":
		return true
	case "pfc_to_pg_map":
		return mapsPFCToGroup(r.sw)
	}
	return false
}

func (r *reader) whosePort(port *fabric.Port, field string) owner {
	switch {
	case port == nil:
		return nobodys
	case field == fieldMTU:
		return ours
	case field == "admin_status" || field == "speed" || field == "lanes":
		return others
	}
	return nobodys
}

// whoseGroup: lossless groups of the inventory's ports are weir's, but what the device derives is its own. NULL has no meaning in
// the traditional model.
func (r *reader) whoseGroup(port *fabric.Port, run, profile string) owner {
	switch {
	case port == nil:
		return others
	case profile == null:
		return oursIf(r.facts[FactBufferModel] != traditional)
	case slices.Contains(r.stated, profile):
		return ours
	case strings.HasPrefix(profile, derivedPrefix):
		if r.facts[FactBufferModel] != dynamic && slices.Contains(ranges(port.PFC), run) {
			return theDevices
		}
		return ours
	}
	return oursIf(r.db.lossless(profile))
}

func (r *reader) whoseProfile(name string) owner {
	switch {
	case slices.Contains(r.stated, name):
		return ours
	case strings.HasPrefix(name, derivedPrefix):
		return theDevices
	}
	return others
}

// use notes that a foreign row refers to a shared one. PORT_QOS_MAP|global is no user: it says which DSCP map the switch
// as a whole has, and is meant to follow when that map changes; the script says so.
func (r *reader) use(table, key, field, value string) {
	to, name := reference(table, field), value
	switch {
	case table == tablePortMap && key == everywhere:
		return
	case table == tableWatchdog && strings.HasSuffix(field, "_time"):
		// Not by name, but the interval may not be longer than any port's times (sonic-pfcwd.yang).
		ms, err := strconv.ParseInt(value, 10, 64)
		if err != nil || ms >= pollOf(r.sw).Milliseconds() {
			return
		}
		to, name = tableWatchdog, global
	}
	if isPortChannel(key) && to != "" {
		// A port channel has no classification of its own: its members have, and those of the inventory follow the map with it.
		outside := slices.DeleteFunc(slices.Clone(r.members[key]), func(port string) bool { return r.ports[port] != nil })
		if len(outside) == 0 {
			return
		}
		slices.SortFunc(outside, addr.Natural)
		key += " (" + strings.Join(outside, ", ") + ")"
	}
	if row := table + "|" + key; to != "" {
		shared := to + "|" + name
		if users := r.users[shared]; !slices.Contains(users, row) {
			r.users[shared] = append(users, row)
		}
	}
}
