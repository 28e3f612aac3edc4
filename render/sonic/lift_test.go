package sonic

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/render"
	"github.com/weirfabric/weir/render/dialecttest"
)

// varied is a random switch with what RandomSwitch leaves alike: trust of the PCP, guarantees, curves that drop, headroom in bytes,
// a shared headroom pool and watchdogs that differ.
func varied(seed uint64) *fabric.Switch {
	sw := randomSwitch(seed)
	dialecttest.Vary(seed, sw)
	if seed%3 == 0 {
		for _, p := range sw.Ports {
			for i := range p.Groups {
				if g := &p.Groups[i]; g.Lossless {
					g.ByDevice, g.Headroom, g.XON, g.Reserved = false, qos.Bytes(30000+p.Speed/1e6), 20000, qos.Bytes(50000+10*p.Cable)
				}
			}
		}
	}
	return sw
}

// printed is the answer of a device that holds the document and nothing else.
func printed(_ *fabric.Switch, doc plan.Document) []plan.Answer {
	return []plan.Answer{{Name: document, Body: Language{}.Print(doc)[0].Body}}
}

// renamed is the same configuration with other names for maps, schedulers, curves and profiles.
func renamed(answers []plan.Answer) []plan.Answer {
	body := strings.NewReplacer("AZURE", "SITE-7", "weir_", "ours-", "pg_lossless", "deep").Replace(string(answers[0].Body))
	return []plan.Answer{{Name: document, Body: []byte(body)}}
}

// sameRow says whether a reference leads to a row with the same content under the other name.
func sameRow(doc plan.Document, leaf plan.Leaf, value string) bool {
	to := reference(leaf.Path[0], leaf.Path[2])
	if to == "" {
		return false
	}
	r := rowsOf(doc)
	return r[to][value] != nil && maps.Equal(r[to][leaf.Value], r[to][value])
}

func TestTheLawsOfLiftingHold(t *testing.T) {
	dialecttest.Lift(t, Language{}, dialecttest.LiftOptions[*fabric.Switch]{
		Random: varied, Identity: render.IdentityOfSwitch, Settings: (*fabric.Switch).Settings, Whole: true, Answers: printed, Alike: sameRow, Foreign: renamed,
		Never: []addr.Addr{{Kind: addr.FlowControl}, {Kind: addr.Queue, Leaf: "alpha"}},
	})
}

// TestASwitchOfOthersIsLiftedByItsOwnNames lifts slices of the configurations that SONiC's own templates make: sonic-buildimage,
// src/sonic-config-engine/tests/sample_output, as testdata/README.md says.
func TestASwitchOfOthersIsLiftedByItsOwnNames(t *testing.T) {
	for _, name := range []string{"sonic_sn4600c_one_port", "sonic_sn4600c_one_port_dynamic"} {
		body, err := os.ReadFile("testdata/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		answers := []plan.Answer{{Name: document, Body: body}}
		id, err := Language{}.Identify(answers)
		if err != nil {
			t.Fatal(err)
		}
		lifted, findings := Language{}.Lift(id.With(render.Identity{Name: "leaf1", SKU: sn4600c}), answers)
		var out strings.Builder
		for _, s := range lifted.Device.Settings() {
			reading, gap := lifted.Of(s.At)
			if s.At.Kind == addr.Map && reading == fabric.Known && (s.Value == "1" || strings.HasSuffix(s.At.Name, "/"+s.Value)) {
				continue // most of the stock DSCP map, and identity
			}
			fmt.Fprintf(&out, "%s = %s (%s%s)\n", s.At, s.Value, reading, strings.TrimSuffix(", default "+gap.Default, ", default "))
		}
		golden(t, "lift_"+strings.TrimPrefix(name, "sonic_")+".golden", out.String()+findings.String())
	}
}

// TestWhatTwoRowsSayIsNotGuessed gives ports two rows each, of which SONiC applies one or the other.
func TestWhatTwoRowsSayIsNotGuessed(t *testing.T) {
	sw := randomSwitch(1)
	doc, _ := Language{}.Write(sw)
	for name, c := range map[string]struct {
		table, key string
		row        map[string]string
		unknown    []string
	}{
		"a row of several ports":           {tablePortMap, "Ethernet0,Ethernet4", map[string]string{fieldPFC: "3"}, []string{"leaf1/Ethernet0/pfc/3", "leaf1/Ethernet4/trust"}},
		"a queue in a range":               {tableQueue, "Ethernet4|2-4", map[string]string{"scheduler": "x"}, []string{"leaf1/Ethernet4/queue/3:weight"}},
		"a group in a range":               {tableGroup, "Ethernet0|0-7", map[string]string{fieldProfile: null}, []string{"leaf1/Ethernet0/pg/3:lossless"}},
		"a map of its own":                 {tablePortMap, "Ethernet8", map[string]string{"tc_to_pg_map": "OTHER"}, []string{"leaf1/Ethernet8/pg/3:lossless"}},
		"both maps":                        {tablePortMap, "Ethernet8", map[string]string{"dot1p_to_tc_map": "AZURE"}, []string{"leaf1/Ethernet8/trust"}},
		"a field that nobody knows":        {tablePortMap, "Ethernet8", map[string]string{"tc_to_dscp_map": "AZURE"}, []string{"leaf1/Ethernet8/pfc/3"}},
		"a watchdog that is always on":     {tableWatchdog, global, map[string]string{"BIG_RED_SWITCH": "enable"}, []string{"leaf1/Ethernet8/watchdog:action"}},
		"a second length of cable":         {tableCable, "OTHER", map[string]string{"Ethernet0": "5m"}, []string{"leaf1/Ethernet0/cable"}},
		"an interval that is no number":    {tableWatchdog, global, map[string]string{fieldPoll: "often"}, nil},
		"a row of a port that is not here": {tableQueue, "Ethernet400|3", map[string]string{"scheduler": "x"}, []string{"leaf1/Ethernet400"}},
	} {
		body := rowsOf(doc)
		for field, value := range c.row {
			body.set(c.table, c.key, field, value)
		}
		lifted, findings := Language{}.Lift(render.IdentityOfSwitch(sw), []plan.Answer{{Name: document, Body: bodyOf(t, body)}})
		if len(findings) == 0 && c.unknown != nil {
			t.Errorf("%s: nothing is said", name)
		}
		for _, at := range c.unknown {
			a, err := addr.Parse(at)
			if err != nil {
				t.Fatal(err)
			}
			if reading, _ := lifted.Of(a); reading != fabric.Strange || lifted.Settled(a) {
				t.Errorf("%s: %s is %s", name, a, reading)
			}
		}
	}
}

func bodyOf(t *testing.T, r rows) []byte {
	t.Helper()
	body, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// TestALabSwitchIsLiftedAsItWasWritten asks a simulated switch after it was led to what is wanted: in the traditional model it has
// worked out the headroom by itself.
func TestALabSwitchIsLiftedAsItWasWritten(t *testing.T) {
	for _, model := range []string{traditional, dynamic} {
		l := newLab(t, nil)
		l.set("DEVICE_METADATA", "localhost", "buffer_model", model)
		sw := oneLeaf(t, sn4600c, 3)
		want, _ := Language{}.Write(sw)
		b := render.Bind(Language{}, sw, "leaf1", "sonic", ownsAll(want))
		l.bring(b, want, plan.SSHBulk)
		answers, err := l.target.Get(t.Context(), Language{}.Discover())
		if err != nil {
			t.Fatal(err)
		}
		id, err := Language{}.Identify(answers)
		if err != nil {
			t.Fatal(err)
		}
		lifted, findings := Language{}.Lift(id, answers)
		if len(findings) > 0 || id.Name != "leaf1" || id.SKU != sn4600c || len(id.Ports) != 3 || id.Ports[0].Speed != 100e9 {
			t.Errorf("%s: %+v %s", model, id, findings)
		}
		back := map[addr.Addr]string{}
		for _, s := range lifted.Device.Settings() {
			back[s.At] = s.Value
		}
		for _, s := range sw.Settings() {
			reading, gap := lifted.Of(s.At)
			own := lifted.Device.Ports[0].Groups[3].Headroom > 0 && !lifted.Device.Ports[0].Groups[3].ByDevice
			derived := own && (s.At.Leaf == "headroom" || s.At.Leaf == "reserved" || s.At.Leaf == "xon")
			if !derived && !render.Back(Language{}.Exclusions(), s, back[s.At], reading, gap.Default) {
				t.Errorf("%s: %s was written as %s and is lifted as %q, %s", model, s.At, s.Value, back[s.At], reading)
			}
		}
		if g := lifted.Device.Ports[0].Groups[3]; !g.Lossless || g.Headroom == 0 {
			t.Errorf("%s: %+v", model, g)
		}
	}
}
