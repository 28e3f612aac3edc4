package sonic

import (
	"strings"
	"time"

	"github.com/weirfabric/weir/intent/plan"
)

// The updater is SONiC's Generic Config Updater: every gNMI Set goes through it. What follows is data about it, from
// sonic-utilities 691b1bbc generic_config_updater and from observation of 202511.

// flapTables are the tables whose rows the updater changes only while their port is administratively down: it takes the
// port down and up again by itself (patch_sorter.py RequiredValueIdentifier; observed).
var flapTables = map[string]bool{tablePortMap: true, tableQueue: true, tableGroup: true, tableQueueBuffer: true}

// What a change costs (observed, on a small machine: the proportions hold, the seconds do not). A Set takes a time of its own and
// one for each leaf, which grows with the database: 1 leaf of 10 ports took 3.3 s, 20 leaves 17.2 s, 128 leaves of 64 ports in two
// Sets 150.8 s. A row whose port the updater takes down and up is two moves more: 8 rows of QUEUE took 15.3 s. By the bulk route
// 1,045 settings took 4.4 to 7.2 s.
const (
	setCost      = 3500 * time.Millisecond // checkpoint, updater, save
	moveCost     = 620 * time.Millisecond  // a leaf
	moveGrowth   = 290 * time.Microsecond  // more of each, for each value that the database holds in the tables that weir reads
	flapMoves    = 2                       // admin_status down and up, of each row
	loadCost     = 500 * time.Millisecond  // config load of a file
	settingCost  = 3 * time.Millisecond    // more of it, for each setting
	redisCost    = 30 * time.Millisecond   // a command of the database; the least that fits what was observed
	validateCost = 1300 * time.Millisecond // the dry run of a patch
)

// setRows is how many rows that flap ports go into one Set: 8 took 15 to 23 s, 162 were not done after 590 s (observed).
const setRows = 8

// setMoves is how many moves go into one Set at most, but for a row that has more: about a minute's, and far from the ten that the
// server waits.
const setMoves = 64

// moves are those of an edit.
func (s *script) moves(e edit) int {
	if flapTables[e.table] && s.up(e.port()) {
		return len(e.deltas) + flapMoves
	}
	return len(e.deltas)
}

// move is what one costs on this device.
func (s *script) move() time.Duration {
	values := len(s.have.Owned) + len(s.have.Derived) + len(s.have.Foreign)
	return moveCost + time.Duration(values)*moveGrowth
}

// patience is how long a step may take by gNMI before the bulk route is better.
const patience = 2 * time.Minute

// quiet is empty when no updater and no save or load is at work. The commands are those that the gNMI server starts through
// the host service (sonic-host-services host_modules/gcu.py, config_engine.py) and those of the bulk route. The brackets keep
// the pattern from finding the shell that runs it.
var quiet = plan.Query{Name: "updater", Ways: []plan.Way{
	{Via: plan.SSH, Text: "pgrep -f '[/]usr/local/bin/config (apply-patch|replace|rollback|checkpoint|save|load|reload)' || true"},
}}

// exactSKUs and partialSKUs lead from the hwsku to the ASIC as the updater knows it: by the whole name without regard to
// case, or by a part of it (gcu_field_operation_validators.conf.json, field_operation_validators.py get_asic_name).
var exactSKUs = map[string]string{
	"spc1": "ACS-MSN2700 ACS-MSN2740 ACS-MSN2100 ACS-MSN2410 ACS-MSN2010 Mellanox-SN2700 Mellanox-SN2700-C28D8 Mellanox-SN2700-D40C8S8 " +
		"Mellanox-SN2700-D44C10 Mellanox-SN2700-D48C8 ACS-MSN2700-A1 Mellanox-SN2700-A1 Mellanox-SN2700-A1-C28D8 Mellanox-SN2700-A1-D40C8S8 " +
		"Mellanox-SN2700-A1-D44C10 Mellanox-SN2700-A1-D48C8",
	"spc2": "ACS-MSN3800 Mellanox-SN3800-D112C8 ACS-MSN3420 ACS-MSN3700C ACS-MSN3700 Mellanox-SN3800-C64 Mellanox-SN3800-D100C12S2 " +
		"Mellanox-SN3800-D24C52 Mellanox-SN3800-D28C49S1 Mellanox-SN3800-D28C50",
	"spc3": "ACS-MSN4700 ACS-MSN4600 ACS-MSN4600C ACS-MSN4410 ACS-SN4280 Mellanox-SN4600C-D112C8 Mellanox-SN4600C-C64 Mellanox-SN4700-O8C48 " +
		"Mellanox-SN4600C-D100C12S2 Mellanox-SN4600C-D48C40 Mellanox-SN4700-O32 Mellanox-SN4700-V64 Mellanox-SN4700-A96C8V8 " +
		"Mellanox-SN4700-C128 Mellanox-SN4700-O28 Mellanox-SN4700-O8V48 Mellanox-SN4700-V48C32 Mellanox-SN4280-O28 Mellanox-SN4280-O8C80 " +
		"Mellanox-SN4280-C48 Mellanox-SN4280-O8C40 Mellanox-SN4280-O8V40 Mellanox-SN4280-O4X96",
	"spc4": "ACS-SN5600 Mellanox-SN5600-O128 Mellanox-SN5600-V256 Mellanox-SN5600-C256S1 ACS-SN5400 Mellanox-SN5600-C224O8 " +
		"Mellanox-SN5610N-C256S2 Mellanox-SN5610N-C224O8",
	"spc5": "ACS-SN5640 Mellanox-SN5640-C512S2 Mellanox-SN5640-C448O16 Mellanox-SN5640-C512X2 Mellanox-SN5640-C508O1X2 Mellanox-SN5640-O128X2",
	"spc6": "ACS-SN6600_LD Mellanox-SN6600_LD-P128C2 Mellanox-SN6600_LD-P64O128C2 ACS-SN6810_LD",
}

// partialSKUs are tried in this order, which is the file's.
var partialSKUs = []struct{ asic, skus string }{
	{"th", "Force10-S6100 Arista-7060CX-32S-C32 Arista-7060CX-32S-C32-T1 Arista-7060CX-32S-D48C8 Celestica-DX010-C32 Seastone-DX010"},
	{"th2", "Arista-7260CX3-D108C10 Arista-7260CX3-D108C8 Arista-7260CX3-C64 Arista-7260CX3-Q44 Arista-7260CX3-Q64"},
	{"th3", "Nokia-IXR7220-H3"},
	{"th4", "Nokia-IXR7220-H4-64D Nokia-IXR7220-H4-32D"},
	{"th5", "Nokia-IXR7220-H5-64D Arista-7060X6-64DE Arista-7060X6-64PE Nokia-IXR7220-H5-64O Nokia-IXR7220-H5-32D Arista-7060X6-16PE-384C-B-O128S2"},
	{"th6", "Nokia-IXR7220-H6-64 Nokia-IXR7220-H6-P128 Nokia-IXR7220-H6-O256"},
	{"td2", "Force10-S6000 Arista-7050-QX32 Arista-7050-QX-32S Nexus-3164 Arista-7050QX32S-Q32"},
	{"td3", "Arista-7050CX3-32C-C32 Arista-7050CX3-32S-C32 Arista-7050CX3-32S-D48C8 Arista-7050CX3-32S-C28S4 Arista-7050CX3-32C-C28S4"},
	{"td4", "Nokia-IXR7220-D4-36D"},
	{"j2c+", "Nokia-IXR7250E-36x100G Nokia-IXR7250E-36x400G Nokia-IXR7250-X3B Arista-7800R3A-36DM2-D36"},
	{"q2c+", "Nokia-IXR7250-X1B"},
	{"jr2", "Arista-7800R3-48CQ2-C48 Arista-7800R3-48CQM2-C48 Arista-7808R3A-FM"},
	{"q3d", "Arista-7280R4-32QF-32DF-64O Arista-7280R4K-32QF-32DF-64O"},
}

// updaterASIC is the ASIC that the updater takes a switch of this hwsku for; empty where it knows none. The updater's special
// treatment of the asic_types cisco-8000 and marvell-teralynx is left out: the hwsku does not tell the asic_type.
func updaterASIC(sku string) string {
	if sku == "" {
		return ""
	}
	for asic, skus := range exactSKUs {
		for s := range strings.FieldsSeq(skus) {
			if strings.EqualFold(s, sku) {
				return asic
			}
		}
	}
	for _, row := range partialSKUs {
		for s := range strings.FieldsSeq(row.skus) {
			if strings.Contains(strings.ToLower(sku), strings.ToLower(s)) {
				return row.asic
			}
		}
	}
	return ""
}

// watchdogSince is the build date from which on the updater lets PFC_WD be changed. Builds without a date are not checked.
// An ASIC that is not here is refused (gcu_field_operation_validators.conf.json, PFC_WD).
var watchdogSince = map[string]string{
	"spc1": "20181100", "spc2": "20191100", "spc3": "20220500", "spc4": "20221100", "spc5": "20241200", "spc6": "20260500",
	"td2": "20181100", "th": "20181100", "th2": "20181100", "th3": "20240500", "th4": "20240500", "th5": "20240500", "th6": "20251100",
	"td3": "20201200", "td4": "20241100", "q2c+": "20241100", "j2c+": "20220500", "q3d": "20251100",
}

// headroomSince is the same for `replace` of a profile's xoff. For its dynamic_th it is watchdogSince: the rows are alike.
var headroomSince = map[string]string{
	"spc1": "20191100", "spc2": "20191100", "spc3": "20220500", "spc4": "20221100", "spc5": "20241200", "spc6": "20260500",
	"th": "20221100", "th2": "20221100", "th3": "20240500", "th4": "20240500", "th5": "20240500", "th6": "20251100",
	"td3": "20221100", "td4": "20241100", "q2c+": "20241100", "j2c+": "20220500", "q3d": "20251100",
}

// refusal is why the updater would refuse to take a row from old to wanted; empty where it would not. First says that the
// table has no row yet. The updater compares the configurations as a whole and judges every difference by itself
// (gu_common.py validate_field_operation).
func refusal(table, key string, old, wanted map[string]string, first bool, asic string) string {
	unknown := "it does not know this hwsku"
	if asic != "" {
		unknown = "it does not allow that on " + asic
	}
	switch table {
	case tableWatchdog:
		switch {
		case watchdogSince[asic] == "":
			return unknown
		case key == global && len(old) == 0:
			return "it does not allow PFC_WD|GLOBAL to be added, only its POLL_INTERVAL to be changed"
		case key == global && old[fieldPoll] != "" && wanted[fieldPoll] == "":
			return "it does not allow POLL_INTERVAL to be removed"
		case first:
			return "it does not allow the first row of PFC_WD to be added"
		}
	case tableProfile:
		return profileRefusal(old, wanted, first, asic, unknown)
	}
	return ""
}

// profileRefusal: profiles may be added and removed whole. Of one that stands, only dynamic_th and xoff may be replaced.
func profileRefusal(old, wanted map[string]string, first bool, asic, unknown string) string {
	switch {
	case first:
		return "it does not allow the first row of BUFFER_PROFILE to be added"
	case len(old) == 0 || len(wanted) == 0:
		return ""
	}
	for field := range wanted {
		since := map[string]string{"dynamic_th": watchdogSince[asic], "xoff": headroomSince[asic]}[field]
		switch {
		case old[field] == wanted[field]:
		case old[field] == "" || field != "dynamic_th" && field != "xoff":
			return "it does not allow " + field + " of a profile to be changed"
		case since == "":
			return unknown
		}
	}
	for field := range old {
		if _, kept := wanted[field]; !kept {
			return "it does not allow " + field + " of a profile to be removed"
		}
	}
	return ""
}
