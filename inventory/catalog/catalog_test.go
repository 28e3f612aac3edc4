package catalog

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestASKULeadsToItsChip(t *testing.T) {
	for sku, want := range map[string]string{
		"ACS-MSN2700": "Spectrum", "ACS-MSN3700": "Spectrum-2", "Mellanox-SN4600C-C64": "Spectrum-3", "ACS-SN5600": "Spectrum-4",
		"ACS-SN5640": "Spectrum-5", "Force10-S6000": "Trident II", "Arista-7050CX3-32S-C32": "Trident 3", "DCS-7060X6-64PE": "Tomahawk 5",
	} {
		chip := Builtin().BySKU(sku)
		if chip == nil || chip.Name != want {
			t.Errorf("%s: got %+v, want %s", sku, chip, want)
		}
	}
}

func TestAnUnknownSKUStaysUnknown(t *testing.T) {
	for _, sku := range []string{"", "ACS-MSN9999", "acs-msn2700", "DCS-7060X6"} {
		if chip := Builtin().BySKU(sku); chip != nil {
			t.Errorf("%q was taken for %s", sku, chip.Name)
		}
	}
	if Builtin().ByNIC("ConnectX-99") != nil || ByPlatform("beos") != nil {
		t.Error("an unknown NIC or platform has a row")
	}
}

func TestEveryRowCitesItsSource(t *testing.T) {
	chips := map[string]bool{}
	for _, chip := range asics {
		chips[chip.Name] = true
		if chip.Source == "" || (chip.Buffer > 0 && chip.BufferSource == "") {
			t.Errorf("%s cites no source", chip.Name)
		}
		if chip.Model == Cell && (chip.Cell == 0 || chip.PipelineLatency == 0 || chip.MACPHYDelayKiB == 0 || chip.PeerResponseKiB == 0) {
			t.Errorf("%s has the cell model and not all of its numbers", chip.Name)
		}
	}
	for _, name := range Builtin().SKUs() {
		if chip := Builtin().BySKU(name); chip == nil || chip.Name != "" && !chips[chip.Name] || chip.Source == "" {
			t.Errorf("%s leads to no chip", name)
		}
	}
	for _, name := range Builtin().NICs() {
		if Builtin().ByNIC(name).Source == "" {
			t.Errorf("%s cites no source", name)
		}
	}
}

func TestNoSKUIsListedTwice(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range Builtin().SKUs() {
		if seen[name] {
			t.Errorf("%s is listed twice", name)
		}
		seen[name] = true
	}
}

func TestOnlySwitchesThatSayHowComputeHeadroomThemselves(t *testing.T) {
	if !Builtin().BySKU("ACS-MSN2700").DeviceComputes || Builtin().BySKU("DCS-7050QX-32").DeviceComputes {
		t.Error("SONiC's buffer manager works headroom out and EOS does not")
	}
}

func TestARowIsTheCallersOwn(t *testing.T) {
	Builtin().BySKU("ACS-MSN2700").Buffer = 1
	if Builtin().BySKU("ACS-MSN2700").Buffer == 1 {
		t.Error("a caller changed the catalog")
	}
}

func TestASKUWhoseChipNobodyNamesSaysSo(t *testing.T) {
	chip := Builtin().BySKU("Arista-7280DR3A-36")
	if chip == nil || chip.Name != "" || !chip.DeviceComputes || chip.Buffer != 0 || !slices.Contains(chip.Unknown(), "the chip itself") {
		t.Errorf("got %+v", chip)
	}
	if Builtin().Table("Arista-7280DR3A-36") == nil {
		t.Error("its table is missing")
	}
}

func TestWhatIsNotKnownOfAChipIsSaid(t *testing.T) {
	chip, _ := Builtin().ASIC("Spectrum-4")
	want := []string{"how many lossless classes it supports", "the unit of WRED thresholds"}
	if diff := cmp.Diff(want, chip.Unknown()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, name := range Builtin().ASICs() {
		chip, _ := Builtin().ASIC(name)
		if len(chip.Unknown()) == 0 {
			t.Errorf("all is known of %s, which no source supports", name)
		}
		if (chip.AlphaMin != 0 || chip.AlphaMax != 0) && chip.AlphaMin >= chip.AlphaMax {
			t.Errorf("%s: alpha from %s to %s", name, chip.AlphaMin, chip.AlphaMax)
		}
	}
}

func TestARowOfTheRepoComesBeforeTheBuiltinOne(t *testing.T) {
	c := &Catalog{}
	row, _ := c.ASIC("Tomahawk")
	row.Buffer = 15e6
	c.SetASIC(row)
	c.SetSKU(SKU{Name: "BOX", ASIC: "Tomahawk"})
	c.SetSKU(SKU{Name: "DCS-7050CX3-32S", ASIC: "Tomahawk", Source: "the repo"})
	c.SetNIC(NIC{Name: "ConnectX-6", RoCE: []int{2}})
	for _, sku := range []string{"BOX", "DCS-7060CX-32S", "DCS-7050CX3-32S"} {
		if chip := c.BySKU(sku); chip == nil || chip.Name != "Tomahawk" || chip.Buffer != 15e6 || chip.Cell != 208 {
			t.Errorf("%s: got %+v", sku, chip)
		}
	}
	if got := c.ByNIC("ConnectX-6").RoCE; len(got) != 1 {
		t.Errorf("got RoCE %v", got)
	}
	count := func(names []string, name string) (n int) {
		for _, s := range names {
			if s == name {
				n++
			}
		}
		return n
	}
	if count(c.SKUs(), "BOX") != 1 || count(c.SKUs(), "DCS-7050CX3-32S") != 1 || count(c.NICs(), "ConnectX-6") != 1 || count(c.ASICs(), "Tomahawk") != 1 {
		t.Error("a name is suggested never or twice")
	}
	if Builtin().BySKU("DCS-7060CX-32S").Buffer == 15e6 || Builtin().BySKU("BOX") != nil {
		t.Error("the built-in rows have changed")
	}
}

func TestTheUpdaterKnowsOnlyTheSKUsOfItsList(t *testing.T) {
	for sku, want := range map[string]bool{"ACS-MSN2700": true, "ACS-SN2201": false, "DCS-7050CX3-32S": false, "DellEMC-Z9664f-O64": false} {
		if row, ok := Builtin().SKU(sku); !ok || row.Updater != want {
			t.Errorf("%s: got %t, want %t", sku, row.Updater, want)
		}
	}
}

func BenchmarkLookingUpAllSKUs(b *testing.B) {
	names := Builtin().SKUs()
	for b.Loop() {
		for _, name := range names {
			if Builtin().BySKU(name) == nil {
				b.Fatal(name)
			}
		}
	}
}

func TestLargeSwitchesWatchLessOften(t *testing.T) {
	for ports, want := range map[int]time.Duration{0: 200, 1: 200, 32: 200, 33: 400, 64: 400, 65: 600} {
		if got := WatchdogOf("sonic").UsualFor(ports); got != want*time.Millisecond {
			t.Errorf("%d ports: got %s, want %dms", ports, got, want)
		}
	}
	if got := WatchdogOf("eos").UsualFor(64) + WatchdogOf("none").UsualFor(64); got != 0 {
		t.Errorf("got %s from platforms without a rule", got)
	}
}
