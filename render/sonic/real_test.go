package sonic

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/intent/source"
	"github.com/weirfabric/weir/inventory"
	"github.com/weirfabric/weir/render"
)

var update = flag.Bool("update", false, "write the goldens")

// golden compares with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func written[T any](v T, line int) source.Value[T] {
	return source.Value[T]{V: v, At: diag.Pos{File: "fabric.yaml", Line: line, Column: 3}}
}

// oneLeaf is a leaf with the given ports, resolved from the intent that design documents show: RDMA on priority 3.
func oneLeaf(t testing.TB, sku string, ports int) *fabric.Switch {
	t.Helper()
	rdma := intent.Class{Name: written("rdma", 4), Lossless: written(true, 4), DSCP: []source.Value[qos.DSCP]{written(qos.DSCP(26), 4)}, Priority: written(qos.Priority(3), 4)}
	rdma.Share, rdma.ECN.Min, rdma.ECN.Max = written(qos.Percent(50), 4), written(intent.Depth{Bytes: 150e3}, 4), written(intent.Depth{Bytes: 1500e3}, 4)
	cnp := intent.Class{Name: written("cnp", 5), DSCP: []source.Value[qos.DSCP]{written(qos.DSCP(48), 5)}, Priority: written(qos.Priority(6), 5)}
	cnp.Strict = written(true, 5)
	rest := intent.Class{Name: written("default", 6), Priority: written(qos.Priority(0), 6)}
	leaf := &inventory.Device{Name: written("leaf1", 20), Platform: written("sonic", 20), SKU: written(sku, 20), Role: written("leaf", 20)}
	for n := range ports {
		leaf.Ports = append(leaf.Ports, inventory.Port{Name: fmt.Sprintf("Ethernet%d", 4*n), Speed: 100e9, Lanes: 4})
	}
	settings := intent.Settings{MTU: written(qos.Bytes(9000), 7), PFC: intent.PFC{
		Watchdog: intent.Watchdog{
			Detection: written(200*time.Millisecond, 8), Restoration: written(400*time.Millisecond, 8), Poll: written(100*time.Millisecond, 8),
			Action: written(qos.Drop, 8),
		},
		Cable: written(qos.Metres(40), 9),
	}}
	f, findings := fabric.Resolve(
		&intent.Fabric{Name: written("pod1", 2), Classes: []intent.Class{rdma, cnp, rest}, Settings: settings},
		&inventory.Inventory{Devices: []*inventory.Device{leaf}})
	if findings.HasErrors() {
		t.Fatal(findings)
	}
	return f.Switches[0]
}

// story is a step as text: what an operator is told, and the messages.
func story(step plan.Step, state plan.State, findings diag.List) string {
	var b strings.Builder
	fmt.Fprintf(&b, "route %s\n%s\n\nfindings\n%s\nderived by the device\n", step.Route, step.Why, findings)
	for _, l := range state.Derived {
		fmt.Fprintf(&b, "%s = %s\n", strings.Join(l.Path, "|"), l.Value)
	}
	b.WriteString("\nchanges\n")
	for _, c := range step.Changes {
		fmt.Fprintf(&b, "%s %s %q -> %q %s%s %v\n", c.Action, c.Addr, c.Before, c.After, c.Impact, map[bool]string{true: " adopts"}[c.Adopt], c.Because)
	}
	for _, m := range step.Validate {
		fmt.Fprintf(&b, "validate %s %s %s\n", m.Op, m.Path, m.Body)
	}
	for i, c := range step.Chunks {
		fmt.Fprintf(&b, "\nchunk %d, impact %s\n", i+1, c.Impact)
		for _, m := range c.Send {
			fmt.Fprintf(&b, "%s %s %s\n", m.Op, m.Path, m.Body)
		}
		b.WriteString("undo\n")
		for _, m := range c.Undo {
			fmt.Fprintf(&b, "%s %s %s\n", m.Op, m.Path, m.Body)
		}
	}
	return b.String()
}

// planAgainst plans the switch against a config_db.json.
func planAgainst(t *testing.T, sw *fabric.Switch, body []byte) (plan.Step, plan.State, diag.List) {
	t.Helper()
	b := render.Bind(Language{}, sw, sw.Name, "sonic", nil)
	state, err := b.Read([]plan.Answer{{Name: document, Body: body}})
	if err != nil {
		t.Fatal(err)
	}
	want, findings := b.Write()
	step, more := b.Step(state, want)
	return step, state, append(findings, more...)
}

func TestPlanningARealPortShowsWhatAnOperatorExpects(t *testing.T) {
	for _, name := range []string{"sonic_sn4600c_one_port", "sonic_sn4600c_one_port_dynamic"} {
		body, err := os.ReadFile(filepath.Join("testdata", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		step, state, findings := planAgainst(t, oneLeaf(t, "Mellanox-SN4600C-C64", 1), body)
		golden(t, name+".golden", story(step, state, findings))
	}
}

func TestARealPortIsLedThereAndBackAndNothingElseIsTouched(t *testing.T) {
	for _, name := range []string{"sonic_sn4600c_one_port", "sonic_sn4600c_one_port_dynamic"} {
		for _, route := range []plan.Route{plan.GNMISet, plan.SSHBulk} {
			body, err := os.ReadFile(filepath.Join("testdata", name+".json"))
			if err != nil {
				t.Fatal(err)
			}
			device := &model{db: map[string]map[string]map[string]any{}, files: map[string]string{}}
			device.load(t, body)
			before := flat(device)
			step, _, _ := planFrom(t, oneLeaf(t, sn4600c, 1), body, route)
			for _, c := range step.Chunks {
				if err := device.Apply(c.Send); err != nil {
					t.Fatal(err)
				}
			}
			after := flat(device)
			touched := map[string]bool{}
			for leaf := range before {
				touched[leaf] = before[leaf] != after[leaf]
			}
			for leaf := range after {
				touched[leaf] = before[leaf] != after[leaf]
			}
			maps.DeleteFunc(touched, func(_ string, changed bool) bool { return !changed })
			if len(touched) != len(step.Changes) {
				t.Errorf("%s by %s: %d values changed, the plan has %d", name, route, len(touched), len(step.Changes))
			}
			for leaf := range touched {
				table, _, _ := strings.Cut(leaf, "|")
				if shapes[table].module == "" || table == tablePool || table == tableProfile || table == tableQueueBuffer {
					t.Errorf("%s by %s: %s changed, which is not weir's", name, route, leaf)
				}
			}
			for _, c := range slices.Backward(step.Chunks) {
				if err := device.Apply(c.Undo); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(before, flat(device)); diff != "" {
				t.Errorf("%s by %s is not as before (-before +after):\n%s", name, route, diff)
			}
		}
	}
}

// flat is everything that the model holds, by path.
func flat(m *model) map[string]string {
	out := map[string]string{}
	for table, rows := range m.db {
		for key, row := range rows {
			for field, value := range row {
				out[table+"|"+key+"|"+field] = fmt.Sprint(value)
			}
		}
	}
	return out
}
