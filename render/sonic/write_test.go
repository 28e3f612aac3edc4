package sonic

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/qos"
)

func TestASwitchIsWrittenInFull(t *testing.T) {
	doc, findings := Language{}.Write(oneLeaf(t, "ACS-MSN2700", 2))
	if len(findings) > 0 {
		t.Error(findings)
	}
	golden(t, "two_ports.golden", string(Language{}.Print(doc)[0].Body))
}

func TestEveryLeafHasTheOperatorsAddress(t *testing.T) {
	doc, _ := Language{}.Write(oneLeaf(t, "ACS-MSN2700", 1))
	got := map[string]string{}
	for _, l := range doc {
		if back, err := addr.Parse(l.Addr.String()); err != nil || back != l.Addr {
			t.Errorf("%s does not read back: %+v, %v", l.Addr, back, err)
		}
		got[strings.Join(l.Path, "|")] = l.Addr.String()
	}
	for path, want := range map[string]string{
		"PORT_QOS_MAP|Ethernet0|pfc_enable":                          "leaf1/Ethernet0/pfc/3",
		"PORT_QOS_MAP|Ethernet0|dscp_to_tc_map":                      "leaf1/Ethernet0/trust:dscp",
		"DSCP_TO_TC_MAP|AZURE|26":                                    "leaf1/map/dscp-to-tc/26",
		"WRED_PROFILE|weir_rdma_100G|ecn":                            "leaf1/wred/weir_rdma_100G:ecn",
		"QUEUE|Ethernet0|3|scheduler":                                "leaf1/Ethernet0/queue/3:scheduler",
		"BUFFER_PG|Ethernet0|3|profile":                              "leaf1/Ethernet0/pg/3",
		"CABLE_LENGTH|AZURE|Ethernet0":                               "leaf1/Ethernet0/cable",
		"PORT|Ethernet0|mtu":                                         "leaf1/Ethernet0/mtu",
		"PFC_WD|Ethernet0|action":                                    "leaf1/Ethernet0/watchdog:action",
		"PFC_WD|GLOBAL|POLL_INTERVAL":                                "leaf1/watchdog:poll_interval",
		"FLEX_COUNTER_TABLE|QUEUE|FLEX_COUNTER_STATUS":               "leaf1/counters/queue",
		"SCHEDULER|weir_rdma|weight":                                 "leaf1/scheduler/weir_rdma:weight",
		"MAP_PFC_PRIORITY_TO_QUEUE|AZURE|3":                          "leaf1/map/pfc-to-queue/3",
		"DEFAULT_LOSSLESS_BUFFER_PARAMETER|AZURE|default_dynamic_th": "leaf1/profile/default-lossless:default_dynamic_th",
	} {
		if got[path] != want {
			t.Errorf("%s: got %s, want %s", path, got[path], want)
		}
	}
	if got := portMapAddress(addr.Port("leaf1", "Ethernet0"), fieldPFC, "3,4").String(); got != "leaf1/Ethernet0/pfc" {
		t.Errorf("PFC of two priorities: got %s", got)
	}
}

func TestSharedRowsHaveOneNameForEachContentAndTheUsualOneThePlainName(t *testing.T) {
	sw := oneLeaf(t, "ACS-MSN2700", 3)
	queues := func(w qos.WRED, weight qos.Percent) []fabric.Queue {
		q := append([]fabric.Queue{}, sw.Ports[0].Queues...)
		q[3].WRED, q[3].Scheduler.Weight = &w, weight
		return q
	}
	sw.Ports[1].Queues = queues(qos.WRED{Min: 1000, Max: 2000, Probability: 5, ECN: true}, 20)
	sw.Ports[2].Queues = queues(*sw.Ports[0].Queues[3].WRED, 20)
	doc, _ := Language{}.Write(sw)
	got := map[string]string{}
	for _, l := range doc {
		if l.Path[0] == tableQueue && strings.HasSuffix(l.Path[1], "|3") {
			got[l.Path[1]] += l.Value + " "
		}
	}
	want := map[string]string{
		"Ethernet0|3": "weir_rdma_2 weir_rdma_100G ", "Ethernet4|3": "weir_rdma weir_rdma_100G_2 ", "Ethernet8|3": "weir_rdma weir_rdma_100G ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNamesKeepToTheRuleOfYANG(t *testing.T) {
	for class, want := range map[string]string{
		"rdma": "weir_rdma", "a b.c/d": "weir_a_b_c_d", strings.Repeat("x", 40): "weir_" + strings.Repeat("x", 23), "größe": "weir_gr____e",
	} {
		if got := plain("weir_" + class); got != want || !rowName.MatchString(got+"_10") {
			t.Errorf("%s: got %s, want %s", class, got, want)
		}
	}
}

func TestGuaranteedBandwidthIsACommittedRate(t *testing.T) {
	sw := oneLeaf(t, "ACS-MSN2700", 1)
	sw.Ports[0].Queues[3].Guaranteed = 10
	doc, findings := Language{}.Write(sw)
	if len(findings) > 0 {
		t.Error(findings)
	}
	rows := rowsOf(doc)
	want := map[string]string{"type": "DWRR", "weight": "50", "cir": "1250000000", "meter_type": "bytes"} // 10 % of 100 Gb/s
	if diff := cmp.Diff(want, rows[tableScheduler]["weir_rdma_100G"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAPortWithoutPFCSaysSo(t *testing.T) {
	sw := oneLeaf(t, "ACS-MSN2700", 1)
	p := sw.Ports[0]
	p.PFC, p.Groups, p.Trust = 0, make([]fabric.Group, 8), qos.TrustPCP
	doc, findings := Language{}.Write(sw)
	if len(findings) > 0 {
		t.Error(findings)
	}
	rows := rowsOf(doc)
	want := map[string]string{
		"dot1p_to_tc_map": azure, "pfc_enable": "", "pfcwd_sw_enable": "", "tc_to_queue_map": azure, "tc_to_pg_map": azure, "pfc_to_queue_map": azure,
	}
	if diff := cmp.Diff(want, rows[tablePortMap]["Ethernet0"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if rows[tableWatchdog]["Ethernet0"] != nil || rows[tableGroup] != nil || rows[tableDefault] != nil || len(rows[tablePCP][azure]) != 8 {
		t.Errorf("got watchdog %v, groups %v, PCP map %v", rows[tableWatchdog], rows[tableGroup], rows[tablePCP])
	}
}

func TestNeighbouringGroupsAreOneRow(t *testing.T) {
	for set, want := range map[qos.PrioritySet]string{
		0: "[]", qos.Priorities(3): "[3]", qos.Priorities(3, 4): "[3-4]", qos.Priorities(1, 2, 5): "[1-2 5]", 0xff: "[0-7]",
	} {
		if got := fmt.Sprint(ranges(set)); got != want {
			t.Errorf("%s: got %s, want %s", set, got, want)
		}
		var back qos.PrioritySet
		for _, run := range ranges(set) {
			back |= setOf(run)
		}
		if back != set {
			t.Errorf("%s reads back as %s", set, back)
		}
	}
	for _, odd := range []string{"", "x", "3-", "-3", "3-x", "9"} {
		if got := setOf(odd); got != 0 {
			t.Errorf("%q is read as %s", odd, got)
		}
	}
}

func TestADocumentIsCheckedBeforeItIsLoaded(t *testing.T) {
	for name, c := range map[string]struct{ path, value, want string }{
		"a DSCP map with a hole":        {"DSCP_TO_TC_MAP|AZURE|26", "", "has 63 code points"},
		"a traffic class of 16":         {"DSCP_TO_TC_MAP|AZURE|26", "16", "from 0 to 15"},
		"a weight of 0":                 {"SCHEDULER|weir_rdma|weight", "0", "from 1 to 100"},
		"a word that is none":           {"SCHEDULER|weir_rdma|type", "FAIR", "DWRR, WRR, STRICT"},
		"a threshold of 2^31":           {"WRED_PROFILE|weir_rdma_100G|green_max_threshold", "2147483648", "from 0 to 2147483647"},
		"thresholds crossed":            {"WRED_PROFILE|weir_rdma_100G|red_max_threshold", "9", "below the lower threshold"},
		"a colour that is not enabled":  {"WRED_PROFILE|weir_rdma_100G|wred_yellow_enable", "false", "yellow packets are not marked"},
		"a scheduler that is not there": {"QUEUE|Ethernet0|3|scheduler", "gone", "there is no SCHEDULER|gone"},
		"an interval above the times":   {"PFC_WD|GLOBAL|POLL_INTERVAL", "300", "shorter than the interval of 300 ms"},
		"a row without its time":        {"PFC_WD|Ethernet0|detection_time", "", "no detection_time"},
		"a length without a unit":       {"CABLE_LENGTH|AZURE|Ethernet0", "40", "like 40m"},
		"PFC without a group":           {"PORT_QOS_MAP|Ethernet0|pfc_enable", "3,5", "priority 5 has no lossless row"},
		"priorities with a space":       {"PORT_QOS_MAP|Ethernet0|pfc_enable", "3, 4", "written 3 or 3,4"},
		"a watchdog on too much":        {"PORT_QOS_MAP|Ethernet0|pfcwd_sw_enable", "3,4", "priority 4 has no PFC to watch"},
		"an MTU of 9300":                {"PORT|Ethernet0|mtu", "9300", "from 68 to 9216"},
	} {
		doc, _ := Language{}.Write(oneLeaf(t, "ACS-MSN2700", 1))
		var broken plan.Document
		for _, l := range doc {
			switch {
			case strings.Join(l.Path, "|") != c.path:
				broken = append(broken, l)
			case c.value != "":
				l.Value = c.value
				broken = append(broken, l)
			}
		}
		if got := Validate(broken).String(); !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
