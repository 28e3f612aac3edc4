package sonic

import (
	"maps"
	"slices"
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/plan"
)

// The tables that weir writes, and those that it reads only.
const (
	tableDSCP      = "DSCP_TO_TC_MAP"
	tablePCP       = "DOT1P_TO_TC_MAP"
	tableQueueMap  = "TC_TO_QUEUE_MAP"
	tableGroupMap  = "TC_TO_PRIORITY_GROUP_MAP"
	tablePFCQueue  = "MAP_PFC_PRIORITY_TO_QUEUE"
	tablePFCGroup  = "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"
	tablePortMap   = "PORT_QOS_MAP"
	tableScheduler = "SCHEDULER"
	tableWRED      = "WRED_PROFILE"
	tableQueue     = "QUEUE"
	tableWatchdog  = "PFC_WD"
	tableCable     = "CABLE_LENGTH"
	tablePort      = "PORT"
	tableGroup     = "BUFFER_PG"
	tableProfile   = "BUFFER_PROFILE"
	tableDefault   = "DEFAULT_LOSSLESS_BUFFER_PARAMETER"
	tableCounters  = "FLEX_COUNTER_TABLE"

	tablePool        = "BUFFER_POOL"
	tableQueueBuffer = "BUFFER_QUEUE"
	tableLAG         = "PORTCHANNEL"
	tableTunnel      = "TUNNEL"
)

// The keys and fields that more than one function names.
const (
	azure      = "AZURE"  // of all maps and of CABLE_LENGTH
	global     = "GLOBAL" // of PFC_WD
	everywhere = "global" // of PORT_QOS_MAP
	null       = "NULL"   // profile of a group whose headroom the dynamic model computes

	fieldPFC      = "pfc_enable"
	fieldWatched  = "pfcwd_sw_enable"
	fieldProfile  = "profile"
	fieldStatus   = "FLEX_COUNTER_STATUS"
	fieldPoll     = "POLL_INTERVAL"
	fieldAlpha    = "default_dynamic_th"
	fieldRatio    = "over_subscribe_ratio"
	fieldMTU      = "mtu"
	losslessPool  = "ingress_lossless_pool"
	derivedPrefix = "pg_lossless_" // of the profiles that buffermgrd makes
)

// reference says which table a field of PORT_QOS_MAP, QUEUE, BUFFER_PG or BUFFER_QUEUE refers to; empty for other fields.
func reference(table, field string) string {
	switch {
	case (table == tableGroup || table == tableQueueBuffer) && field == fieldProfile:
		return tableProfile
	case table == tableQueue && field == "wred_profile":
		return tableWRED
	case table == tableTunnel:
		return tunnelMaps[field]
	case (table == tableQueue || table == tablePortMap) && field == "scheduler":
		return tableScheduler
	case table != tablePortMap:
		return ""
	}
	switch field {
	case "dscp_to_tc_map":
		return tableDSCP
	case "dot1p_to_tc_map":
		return tablePCP
	case "tc_to_queue_map":
		return tableQueueMap
	case "tc_to_pg_map":
		return tableGroupMap
	case "pfc_to_queue_map":
		return tablePFCQueue
	case "pfc_to_pg_map":
		return tablePFCGroup
	}
	return ""
}

// tunnelMaps are the maps of what is tunnelled between two ToRs of one host (sonic-swss tunneldecaporch.cpp, muxorch.cpp).
var tunnelMaps = map[string]string{
	"decap_dscp_to_tc_map": tableDSCP, "decap_tc_to_pg_map": tableGroupMap, "encap_tc_to_queue_map": tableQueueMap,
}

// rowPorts are the ports of a row: the first part of its key, which may list several (Ethernet0,Ethernet4|3-4).
func rowPorts(key string) []string {
	list, _, _ := strings.Cut(key, "|")
	return strings.Split(list, ",")
}

// rowIndex is the rest of a row's key: 3 or 3-4.
func rowIndex(key string) string {
	_, rest, _ := strings.Cut(key, "|")
	return rest
}

// isPortChannel says whether a row is that of a port channel.
func isPortChannel(key string) bool { return strings.HasPrefix(key, "PortChannel") }

// object is the name of a shared row; empty where the row belongs to a port.
func object(table, key string) string {
	switch table {
	case tableDSCP, tablePCP, tableQueueMap, tableGroupMap, tablePFCQueue, tablePFCGroup, tableScheduler, tableWRED, tableProfile,
		tableDefault, tableCounters:
	case tableWatchdog:
		if key != global {
			return ""
		}
	default:
		return ""
	}
	return table + "|" + key
}

// mapWords are what the operator calls the maps.
var mapWords = map[string]string{
	tableDSCP: "dscp-to-tc/", tablePCP: "pcp-to-tc/", tableQueueMap: "tc-to-queue/", tableGroupMap: "tc-to-pg/",
	tablePFCQueue: "pfc-to-queue/", tablePFCGroup: "pfc-to-pg/",
}

// address is what the operator calls a leaf. It depends on nothing but the leaf, so that writing and reading agree.
func address(device, table, key, field, value string) addr.Addr {
	of := addr.Device(device)
	port, index, _ := strings.Cut(key, "|")
	switch table {
	case tableDSCP, tablePCP, tableQueueMap, tableGroupMap, tablePFCQueue, tablePFCGroup:
		if key != azure {
			field = key + "/" + field
		}
		return of.Of(addr.Map, mapWords[table]+field)
	case tableScheduler:
		return of.Of(addr.Scheduler, key).With(field)
	case tableWRED:
		return of.Of(addr.WRED, key).With(field)
	case tableProfile:
		return of.Of(addr.Profile, key).With(field)
	case tableDefault:
		return of.Of(addr.Profile, "default-lossless").With(field)
	case tableCounters:
		return of.Of(addr.Counters, counterName(key))
	case tableCable:
		return addr.Port(device, field).Of(addr.Cable, "")
	case tableWatchdog:
		if key != global {
			of.Port = port
		}
		return of.Of(addr.Watchdog, "").With(strings.ToLower(field))
	}
	of.Port = port
	switch table {
	case tablePortMap:
		return portMapAddress(of, field, value)
	case tableQueue:
		return of.Of(addr.Queue, index).With(field)
	case tableGroup:
		return of.Of(addr.PG, index)
	case tablePort:
		if field == fieldMTU {
			return of.Of(addr.MTU, "")
		}
	}
	return of.With(field)
}

// portMapAddress is that of a field of PORT_QOS_MAP. PFC of one priority has the address of that priority.
func portMapAddress(port addr.Addr, field, value string) addr.Addr {
	switch field {
	case fieldPFC:
		if len(value) != 1 {
			value = ""
		}
		return port.Of(addr.PFC, value)
	case fieldWatched:
		return port.Of(addr.Watchdog, "").With("priorities")
	case "dscp_to_tc_map":
		return port.Of(addr.Trust, "").With("dscp")
	case "dot1p_to_tc_map":
		return port.Of(addr.Trust, "").With("pcp")
	case "tc_to_queue_map":
		return port.Of(addr.Queue, "").With("map")
	case "tc_to_pg_map":
		return port.Of(addr.PG, "").With("map")
	case "pfc_to_queue_map":
		return port.Of(addr.PFC, "").With("queue-map")
	case "pfc_to_pg_map":
		return port.Of(addr.PFC, "").With("group-map")
	}
	return port.With(field)
}

// builder collects leaves. Paths are cut from one array, since a device has thousands.
type builder struct {
	device string
	doc    plan.Document
	words  []string
}

func newBuilder(device string, leaves int) *builder {
	return &builder{device, make(plan.Document, 0, leaves), make([]string, 0, 3*leaves)}
}

// add appends a leaf. The object is that of the row: object(table, key), handed in since all leaves of a row share it.
func (b *builder) add(table, key, field, value, object string) {
	n := len(b.words)
	b.words = append(b.words, table, key, field)
	b.doc = append(b.doc, plan.Leaf{
		Path: b.words[n : n+3 : n+3], Value: value, Addr: address(b.device, table, key, field, value), Object: object,
	})
}

// sort brings the leaves into their order. Most leaves of a table already are, the tables are not.
func (b *builder) sort() {
	size := map[string]int{}
	for _, l := range b.doc {
		size[l.Path[0]]++
	}
	sorted := make(plan.Document, len(b.doc))
	tables, n := map[string]plan.Document{}, 0
	for _, name := range slices.Sorted(maps.Keys(size)) {
		tables[name] = sorted[n:n]
		n += size[name]
	}
	for _, l := range b.doc {
		tables[l.Path[0]] = append(tables[l.Path[0]], l)
	}
	for _, t := range tables {
		if !slices.IsSortedFunc(t, plan.Compare) {
			t.Sort()
		}
	}
	b.doc = sorted
}

// counterName is what addresses call a counter group.
func counterName(group string) string { return strings.ToLower(strings.ReplaceAll(group, "_", "-")) }
