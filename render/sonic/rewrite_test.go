package sonic

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/proof/deadlock"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/render"
)

// bump is the rule of a leaf whose last two ports lead up, with one class that goes on in a second lossless lane and then in the
// default class.
func bump(lanes int) render.Rewrite {
	chain := []deadlock.Lane{
		{Class: "rdma", Priority: 3, TC: 3, Queue: 3, Group: 3, DSCP: []qos.DSCP{26}},
		{Class: "rdma-2", Priority: 4, TC: 4, Queue: 4, Group: 4, DSCP: []qos.DSCP{27}, New: true},
	}
	up := []string{"Ethernet8", "Ethernet12"}
	return render.Rewrite{In: up, Out: up, Chains: [][]deadlock.Lane{chain[:lanes]}, Off: deadlock.Lane{Class: "default", DSCP: []qos.DSCP{0}}}
}

func rewritten(t *testing.T, sw *fabric.Switch, r render.Rewrite) rows {
	t.Helper()
	files, findings := Language{}.Rewrite(sw, r)
	if findings.HasErrors() || len(files) != 1 || files[0].Name != "bump.json" {
		t.Fatalf("got %v and %s", files, findings)
	}
	db := rows{}
	if err := json.Unmarshal(files[0].Body, &db); err != nil {
		t.Fatal(err)
	}
	return db
}

// crossing is what a packet meets: it comes in over one port and leaves over another, as the ports' maps say it.
func crossing(t *testing.T, db rows, in, out, dscp string) string {
	t.Helper()
	at := func(table, port, field, key string) string {
		return db[table][db[tablePortMap][port][field]][key]
	}
	tc := at(tableDSCP, in, "dscp_to_tc_map", dscp)
	after := dscp
	if db[tablePortMap][out]["tc_to_dscp_map"] != "" {
		after = at(tableRewrite, out, "tc_to_dscp_map", tc)
	}
	return fmt.Sprintf("group %s, queue %s, DSCP %s", at(tableGroupMap, in, "tc_to_pg_map", tc), at(tableQueueMap, out, "tc_to_queue_map", tc), after)
}

// TestAPacketThatTurnsUpAgainGoesOnInTheNextLane follows packets by the maps of the ports.
func TestAPacketThatTurnsUpAgainGoesOnInTheNextLane(t *testing.T) {
	sw := oneLeaf(t, "ACS-MSN2700", 4)
	document, _ := Language{}.Write(sw)
	for _, c := range []struct {
		lanes         int
		in, out, dscp string
		want          string
	}{
		{2, "Ethernet0", "Ethernet4", "26", "group 3, queue 3, DSCP 26"},  // between hosts
		{2, "Ethernet0", "Ethernet8", "26", "group 3, queue 3, DSCP 26"},  // up
		{2, "Ethernet8", "Ethernet0", "26", "group 3, queue 3, DSCP 26"},  // down
		{2, "Ethernet8", "Ethernet12", "26", "group 3, queue 4, DSCP 27"}, // down and up again
		{2, "Ethernet8", "Ethernet12", "27", "group 4, queue 0, DSCP 0"},  // for the second time: lossy
		{2, "Ethernet8", "Ethernet0", "27", "group 4, queue 4, DSCP 27"},
		{2, "Ethernet8", "Ethernet12", "48", "group 0, queue 6, DSCP 48"}, // CNPs are no part of it
		{1, "Ethernet8", "Ethernet12", "26", "group 3, queue 0, DSCP 0"},
		{1, "Ethernet8", "Ethernet0", "26", "group 3, queue 3, DSCP 26"},
	} {
		if c.dscp == "27" { // the class that must be added to the intent
			for i := range document {
				if document[i].Path[0] == tableDSCP && document[i].Path[2] == "27" {
					document[i].Value = "4"
				}
			}
		}
		db := rowsOf(document)
		for table, keys := range rewritten(t, sw, bump(c.lanes)) {
			for key, fields := range keys {
				for field, value := range fields {
					db.set(table, key, field, value)
				}
			}
		}
		if got := crossing(t, db, c.in, c.out, c.dscp); got != c.want {
			t.Errorf("%d lanes, DSCP %s from %s to %s: got %s, want %s", c.lanes, c.dscp, c.in, c.out, got, c.want)
		}
	}
}

func TestRulesStateEveryRowInFull(t *testing.T) {
	sw := oneLeaf(t, "ACS-MSN2700", 4)
	db := rewritten(t, sw, bump(2))
	want := map[string]string{
		"dscp_to_tc_map": "WEIR_BUMP", "pfc_enable": "3", "pfc_to_pg_map": "AZURE", "pfc_to_queue_map": "AZURE", "pfcwd_sw_enable": "3",
		"tc_to_dscp_map": "WEIR_BUMP", "tc_to_pg_map": "WEIR_BUMP", "tc_to_queue_map": "WEIR_BUMP_UP",
	}
	if diff := cmp.Diff(want, db[tablePortMap]["Ethernet12"]); diff != "" {
		t.Errorf("a port towards the top (-want +got):\n%s", diff)
	}
	want = map[string]string{
		"dscp_to_tc_map": "AZURE", "pfc_enable": "3", "pfc_to_pg_map": "AZURE", "pfc_to_queue_map": "AZURE", "pfcwd_sw_enable": "3",
		"tc_to_pg_map": "AZURE", "tc_to_queue_map": "WEIR_BUMP_DOWN",
	}
	if diff := cmp.Diff(want, db[tablePortMap]["Ethernet0"]); diff != "" {
		t.Errorf("a port of a host (-want +got):\n%s", diff)
	}
	want = map[string]string{"0": "0", "1": "27", "2": "0", "3": "26", "4": "0", "5": "0", "6": "48", "7": "48"}
	if diff := cmp.Diff(want, db[tableRewrite][bumpMap]); diff != "" {
		t.Errorf("what is written into packets (-want +got):\n%s", diff)
	}
	if n := len(db[tableDSCP][bumpMap]); n != 64 {
		t.Errorf("%d DSCPs are stated, want all 64", n)
	}
}

func TestRulesAreValidBySONiCsYANGModels(t *testing.T) {
	folder := models(t)
	sw := oneLeaf(t, "ACS-MSN2700", 4)
	document, _ := Language{}.Write(sw)
	whole := func() rows {
		db := device(rowsOf(document))
		for table, keys := range rewritten(t, sw, bump(2)) {
			for key, fields := range keys {
				for field, value := range fields {
					db.set(table, key, field, value)
				}
			}
		}
		return db
	}
	if err := yanglint(t, folder, whole()); err != nil {
		t.Error(err)
	}
	for _, c := range []struct{ table, key, field, value string }{
		{tableRewrite, bumpMap, "3", "64"},
		{tableRewrite, bumpMap, "16", "0"},
		{tablePortMap, "Ethernet8", "tc_to_dscp_map", "NOWHERE"},
	} {
		db := whole()
		db.set(c.table, c.key, c.field, c.value)
		if err := yanglint(t, folder, db); err == nil {
			t.Errorf("%s|%s|%s = %q is accepted", c.table, c.key, c.field, c.value)
		}
	}
}

func TestWhatStandsInTheWayOfRulesIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		how  func(*fabric.Switch)
		want string
	}{
		"a port that trusts PCP": {func(sw *fabric.Switch) { sw.Ports[3].Trust = qos.TrustPCP }, "error: leaf1/Ethernet12: the rules go by DSCP, and the port trusts pcp"},
		"what is not verified":   {func(*fabric.Switch) {}, "note: leaf1: what the rules rest on"},
		"DSCPs that become one":  {func(*fabric.Switch) {}, "the 62 of traffic class 0 become 0"},
		"the traffic classes":    {func(*fabric.Switch) {}, "1 for class rdma that came down, 2 for class rdma-2 that came down"},
	} {
		sw := oneLeaf(t, "ACS-MSN2700", 4)
		c.how(sw)
		if _, findings := (Language{}).Rewrite(sw, bump(2)); !strings.Contains(findings.String(), c.want) {
			t.Errorf("%s: got\n%s\nwant %q", name, findings, c.want)
		}
	}
}

// TestRulesTakeTrafficClassesThatNoClassUses has classes in all traffic classes but one.
func TestRulesTakeTrafficClassesThatNoClassUses(t *testing.T) {
	sw := oneLeaf(t, "ACS-MSN2700", 4)
	for tc := range 7 {
		if tc != 5 {
			sw.Maps.DSCPToTC[tc] = qos.TrafficClass(tc)
		}
	}
	db := rewritten(t, sw, bump(2))
	var got []string
	for tc := range 16 {
		if db[tableQueueMap][bumpDown][strconv.Itoa(tc)] != db[tableQueueMap][bumpUp][strconv.Itoa(tc)] {
			got = append(got, strconv.Itoa(tc))
		}
	}
	if want := []string{"5", "8"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
