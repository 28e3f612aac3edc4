package sonic

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The part of SONiC's YANG models that the lab checks: the tables of lossless Ethernet, field by field, with the ranges and
// references of sonic-buildimage's src/sonic-yang-models. Other tables are only known by name.

// check says whether a value is allowed.
type check func(db database, value string) bool

// table is one list of a YANG model.
type table struct {
	key    func(db database, key string) bool // nil: any
	fields map[string]check                   // "" stands for every other field
	must   []string                           // mandatory fields
	whole  func(row map[string]string) bool   // conditions between fields; nil: none
}

// validate returns a message for the first violation, or "".
func validate(db database) string {
	for _, name := range slices.Sorted(maps.Keys(db)) {
		t, known := models[name]
		if !known {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(db[name])) {
			if why := t.check(db, key, db[name][key]); why != "" {
				return fmt.Sprintf("%s|%s: %s", name, key, why)
			}
		}
	}
	return ""
}

func (t table) check(db database, key string, row map[string]string) string {
	if t.key != nil && !t.key(db, key) {
		return "the key is not allowed"
	}
	for _, field := range slices.Sorted(maps.Keys(row)) {
		check, known := t.fields[field]
		if !known {
			check, known = t.fields[""]
		}
		if !known {
			return fmt.Sprintf("there is no field %s", field)
		}
		if check != nil && !check(db, row[field]) {
			return fmt.Sprintf("value %q of %s is not allowed", row[field], field)
		}
	}
	for _, field := range t.must {
		if row[field] == "" {
			return fmt.Sprintf("field %s is missing", field)
		}
	}
	if t.whole != nil && !t.whole(row) {
		return "the fields do not fit each other"
	}
	return ""
}

// unknownTables are those of a database that no YANG model has.
func unknownTables(db database) []string {
	var unknown []string
	for _, name := range slices.Sorted(maps.Keys(db)) {
		if _, ok := models[name]; !ok && !slices.Contains(otherTables, name) {
			unknown = append(unknown, name)
		}
	}
	return unknown
}

// otherTables have YANG models of which the lab knows the name only.
var otherTables = strings.Fields(`AAA ACL_RULE ACL_TABLE AUTO_TECHSUPPORT BANNER_MESSAGE BGP_DEVICE_GLOBAL BGP_GLOBALS
	BGP_NEIGHBOR BGP_PEER_RANGE CABLE_LENGTH_REFERENCE COPP_GROUP COPP_TRAP CRM DEVICE_METADATA DEVICE_NEIGHBOR
	DEVICE_NEIGHBOR_METADATA DHCP_RELAY DHCP_SERVER FEATURE FLEX_COUNTER_TABLE GNMI INTERFACE KDUMP LOGGER
	LOOPBACK_INTERFACE MGMT_INTERFACE MGMT_PORT MGMT_VRF_CONFIG NTP NTP_SERVER PASSW_HARDENING PORTCHANNEL
	PORTCHANNEL_INTERFACE PORTCHANNEL_MEMBER RADIUS RESTAPI ROUTE_MAP SNMP SNMP_COMMUNITY SSH_SERVER STATIC_ROUTE
	SYSLOG_CONFIG SYSLOG_SERVER TACPLUS TACPLUS_SERVER TELEMETRY VERSIONS VLAN VLAN_INTERFACE VLAN_MEMBER VRF WATERMARK_TABLE`)

// models are the tables that are checked.
var models = schema()

func schema() map[string]table {
	name := regexp.MustCompile(`^[a-zA-Z0-9][-a-zA-Z0-9_]{0,31}$`)
	named := func(_ database, key string) bool { return name.MatchString(key) }
	threshold, percent := whole(0, 1<<62), whole(0, 100)
	wred := map[string]check{"ecn": oneOf("ecn_none", "ecn_green", "ecn_yellow", "ecn_red", "ecn_green_yellow", "ecn_green_red", "ecn_yellow_red", "ecn_all")}
	for _, colour := range []string{"green", "yellow", "red"} {
		wred[colour+"_min_threshold"], wred[colour+"_max_threshold"] = threshold, threshold
		wred[colour+"_drop_probability"] = percent
		wred["wred_"+colour+"_enable"] = oneOf("true", "false")
	}
	priorities := pattern(`^([0-7](,[0-7])*)?$`)
	return map[string]table{
		"PORT":         {fields: map[string]check{"": nil, "admin_status": oneOf("up", "down"), "mtu": whole(68, 9216), "speed": whole(1, 1600000)}},
		"CABLE_LENGTH": {key: named, fields: map[string]check{"": pattern(`^[0-9]+m$`)}},

		"DSCP_TO_TC_MAP":                     {key: named, fields: mapping(64, whole(0, 15))},
		"DOT1P_TO_TC_MAP":                    {key: named, fields: mapping(8, whole(0, 15))},
		"TC_TO_QUEUE_MAP":                    {key: named, fields: mapping(16, whole(0, 9))},
		"TC_TO_PRIORITY_GROUP_MAP":           {key: named, fields: mapping(16, whole(0, 7))},
		"TC_TO_DSCP_MAP":                     {key: named, fields: mapping(16, whole(0, 63))},
		"MAP_PFC_PRIORITY_TO_QUEUE":          {key: named, fields: mapping(8, whole(0, 7))},
		"PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": {key: named, fields: mapping(8, whole(0, 7))},

		"PORT_QOS_MAP": {key: portOr("global"), fields: map[string]check{
			"dscp_to_tc_map": ref("DSCP_TO_TC_MAP"), "dot1p_to_tc_map": ref("DOT1P_TO_TC_MAP"), "tc_to_queue_map": ref("TC_TO_QUEUE_MAP"),
			"tc_to_pg_map": ref("TC_TO_PRIORITY_GROUP_MAP"), "tc_to_dscp_map": ref("TC_TO_DSCP_MAP"),
			"pfc_to_queue_map": ref("MAP_PFC_PRIORITY_TO_QUEUE"), "pfc_to_pg_map": ref("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"),
			"scheduler": ref("SCHEDULER"), "pfc_enable": priorities, "pfcwd_sw_enable": priorities,
		}},
		"SCHEDULER": {key: nil, fields: map[string]check{
			"type": oneOf("DWRR", "WRR", "STRICT"), "weight": whole(1, 100), "priority": whole(0, 9), "meter_type": oneOf("packets", "bytes"),
			"cir": threshold, "pir": threshold, "cbs": whole(0, 1<<32-1), "pbs": whole(0, 1<<32-1),
		}},
		"WRED_PROFILE": {key: named, fields: wred, whole: ordered},
		"QUEUE":        {key: portOr("CPU"), fields: map[string]check{"scheduler": ref("SCHEDULER"), "wred_profile": ref("WRED_PROFILE")}},

		"BUFFER_POOL": {must: []string{"type", "mode"}, fields: map[string]check{
			"type": oneOf("ingress", "egress", "both"), "mode": oneOf("static", "dynamic"), "size": threshold, "xoff": threshold, "percentage": percent}},
		"BUFFER_PROFILE": {must: []string{"pool", "size"}, fields: map[string]check{
			"pool": ref("BUFFER_POOL"), "size": threshold, "static_th": threshold, "dynamic_th": whole(-8, 7), "xon": threshold, "xoff": threshold,
			"xon_offset": threshold, "headroom_type": oneOf("static", "dynamic"), "packet_discard_action": oneOf("drop", "trim")}},
		"BUFFER_PG":                         {key: indexed(`^[0-7](-[0-7])?$`), fields: map[string]check{"profile": orNull(ref("BUFFER_PROFILE"))}},
		"BUFFER_QUEUE":                      {key: indexed(`^([0-9]|1[0-5])(-([0-9]|1[0-5]))?$`), fields: map[string]check{"profile": ref("BUFFER_PROFILE")}},
		"BUFFER_PORT_INGRESS_PROFILE_LIST":  {key: portOr(), fields: map[string]check{"profile_list": list("BUFFER_PROFILE"), "profile_list@": list("BUFFER_PROFILE")}},
		"BUFFER_PORT_EGRESS_PROFILE_LIST":   {key: portOr(), fields: map[string]check{"profile_list": list("BUFFER_PROFILE"), "profile_list@": list("BUFFER_PROFILE")}},
		"DEFAULT_LOSSLESS_BUFFER_PARAMETER": {must: []string{"default_dynamic_th"}, fields: map[string]check{"default_dynamic_th": whole(-8, 7), "over_subscribe_ratio": whole(0, 65535)}},
		"LOSSLESS_TRAFFIC_PATTERN":          {must: []string{"mtu", "small_packet_percentage"}, fields: map[string]check{"mtu": whole(1, 9216), "small_packet_percentage": percent}},

		"PFC_WD": {key: portOr("GLOBAL"), fields: map[string]check{
			"action": oneOf("drop", "forward", "alert"), "detection_time": polled(100, 5000), "restoration_time": polled(100, 60000),
			"pfc_stat_history": oneOf("enable", "disable"), "POLL_INTERVAL": whole(100, 1000)}},
	}
}

// ordered wants every maximum at or above its minimum.
func ordered(row map[string]string) bool {
	for _, colour := range []string{"green", "yellow", "red"} {
		if number(row[colour+"_max_threshold"]) < number(row[colour+"_min_threshold"]) {
			return false
		}
	}
	return true
}

func oneOf(words ...string) check {
	return func(_ database, v string) bool { return slices.Contains(words, v) }
}

// whole wants a whole number of a range.
func whole(first, last int) check {
	return func(_ database, v string) bool {
		n, err := strconv.Atoi(v)
		return err == nil && n >= first && n <= last
	}
}

func pattern(expression string) check {
	r := regexp.MustCompile(expression)
	return func(_ database, v string) bool { return r.MatchString(v) }
}

// ref wants the name of a row of another table.
func ref(table string) check {
	return func(db database, v string) bool {
		_, ok := db[table][v]
		return ok
	}
}

// list wants names of rows of another table, with commas.
func list(table string) check {
	return func(db database, v string) bool {
		for name := range strings.SplitSeq(v, ",") {
			if _, ok := db[table][name]; !ok {
				return false
			}
		}
		return true
	}
}

func orNull(c check) check {
	return func(db database, v string) bool { return v == "NULL" || c(db, v) }
}

// polled wants milliseconds of a range, and no less than the watchdog's own poll interval.
func polled(first, last int) check {
	in := whole(first, last)
	return func(db database, v string) bool {
		return in(db, v) && number(v) >= number(db["PFC_WD"]["GLOBAL"]["POLL_INTERVAL"])
	}
}

// mapping wants keys from 0 below n.
func mapping(n int, value check) map[string]check {
	fields := make(map[string]check, n)
	for i := range n {
		fields[strconv.Itoa(i)] = value
	}
	return fields
}

// portOr wants a port as the first part of the key, or one of the words.
func portOr(words ...string) func(database, string) bool {
	return func(db database, key string) bool {
		port, _, _ := strings.Cut(key, "|")
		_, ok := db["PORT"][port]
		return ok || slices.Contains(words, port)
	}
}

// indexed wants a port, a bar and an index.
func indexed(expression string) func(database, string) bool {
	port, index := portOr(), pattern(expression)
	return func(db database, key string) bool {
		_, rest, _ := strings.Cut(key, "|")
		return port(db, key) && index(db, rest)
	}
}
