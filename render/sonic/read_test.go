package sonic

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/qos"
)

func readState(t *testing.T, sw *fabric.Switch, body string) plan.State {
	t.Helper()
	if !strings.Contains(body, `"PORT":`) { // every switch has one; this one is not in the inventory
		body = strings.Replace(body, "{", `{"PORT": {"Ethernet124": {"lanes": "1"}}, `, 1)
		body = strings.Replace(body, ", }", "}", 1)
	}
	state, err := Language{}.Read(sw, []plan.Answer{{Name: document, Body: []byte(body)}})
	if err != nil {
		t.Fatal(err)
	}
	return state
}

// lines are leaves as text.
func lines(doc plan.Document) []string {
	var out []string
	for _, l := range doc {
		out = append(out, strings.Join(l.Path, "|")+"="+l.Value)
	}
	return out
}

func TestRowsAreSortedByWhoseTheyAre(t *testing.T) {
	for name, c := range map[string]struct {
		body                    string
		owned, derived, foreign []string
	}{
		"a row of an inventory port is weir's, of another it is not": {
			`{"QUEUE": {"Ethernet0|3": {"scheduler": "x"}, "Ethernet8|3": {"scheduler": "x"}, "CPU|3": {"scheduler": "x"}}}`,
			[]string{"QUEUE|Ethernet0|3|scheduler=x"}, nil, []string{"QUEUE|CPU|3|scheduler=x", "QUEUE|Ethernet8|3|scheduler=x"},
		},
		"of a row shared with others the fields are told apart": {
			`{"PFC_WD": {"Ethernet0": {"action": "drop", "pfc_stat_history": "enable"}, "GLOBAL": {"POLL_INTERVAL": "200", "BIG_RED_SWITCH": "enable"}},
			  "CABLE_LENGTH": {"AZURE": {"Ethernet0": "5m", "Ethernet8": "5m"}}, "FLEX_COUNTER_TABLE": {"QUEUE": {"FLEX_COUNTER_STATUS": "enable", "POLL_INTERVAL": "1000"}}}`,
			[]string{"CABLE_LENGTH|AZURE|Ethernet0=5m", "FLEX_COUNTER_TABLE|QUEUE|FLEX_COUNTER_STATUS=enable", "PFC_WD|Ethernet0|action=drop", "PFC_WD|GLOBAL|POLL_INTERVAL=200"}, nil,
			[]string{"CABLE_LENGTH|AZURE|Ethernet8=5m", "FLEX_COUNTER_TABLE|QUEUE|POLL_INTERVAL=1000", "PFC_WD|Ethernet0|pfc_stat_history=enable", "PFC_WD|GLOBAL|BIG_RED_SWITCH=enable"},
		},
		"what buffermgrd derives is the device's": {
			`{"BUFFER_PG": {"Ethernet0|3": {"profile": "pg_lossless_100000_40m_profile"}, "Ethernet0|0": {"profile": "lossy"}},
			  "BUFFER_PROFILE": {"pg_lossless_100000_40m_profile": {"xoff": "1"}, "lossy": {"dynamic_th": "3"}}}`,
			nil, []string{"BUFFER_PG|Ethernet0|3|profile=pg_lossless_100000_40m_profile", "BUFFER_PROFILE|pg_lossless_100000_40m_profile|xoff=1"},
			[]string{"BUFFER_PG|Ethernet0|0|profile=lossy", "BUFFER_PROFILE|lossy|dynamic_th=3"},
		},
		"what buffermgrd derived for other priorities is in the way": {
			`{"BUFFER_PG": {"Ethernet0|3-4": {"profile": "pg_lossless_100000_40m_profile"}}}`,
			[]string{"BUFFER_PG|Ethernet0|3-4|profile=pg_lossless_100000_40m_profile"}, nil, nil,
		},
		"in the dynamic model nothing in CONFIG_DB is derived but its profiles": {
			`{"DEVICE_METADATA": {"localhost": {"buffer_model": "dynamic"}}, "BUFFER_PG": {"Ethernet0|3": {"profile": "pg_lossless_100000_40m_profile"}, "Ethernet0|4": {"profile": "NULL"}}}`,
			[]string{"BUFFER_PG|Ethernet0|3|profile=pg_lossless_100000_40m_profile", "BUFFER_PG|Ethernet0|4|profile=NULL"}, nil, nil,
		},
		"in the traditional model the rows of the dynamic one mean nothing": {
			`{"DEVICE_METADATA": {"localhost": {"buffer_model": "traditional"}}, "BUFFER_PG": {"Ethernet0|3": {"profile": "NULL"}},
			  "DEFAULT_LOSSLESS_BUFFER_PARAMETER": {"AZURE": {"default_dynamic_th": "0"}}}`,
			nil, nil, []string{"BUFFER_PG|Ethernet0|3|profile=NULL", "DEFAULT_LOSSLESS_BUFFER_PARAMETER|AZURE|default_dynamic_th=0"},
		},
		"a lossless group with a profile of the operator's is a port's lossless setting": {
			`{"BUFFER_PG": {"Ethernet0|3": {"profile": "mine"}}, "BUFFER_PROFILE": {"mine": {"xoff": "40960"}}}`,
			[]string{"BUFFER_PG|Ethernet0|3|profile=mine"}, nil, []string{"BUFFER_PROFILE|mine|xoff=40960"},
		},
		"references of old releases are read in their present form": {
			`{"QUEUE": {"Ethernet0|3": {"scheduler": "[SCHEDULER|scheduler.1]", "wred_profile": "[WRED_PROFILE|AZURE_LOSSLESS]"}}}`,
			[]string{"QUEUE|Ethernet0|3|scheduler=scheduler.1", "QUEUE|Ethernet0|3|wred_profile=AZURE_LOSSLESS"}, nil, nil,
		},
		"tables that weir does not know, and lists, are passed over": {
			`{"ACL_TABLE": {"A": {"ports": ["Ethernet0"]}}, "PORT": {"Ethernet0": {"adv_speeds": ["all"], "mtu": "9100", "alias": "etp1"}}, "NEW": 3}`,
			[]string{"PORT|Ethernet0|mtu=9100"}, nil, nil,
		},
		"an empty database has nothing": {`{}`, nil, nil, nil},
	} {
		state := readState(t, oneLeaf(t, "", 1), c.body)
		for part, docs := range map[string]struct {
			want []string
			got  plan.Document
		}{"owned": {c.owned, state.Owned}, "derived": {c.derived, state.Derived}, "foreign": {c.foreign, state.Foreign}} {
			if diff := cmp.Diff(docs.want, lines(docs.got)); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", name, part, diff)
			}
		}
	}
}

func TestWhatIsNoCONFIGDBIsAnError(t *testing.T) {
	for _, body := range []string{"", "Connection refused", "[]", `{"PORT": {"Ethernet0": {"mtu": "9100"`} {
		if _, err := (Language{}).Read(oneLeaf(t, "", 1), []plan.Answer{{Name: document, Body: []byte(body)}}); err == nil {
			t.Errorf("%q was read", body)
		}
	}
}

func TestTheHostsDatabaseOfAChassisIsRefused(t *testing.T) {
	_, err := Language{}.Read(oneLeaf(t, "", 1), []plan.Answer{{Name: document, Body: []byte(
		`{"DEVICE_METADATA": {"localhost": {"hwsku": "Nokia-IXR7250E-36x100G", "type": "SpineRouter"}}, "LOOPBACK_INTERFACE": {"Loopback0": {}}}`)}})
	if err == nil || !strings.Contains(err.Error(), "a switch with several ASICs has one CONFIG_DB for its host") {
		t.Errorf("got %v", err)
	}
}

func TestANumberIsReadAsTheDeviceWouldStoreIt(t *testing.T) {
	state := readState(t, oneLeaf(t, "", 1), `{"PFC_WD": {"GLOBAL": {"POLL_INTERVAL": 200}, "Ethernet0": {"detection_time": 400, "action": "drop"}},
		"WRED_PROFILE": {"w": {"wred_green_enable": true, "green_min_threshold": "1"}}, "PORT": {"Ethernet0": {"mtu": 9100, "adv_speeds": ["all"]}}}`)
	want := []string{"PFC_WD|Ethernet0|action=drop", "PFC_WD|Ethernet0|detection_time=400", "PFC_WD|GLOBAL|POLL_INTERVAL=200", "PORT|Ethernet0|mtu=9100",
		"WRED_PROFILE|w|green_min_threshold=1", "WRED_PROFILE|w|wred_green_enable=true"}
	if diff := cmp.Diff(want, lines(state.Owned)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFactsAreWhatTheDeviceSays(t *testing.T) {
	got := readState(t, oneLeaf(t, "", 1), `{"DEVICE_METADATA": {"localhost": {"hwsku": "ACS-MSN2700", "buffer_model": "dynamic"}},
		"VERSIONS": {"DATABASE": {"VERSION": "version_202511_01"}}, "INTERFACE": {"Ethernet12": {}, "Ethernet4": {}, "Ethernet4|10.0.0.1/31": {}}}`).Facts
	want := map[string]string{FactSKU: "ACS-MSN2700", FactBufferModel: "dynamic", FactRelease: "version_202511_01", FactASIC: "spc1", factRouted: "Ethernet4,Ethernet12"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := readState(t, oneLeaf(t, "", 1), `{"DEVICE_METADATA": {"localhost": {"hostname": "leaf1"}}}`).Facts; !cmp.Equal(got, map[string]string{FactBufferModel: "traditional"}) {
		t.Errorf("a device that names no model: got %v", got)
	}
}

func TestForeignRowsThatUseASharedOneAreItsUsers(t *testing.T) {
	body := `{
		"DSCP_TO_TC_MAP": {"AZURE": {"0": "1"}},
		"PORT_QOS_MAP": {"global": {"dscp_to_tc_map": "AZURE"}, "Ethernet0": {"dscp_to_tc_map": "AZURE"}, "Ethernet8": {"dscp_to_tc_map": "AZURE", "scheduler": "s"}},
		"QUEUE": {"Ethernet8|3": {"scheduler": "s", "wred_profile": "w"}},
		"BUFFER_QUEUE": {"Ethernet8|3": {"profile": "[BUFFER_PROFILE|p]"}},
		"PFC_WD": {"Ethernet8": {"detection_time": "80"}, "Ethernet12": {"detection_time": "1000"}}}`
	got := readState(t, oneLeaf(t, "", 1), body).Users
	want := map[string][]string{
		"DSCP_TO_TC_MAP|AZURE": {"PORT_QOS_MAP|Ethernet8"}, "SCHEDULER|s": {"PORT_QOS_MAP|Ethernet8", "QUEUE|Ethernet8|3"},
		"WRED_PROFILE|w": {"QUEUE|Ethernet8|3"}, "BUFFER_PROFILE|p": {"BUFFER_QUEUE|Ethernet8|3"}, "PFC_WD|GLOBAL": {"PFC_WD|Ethernet8"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAMapThatAForeignPortUsesIsReportedAndTheRestIsPlanned(t *testing.T) {
	sw := oneLeaf(t, sn4600c, 1)
	device := running(t, sw, ports(sn4600c, 1), `{"DSCP_TO_TC_MAP": {"AZURE": {"26": "1"}}, "PORT_QOS_MAP": {"Ethernet64": {"dscp_to_tc_map": "AZURE"}},
		"WRED_PROFILE": {"weir_rdma_100G": {"green_max_threshold": "7"}}}`)
	step, _, findings := planFrom(t, sw, device, "")
	if len(step.Changes) != 1 || step.Changes[0].Addr.Name != "weir_rdma_100G" {
		t.Errorf("got %+v, want the threshold alone", step.Changes)
	}
	if !findings.HasErrors() || !strings.Contains(findings.String(), "PORT_QOS_MAP|Ethernet64") {
		t.Errorf("got %s, want an error that names the foreign port", findings)
	}
}

// traditionalPort is a device in the traditional model that holds what is wanted, and what buffermgrd made of it.
func traditionalPort(t *testing.T, sw *fabric.Switch, more ...string) []byte {
	t.Helper()
	base := ports(sn4600c, len(sw.Ports))
	derived := `{"DEVICE_METADATA": {"localhost": {"buffer_model": "traditional"}}, "BUFFER_PG": {"Ethernet0|3": {"profile": "pg_lossless_100000_40m_profile"}},
		"BUFFER_PROFILE": {"pg_lossless_100000_40m_profile": {"pool": "ingress_lossless_pool", "dynamic_th": "0", "xoff": "900000", "xon": "19456", "size": "19456"}}}`
	return running(t, sw, append([]string{base, derived}, more...)...)
}

func TestWhatTheDeviceDerivedIsNoDrift(t *testing.T) {
	sw := oneLeaf(t, sn4600c, 1)
	step, state, findings := planFrom(t, sw, traditionalPort(t, sw), "")
	if len(step.Changes) > 0 || len(findings) > 0 {
		t.Errorf("got %+v and %s, want nothing", step.Changes, findings)
	}
	if len(state.Derived) != 6 {
		t.Errorf("got %v derived", lines(state.Derived))
	}
}

func TestWhatIsOnTheDeviceAndMattersIsSaid(t *testing.T) {
	for name, c := range map[string]struct {
		change   func(*fabric.Switch)
		more     string
		severity diag.Severity
		want     string
	}{
		"another alpha":                      {nil, `{"BUFFER_PROFILE": {"pg_lossless_100000_40m_profile": {"dynamic_th": "-1"}}}`, diag.Warning, "has dynamic_th -1, and alpha 1 is 0"},
		"too little headroom":                {nil, `{"BUFFER_PROFILE": {"pg_lossless_100000_40m_profile": {"xoff": "10"}}}`, diag.Warning, "reserves 10 bytes of headroom"},
		"a lossy row over a lossless group":  {nil, `{"BUFFER_PG": {"Ethernet0|0-7": {"profile": "lossy"}}}`, diag.Warning, "gives a lossless group the lossy profile lossy"},
		"a zero profile on a lossless queue": {nil, `{"BUFFER_PROFILE": {"egress_lossless_profile": {"dynamic_th": "-8"}}}`, diag.Warning, "dynamic_th -8, and 7 is expected"},
		"another speed":                      {nil, `{"PORT": {"Ethernet0": {"speed": "25000"}}}`, diag.Warning, "the port runs at 25000 Mb/s and the inventory says 100G"},
		"the MTU of a port channel":          {nil, `{"PORTCHANNEL_MEMBER": {"PortChannel1|Ethernet0": {}}, "PORTCHANNEL": {"PortChannel1": {"mtu": "1500"}}}`, diag.Warning, "the port is in PortChannel1, whose MTU of 1500"},
		"the default MTU of a port channel":  {nil, `{"PORTCHANNEL_MEMBER": {"PortChannel1|Ethernet0": {}}}`, diag.Warning, "whose MTU of 9100"},
		"a VOQ chassis":                      {nil, `{"DEVICE_METADATA": {"localhost": {"switch_type": "voq"}}}`, diag.Error, "VOQ chassis"},
		"a routed port that trusts the PCP":  {func(sw *fabric.Switch) { sw.Trust, sw.Ports[0].Trust = qos.TrustPCP, qos.TrustPCP }, `{"INTERFACE": {"Ethernet0": {"x": "y"}}}`, diag.Warning, "the port is routed and is to trust the PCP"},
		"a shared pool that is off":          {func(sw *fabric.Switch) { sw.Oversubscribe = 2 }, `{}`, diag.Warning, "the shared headroom pool is off"},
	} {
		sw := oneLeaf(t, sn4600c, 1)
		if c.change != nil {
			c.change(sw)
		}
		_, _, findings := planFrom(t, sw, traditionalPort(t, sw, c.more), "")
		found := slices.ContainsFunc(findings, func(d diag.Diagnostic) bool { return d.Severity == c.severity && strings.Contains(d.Summary, c.want) })
		if !found {
			t.Errorf("%s: got %q, want %s %q", name, findings, c.severity, c.want)
		}
	}
}

func TestMissingHeadroomIsSaid(t *testing.T) {
	sw := oneLeaf(t, sn4600c, 2)
	_, _, findings := planFrom(t, sw, traditionalPort(t, sw), "")
	if len(findings) != 1 || findings[0].Addr.String() != "leaf1/Ethernet4/pg/3" || !strings.Contains(findings[0].Summary, "no headroom") {
		t.Errorf("got %s, want Ethernet4 named", findings)
	}
}

func TestAPortThatTheDeviceDoesNotHaveIsLeftOut(t *testing.T) {
	sw := oneLeaf(t, sn4600c, 2)
	step, _, findings := planFrom(t, sw, []byte(ports(sn4600c, 1)), "")
	if !strings.Contains(findings.String(), "error: leaf1/Ethernet4: the device has no such port") {
		t.Errorf("got %s", findings)
	}
	for _, c := range step.Changes {
		if c.Addr.Port == "Ethernet4" {
			t.Errorf("it is changed: %+v", c)
		}
	}
	for _, c := range step.Chunks {
		for _, m := range c.Send {
			if strings.Contains(m.Body+m.Path, "Ethernet4") {
				t.Errorf("it is sent: %+v", m)
			}
		}
	}
}

func TestHeadroomInBytesIsWrittenUnderTheDevicesOwnName(t *testing.T) {
	sw := oneLeaf(t, sn4600c, 2)
	for _, p := range sw.Ports {
		p.Groups = slices.Clone(p.Groups)
		p.Groups[3].ByDevice, p.Groups[3].Headroom, p.Groups[3].XON, p.Groups[3].Reserved = false, 400000, 20000, 420000
	}
	doc, findings := Language{}.Write(sw)
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	var got []string
	for _, line := range lines(doc) {
		if strings.HasPrefix(line, "BUFFER_") {
			got = append(got, line)
		}
	}
	want := []string{
		"BUFFER_PG|Ethernet0|3|profile=pg_lossless_100000_40m_profile", "BUFFER_PG|Ethernet4|3|profile=pg_lossless_100000_40m_profile",
		"BUFFER_PROFILE|pg_lossless_100000_40m_profile|dynamic_th=0", "BUFFER_PROFILE|pg_lossless_100000_40m_profile|pool=ingress_lossless_pool",
		"BUFFER_PROFILE|pg_lossless_100000_40m_profile|size=420000", "BUFFER_PROFILE|pg_lossless_100000_40m_profile|xoff=400000",
		"BUFFER_PROFILE|pg_lossless_100000_40m_profile|xon=20000",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	step, _, _ := planFrom(t, sw, traditionalPort(t, sw), plan.GNMISet)
	_, _, findings = planFrom(t, sw, traditionalPort(t, sw), plan.GNMISet)
	if len(step.Changes) > 0 || !strings.Contains(findings.String(), "refuse to change BUFFER_PROFILE: it does not allow") {
		t.Errorf("got %d changes and %s, want the change of a standing profile refused over gNMI", len(step.Changes), findings)
	}
}
