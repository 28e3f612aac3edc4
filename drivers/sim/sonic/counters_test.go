package sonic_test

import (
	"encoding/json"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// The rows of the counters of the test's two ports.
type rows map[string]map[string]string

func (b *bench) rows(text string) rows {
	b.t.Helper()
	var got rows
	if err := json.Unmarshal([]byte(b.must("COUNTERS_DB", text)), &got); err != nil {
		b.t.Fatalf("%s: %v", text, err)
	}
	return got
}

func TestCountersOfAllPortsAreOneObjectByAlias(t *testing.T) {
	b := newBench(t, leaf(nil))
	got := b.rows("COUNTERS/Ethernet*")
	if len(got) != 2 || got["etp1"]["SAI_PORT_STAT_PFC_3_RX_PKTS"] != "0" {
		t.Errorf("got %v", got)
	}
	if field := b.rows("COUNTERS/Ethernet*/SAI_PORT_STAT_PFC_3_RX_PKTS"); len(field["etp2"]) != 1 {
		t.Errorf("one field: got %v", field)
	}
	if one := b.must("COUNTERS_DB", "COUNTERS/Ethernet0/SAI_PORT_STAT_PFC_3_RX_PKTS"); one != "0" {
		t.Errorf("one field of one port: got %q", one)
	}
	if queues := b.rows("COUNTERS/Ethernet0/Queues"); queues["Ethernet0:3"]["SAI_QUEUE_STAT_PACKETS"] != "0" || queues["Ethernet0:3:periodic"] == nil {
		t.Errorf("queues: got %v", queues)
	}
	if groups := b.rows("PERIODIC_WATERMARKS/Ethernet*/PriorityGroups"); groups["etp1:3"]["SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_WATERMARK_BYTES"] != "0" {
		t.Errorf("priority groups: got %v", groups)
	}
	if byName := b.rows("INTERFACE_COUNTERS"); byName["Ethernet0"] == nil {
		t.Errorf("INTERFACE_COUNTERS: got %v", byName)
	}
}

func TestPfcwdIsOfTheQueuesBehindTheMapNamedAZURE(t *testing.T) {
	b := newBench(t, leaf(nil))
	if got := b.rows("COUNTERS/Ethernet*/Pfcwd"); len(got) != 4 || got["etp1:3"] == nil || got["etp2:4"] == nil {
		t.Errorf("got %v", got)
	}
	b.run("sudo sonic-db-cli CONFIG_DB DEL 'MAP_PFC_PRIORITY_TO_QUEUE|AZURE'", "")
	if _, err := b.get("COUNTERS_DB", "COUNTERS/Ethernet*/Pfcwd"); status.Code(err) != codes.NotFound {
		t.Errorf("without the map: got %v", err)
	}
}

func TestNativeCountersStandUnderOIDs(t *testing.T) {
	b := newBench(t, leaf(nil))
	const db = "sonic-db:/COUNTERS_DB/localhost/"
	if got := b.must("", db+"COUNTERS/Ethernet0"); got != "{}" {
		t.Errorf("by name: got %s", got)
	}
	id := strings.Trim(b.must("", db+"COUNTERS_QUEUE_NAME_MAP/Ethernet0:3"), `"`)
	if got := b.must("", db+"COUNTERS/"+id); !strings.Contains(got, `"SAI_QUEUE_STAT_PACKETS":"0"`) {
		t.Errorf("%s: got %s", id, got)
	}
}

func TestACounterOfAGroupThatIsNotEnabledIsNotThere(t *testing.T) {
	b := newBench(t, leaf(nil))
	const marked = "SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS"
	if got := b.rows("COUNTERS/Ethernet0/Queues")["Ethernet0:3"]; got[marked] != "" {
		t.Errorf("ECN marks are counted although nobody enabled them: %v", got)
	}
	b.run("sudo sonic-db-cli CONFIG_DB HSET 'FLEX_COUNTER_TABLE|WRED_ECN_QUEUE' FLEX_COUNTER_STATUS enable", "")
	if got := b.rows("COUNTERS/Ethernet0/Queues")["Ethernet0:3"]; got[marked] != "0" {
		t.Errorf("ECN marks are not counted although enabled: %v", got)
	}
}

func TestThePortTableOfTheApplicationsSaysWhatIsUp(t *testing.T) {
	b := newBench(t, leaf(nil))
	var got rows
	if err := json.Unmarshal([]byte(b.must("APPL_DB", "PORT_TABLE")), &got); err != nil {
		t.Fatal(err)
	}
	if got["Ethernet0"]["oper_status"] != "up" {
		t.Errorf("got %v", got)
	}
}

func TestAPortThatIsAddedLaterIsNotResolved(t *testing.T) {
	spec := leaf(nil)
	spec.Files = map[string][]byte{"config_db.json": []byte(`{"PORT": {"Ethernet0": {"alias": "etp1", "admin_status": "up"}},
		"FLEX_COUNTER_TABLE": {"PORT": {"FLEX_COUNTER_STATUS": "enable"}}}`)}
	b := newBench(t, spec)
	b.run("sudo sonic-db-cli CONFIG_DB HSET 'PORT|Ethernet4' alias etp2 admin_status up", "")
	if got := b.rows("COUNTERS/Ethernet*"); len(got) != 1 || got["etp1"] == nil {
		t.Errorf("got %v", got)
	}
	if err := b.Kill("leaf1"); err != nil {
		t.Fatal(err)
	}
	if err := b.Revive("leaf1"); err != nil {
		t.Fatal(err)
	}
	b.eventually("the server started anew knows the port", func() bool {
		got, err := b.get("COUNTERS_DB", "COUNTERS/Ethernet4")
		return err == nil && got != ""
	})
}
