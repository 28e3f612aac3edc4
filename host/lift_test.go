package host_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/weirfabric/weir/host"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/render"
	"github.com/weirfabric/weir/render/dialecttest"
)

// varied is a random host with what RandomHost leaves alike: trust of the PCP, IEEE 802.3x, RoCE v1, and NICs without DCQCN.
func varied(seed uint64) *fabric.Host {
	h := dialecttest.RandomHost(seed, "eth0", "eth1")
	for i, n := range h.NICs {
		switch (seed + uint64(i)) % 5 {
		case 1:
			n.Trust = qos.TrustPCP
		case 2:
			n.FlowControl, n.PFC = true, 0
		case 3:
			n.DCQCN = false
		case 4:
			n.Model, n.DCQCN, n.RoCE, n.TOS, n.DSCP = nil, false, 1, 0, 0
		}
	}
	if seed%3 == 0 {
		for _, n := range h.NICs {
			n.MTU = 9000
		}
		h.Bonds = bonded(seed % 2 * 3).Bonds
		h.Bonds[0].MTU = 9000
		for _, n := range h.NICs {
			n.Model, n.DCQCN = nil, false
		}
	}
	return h
}

// bondAnswers are what the kernel says of the bonds that the document has.
func bondAnswers(said map[string]string, doc plan.Document) {
	files := map[string]string{"mode": "mode", "hash": "xmit_hash_policy", "lacp-rate": "lacp_rate", "fail-over-mac": "fail_over_mac", "miimon": "miimon", "ports": "slaves"}
	said["bonds"] = "unit NetworkManager inactive\nunit systemd-networkd active\nunit networking inactive\n"
	links := []map[string]any{{"ifname": "lo"}}
	for _, l := range doc {
		if l.Path[0] != "bond" {
			continue
		}
		switch name := l.Path[2]; name {
		case "mtu":
			said["bonds"] += "/sys/class/net/" + l.Path[1] + "/mtu:" + l.Value + "\n"
		case "addresses":
			var info []map[string]any
			for a := range strings.FieldsSeq(l.Value) {
				local, length, _ := strings.Cut(a, "/")
				info = append(info, map[string]any{"local": local, "prefixlen": number(length)})
			}
			links = append(links, map[string]any{"ifname": l.Path[1], "addr_info": info})
		default:
			said["bonds"] += "/sys/class/net/" + l.Path[1] + "/bonding/" + files[name] + ":" + l.Value + "\n"
		}
	}
	said["bonds"] += "end\n"
	said["bond-addresses"] = asJSON(links)
}

// serviceAnswers are what systemd says of services that have drop-ins.
func serviceAnswers(said map[string]string, doc plan.Document) {
	for _, l := range doc {
		if l.Path[0] != "memlock" {
			continue
		}
		switch file := "/etc/systemd/system/" + l.Path[1] + ".service.d/90-weir.conf"; l.Path[2] {
		case "drop-in":
			said["memlock-services"] += "file " + file + "\n"
			for line := range strings.Lines(l.Value) {
				said["memlock-services"] += file + ":" + strings.TrimSuffix(line, "\n") + "\n"
			}
		case "loaded":
			said["memlock-services"] += "service " + l.Path[1] + "\nMainPID=0\nLimitMEMLOCK=" + l.Value + "\nLoadState=loaded\n"
		}
	}
	said["memlock-services"] += "end\n"
}

// answers are what a host says whose kernel was told the document. A value that is none of its kind stands where the value would.
func answers(h *fabric.Host, doc plan.Document) []plan.Answer {
	said := map[string]string{"rdma-links": "[", "lldpad": "inactive\n"}
	for i, n := range h.NICs {
		said["rdma-links"] += strings.Repeat(",", min(i, 1)) + fmt.Sprintf(`{"ifname":%q,"netdev":%q}`, n.RDMA, n.Name)
	}
	said["rdma-links"] += "]"
	for _, m := range h.Modules {
		said["modules"] += m.Name + " 1 0 - Live 0x0\n"
	}
	for _, l := range doc {
		if l.Path[0] == "file" {
			said[strings.TrimPrefix(l.Path[1], "/")] = l.Value
		}
	}
	bondAnswers(said, doc)
	serviceAnswers(said, doc)
	for _, n := range h.NICs {
		nicAnswers(said, n.Name, doc)
	}
	var out []plan.Answer
	for name, body := range said {
		out = append(out, plan.Answer{Name: name, Body: []byte(body)})
	}
	slices.SortFunc(out, func(a, b plan.Answer) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func nicAnswers(said map[string]string, nic string, doc plan.Document) {
	lists := map[string]map[int]any{"pfc": {}, "prio-tc": {}, "tsa": {}, "bw": {}, "dscp": {}}
	willing := any("")
	for _, l := range doc {
		if l.Path[0] != nic {
			continue
		}
		last := l.Path[len(l.Path)-1]
		i, _ := strconv.Atoi(last)
		switch where := l.Path[len(l.Path)-2]; {
		case last == "mtu":
			said[nic+"/mtu"] = l.Value + "\n"
		case last == "dcbx":
			said[nic+"/dcbx"] = l.Value + "\n"
		case where == "flowcontrol":
			said[nic+"/pause"] += strings.ToUpper(last) + ":\t\t" + l.Value + "\n"
		case where == "roce":
			said[nic+"/roce-"+last] = l.Value + "\n"
		case where == "dcqcn":
			said[nic+"/dcqcn"] += "/sys/class/net/" + nic + "/ecn/" + last + ":" + l.Value + "\n"
		case last == "willing":
			willing = onOff(l.Value)
		case where == "pfc":
			lists["pfc"][i] = onOff(l.Value)
		default:
			lists[where][i] = number(l.Value)
		}
	}
	for tc := range 8 {
		if lists["bw"][tc] == nil {
			lists["bw"][tc] = 0
		}
	}
	said[nic+"/pfc"] = asJSON(map[string]any{"prio_pfc": list(lists["pfc"])})
	said[nic+"/ets"] = asJSON(map[string]any{"willing": willing, "prio_tc": list(lists["prio-tc"]), "tc_tsa": list(lists["tsa"]), "tc_bw": list(lists["bw"])})
	var app [][2]any
	for d := range 64 {
		if p := lists["dscp"][d]; p != nil {
			app = append(app, [2]any{d, p})
		}
	}
	said[nic+"/app"] = asJSON(map[string]any{"dscp_prio": app})
	if app == nil {
		said[nic+"/app"] = "{}"
	}
}

func onOff(value string) any {
	if value == "on" || value == "off" {
		return value == "on"
	}
	return value
}

func number(value string) any {
	if n, err := strconv.Atoi(value); err == nil {
		return n
	}
	return value
}

// list is the entries that there are, in order.
func list(entries map[int]any) []any {
	out := []any{}
	for i := range 64 {
		if e, ok := entries[i]; ok {
			out = append(out, e)
		}
	}
	return out
}

func asJSON(v any) string {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(body)
}

func TestTheLawsOfLiftingHold(t *testing.T) {
	dialecttest.Lift(t, host.Language{}, dialecttest.LiftOptions[*fabric.Host]{
		Random: varied, Identity: render.IdentityOfHost, Settings: (*fabric.Host).Settings, Answers: answers,
		Never: []addr.Addr{{Kind: addr.Cable}},
		Runs: func(l plan.Leaf) bool {
			return l.Path[0] != "file" && l.Path[0] != "unit" && l.Path[len(l.Path)-1] != "kept" && l.Path[len(l.Path)-1] != "drop-in"
		},
	})
}

func TestOfAHostIsLiftedOnlyWhatItSays(t *testing.T) {
	h := gpu1("ConnectX-7")
	doc, _ := host.Language{}.Write(h)
	for name, c := range map[string]struct {
		query, body string
		unknown     []string
		line        string
	}{
		"a driver that schedules in its own way": {"eth0/ets", `{"willing":false,"prio_tc":[1,0,2,3,4,5,6,7],"tc_tsa":["vendor","vendor","vendor","vendor","vendor","vendor","vendor","vendor"],"tc_bw":[100,100,100,100,100,100,100,100]}`,
			[]string{"gpu1/eth0/ets/3:share", "gpu1/eth0/ets/3:strict"}, "ets tsa 0: vendor"},
		"two priorities of a DSCP":    {"eth0/app", `{"dscp_prio":[[26,3],[26,4]]}`, []string{"gpu1/eth0/dscp/26"}, "dscp 26: 3,4"},
		"entries for UDP ports":       {"eth0/app", `{"dscp_prio":[[26,3]],"dgram_port_prio":[[4791,3]]}`, nil, `app: "dgram_port_prio": [[4791,3]]`},
		"a neighbour that may decide": {"eth0/ets", `{"willing":true,"prio_tc":[0,0,0,0,0,0,0,0],"tc_tsa":["ets","ets","ets","ets","ets","ets","ets","ets"],"tc_bw":[100,0,0,0,0,0,0,0]}`, []string{"gpu1/eth0/ets/0:share"}, "ets willing: on"},
		"firmware that decides":       {"eth0/dcbx", "ieee\n", []string{"gpu1/eth0/pfc/3", "gpu1/eth0/ets/3:share"}, "dcbx: ieee"},
		"lldpad":                      {"lldpad", "active\n", []string{"gpu1/eth0/pfc/3", "gpu1/eth0/dscp/26"}, "lldpad.service: active"},
		"an answer that is cut":       {"eth0/pfc", `{"prio_pfc":[false,`, []string{"gpu1/eth0/pfc/3"}, `pfc: {"prio_pfc":[false,`},
		"another RDMA device":         {"rdma-links", `[{"ifname":"mlx5_9","netdev":"eth0"}]`, []string{"gpu1/eth0/roce:tos"}, "rdma link: eth0 is mlx5_9"},
	} {
		said := answers(h, doc)
		i := slices.IndexFunc(said, func(a plan.Answer) bool { return a.Name == c.query })
		said[i].Body = []byte(c.body)
		lifted, _ := host.Language{}.Lift(render.IdentityOfHost(h), said)
		for _, at := range c.unknown {
			a, err := addr.Parse(at)
			if err != nil {
				t.Fatal(err)
			}
			if reading, _ := lifted.Of(a); reading != fabric.Strange {
				t.Errorf("%s: %s is %s", name, at, reading)
			}
		}
		if !slices.ContainsFunc(lifted.NotUnderstood(), func(g fabric.Gap) bool { return g.Line == c.line }) {
			t.Errorf("%s: no line is %q: %+v", name, c.line, lifted.NotUnderstood())
		}
	}
}

func TestAHostSaysWhoItIs(t *testing.T) {
	d := start(t, random(3), nil)
	id, err := host.Language{}.Identify(d.Answers(host.Language{}.Discover()))
	if err != nil || id.Name != "gpu1" || len(id.Ports) != 2 || id.Ports[1].RDMA != "mlx5_1" || id.Release == "" {
		t.Fatalf("%+v, %v", id, err)
	}
}
