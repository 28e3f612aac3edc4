package sonic

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/weirfabric/weir/drivers/sim"
)

// version is what the device says it runs.
const version = "SONiC.202511.0-weir-lab"

// factory is what a device starts with that was given no configuration: what SONiC ships (sonic-buildimage's
// qos_config.j2 and buffers_config.j2, traditional buffer model), and some things that other people configured.
func factory(s sim.Spec) database {
	db := database{}
	db.put("DEVICE_METADATA", "localhost", map[string]string{
		"hostname": s.Name, "hwsku": s.SKU, "platform": "x86_64-kvm_x86_64-r0", "mac": macOf(s.Name),
		"type": "LeafRouter", "buffer_model": "traditional", "default_pfcwd_status": "disable",
		"docker_routing_config_mode": "separated", "synchronous_mode": "enable",
	})
	for i, p := range s.Ports {
		factoryPort(db, i, p)
	}
	factoryMaps(db)
	factoryBuffers(db)
	foreign(db, s)
	return db
}

// macOf is a locally administered address that depends on the name only.
func macOf(name string) string {
	sum := uint32(0)
	for _, c := range []byte(name) {
		sum = sum*31 + uint32(c)
	}
	return fmt.Sprintf("02:00:%02x:%02x:%02x:%02x", byte(sum>>24), byte(sum>>16), byte(sum>>8), byte(sum))
}

// factoryPort is the rows of one port as they ship: stock QoS with PFC on 3 and 4, and no watchdog.
func factoryPort(db database, index int, p sim.PortSpec) {
	lanes := make([]string, lanesOf(p))
	for i := range lanes {
		lanes[i] = strconv.Itoa(index*8 + i)
	}
	db.put("PORT", p.Name, map[string]string{
		"alias": aliasOf(index, p), "index": strconv.Itoa(index + 1), "lanes": strings.Join(lanes, ","),
		"speed": strconv.FormatInt(p.Speed.Mbps(), 10), "mtu": "9100", "admin_status": "up", "fec": "rs",
	})
	if db["CABLE_LENGTH"]["AZURE"] == nil {
		db.put("CABLE_LENGTH", "AZURE", map[string]string{})
	}
	db["CABLE_LENGTH"]["AZURE"][p.Name] = "5m"
	db.put("PORT_QOS_MAP", p.Name, map[string]string{
		"dscp_to_tc_map": "AZURE", "tc_to_queue_map": "AZURE", "tc_to_pg_map": "AZURE", "pfc_to_queue_map": "AZURE",
		"pfc_enable": "3,4", "pfcwd_sw_enable": "3,4",
	})
	for _, q := range []string{"3", "4"} {
		db.put("QUEUE", p.Name+"|"+q, map[string]string{"scheduler": "scheduler.1", "wred_profile": "AZURE_LOSSLESS"})
	}
	for _, q := range []string{"0", "1", "2", "5", "6"} {
		db.put("QUEUE", p.Name+"|"+q, map[string]string{"scheduler": "scheduler.0"})
	}
	db.put("BUFFER_PG", p.Name+"|0", map[string]string{"profile": "ingress_lossy_profile"})
	db.put("BUFFER_QUEUE", p.Name+"|3-4", map[string]string{"profile": "egress_lossless_profile"})
	db.put("BUFFER_QUEUE", p.Name+"|0-2", map[string]string{"profile": "egress_lossy_profile"})
	db.put("BUFFER_QUEUE", p.Name+"|5-6", map[string]string{"profile": "egress_lossy_profile"})
}

// lanesOf is how many lanes a port of that speed has: 50 Gb/s a lane and eight from 400 Gb/s on, 25 Gb/s below 200 Gb/s.
func lanesOf(p sim.PortSpec) int {
	switch gbps := p.Speed.Mbps() / 1000; {
	case gbps >= 400:
		return 8
	case gbps >= 100:
		return 4
	case gbps >= 50:
		return 2
	}
	return 1
}

// aliasOf is the vendor's name of a port: they are counted from 1.
func aliasOf(index int, p sim.PortSpec) string {
	if p.Alias != "" {
		return p.Alias
	}
	return "etp" + strconv.Itoa(index+1)
}

// factoryMaps is qos_config.j2: note that DSCP 3 and 4 are lossless, and 26 is not.
func factoryMaps(db database) {
	dscp, identity, groups := map[string]string{}, map[string]string{}, map[string]string{}
	for d := range 64 {
		dscp[strconv.Itoa(d)] = "1"
	}
	for d, tc := range map[string]string{"3": "3", "4": "4", "5": "2", "8": "0", "46": "5", "48": "6"} {
		dscp[d] = tc
	}
	for p := range 8 {
		identity[strconv.Itoa(p)] = strconv.Itoa(p)
		groups[strconv.Itoa(p)] = "0"
	}
	groups["3"], groups["4"], groups["7"] = "3", "4", "7"
	db.put("DSCP_TO_TC_MAP", "AZURE", dscp)
	db.put("TC_TO_QUEUE_MAP", "AZURE", identity)
	db.put("MAP_PFC_PRIORITY_TO_QUEUE", "AZURE", maps.Clone(identity))
	db.put("TC_TO_PRIORITY_GROUP_MAP", "AZURE", groups)
	db.put("PORT_QOS_MAP", "global", map[string]string{"dscp_to_tc_map": "AZURE"})
	db.put("SCHEDULER", "scheduler.0", map[string]string{"type": "DWRR", "weight": "14"})
	db.put("SCHEDULER", "scheduler.1", map[string]string{"type": "DWRR", "weight": "15"})
	wred := map[string]string{"ecn": "ecn_all"}
	for _, colour := range []string{"green", "yellow", "red"} {
		wred["wred_"+colour+"_enable"] = "true"
		wred[colour+"_min_threshold"], wred[colour+"_max_threshold"] = "1048576", "2097152"
		wred[colour+"_drop_probability"] = "5"
	}
	db.put("WRED_PROFILE", "AZURE_LOSSLESS", wred)
}

// factoryBuffers is the pools and profiles of the traditional buffer model, with the values of an SN4600C.
func factoryBuffers(db database) {
	db.put("BUFFER_POOL", "ingress_lossless_pool", map[string]string{"type": "ingress", "mode": "dynamic", "size": "55902208", "xoff": "1179648"})
	db.put("BUFFER_POOL", "egress_lossless_pool", map[string]string{"type": "egress", "mode": "dynamic", "size": "60817392"})
	db.put("BUFFER_POOL", "egress_lossy_pool", map[string]string{"type": "egress", "mode": "dynamic", "size": "55902208"})
	db.put("BUFFER_PROFILE", "ingress_lossy_profile", map[string]string{"pool": "ingress_lossless_pool", "size": "0", "dynamic_th": "3"})
	db.put("BUFFER_PROFILE", "egress_lossless_profile", map[string]string{"pool": "egress_lossless_pool", "size": "0", "dynamic_th": "7"})
	db.put("BUFFER_PROFILE", "egress_lossy_profile", map[string]string{"pool": "egress_lossy_pool", "size": "9216", "dynamic_th": "7"})
}

// foreign is configuration that has nothing to do with lossless Ethernet and belongs to others.
func foreign(db database, s sim.Spec) {
	db.put("VERSIONS", "DATABASE", map[string]string{"VERSION": "version_202511_01"})
	db.put("LOOPBACK_INTERFACE", "Loopback0", map[string]string{})
	db.put("LOOPBACK_INTERFACE", "Loopback0|10.1.0.1/32", map[string]string{})
	db.put("NTP_SERVER", "192.0.2.123", map[string]string{"association_type": "server"})
	db.put("SYSLOG_SERVER", "192.0.2.5", map[string]string{"port": "514"})
	db.put("FEATURE", "lldp", map[string]string{"state": "enabled", "auto_restart": "enabled"})
	db.put("MGMT_INTERFACE", "eth0|192.0.2.10/24", map[string]string{"gwaddr": "192.0.2.1"})
	db.put("DSCP_TO_TC_MAP", "STORAGE", map[string]string{"10": "2", "18": "2"})
	if len(s.Ports) > 0 {
		db.put("DEVICE_NEIGHBOR", s.Ports[0].Name, map[string]string{"name": "rack-inventory", "port": "eth0"})
	}
	counters := map[string]string{
		"PORT": "1000", "QUEUE": "10000", "PFCWD": "", "PG_DROP": "10000",
		"PG_WATERMARK": "60000", "QUEUE_WATERMARK": "60000", "BUFFER_POOL_WATERMARK": "60000",
	}
	for group, interval := range counters {
		row := map[string]string{"FLEX_COUNTER_STATUS": "enable"}
		if interval != "" {
			row["POLL_INTERVAL"] = interval
		}
		db.put("FLEX_COUNTER_TABLE", group, row)
	}
}
