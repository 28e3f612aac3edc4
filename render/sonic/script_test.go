package sonic

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/render"
)

// running is what a device says that holds what sw says, with more merged over it.
func running(t testing.TB, sw *fabric.Switch, more ...string) []byte {
	t.Helper()
	doc, findings := Language{}.Write(sw)
	if findings.HasErrors() {
		t.Fatal(findings)
	}
	m := &model{db: map[string]map[string]map[string]any{}}
	for _, body := range append([]string{string(Language{}.Print(doc)[0].Body)}, more...) {
		if err := m.merge([]byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	body, err := json.Marshal(m.db)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// ports are the device's own rows of PORT, and its hwsku.
func ports(sku string, n int) string {
	var rows []string
	for i := range n {
		rows = append(rows, fmt.Sprintf(`"Ethernet%d": {"lanes": "%d", "speed": "100000", "admin_status": "up"}`, 4*i, i))
	}
	return fmt.Sprintf(`{"DEVICE_METADATA": {"localhost": {"hwsku": %q, "buffer_model": "dynamic"}}, "PORT": {%s}, `+
		`"BUFFER_QUEUE": {%s}, "BUFFER_PROFILE": {"egress_lossless_profile": {"pool": "egress_lossless_pool", "size": "0", "dynamic_th": "7"}}}`,
		sku, strings.Join(rows, ", "), queueBuffers(n))
}

func queueBuffers(n int) string {
	var rows []string
	for i := range n {
		rows = append(rows, fmt.Sprintf(`"Ethernet%d|3-4": {"profile": "egress_lossless_profile"}`, 4*i))
	}
	return strings.Join(rows, ", ")
}

// planFrom plans sw against a device, with the shared rows that it holds taken to be weir's and on one route, if any.
func planFrom(t *testing.T, sw *fabric.Switch, body []byte, route plan.Route) (plan.Step, plan.State, diag.List) {
	t.Helper()
	l := Language{}
	state, err := l.Read(sw, []plan.Answer{{Name: document, Body: body}})
	if err != nil {
		t.Fatal(err)
	}
	owned := plan.Manifest{}
	for _, leaf := range state.Owned {
		if leaf.Object != "" && !owned.Has(sw.Name, leaf.Object) {
			owned[sw.Name] = append(owned[sw.Name], leaf.Object)
		}
	}
	b := render.Bind(l, sw, sw.Name, "sonic", owned)
	if state, err = b.Read([]plan.Answer{{Name: document, Body: body}}); err != nil {
		t.Fatal(err)
	}
	state.Route = route
	want, _ := b.Write()
	step, findings := b.Step(state, want)
	return step, state, findings
}

const sn4600c = "Mellanox-SN4600C-C64"

func TestFewChangesGoByGNMI(t *testing.T) {
	before := oneLeaf(t, sn4600c, 2)
	device := running(t, before, ports(sn4600c, 2))
	for name, change := range map[string]func(*fabric.Switch){
		"threshold": func(sw *fabric.Switch) {
			for _, p := range sw.Ports {
				p.Queues[3].WRED = &qos.WRED{Min: 200e3, Max: 1500e3, Probability: 20, ECN: true}
			}
		},
		"pfc": func(sw *fabric.Switch) {
			sw.Ports[1].PFC, sw.Ports[1].Groups[3], sw.Ports[1].Queues[3].Lossless = 0, fabric.Group{ID: 3}, false
		},
		"watchdog": func(sw *fabric.Switch) {
			for _, p := range sw.Ports {
				p.Watchdog = &qos.Watchdog{Detection: 300 * time.Millisecond, Restoration: 600 * time.Millisecond, Poll: 200 * time.Millisecond, Action: qos.Alert}
			}
			sw.Watchdog = sw.Ports[0].Watchdog
		},
	} {
		sw := oneLeaf(t, sn4600c, 2)
		for _, p := range sw.Ports { // their own queues and groups: resolving shares them
			p.Queues, p.Groups = slices.Clone(p.Queues), slices.Clone(p.Groups)
		}
		change(sw)
		step, state, findings := planFrom(t, sw, device, "")
		golden(t, "gnmi_"+name+".golden", story(step, state, findings))
	}
}

func TestAThresholdChangesInPlaceAndFlapsNothing(t *testing.T) {
	sw := oneLeaf(t, sn4600c, 64)
	device := running(t, sw, ports(sn4600c, 64))
	for _, p := range sw.Ports {
		p.Queues = slices.Clone(p.Queues)
		p.Queues[3].WRED = &qos.WRED{Min: 200e3, Max: 1500e3, Probability: 20, ECN: true}
	}
	step, _, findings := planFrom(t, sw, device, "")
	if len(step.Changes) != 3 || step.Impact() != plan.None || step.Route != plan.GNMISet || len(findings) > 0 {
		t.Errorf("got %d changes, impact %s, route %s and %s, want one threshold of three colours", len(step.Changes), step.Impact(), step.Route, findings)
	}
}

func TestARolloutGoesByTheBulkRouteAndSaysWhatGNMIWouldCost(t *testing.T) {
	sw := oneLeaf(t, sn4600c, 64)
	fresh := ports(sn4600c, 64)
	bulk, _, _ := planFrom(t, sw, []byte(fresh), "")
	if bulk.Route != plan.SSHBulk || bulk.Impact() != plan.None || bulk.Cost > 10*time.Second || len(bulk.Persist) != 1 {
		t.Errorf("got route %s, impact %s, cost %s and %d messages to persist", bulk.Route, bulk.Impact(), bulk.Cost, len(bulk.Persist))
	}
	sets, _, findings := planFrom(t, sw, []byte(fresh), plan.GNMISet)
	if sets.Route != plan.GNMISet || sets.Impact() != plan.Flaps || sets.Cost < 10*time.Minute || len(sets.Persist) != 0 {
		t.Errorf("got route %s, impact %s, cost %s and %d messages to persist", sets.Route, sets.Impact(), sets.Cost, len(sets.Persist))
	}
	if !findings.HasErrors() || !strings.Contains(findings.String(), "refuse to change PFC_WD") {
		t.Errorf("got %s, want the first rows of PFC_WD refused", findings)
	}
	for _, c := range sets.Chunks {
		rows := 0
		for _, m := range c.Send {
			if strings.Contains(m.Path, "/QUEUE/") || strings.Contains(m.Path, "/PORT_QOS_MAP/") || strings.Contains(m.Path, "/BUFFER_PG/") {
				rows++
			}
			if strings.Contains(m.Path, "PFC_WD") {
				t.Errorf("a refused row is sent: %s", m.Path)
			}
		}
		if rows > setRows {
			t.Errorf("a Set changes %d rows that flap ports, at most %d were seen to work", rows, setRows)
		}
	}
}

func TestAnUnknownSKUIsRefusedAndTheBulkRouteTaken(t *testing.T) {
	sw := oneLeaf(t, sn4600c, 1)
	for sku, want := range map[string]struct {
		free, forced string
		route        plan.Route
	}{
		sn4600c:       {"", "", plan.GNMISet},
		"Acme-Box-64": {"note: leaf1/Ethernet0/watchdog:detection_time: SONiC's updater would refuse to change PFC_WD: it does not know this hwsku", "error", plan.SSHBulk},
	} {
		device := running(t, sw, ports(sku, 1), `{"PFC_WD": {"Ethernet0": {"detection_time": "300"}}}`)
		step, _, findings := planFrom(t, sw, device, "")
		if step.Route != want.route || !strings.Contains(findings.String(), want.free) || findings.HasErrors() {
			t.Errorf("%s: got route %s and %q", sku, step.Route, findings)
		}
		forced, _, findings := planFrom(t, sw, device, plan.GNMISet)
		if refused := want.forced != ""; findings.HasErrors() != refused || (len(forced.Changes) == 0) != refused {
			t.Errorf("%s by gNMI: got %d changes and %q", sku, len(forced.Changes), findings)
		}
	}
}

func TestTheUpdaterKnowsASICsAsItsFileHasThem(t *testing.T) {
	for sku, want := range map[string]string{
		"ACS-MSN2700": "spc1", "acs-msn2700": "spc1", "Mellanox-SN4600C-C64": "spc3", "ACS-SN5640": "spc5", "Force10-S6000": "td2",
		"Force10-S6000-Q24S32": "td2", "Arista-7060X6-64PE-B-C512S2": "th5", "Arista-7260CX3-C64": "th2", "ACS-MSN2700-B": "", "": "",
	} {
		if got := updaterASIC(sku); got != want {
			t.Errorf("%s: got %q, want %q", sku, got, want)
		}
	}
}

func TestTheUpdatersRefusalsAreForeseen(t *testing.T) {
	row := func(words ...string) map[string]string {
		m := map[string]string{}
		for i := 0; i < len(words); i += 2 {
			m[words[i]] = words[i+1]
		}
		return m
	}
	profile := row("pool", "p", "size", "1", "xoff", "2", "dynamic_th", "0")
	for _, c := range []struct {
		what, table, key string
		old, wanted      map[string]string
		first            bool
		asic             string
		refused          bool
	}{
		{"a watchdog's row on a known ASIC", tableWatchdog, "Ethernet0", nil, row("action", "drop"), false, "spc3", false},
		{"a watchdog's row on an unknown one", tableWatchdog, "Ethernet0", nil, row("action", "drop"), false, "", true},
		{"a watchdog's row on an ASIC without PFC_WD", tableWatchdog, "Ethernet0", nil, row("action", "drop"), false, "jr2", true},
		{"the first row of the table", tableWatchdog, "Ethernet0", nil, row("action", "drop"), true, "spc3", true},
		{"a new interval", tableWatchdog, global, row(fieldPoll, "100"), row(fieldPoll, "200"), false, "spc3", false},
		{"the first interval", tableWatchdog, global, nil, row(fieldPoll, "200"), false, "spc3", true},
		{"no interval", tableWatchdog, global, row(fieldPoll, "200"), nil, false, "spc3", true},
		{"a new profile on any ASIC", tableProfile, "x", nil, profile, false, "", false},
		{"a profile that goes", tableProfile, "x", profile, nil, false, "", false},
		{"another alpha", tableProfile, "x", profile, row("pool", "p", "size", "1", "xoff", "2", "dynamic_th", "1"), false, "td2", false},
		{"another headroom on td2", tableProfile, "x", profile, row("pool", "p", "size", "1", "xoff", "3", "dynamic_th", "0"), false, "td2", true},
		{"another headroom on spc1", tableProfile, "x", profile, row("pool", "p", "size", "1", "xoff", "3", "dynamic_th", "0"), false, "spc1", false},
		{"another size", tableProfile, "x", profile, row("pool", "p", "size", "2", "xoff", "2", "dynamic_th", "0"), false, "spc1", true},
		{"a field less", tableProfile, "x", profile, row("pool", "p", "size", "1", "dynamic_th", "0"), false, "spc1", true},
		{"a map", tableDSCP, azure, nil, row("0", "1"), true, "", false},
	} {
		if reason := refusal(c.table, c.key, c.old, c.wanted, c.first, c.asic); (reason != "") != c.refused {
			t.Errorf("%s: got %q, want refused %v", c.what, reason, c.refused)
		}
	}
}

func TestTheIntervalIsAtNoTimeLongerThanTheTimes(t *testing.T) {
	sw := oneLeaf(t, sn4600c, 2)
	for poll, wantFirst := range map[string]bool{"200": true, "100": false} {
		w := &qos.Watchdog{Detection: 200 * time.Millisecond, Restoration: 400 * time.Millisecond, Poll: 150 * time.Millisecond, Action: qos.Drop}
		sw.Watchdog = w
		for _, p := range sw.Ports {
			p.Watchdog = w
		}
		device := running(t, sw, ports(sn4600c, 2), `{"PFC_WD": {"GLOBAL": {"POLL_INTERVAL": "`+poll+`"}, "Ethernet0": {"detection_time": "500"}}}`)
		step, _, _ := planFrom(t, sw, device, plan.GNMISet)
		var order []string
		for _, c := range step.Chunks {
			for _, m := range c.Send {
				order = append(order, strings.TrimPrefix(m.Path, root+"/PFC_WD/"))
			}
		}
		want := []string{"Ethernet0/detection_time", "GLOBAL/POLL_INTERVAL"}
		if wantFirst {
			slices.Reverse(want)
		}
		if diff := cmp.Diff(want, order); diff != "" {
			t.Errorf("from %s ms to 150 ms (-want +got):\n%s", poll, diff)
		}
	}
}

func TestMapsInUseChangeAfterPFCComesAndBeforeItGoes(t *testing.T) {
	lossless, lossy := oneLeaf(t, sn4600c, 1), oneLeaf(t, sn4600c, 1)
	lossy.Ports[0].PFC, lossy.Ports[0].Groups = 0, make([]fabric.Group, 8)
	for _, c := range []struct {
		sw   *fabric.Switch
		pfc  string
		want []string
	}{
		{lossless, "", []string{"PORT_QOS_MAP", "DSCP_TO_TC_MAP"}},
		{lossless, "3,4", []string{"DSCP_TO_TC_MAP", "PORT_QOS_MAP"}},
		{lossy, "3", []string{"DSCP_TO_TC_MAP", "PORT_QOS_MAP"}},
	} {
		sw, pfc, want := c.sw, c.pfc, c.want
		device := running(t, sw, ports(sn4600c, 1), `{"PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "`+pfc+`"}}, "DSCP_TO_TC_MAP": {"AZURE": {"26": "1"}}}`)
		for _, route := range []plan.Route{plan.GNMISet, plan.SSHBulk} {
			step, _, _ := planFrom(t, sw, device, route)
			var order []string
			for _, c := range step.Chunks {
				for _, table := range want {
					if strings.Contains(fmt.Sprint(c.Send), table) {
						order = append(order, table)
					}
				}
			}
			if diff := cmp.Diff(want, order); diff != "" {
				t.Errorf("from %q by %s (-want +got):\n%s", pfc, route, diff)
			}
		}
	}
}

func TestAPortThatIsDownDoesNotFlap(t *testing.T) {
	sw := oneLeaf(t, sn4600c, 2)
	device := running(t, sw, ports(sn4600c, 2), `{"PORT": {"Ethernet4": {"admin_status": "down"}},
		"QUEUE": {"Ethernet0|0": {"scheduler": "weir_rdma"}, "Ethernet4|0": {"scheduler": "weir_rdma"}}}`)
	step, _, _ := planFrom(t, sw, device, plan.GNMISet)
	got := map[string]plan.Impact{}
	for _, c := range step.Changes {
		got[c.Addr.Port] = c.Impact
	}
	if diff := cmp.Diff(map[string]plan.Impact{"Ethernet0": plan.Flaps, "Ethernet4": plan.None}, got); diff != "" {
		t.Error(diff)
	}
}

func TestAnOddNameCannotEscapeFromACommandOrAPath(t *testing.T) {
	m := redis("DEL", `QUEUE|a'; reboot; '|0`)
	if want := `sudo sonic-db-cli CONFIG_DB DEL 'QUEUE|a'\''; reboot; '\''|0'`; m.Body != want {
		t.Errorf("got %s, want %s", m.Body, want)
	}
	if got := pointer("Ethernet1/1|3~4"); got != "Ethernet1~11|3~04" {
		t.Errorf("got %s", got)
	}
}
