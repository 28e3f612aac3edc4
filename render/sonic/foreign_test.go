package sonic

import (
	"slices"
	"strings"
	"testing"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/qos"
)

// bare is a device as SONiC ships it, without weir's rows, with more merged over it.
func bare(t *testing.T, n int, more ...string) []byte {
	t.Helper()
	m := &model{db: map[string]map[string]map[string]any{}}
	for _, body := range append([]string{ports(sn4600c, n)}, more...) {
		m.load(t, []byte(body))
	}
	return m.Answers([]plan.Query{{Name: document}})[0].Body
}

// touched are the ports that a step changes.
func touched(step plan.Step) []string {
	var out []string
	for _, c := range step.Changes {
		if p := c.Addr.Port; p != "" && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

func TestRowsThatWeirCannotWriteBesideStopTheirPortsAndSayWhatToDo(t *testing.T) {
	for name, c := range map[string]struct {
		more    string
		touched []string
		want    string
	}{
		"one classification for two ports": {`{"PORT_QOS_MAP": {"Ethernet0,Ethernet4": {"dscp_to_tc_map": "theirs", "pfc_enable": "3,4"}}}`, []string{"Ethernet8"},
			`  First take it off: sudo sonic-db-cli CONFIG_DB DEL 'PORT_QOS_MAP|Ethernet0,Ethernet4'. Then write a row for each port: sudo config load -y FILE, ` +
				`with {"PORT_QOS_MAP":{"Ethernet0":{"dscp_to_tc_map":"theirs","pfc_enable":"3,4"}}} and the same for Ethernet4.`},
		"queues of two ports": {`{"QUEUE": {"Ethernet4,Ethernet8|3-4": {"scheduler": "x"}}}`, []string{"Ethernet0"}, `with {"QUEUE":{"Ethernet4|3-4":{"scheduler":"x"}}} and the same for Ethernet8.`},
		"groups of two ports": {`{"BUFFER_PG": {"Ethernet0,Ethernet4|3-4": {"profile": "NULL"}}}`, []string{"Ethernet8"}, "sudo sonic-db-cli CONFIG_DB DEL 'BUFFER_PG|Ethernet0,Ethernet4|3-4'"},
		"ports of nobody":     {`{"QUEUE": {"Ethernet64,Ethernet68|3-4": {"scheduler": "x"}}}`, []string{"Ethernet0", "Ethernet4", "Ethernet8"}, ""},
		"a range of lossy groups over the lossless one": {`{"BUFFER_PG": {"Ethernet4|2-4": {"profile": "ingress_lossy_profile"}}, "BUFFER_PROFILE": {"ingress_lossy_profile": {"pool": "p", "size": "0", "dynamic_th": "3"}}}`,
			[]string{"Ethernet0", "Ethernet8"}, `  It also holds lossy groups and is not weir's. First take it off: sudo sonic-db-cli CONFIG_DB DEL 'BUFFER_PG|Ethernet4|2-4'. Then write the groups that weir leaves alone: ` +
				`sudo config load -y FILE, with {"BUFFER_PG":{"Ethernet4|2":{"profile":"ingress_lossy_profile"},"Ethernet4|4":{"profile":"ingress_lossy_profile"}}}.`},
	} {
		t.Run(name, func(t *testing.T) {
			step, _, findings := planFrom(t, oneLeaf(t, sn4600c, 3), bare(t, 3, c.more), "")
			if got := touched(step); !slices.Equal(got, c.touched) {
				t.Errorf("got changes of %v, want of %v", got, c.touched)
			}
			if !strings.Contains(findings.String(), c.want) || findings.HasErrors() != (c.want != "") {
				t.Errorf("got %s, want %q", findings, c.want)
			}
		})
	}
}

func TestAQueueOfSeveralPortsIsSeen(t *testing.T) {
	sw := oneLeaf(t, sn4600c, 2)
	device := strings.ReplaceAll(strings.ReplaceAll(string(running(t, sw, ports(sn4600c, 2))), `"Ethernet0|3-4":`, `"Ethernet0,Ethernet4|3-4":`), `"Ethernet4|3-4":`, `"Ethernet64|3-4":`)
	if _, _, findings := planFrom(t, sw, []byte(device), ""); len(findings) > 0 {
		t.Errorf("got %s, want nothing: one row of BUFFER_QUEUE covers both", findings)
	}
}

func TestARangeThatTheDynamicModelComputesIsWeirsToReplace(t *testing.T) {
	step, _, findings := planFrom(t, oneLeaf(t, sn4600c, 1), bare(t, 1, `{"BUFFER_PG": {"Ethernet0|3-4": {"profile": "mine"}},
		"BUFFER_PROFILE": {"mine": {"pool": "ingress_lossless_pool", "dynamic_th": "0", "headroom_type": "dynamic"}}}`), "")
	gone := slices.ContainsFunc(step.Changes, func(c plan.Change) bool {
		return c.Action == plan.Delete && c.Addr.String() == "leaf1/Ethernet0/pg/3-4"
	})
	if !gone || findings.HasErrors() {
		t.Errorf("got %+v and %s, want the range replaced", step.Changes, findings)
	}
}

func TestATunnelKeepsThePrioritiesItNeeds(t *testing.T) {
	const more = `{"TUNNEL": {"MuxTunnel0": {"tunnel_type": "IPINIP", "encap_tc_to_queue_map": "AZURE_TUNNEL", "decap_tc_to_pg_map": "AZURE_TUNNEL"}}}`
	for pfc, refused := range map[string]bool{"2,3,6": true, "3": false} {
		step, _, findings := planFrom(t, oneLeaf(t, sn4600c, 1), bare(t, 1, more, `{"PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "`+pfc+`"}}}`), "")
		if findings.HasErrors() != refused || (len(step.Changes) == 0) != refused {
			t.Errorf("PFC of %s: got %d changes and %s", pfc, len(step.Changes), findings)
		}
		if refused && !strings.Contains(findings.String(), "TUNNEL|MuxTunnel0 has maps of its own, and the priorities 2,6") {
			t.Errorf("got %s", findings)
		}
	}
}

func TestAPortChannelFollowsItsMembers(t *testing.T) {
	const row = `{"DSCP_TO_TC_MAP": {"AZURE": {"26": "1"}}, "PORT_QOS_MAP": {"PortChannel1": {"dscp_to_tc_map": "AZURE"}}}`
	for member, want := range map[string]string{"Ethernet0": "", "Ethernet64": "PORT_QOS_MAP|PortChannel1 (Ethernet64), which weir does not manage"} {
		sw := oneLeaf(t, sn4600c, 1)
		device := running(t, sw, ports(sn4600c, 1), row, `{"PORTCHANNEL_MEMBER": {"PortChannel1|`+member+`": {}}, "PORTCHANNEL": {"PortChannel1": {"mtu": "9000"}}}`)
		_, _, findings := planFrom(t, sw, device, "")
		if findings.HasErrors() != (want != "") || !strings.Contains(findings.String(), want) {
			t.Errorf("with %s in it: got %s, want %q", member, findings, want)
		}
	}
}

func TestWhatMakesEverySetFailIsNamedAndGoneAround(t *testing.T) {
	for name, c := range map[string]struct{ more, row string }{
		"the big red switch":       {`{"PFC_WD": {"GLOBAL": {"BIG_RED_SWITCH": "enable"}}}`, "PFC_WD|GLOBAL BIG_RED_SWITCH=enable"},
		"an alpha out of range":    {`{"BUFFER_PROFILE": {"theirs": {"pool": "p", "size": "0", "dynamic_th": "9"}}}`, "BUFFER_PROFILE|theirs dynamic_th=9"},
		"a port channel":           {`{"PORT_QOS_MAP": {"PortChannel1": {"pfc_enable": "3"}}}`, "PORT_QOS_MAP|PortChannel1 pfc_enable=3"},
		"what the template writes": {`{"DEFAULT_LOSSLESS_BUFFER_PARAMETER": {"AZURE": {"max_headroom_size": "1"}}}`, "DEFAULT_LOSSLESS_BUFFER_PARAMETER|AZURE max_headroom_size=1"},
	} {
		t.Run(name, func(t *testing.T) {
			sw := oneLeaf(t, sn4600c, 1)
			device := running(t, sw, ports(sn4600c, 1), c.more)
			sw.Ports[0].MTU = 4200
			step, _, findings := planFrom(t, sw, device, "")
			if step.Route != plan.SSHBulk || len(step.Validate) > 0 || !strings.Contains(step.Why, "validated by weir alone") {
				t.Errorf("got route %s, %d messages to validate and %q", step.Route, len(step.Validate), step.Why)
			}
			found := slices.ContainsFunc(findings, func(d diag.Diagnostic) bool {
				return d.Severity == diag.Warning && strings.Contains(d.Summary, c.row) && strings.Contains(d.Detail, "The whole was not validated by the device")
			})
			if !found {
				t.Errorf("got %s, want a warning that names %s", findings, c.row)
			}
		})
	}
}

func TestTheTimeLimitOfASetIsFarFromTheServers(t *testing.T) {
	sw := oneLeaf(t, sn4600c, 64)
	device := running(t, sw, ports(sn4600c, 64))
	times(sw)
	for _, p := range sw.Ports {
		p.Queues = slices.Clone(p.Queues)
		p.Queues[0].Scheduler, p.Queues[3].WRED = qos.Scheduler{Strict: true}, &qos.WRED{Min: 200e3, Max: 900e3, Probability: 30, ECN: true}
	}
	step, _, _ := planFrom(t, sw, device, plan.GNMISet)
	if len(step.Chunks) < 3 {
		t.Fatalf("got %d Sets", len(step.Chunks))
	}
	if each := step.Cost.Seconds() / float64(len(step.Chunks)); each > 120 {
		t.Errorf("a Set is expected to take %.0f s on average", each)
	}
}
