package inventory_test

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/inventory"
	"github.com/weirfabric/weir/inventory/catalog"
)

// withRows is the catalog of a repo with one switch and the rows.
func withRows(t *testing.T, rows string) *catalog.Catalog {
	t.Helper()
	inv, findings := inventory.Load(fstest.MapFS{
		"inventory/a.yaml":          {Data: []byte("kind: Switches\nswitches: [{name: leaf1, platform: sonic, sku: BOX-1}]\n")},
		"inventory/catalog.yaml":    {Data: []byte("kind: Catalog\n" + rows)},
		"inventory/tables/leaf.ini": {Data: []byte("# speed cable size xon xoff threshold\n100000 40m 1248 2288 177632 0\n")},
	})
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	return inv.Catalog
}

func TestARepoWithoutRowsHasTheBuiltinCatalog(t *testing.T) {
	inv := load(t, "kind: Switches\nswitches: [{name: leaf1, platform: sonic}]\n")
	if inv.Catalog != catalog.Builtin() {
		t.Error("the catalog is not the built-in one")
	}
}

func TestARowReplacesWhatItSaysAndLeavesTheRest(t *testing.T) {
	c := withRows(t, `asics:
  - {name: Spectrum-3, buffer: 64MB, losslessClasses: 4, thresholdUnit: 144B, watchdog: false, alphaMax: 8, source: our lab}
skus: [{name: Mellanox-SN4600C-C64, computes: false}]
nics: [{name: ConnectX-6, firmware: 20.31.1014}]
`)
	got, _ := c.ASIC("Spectrum-3")
	want, _ := catalog.Builtin().ASIC("Spectrum-3")
	want.Source = "our lab; " + want.Source
	want.BufferSource = "our lab"
	want.Buffer, want.LosslessClasses, want.ThresholdUnit, want.Watchdog, want.AlphaMax = 64e6, 4, 144, catalog.No, 3
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the chip (-want +got):\n%s", diff)
	}
	if chip := c.BySKU("Mellanox-SN4600C-C64"); chip.DeviceComputes || chip.Buffer != 64e6 || c.Table("Mellanox-SN4600C-C64") == nil {
		t.Errorf("the SKU: got %+v", chip)
	}
	nic := c.ByNIC("ConnectX-6")
	if diff := cmp.Diff([]int{1, 2}, nic.RoCE); diff != "" || nic.Firmware != "20.31.1014" || nic.Generation != 6 || nic.At.Line != 5 {
		t.Errorf("the NIC: got %+v", nic)
	}
}

func TestARowOfItsOwnNeedsNoRowBelowIt(t *testing.T) {
	c := withRows(t, `asics:
  - {name: Own, buffer: 32MB, alphaMin: 1/64, alphaMax: 4, ecn: true}
  - {name: Cells, model: cell, cell: 160B, pipelineLatency: 19KiB, macPhyDelay: 1KiB, peerResponse: 4KiB}
skus: [{name: BOX-1, asic: Own, headroom: inventory/tables/leaf.ini}, {name: BOX-2, asic: Cells, computes: true}]
nics: [{name: N1, roce: [2, 1, 2], generation: 3}]
`)
	chip := c.BySKU("BOX-1")
	want := &catalog.ASIC{
		Name: "Own", Buffer: 32e6, Model: catalog.Annex, AlphaMin: -6, AlphaMax: 2, ECN: catalog.Yes,
		Source: "inventory/catalog.yaml:5:8; inventory/catalog.yaml:3:5", BufferSource: "inventory/catalog.yaml:3:5",
	}
	if diff := cmp.Diff(want, chip); diff != "" {
		t.Errorf("the chip (-want +got):\n%s", diff)
	}
	if cells := c.BySKU("BOX-2"); cells.Model != catalog.Cell || cells.MACPHYDelayKiB != 1 || cells.PeerResponseKiB != 4 || !cells.DeviceComputes {
		t.Errorf("the chip with cells: got %+v", cells)
	}
	table := c.Table("BOX-1")
	row, ok := table.Find(100e9, 3)
	if !ok || row.Headroom != qos.Bytes(177632) || table.Name != "BOX-1 (inventory/tables/leaf.ini)" || table.Source != "inventory/tables/leaf.ini" {
		t.Errorf("the table: got %+v", table)
	}
	if diff := cmp.Diff([]int{1, 2}, c.ByNIC("N1").RoCE); diff != "" {
		t.Errorf("the NIC (-want +got):\n%s", diff)
	}
}

func TestARowMayNameAChipOfAnotherFile(t *testing.T) {
	inv, findings := inventory.Load(fstest.MapFS{
		"inventory/a.yaml": {Data: []byte("kind: Switches\nswitches: [{name: leaf1, platform: eos, sku: BOX-1}]\n---\nkind: Catalog\nskus: [{name: BOX-1, asic: Own}]\n")},
		"inventory/z.yaml": {Data: []byte("kind: Catalog\nasics: [{name: Own, buffer: 1MB}]\n")},
	})
	if len(findings) > 0 || inv.Catalog.BySKU("BOX-1") == nil {
		t.Error(findings)
	}
}

func TestAKnownFaultOfTheRepoIsFound(t *testing.T) {
	c := withRows(t, `bugs: [{name: own-1, platform: sonic, releases: ["202411"], asics: [Spectrum], action: drop, summary: it drops, remedy: update}]
`)
	bugs := c.Bugs("sonic", "Spectrum", "202411.3")
	if len(bugs) == 0 || bugs[0].Name != "own-1" || bugs[0].Action != qos.Drop || bugs[0].At.Line != 2 {
		t.Errorf("got %+v", bugs)
	}
}

func TestASwitchThatComputesHasNoTable(t *testing.T) {
	if catalog.Builtin().Table("ACS-MSN2700") == nil {
		t.Fatal("the built-in table is gone")
	}
	c := withRows(t, "skus: [{name: ACS-MSN2700, headroom: computed}]\n")
	if chip := c.BySKU("ACS-MSN2700"); c.Table("ACS-MSN2700") != nil || !chip.DeviceComputes || chip.Name != "Spectrum" {
		t.Errorf("got the table %v of the chip %+v", c.Table("ACS-MSN2700"), chip)
	}
}
