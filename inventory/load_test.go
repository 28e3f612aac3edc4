package inventory_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/intent/source"
	"github.com/weirfabric/weir/inventory"
)

func TestEveryMistakeNamesItsPlace(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatal("no cases", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			last := &a.Files[len(a.Files)-1]
			files := fstest.MapFS{}
			for _, f := range a.Files[:len(a.Files)-1] {
				files[f.Name] = &fstest.MapFile{Data: f.Data}
			}
			_, findings := inventory.Load(files)
			got := findings.String()
			if strings.Contains(got, "hunter2") {
				t.Error("a secret is repeated in a finding")
			}
			if *update {
				last.Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if last.Name != "want" || len(bytes.TrimSpace(last.Data)) == 0 {
				t.Fatal("the last file must be the wanted findings")
			}
			if diff := cmp.Diff(string(last.Data), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// load loads one file that has no findings.
func load(t *testing.T, body string) *inventory.Inventory {
	t.Helper()
	inv, findings := inventory.Load(fstest.MapFS{"inventory/a.yaml": {Data: []byte(body)}})
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	return inv
}

func at(line, column int) diag.Pos {
	return diag.Pos{File: "inventory/a.yaml", Line: line, Column: column}
}

func TestDefaultsHoldWhereASwitchSaysNothing(t *testing.T) {
	inv := load(t, `kind: Switches
defaults:
  platform: sonic
  sku: ACS-MSN4600C
  role: leaf
  labels: {pod: 1, rack: r0}
  management: {address: "{name}.example.net", gnmi: 8080, user: admin, password: env:PASSWORD}
  ports: [{names: "Ethernet[0-8/4]", speed: 100G, lanes: 4}]
switches:
  - name: leaf1
    labels: {rack: r1}
    management: {address: 10.0.0.1, ssh: 2222}
    ports: [{name: Ethernet4, speed: 25G, breakout: 4x25G}, {name: Ethernet12, speed: 40G}]
  - {names: "leaf[2-3]"}
`)
	leaf1 := inv.Devices[0]
	wantPorts := []inventory.Port{
		{Name: "Ethernet0", Speed: 100e9, Lanes: 4, At: at(8, 11)}, {Name: "Ethernet4", Speed: 25e9, Breakout: "4x25G", At: at(13, 13)},
		{Name: "Ethernet8", Speed: 100e9, Lanes: 4, At: at(8, 11)}, {Name: "Ethernet12", Speed: 40e9, At: at(13, 61)},
	}
	if diff := cmp.Diff(wantPorts, leaf1.Ports); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"pod": "1", "rack": "r1"}, leaf1.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	m := leaf1.Management
	got := []any{m.Address, m.SSH, m.GNMI, m.User.V, m.Password.V}
	want := []any{
		source.Value[string]{V: "10.0.0.1", At: at(12, 27)}, source.Value[int]{V: 2222, At: at(12, 42)},
		source.Value[int]{V: 8080, At: at(7, 53)}, "admin", "env:PASSWORD",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("management (-want +got):\n%s", diff)
	}
	leaf3 := inv.Devices[2]
	if leaf3.Name.V != "leaf3" || leaf3.Management.Address.V != "leaf3.example.net" || len(leaf3.Ports) != 3 || leaf3.Role.V != "leaf" {
		t.Errorf("got %+v", leaf3)
	}
}

func TestAHostHasItsNICsAndTheUsualPlatform(t *testing.T) {
	inv := load(t, `kind: Hosts
defaults:
  nics: [{names: "eth[0-1]", rdma: "mlx5_[2-3]", speed: 400G, model: ConnectX-7}]
hosts:
  - {name: gpu1, role: gpu}
`)
	h := inv.Devices[0]
	want := []inventory.Port{
		{Name: "eth0", Speed: 400e9, NIC: "ConnectX-7", RDMA: "mlx5_2", At: at(3, 10)},
		{Name: "eth1", Speed: 400e9, NIC: "ConnectX-7", RDMA: "mlx5_3", At: at(3, 10)},
	}
	if diff := cmp.Diff(want, h.Ports); diff != "" || !h.Host() {
		t.Errorf("host %t, ports (-want +got):\n%s", h.Host(), diff)
	}
}

func TestALineOfLinksJoinsItsEndsOneByOne(t *testing.T) {
	inv := load(t, `kind: Switches
defaults: {platform: eos, ports: [{names: "Ethernet[1-4]/1", speed: 100G}]}
switches: [{name: leaf1}, {names: "spine[1-2]"}]
---
kind: Links
defaults: {length: 30m, medium: fibre}
links:
  - {a: "leaf1/Ethernet[1-2]/1", b: "spine[1-2]/Ethernet1/1"}
  - {a: leaf1/Ethernet3/1, b: spine1/Ethernet2/1, length: 5m}
`)
	type link struct {
		a, b   string
		length qos.Metres
	}
	var got []link
	for _, l := range inv.Links {
		got = append(got, link{l.A.Device + " " + l.A.Port, l.B.Device + " " + l.B.Port, l.Length.V})
	}
	want := []link{
		{"leaf1 Ethernet1/1", "spine1 Ethernet1/1", 30}, {"leaf1 Ethernet2/1", "spine2 Ethernet1/1", 30},
		{"leaf1 Ethernet3/1", "spine1 Ethernet2/1", 5},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(link{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
