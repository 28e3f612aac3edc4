package inventory

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestALinkSaysWhatItsEndsDoWithPFCUnderMACsec(t *testing.T) {
	for text, want := range map[string]struct {
		Enabled bool
		A, B    string
	}{
		"":                                    {},
		", macsec: on":                        {Enabled: true},
		", macsec: {on: false}":               {},
		", macsec: {pfc: bypass}":             {true, "bypass", "bypass"},
		", macsec: {a: encrypt, b: strict}":   {true, "encrypt", "strict"},
		", macsec: {pfc: encrypt, b: bypass}": {true, "encrypt", "bypass"},
		", macsec: {a: bypass}":               {true, "bypass", ""},
	} {
		inv, findings := Load(fstest.MapFS{"inventory/all.yaml": {Data: []byte(`kind: Switches
defaults: {platform: sonic, release: 202411}
switches:
  - {names: "leaf[1-2]", ports: [{name: e1, speed: 100G}]}
---
kind: Links
links:
  - {a: leaf1/e1, b: leaf2/e1` + text + `}
`)}})
		if len(findings) > 0 {
			t.Fatalf("%q: %s", text, findings)
		}
		m := inv.Links[0].MACsec
		got := want
		a, b := m.Modes()
		got.Enabled, got.A, got.B = m.Enabled(), a.V, b.V
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
		if release := inv.Devices[1].Release; release.V != "202411" || !release.Set() {
			t.Errorf("release %+v", release)
		}
	}
}

func TestALinkTakesMACsecFromItsDocument(t *testing.T) {
	inv, findings := Load(fstest.MapFS{"inventory/all.yaml": {Data: []byte(`kind: Switches
defaults: {platform: sonic}
switches:
  - {names: "leaf[1-2]", ports: [{names: "e[1-2]", speed: 100G}]}
---
kind: Links
defaults: {macsec: {pfc: strict}}
links:
  - {a: leaf1/e1, b: leaf2/e1}
  - {a: leaf1/e2, b: leaf2/e2, macsec: {on: false}}
`)}})
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	if a, _ := inv.Links[0].MACsec.Modes(); a.V != "strict" || inv.Links[1].MACsec.Enabled() {
		t.Errorf("got %+v and %+v", inv.Links[0].MACsec, inv.Links[1].MACsec)
	}
}

func TestANICSaysItsFirmwareAndDriver(t *testing.T) {
	inv, findings := Load(fstest.MapFS{"inventory/all.yaml": {Data: []byte(`kind: Hosts
hosts:
  - {name: gpu1, nics: [{name: eth0, speed: 100G, model: ConnectX-6, firmware: 20.31, driver: 24.10-1.1.4}]}
`)}})
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	p := inv.Devices[0].Ports[0]
	if p.Firmware.V != "20.31" || p.Firmware.At.Line != 3 || p.Driver.V != "24.10-1.1.4" {
		t.Errorf("got %+v", p)
	}
}
