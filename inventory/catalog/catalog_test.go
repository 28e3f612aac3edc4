package catalog

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestASKULeadsToItsChip(t *testing.T) {
	for sku, want := range map[string]string{
		"ACS-MSN2700": "Spectrum", "ACS-MSN3700": "Spectrum-2", "Mellanox-SN4600C-C64": "Spectrum-3", "ACS-SN5600": "Spectrum-4",
		"ACS-SN5640": "Spectrum-5", "Force10-S6000": "Trident II", "Arista-7050CX3-32S-C32": "Trident 3", "DCS-7060X6-64PE": "Tomahawk 5",
	} {
		chip := BySKU(sku)
		if chip == nil || chip.Name != want {
			t.Errorf("%s: got %+v, want %s", sku, chip, want)
		}
	}
}

func TestAnUnknownSKUStaysUnknown(t *testing.T) {
	for _, sku := range []string{"", "ACS-MSN9999", "acs-msn2700", "DCS-7060X6"} {
		if chip := BySKU(sku); chip != nil {
			t.Errorf("%q was taken for %s", sku, chip.Name)
		}
	}
	if ByNIC("ConnectX-99") != nil || ByPlatform("beos") != nil {
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
	for _, name := range SKUs() {
		if chip := BySKU(name); chip == nil || !chips[chip.Name] {
			t.Errorf("%s leads to no chip", name)
		}
	}
	for _, name := range NICs() {
		if ByNIC(name).Source == "" {
			t.Errorf("%s cites no source", name)
		}
	}
}

func TestNoSKUIsListedTwice(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range SKUs() {
		if seen[name] {
			t.Errorf("%s is listed twice", name)
		}
		seen[name] = true
	}
}

func TestOnlySwitchesThatSayHowComputeHeadroomThemselves(t *testing.T) {
	if !BySKU("ACS-MSN2700").DeviceComputes || BySKU("DCS-7050QX-32").DeviceComputes {
		t.Error("SONiC's buffer manager works headroom out and EOS does not")
	}
}

func TestARowIsTheCallersOwn(t *testing.T) {
	BySKU("ACS-MSN2700").Buffer = 1
	if BySKU("ACS-MSN2700").Buffer == 1 {
		t.Error("a caller changed the catalog")
	}
}

func TestTheNextLongerCableOfATableIsTaken(t *testing.T) {
	got, ok := PublishedHeadroom("ACS-MSN2700", 100e9, 12)
	want := Headroom{SKU: "ACS-MSN2700", Speed: 100e9, Cable: 40, Reserved: 58368, XON: 19456, Headroom: 38912}
	if !ok {
		t.Fatal("no row")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, ok := PublishedHeadroom("ACS-MSN2700", 100e9, 301); ok {
		t.Error("a cable longer than all of the table has a row")
	}
	if HasPublishedHeadroom("ACS-MSN3700") {
		t.Error("a SKU without a table has one")
	}
}

// TestTheTableIsWhatThePublishedFileHolds keeps the rows from drifting when the file is at hand.
func TestTheTableIsWhatThePublishedFileHolds(t *testing.T) {
	text, err := os.ReadFile("../../../shared/data/sonic_headroom_golden.csv")
	if err != nil {
		t.Skip("the published table is not here")
	}
	if got, want := len(published), strings.Count(string(text), "pg_profile_lookup.ini"); got != want {
		t.Errorf("%d rows, want %d", got, want)
	}
}
