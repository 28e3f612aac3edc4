package sonic

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirfabric/weir/drivers/sim"
	"github.com/weirfabric/weir/intent/qos"
)

// COUNTERS_DB holds what orchagent read from the chip the last time, group by group. A group that FLEX_COUNTER_TABLE does
// not enable leaves no field behind, and one that is polled slowly leaves old values.

// poll is what was read for a group.
type poll struct {
	at       time.Time
	counters map[string]*sim.Counters // by port; replaced, never written to
}

// The groups and how often each is polled unless the configuration says otherwise, in milliseconds.
var pollIntervals = map[string]int64{
	"PORT": 1000, "QUEUE": 10000, "PG_DROP": 10000, "PG_WATERMARK": 60000, "QUEUE_WATERMARK": 60000,
	"WRED_ECN_QUEUE": 10000, "PFCWD": 100,
}

// group is the counters of a port as a group last read them; nil while the group is not enabled.
func (d *Device) group(name, port string) *sim.Counters {
	d.mu.Lock()
	defer d.mu.Unlock()
	row := d.running["FLEX_COUNTER_TABLE"][name]
	if row["FLEX_COUNTER_STATUS"] != "enable" {
		return nil
	}
	interval := pollIntervals[name]
	if text := row["POLL_INTERVAL"]; text != "" {
		interval = number(text)
	}
	now := d.hw.Now()
	p, ok := d.polled[name]
	if !ok || now.Sub(p.at) >= time.Duration(interval)*time.Millisecond {
		p = poll{now, map[string]*sim.Counters{}}
		for _, s := range d.hw.Spec().Ports {
			c := d.hw.Counters(s.Name)
			p.counters[s.Name] = &c
		}
		d.polled[name] = p
	}
	return p.counters[port]
}

// portRow is COUNTERS of a port.
func (d *Device) portRow(db database, port string) map[string]string {
	row := map[string]string{}
	if c := d.group("PORT", port); c != nil {
		put := func(name string, n uint64) { row["SAI_PORT_STAT_"+name] = decimal(n) }
		var dropped, overrun uint64
		for p := range 8 {
			put(fmt.Sprintf("PFC_%d_RX_PKTS", p), c.PFCReceived[p])
			put(fmt.Sprintf("PFC_%d_TX_PKTS", p), c.PFCSent[p])
			dropped, overrun = dropped+c.QueueDropped[p], overrun+c.GroupDropped[p]
		}
		put("PAUSE_RX_PKTS", 0)
		put("PAUSE_TX_PKTS", 0)
		put("IF_IN_OCTETS", c.InBytes)
		put("IF_IN_UCAST_PKTS", c.InPackets)
		put("IF_IN_DISCARDS", overrun)
		put("IF_IN_ERRORS", 0)
		put("IF_OUT_OCTETS", c.OutBytes)
		put("IF_OUT_UCAST_PKTS", c.OutPackets)
		put("IF_OUT_DISCARDS", dropped)
		put("IF_OUT_ERRORS", 0)
	}
	// The watchdog's group reads the time spent paused, of the queues that it watches.
	if c := d.group("PFCWD", port); c != nil {
		for _, p := range watched(db, port).All() {
			row[fmt.Sprintf("SAI_PORT_STAT_PFC_%d_RX_PAUSE_DURATION_US", p)] = decimal(uint64(c.PausedReceived[p].Microseconds()))
		}
	}
	return row
}

// watched is the priorities that the watchdog runs on.
func watched(db database, port string) qos.PrioritySet {
	if db["PFC_WD"][port]["detection_time"] == "" {
		return 0
	}
	return parsePriorities(db["PORT_QOS_MAP"][port]["pfcwd_sw_enable"])
}

// queueRow is COUNTERS of a queue: several groups leave their fields in it.
func (d *Device) queueRow(db database, port string, q int) map[string]string {
	row := map[string]string{}
	if c := d.group("QUEUE", port); c != nil {
		row["SAI_QUEUE_STAT_PACKETS"], row["SAI_QUEUE_STAT_BYTES"] = decimal(c.QueuePackets[q]), decimal(c.QueueBytes[q])
		row["SAI_QUEUE_STAT_DROPPED_PACKETS"], row["SAI_QUEUE_STAT_DROPPED_BYTES"] = decimal(c.QueueDropped[q]), decimal(c.QueueDropped[q]*meanPacket(c, q))
	}
	if c := d.group("WRED_ECN_QUEUE", port); c != nil {
		row["SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS"] = decimal(c.ECNMarked[q])
		row["SAI_QUEUE_STAT_WRED_ECN_MARKED_BYTES"] = decimal(c.ECNMarked[q] * meanPacket(c, q))
		row["SAI_QUEUE_STAT_WRED_DROPPED_PACKETS"], row["SAI_QUEUE_STAT_WRED_DROPPED_BYTES"] = "0", "0"
	}
	if c := d.group("QUEUE_WATERMARK", port); c != nil {
		row["SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES"] = decimal(uint64(c.QueueWatermark[q]))
	}
	if c := d.group("PFCWD", port); c != nil && watched(db, port).Has(qos.Priority(q)) {
		maps.Copy(row, watchdogFields(db["PFC_WD"][port], c, q))
	}
	return row
}

// meanPacket is the bytes of a queue's packets on average.
func meanPacket(c *sim.Counters, q int) uint64 {
	if c.QueuePackets[q] == 0 {
		return 0
	}
	return c.QueueBytes[q] / c.QueuePackets[q]
}

func watchdogFields(row map[string]string, c *sim.Counters, q int) map[string]string {
	status, dropped := "operational", uint64(0)
	if c.Stormed[q] {
		status = "stormed"
	}
	if c.StormsDetected[q] > 0 {
		dropped = c.QueueDropped[q]
	}
	restoration := ""
	if row["restoration_time"] != "" {
		restoration = decimal(uint64(number(row["restoration_time"])) * 1000)
	}
	action := row["action"]
	if action == "" {
		action = "drop"
	}
	detection := decimal(uint64(number(row["detection_time"])) * 1000)
	return map[string]string{
		"PFC_WD_STATUS": status, "PFC_WD_ACTION": action,
		"PFC_WD_DETECTION_TIME": detection, "PFC_WD_DETECTION_TIME_LEFT": detection, "PFC_WD_RESTORATION_TIME": restoration,
		"PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED": decimal(c.StormsDetected[q]), "PFC_WD_QUEUE_STATS_DEADLOCK_RESTORED": decimal(c.StormsRestored[q]),
		"PFC_WD_QUEUE_STATS_TX_PACKETS": decimal(c.QueuePackets[q]), "PFC_WD_QUEUE_STATS_TX_DROPPED_PACKETS": decimal(dropped),
		"PFC_WD_QUEUE_STATS_RX_PACKETS": "0", "PFC_WD_QUEUE_STATS_RX_DROPPED_PACKETS": "0",
		"PFC_WD_QUEUE_STATS_TX_PACKETS_LAST": "0", "PFC_WD_QUEUE_STATS_TX_DROPPED_PACKETS_LAST": decimal(dropped),
		"PFC_WD_QUEUE_STATS_RX_PACKETS_LAST": "0", "PFC_WD_QUEUE_STATS_RX_DROPPED_PACKETS_LAST": "0",
	}
}

// periodicQueue and periodicGroup are PERIODIC_WATERMARKS.
func (d *Device) periodicQueue(port string, q int) map[string]string {
	if c := d.group("QUEUE_WATERMARK", port); c != nil {
		return map[string]string{"SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES": decimal(uint64(c.QueueWatermark[q]))}
	}
	return nil
}

func (d *Device) periodicGroup(port string, g int) map[string]string {
	if c := d.group("PG_WATERMARK", port); c != nil {
		return map[string]string{
			"SAI_INGRESS_PRIORITY_GROUP_STAT_SHARED_WATERMARK_BYTES":    decimal(uint64(c.QueueWatermark[g])),
			"SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_WATERMARK_BYTES": decimal(uint64(c.HeadroomWatermark[g])),
		}
	}
	return nil
}

// groupRow is COUNTERS of a priority group.
func (d *Device) groupRow(port string, g int) map[string]string {
	row := map[string]string{}
	if c := d.group("PG_DROP", port); c != nil {
		row["SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS"] = decimal(c.GroupDropped[g])
	}
	maps.Copy(row, d.periodicGroup(port, g))
	return row
}

// losslessQueues are the queues that COUNTERS/Ethernet*/Pfcwd is about: those behind the pfc_enable of the first PORT_QOS_MAP row
// that has one, through MAP_PFC_PRIORITY_TO_QUEUE|AZURE and no map of another name.
func losslessQueues(db database) []int {
	var enabled qos.PrioritySet
	for _, key := range slices.Sorted(maps.Keys(db["PORT_QOS_MAP"])) {
		if text := db["PORT_QOS_MAP"][key]["pfc_enable"]; text != "" {
			enabled = parsePriorities(text)
			break
		}
	}
	var queues []int
	for _, p := range enabled.All() {
		if q, err := strconv.Atoi(db["MAP_PFC_PRIORITY_TO_QUEUE"]["AZURE"][strconv.Itoa(int(p))]); err == nil && q >= 0 && q < 8 {
			queues = append(queues, q)
		}
	}
	return queues
}

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }

// The chip's names of things: a kind, and a number by the port's place in the Spec.
const (
	portOID  = "oid:0x1000000000"
	queueOID = "oid:0x1500000000"
	groupOID = "oid:0x1a00000000"
)

func oid(kind string, n int) string { return fmt.Sprintf("%s%04x", kind, n) }

// row is COUNTERS of an OID; nil where there is none.
func (s *server) oidRow(db database, name string) map[string]string {
	if !strings.HasPrefix(name, "oid:") {
		return nil
	}
	for i, port := range s.names.ports {
		if name == oid(portOID, i) {
			return s.portRow(db, port)
		}
		for q := range 8 {
			switch name {
			case oid(queueOID, 8*i+q):
				return s.queueRow(db, port, q)
			case oid(groupOID, 8*i+q):
				return s.groupRow(port, q)
			}
		}
	}
	return nil
}

// nameMap is one of the COUNTERS_*_NAME_MAP tables; nil where there is no such table.
func (s *server) nameMap(table string) map[string]string {
	m := map[string]string{}
	for i, port := range s.names.ports {
		switch table {
		case "COUNTERS_PORT_NAME_MAP":
			m[port] = oid(portOID, i)
		case "COUNTERS_QUEUE_NAME_MAP":
			for q := range 8 {
				m[port+":"+strconv.Itoa(q)] = oid(queueOID, 8*i+q)
			}
		case "COUNTERS_PG_NAME_MAP":
			for g := range 8 {
				m[port+":"+strconv.Itoa(g)] = oid(groupOID, 8*i+g)
			}
		default:
			return nil
		}
	}
	return m
}

// known finds a port by its name or its alias.
func (n nameMaps) known(word string) (string, bool) {
	if name, ok := n.names[word]; ok {
		return name, true
	}
	_, ok := n.aliases[word]
	return word, ok
}

// isWild says whether a path asks for all ports.
func isWild(word string) bool {
	return strings.HasPrefix(word, "Ethernet") && strings.HasSuffix(word, "*")
}
