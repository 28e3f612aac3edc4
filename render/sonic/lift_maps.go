package sonic

import (
	"maps"
	"slices"
	"strconv"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/fabric"
)

// qosMaps are the maps of a switch: the table that has them, the field of a port that names one,
// what addresses and fabric.Maps call them, and what of a port depends on which of them it has.
var qosMaps = [...]struct {
	table, field, name string
	of                 addr.Kind
}{
	{tableDSCP, "dscp_to_tc_map", "dscp-to-tc", addr.Trust}, {tablePCP, "dot1p_to_tc_map", "pcp-to-tc", addr.Trust},
	{tableQueueMap, "tc_to_queue_map", "tc-to-queue", addr.Queue}, {tableGroupMap, "tc_to_pg_map", "tc-to-pg", addr.PG},
	{tablePFCQueue, "pfc_to_queue_map", "pfc-to-queue", addr.PFC}, {tablePFCGroup, "pfc_to_pg_map", "pfc-to-pg", addr.PFC},
}

// maps lifts the maps that ports name. The model has one of each kind for a switch: that of most ports stands, and of a port with
// another one it is not known how it classifies.
func (l *lifter) maps() {
	for _, q := range qosMaps {
		rows, uses := l.rowsOf(q.table), map[string]int{}
		for i := range l.ports {
			if name := l.ports[i].names[q.table]; name != "" {
				uses[name]++
			}
		}
		usual := ""
		for _, name := range sortedKeys(uses) {
			if usual == "" || uses[name] > uses[usual] {
				usual = name
			}
		}
		if usual == "" && len(rows) == 1 { // nothing depends on it
			usual = sortedKeys(rows)[0]
		}
		for i, p := range l.sw.Ports {
			at, name := addr.Port(l.sw.Name, p.Name).Of(q.of, ""), l.ports[i].names[q.table]
			switch {
			case name == "" && len(uses) > 0 && q.table != tableDSCP && q.table != tablePCP:
				l.Unset(at)
			case name != "" && name != usual && !maps.Equal(rows[name], rows[usual]):
				l.Strange(quote(tablePortMap, p.Name, q.field, name), at)
			}
		}
		l.mapped(q.table, q.name, usual, rows[usual])
	}
}

// mapped lifts the entries of one map. What it leaves out is not known, but that PFC of a priority is about the group of its own
// number: that is where buffermgrd puts the headroom (sonic-swss buffermgr.cpp).
func (l *lifter) mapped(table, name, key string, row map[string]string) {
	device := l.sw.Address()
	for from, to := range row {
		f, known := natural(from)
		t, ok := natural(to)
		if known && ok && l.sw.Maps.Put(name, int(f), int(t)) {
			continue
		}
		at := device.Of(addr.Map, name)
		if known && int(f) < fabric.MapSize(name) {
			at = device.Of(addr.Map, name+"/"+from)
		}
		l.Strange(quote(table, key, from, to), at)
	}
	for from := range fabric.MapSize(name) {
		if _, there := row[strconv.Itoa(from)]; there {
			continue
		}
		at := device.Of(addr.Map, name+"/"+strconv.Itoa(from))
		if table != tablePFCGroup {
			l.Unset(at)
			continue
		}
		l.sw.Maps.Put(name, from, from)
		l.Derived(at, strconv.Itoa(from), "sonic-net/sonic-swss, cfgmgr/buffermgr.cpp: the headroom of a priority is in the group of its number")
	}
}

// rowsOf are the rows of a table of maps.
func (l *lifter) rowsOf(name string) table {
	i := slices.IndexFunc(l.db.sorted(), func(t struct {
		name string
		rows table
	}) bool {
		return t.name == name
	})
	return l.db.sorted()[i].rows
}
