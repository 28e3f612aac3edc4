package sonic

import (
	"encoding/csv"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/drivers/sim"
	"github.com/weirfabric/weir/intent/qos"
)

// spec is a switch with one port.
var spec = sim.Spec{Name: "leaf1", SKU: "ACS-MSN4700", Ports: []sim.PortSpec{{Name: "Ethernet0", Speed: 100e9, Cable: 40}}}

// booted is a factory configuration after buffermgrd, with changes made before.
func booted(change func(database)) database {
	db := factory(spec)
	change(db)
	buffermgrd(nil, db)
	return db
}

func unchanged(database) {}

func TestTheFactoryConfigurationIsValid(t *testing.T) {
	db := booted(unchanged)
	if why := validate(db); why != "" {
		t.Error(why)
	}
	if unknown := unknownTables(db); len(unknown) > 0 {
		t.Errorf("tables that no model has: %v", unknown)
	}
	again, err := parseDatabase(db.print())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(db, again); diff != "" {
		t.Errorf("printed and read again (-want +got):\n%s", diff)
	}
}

func TestTheFactoryPausesPriorities3And4(t *testing.T) {
	b := behaviour(booted(unchanged), spec)
	p := b.Ports["Ethernet0"]
	want := sim.PortBehaviour{Up: true, MTU: 9100, PFC: qos.Priorities(3, 4)}
	want.Headroom[3], want.Headroom[4] = 33792, 33792 // MSN4700, 100 Gb/s, 5 m
	want.Alpha[0] = 3
	for q := range 7 {
		want.Queues[q].Weight = 14
	}
	for _, q := range []int{3, 4} {
		want.Queues[q] = sim.QueueBehaviour{Weight: 15, WRED: &qos.WRED{Min: 1048576, Max: 2097152, Probability: 5, ECN: true}}
	}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if b.Classify[3] != 3 || b.Classify[26] != 1 || b.Classify[48] != 6 {
		t.Errorf("DSCP 3, 26 and 48 are in %d, %d and %d", b.Classify[3], b.Classify[26], b.Classify[48])
	}
}

func TestOnlyWhatIsStatedWholeHasAnEffect(t *testing.T) {
	watchdog := map[string]string{"detection_time": "200", "restoration_time": "400", "action": "forward"}
	for _, c := range []struct {
		name   string
		change func(database)
		check  func(sim.PortBehaviour) bool
	}{
		{"without pfc_enable there is no PFC", func(db database) { delete(db["PORT_QOS_MAP"]["Ethernet0"], "pfc_enable") },
			func(p sim.PortBehaviour) bool { return p.PFC == 0 && p.Headroom == [8]qos.Bytes{} }},
		{"a watchdog without pfcwd_sw_enable watches nothing", func(db database) {
			db.put("PFC_WD", "Ethernet0", watchdog)
			delete(db["PORT_QOS_MAP"]["Ethernet0"], "pfcwd_sw_enable")
		}, func(p sim.PortBehaviour) bool { return p.Watched == 0 }},
		{"a watchdog without detection_time does not start", func(db database) { db.put("PFC_WD", "Ethernet0", map[string]string{"action": "drop"}) },
			func(p sim.PortBehaviour) bool { return p.Watched == 0 && p.Watchdog == qos.Watchdog{} }},
		{"a whole watchdog", func(db database) { db.put("PFC_WD", "Ethernet0", watchdog) },
			func(p sim.PortBehaviour) bool {
				return p.Watched == qos.Priorities(3, 4) && p.Watchdog == qos.Watchdog{Detection: 200 * time.Millisecond,
					Restoration: 400 * time.Millisecond, Poll: 100 * time.Millisecond, Action: qos.Forward}
			}},
		{"ECN without wred_green_enable marks nothing", func(db database) { delete(db["WRED_PROFILE"]["AZURE_LOSSLESS"], "wred_green_enable") },
			func(p sim.PortBehaviour) bool { return p.Queues[3].WRED == nil }},
		{"WRED without ecn drops", func(db database) { delete(db["WRED_PROFILE"]["AZURE_LOSSLESS"], "ecn") },
			func(p sim.PortBehaviour) bool { return p.Queues[3].WRED != nil && !p.Queues[3].WRED.ECN }},
		{"an unset probability is 100 %", func(db database) { delete(db["WRED_PROFILE"]["AZURE_LOSSLESS"], "green_drop_probability") },
			func(p sim.PortBehaviour) bool { return p.Queues[3].WRED.Probability == 100 }},
		{"a port that is down", func(db database) { db["PORT"]["Ethernet0"]["admin_status"] = "down" },
			func(p sim.PortBehaviour) bool { return !p.Up }},
		{"a queue by range", func(db database) {
			db["QUEUE"] = map[string]map[string]string{"Ethernet0|3-4": {"wred_profile": "AZURE_LOSSLESS"}}
		}, func(p sim.PortBehaviour) bool { return p.Queues[3].WRED != nil && p.Queues[4].WRED != nil }},
		{"a strict queue", func(db database) { db["SCHEDULER"]["scheduler.0"] = map[string]string{"type": "STRICT"} },
			func(p sim.PortBehaviour) bool { return p.Queues[6].Strict && p.Queues[6].Weight == 0 }},
		{"in the dynamic model NULL is worked out", func(db database) {
			db["DEVICE_METADATA"]["localhost"]["buffer_model"] = "dynamic"
			db.put("BUFFER_PG", "Ethernet0|3-4", map[string]string{"profile": "NULL"})
			db.put("DEFAULT_LOSSLESS_BUFFER_PARAMETER", "AZURE", map[string]string{"default_dynamic_th": "-1"})
		}, func(p sim.PortBehaviour) bool { return p.Headroom[3] == 33792 && p.Alpha[3] == -1 }},
	} {
		if p := behaviour(booted(c.change), spec).Ports["Ethernet0"]; !c.check(p) {
			t.Errorf("%s: got %+v", c.name, p)
		}
	}
}

func TestBuffermgrdDerivesRowsFromSpeedCableAndPriorities(t *testing.T) {
	profile := map[string]string{"pool": "ingress_lossless_pool", "xon": "19456", "xoff": "44032", "size": "63488", "dynamic_th": "0"}
	for _, c := range []struct {
		name   string
		change func(database)
		groups map[string]string // BUFFER_PG keys to profiles, but for PG 0
	}{
		{"neighbours share a row", func(db database) { db["CABLE_LENGTH"]["AZURE"]["Ethernet0"] = "40m" },
			map[string]string{"Ethernet0|3-4": "pg_lossless_100000_40m_profile"}},
		{"others have rows of their own", func(db database) { db["PORT_QOS_MAP"]["Ethernet0"]["pfc_enable"] = "3,6" },
			map[string]string{"Ethernet0|3": "pg_lossless_100000_5m_profile", "Ethernet0|6": "pg_lossless_100000_5m_profile"}},
		{"a cable of 0m is left out", func(db database) { db["CABLE_LENGTH"]["AZURE"]["Ethernet0"] = "0m" }, map[string]string{}},
		{"a length that the table has not gives no headroom", func(db database) { db["CABLE_LENGTH"]["AZURE"]["Ethernet0"] = "37m" }, map[string]string{}},
		{"the dynamic model writes nothing", func(db database) { db["DEVICE_METADATA"]["localhost"]["buffer_model"] = "dynamic" }, map[string]string{}},
	} {
		db := booted(c.change)
		got := map[string]string{}
		for key, row := range db["BUFFER_PG"] {
			if key != "Ethernet0|0" {
				got[key] = row["profile"]
			}
		}
		if diff := cmp.Diff(c.groups, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		if row := db["BUFFER_PROFILE"]["pg_lossless_100000_40m_profile"]; row != nil && !cmp.Equal(row, profile) {
			t.Errorf("%s (-want +got):\n%s", c.name, cmp.Diff(profile, row))
		}
	}
}

func TestBuffermgrdFollowsAChangeAndKeepsAProfileThatStands(t *testing.T) {
	before := booted(func(db database) {
		db.put("BUFFER_PROFILE", "pg_lossless_100000_5m_profile", map[string]string{"pool": "ingress_lossless_pool", "size": "1", "xoff": "2", "dynamic_th": "-3"})
	})
	if got := before["BUFFER_PROFILE"]["pg_lossless_100000_5m_profile"]["xoff"]; got != "2" {
		t.Errorf("the profile that stood has xoff %s", got)
	}
	now := before.clone()
	now["PORT_QOS_MAP"]["Ethernet0"]["pfc_enable"] = "3"
	buffermgrd(before, now)
	if now["BUFFER_PG"]["Ethernet0|3"] == nil || now["BUFFER_PG"]["Ethernet0|3-4"] != nil {
		t.Errorf("got %v", now["BUFFER_PG"])
	}
}

func TestTheLookedUpHeadroomIsThePublishedOne(t *testing.T) {
	f, err := os.Open("../../../../shared/data/sonic_headroom_golden.csv")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the published table is not here")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	table, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, line := range table[1:] {
		if line[1] != "MELLANOX-SPECTRUM-3" {
			continue
		}
		mbps, _ := strconv.ParseInt(line[3], 10, 64)
		metres, _ := strconv.ParseInt(line[4], 10, 64)
		r, ok := pgProfile(mbps, metres)
		got := []string{strconv.FormatInt(int64(r.XON), 10), strconv.FormatInt(int64(r.Headroom), 10), strconv.FormatInt(int64(r.Reserved), 10)}
		if diff := cmp.Diff(line[14:17], got); !ok || diff != "" {
			t.Errorf("%d Mb/s, %d m (-want +got):\n%s", mbps, metres, diff)
		}
		checked++
	}
	if checked != 21 {
		t.Errorf("checked %d rows, want 21", checked)
	}
}

func TestARealConfigurationStartsTheSwitch(t *testing.T) {
	for _, name := range []string{"sonic_sn4600c_one_port.json", "sonic_sn4600c_one_port_dynamic.json"} {
		text, err := os.ReadFile("../../../../shared/data/" + name)
		if errors.Is(err, fs.ErrNotExist) {
			t.Skip("SONiC's own configurations are not here")
		}
		if err != nil {
			t.Fatal(err)
		}
		db, err := parseDatabase(text)
		if err != nil {
			t.Fatal(err)
		}
		if why := validate(db); why != "" {
			t.Errorf("%s: %s", name, why)
		}
		buffermgrd(nil, db)
		p := behaviour(db, spec).Ports["Ethernet0"]
		if p.PFC != qos.Priorities(3, 4) || p.Queues[3].WRED == nil || p.Headroom[3] == 0 {
			t.Errorf("%s: got %+v", name, p)
		}
	}
}

func TestOfRowsThatListAPortTheLastOneHolds(t *testing.T) {
	db := factory(spec)
	db.put("PORT_QOS_MAP", "Ethernet0,Ethernet4", map[string]string{"dscp_to_tc_map": "AZURE"})
	db.put("QUEUE", "Ethernet0,Ethernet4|3-4", map[string]string{"scheduler": "strict"})
	db.put("SCHEDULER", "strict", map[string]string{"type": "STRICT"})
	got := behaviour(db, spec).Ports["Ethernet0"]
	if got.PFC != 0 {
		t.Errorf("PFC is on for %s, and the last row has none", got.PFC)
	}
	db.remove("PORT_QOS_MAP", "Ethernet0,Ethernet4")
	if got := behaviour(db, spec).Ports["Ethernet0"]; got.PFC != qos.Priorities(3, 4) {
		t.Errorf("PFC is on for %s, want 3,4", got.PFC)
	}
}
