package check

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/inventory"
	"github.com/weirfabric/weir/inventory/catalog"
	"github.com/weirfabric/weir/render"
	"github.com/weirfabric/weir/render/cli"
	"github.com/weirfabric/weir/render/sonic"
	"github.com/weirfabric/weir/templates"
)

// The replays are named after the incidents in incidents_rows_test.go.

func TestI1AServerPortWithoutAWatchdogIsFound(t *testing.T) { replayed(t, "I1") }

func TestI2AnUnknownSKUIsNamedAndAnAlphaThatIsTooSmallIsStopped(t *testing.T) { replayed(t, "I2") }

func TestI8EndsThatDifferAboutPFCUnderMACsecAreStopped(t *testing.T) { replayed(t, "I8") }

func TestI3FloodingOfALosslessClassIsStopped(t *testing.T) { replayed(t, "I3") }

func TestI4ADetourInItsOwnClassIsStopped(t *testing.T) { replayed(t, "I4") }

func TestI5FirmwareBelowTheFloorIsStopped(t *testing.T) { replayed(t, "I5") }

func TestI9NICsOfTwoGenerationsMustBeSaidToAnswerAlike(t *testing.T) { replayed(t, "I9") }

func TestI10FirmwareThatNobodyNamesIsToldOf(t *testing.T) { replayed(t, "I10") }

func TestI11ADriverBelowTheFloorIsStopped(t *testing.T) { replayed(t, "I11") }

func TestI12RaisedThresholdsOfECNAreStopped(t *testing.T) { replayed(t, "I12") }

func TestI14ALongLinkNeedsItsOwnHeadroomAndABufferThatHoldsIt(t *testing.T) { replayed(t, "I14") }

func TestI15ASmallBufferIsToldOf(t *testing.T) { replayed(t, "I15") }

func TestI17AHashWithoutTheQueuePairIsToldOf(t *testing.T) { replayed(t, "I17") }

func TestI19ARolloutWithoutACanaryIsToldOf(t *testing.T) { replayed(t, "I19") }

func TestI20PCPInARoutedFabricIsStopped(t *testing.T) { replayed(t, "I20") }

func TestI23AChildPortWithoutHeadroomIsStopped(t *testing.T) { replayed(t, "I23") }

func TestI25AStormThatIsKnownToLoopIsToldOf(t *testing.T) { replayed(t, "I25") }

func TestI27ALengthWithoutHeadroomIsStopped(t *testing.T) { replayed(t, "I27") }

func TestI28AChipThatNeedsMoreThanItsSoftwareKnowsIsToldOf(t *testing.T) { replayed(t, "I28") }

func TestI29AReleaseThatSilencesTelemetryIsToldOf(t *testing.T) { replayed(t, "I29") }

// resolvedFrom is the fabric of an archive, with the files of cured/ in their places.
func resolvedFrom(t *testing.T, name string) *fabric.Fabric {
	t.Helper()
	files := fstest.MapFS{}
	for _, f := range slices.Concat(archive(t, base).Files, archive(t, name).Files) {
		files[f.Name] = &fstest.MapFile{Data: f.Data}
	}
	for _, f := range archive(t, name).Files {
		if to, ok := strings.CutPrefix(f.Name, cured); ok {
			files[to] = &fstest.MapFile{Data: f.Data}
		}
	}
	in, findings := intent.Load(files)
	inv, more := inventory.Load(files)
	f, last := fabric.Resolve(in, inv)
	if all := slices.Concat(findings, more, last); all.HasErrors() {
		t.Fatal(all)
	}
	return f
}

// said is the document of a switch in its own language, a line for each leaf.
func said(t *testing.T, sw *fabric.Switch) string {
	t.Helper()
	languages := map[string]render.Language[*fabric.Switch]{"sonic": sonic.Language{}, "eos": cli.Must(templates.FS, "eos")}
	doc, _ := languages[sw.Platform].Write(sw)
	var b strings.Builder
	for _, l := range doc {
		fmt.Fprintf(&b, "%s = %s\n", strings.Join(l.Path, "|"), l.Value)
	}
	return b.String()
}

func TestI2AlphaStandsInWhatEverySwitchIsTold(t *testing.T) {
	want := map[string]string{"sonic": "|default_dynamic_th = 0\n", "eos": "|ingress priority-group 3 threshold = 1\n"}
	for _, sw := range resolvedFrom(t, rowOf(t, "I2").archive()).Switches {
		if text := said(t, sw); !strings.Contains(text, want[sw.Platform]) {
			t.Errorf("%s: %q is not in what it is told:\n%s", sw.Name, want[sw.Platform], text)
		}
	}
}

// TestI16PFCWithoutDCQCNIsAnIntentOfItsOwn wants no finding at all.
func TestI16PFCWithoutDCQCNIsAnIntentOfItsOwn(t *testing.T) {
	if got := found(t, archive(t, rowOf(t, "I16").archive())); got != "" {
		t.Errorf("got %s", got)
	}
}

func TestI21APortWithoutALengthHasHeadroom(t *testing.T) {
	f := resolvedFrom(t, rowOf(t, "I21").archive())
	ports(f, func(sw *fabric.Switch, p *fabric.Port) {
		if p.Cable != 300 || p.Groups[3].Headroom == 0 {
			t.Errorf("%s/%s: cable %s, headroom %s", sw.Name, p.Name, p.Cable, p.Groups[3].Headroom)
		}
	})
	text := said(t, f.Switches[0])
	for _, p := range f.Switches[0].Ports {
		if row := "CABLE_LENGTH|AZURE|" + p.Name + " = 300m\n"; !strings.Contains(text, row) {
			t.Errorf("%s is not in the document", row)
		}
	}
}

func TestI23EveryChildPortHasItsOwnPriorityGroup(t *testing.T) {
	f := resolvedFrom(t, rowOf(t, "I23").archive())
	text := said(t, f.Switches[0])
	for _, p := range f.Switches[0].Ports {
		if row := "BUFFER_PG|" + p.Name + "|3|"; !strings.Contains(text, row) || p.Groups[3].Headroom == 0 {
			t.Errorf("%s: headroom %s, and the document:\n%s", p.Name, p.Groups[3].Headroom, text)
		}
	}
}

// TestI28TheSixthGenerationHasItsOwnHeadroom reckons with and without what sonic-swss#4797 adds.
func TestI28TheSixthGenerationHasItsOwnHeadroom(t *testing.T) {
	headroom := func(extra qos.Bytes) (qos.Bytes, diag.List) {
		inv := leaves(2, 1)
		chip := catalog.Builtin().BySKU("ACS-SN5640")
		chip.Name, chip.Extra = "Spectrum-6", extra
		inv.Catalog = &catalog.Catalog{}
		inv.Catalog.SetASIC(*chip)
		inv.Catalog.SetSKU(catalog.SKU{Name: "new", ASIC: chip.Name, Computes: true, Source: "this test"})
		for _, d := range inv.Devices {
			d.SKU.V = "new"
		}
		f, _ := fabric.Resolve(sound(), inv)
		return fabric.HeadroomOf(f.Switches[0], f.Switches[0].Ports[0]).Headroom, knownBugs(f)
	}
	without, _ := headroom(0)
	with, bugs := headroom(18 << 10)
	if without == 0 || with-without != 18<<10 {
		t.Errorf("got %s and %s, want 18 KiB between them", without, with)
	}
	if len(bugs) != 2 || !strings.Contains(bugs[0].Summary, "sonic-swss#4797") {
		t.Errorf("got %s, want both switches told of", bugs)
	}
}

// planned is the step that leads a switch by gNMI from what its database holds to what is wanted, and what was read of it.
func planned(t *testing.T, sw *fabric.Switch, database map[string]map[string]map[string]string) (plan.Step, plan.State) {
	t.Helper()
	body, err := json.Marshal(database)
	if err != nil {
		t.Fatal(err)
	}
	b := render.Bind(sonic.Language{}, sw, sw.Name, sw.Platform, nil)
	state, err := b.Read([]plan.Answer{{Name: b.Queries()[0].Name, Body: body}})
	if err != nil {
		t.Fatal(err)
	}
	state.Route = plan.GNMISet
	want, _ := b.Write()
	step, _ := b.Step(state, want)
	return step, state
}

// database is what a switch holds to which the document of sw was written.
func database(t *testing.T, sw *fabric.Switch) map[string]map[string]map[string]string {
	t.Helper()
	var out map[string]map[string]map[string]string
	doc, _ := sonic.Language{}.Write(sw)
	if err := json.Unmarshal(sonic.Language{}.Print(doc)[0].Body, &out); err != nil {
		t.Fatal(err)
	}
	for _, p := range sw.Ports {
		maps.Copy(out["PORT"][p.Name], map[string]string{"lanes": "1", "speed": "100000", "admin_status": "up"})
	}
	out["DEVICE_METADATA"] = map[string]map[string]string{"localhost": {"hwsku": sw.SKU, "buffer_model": "dynamic"}}
	return out
}

func TestI22APlanLeavesForeignRowsAsTheyAre(t *testing.T) {
	sw := resolvedFrom(t, base).Switches[0]
	have := database(t, sw)
	delete(have, "WRED_PROFILE")
	delete(have, "BUFFER_PG")
	maps.Copy(have, map[string]map[string]map[string]string{
		"BGP_NEIGHBOR": {"10.0.0.1": {"asn": "65001"}}, "SYSLOG_SERVER": {"10.9.9.9": {"port": "514"}}, "VLAN": {"Vlan100": {"vlanid": "100"}},
		"ACL_TABLE": {"DATA": {"type": "L3"}},
	})
	have["PORT"]["Ethernet900"] = map[string]string{"lanes": "900", "speed": "100000", "mtu": "1500"}
	step, state := planned(t, sw, have)
	if len(step.Changes) == 0 || len(state.Foreign) == 0 {
		t.Fatalf("%d changes and %d foreign rows: the device is not what was meant", len(step.Changes), len(state.Foreign))
	}
	for _, c := range step.Chunks {
		for _, m := range slices.Concat(c.Send, c.Undo) {
			for _, name := range []string{"BGP_NEIGHBOR", "SYSLOG_SERVER", "VLAN", "ACL_TABLE", "Ethernet900"} {
				if strings.Contains(m.Path+m.Body, name) {
					t.Errorf("%s is touched: %+v", name, m)
				}
			}
		}
	}
}

func TestI30AChangeOfBuffersSaysWhatItDoesToTraffic(t *testing.T) {
	sw := resolvedFrom(t, base).Switches[0]
	have := database(t, sw)
	delete(have["BUFFER_PG"], sw.Ports[0].Name+"|3")
	step, _ := planned(t, sw, have)
	told := 0
	for _, c := range step.Changes {
		if c.Addr.Kind == addr.PG {
			told++
			if c.Impact != plan.Flaps {
				t.Errorf("%s: %s says %s", c.Action, c.Addr, c.Impact)
			}
		}
	}
	if told == 0 || step.Impact() != plan.Flaps {
		t.Errorf("%d changes of priority groups, impact %s", told, step.Impact())
	}
}
