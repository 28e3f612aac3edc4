package lossless

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/inventory/catalog"
)

// TestTheModelExplainsPublishedRows counts the rows of each table of a chip with the cell model that the model gives exactly,
// with one of the sets of inputs in makings. Where it gives none the row stands by itself in explain.
func TestTheModelExplainsPublishedRows(t *testing.T) {
	got := map[string][2]int{}
	for sku := range explainedRows {
		table, chip := catalog.Builtin().Table(sku), catalog.Builtin().BySKU(sku)
		var n [2]int
		for _, row := range table.Rows {
			r := ForSwitch(table, chip, Port{Speed: row.Speed, Cable: row.Cable})
			if len(r.Terms) > 1 {
				n[0]++
			}
			n[1]++
			var total qos.Bytes
			for _, term := range r.Terms {
				total += term.Bytes
			}
			if total != row.Headroom || r.Headroom != row.Headroom {
				t.Errorf("%s %s %s: the terms make %d and the row has %d", sku, row.Speed, row.Cable, total, row.Headroom)
			}
		}
		got[sku] = n
	}
	if diff := cmp.Diff(explainedRows, got); diff != "" {
		t.Errorf("rows explained, and rows (-want +got):\n%s", diff)
	}
}

// explainedRows are the rows of a table that the model gives, and all of its rows. Only the first and the third of these
// tables were at hand when the model was written down. What is missing: the rows of 2000 m are half of what the model gives
// in the tables of a shared pool (5 each); a build with a gearbox, and one of the newest chip, were made with inputs that no
// source names.
var explainedRows = map[string][2]int{
	"ACS-MSN2700": {15, 15}, "Mellanox-SN2700-D40C8S8": {15, 15}, "Mellanox-SN2700-D48C8": {15, 20},
	"ACS-MSN3700": {18, 18}, "ACS-MSN3800": {2, 15},
	"ACS-MSN4700": {21, 21}, "Mellanox-SN4600C-D112C8": {15, 20}, "Mellanox-SN4600C-D24C52": {25, 25}, "Mellanox-SN4700-C128": {26, 32},
	"ACS-SN5600": {24, 24}, "Mellanox-SN5600-C256S1": {31, 32}, "Mellanox-SN5600-V256": {24, 24}, "Mellanox-SN5640-C448O16": {36, 36},
	"ACS-SN6600_LD": {0, 14},
}

func TestWhatATableReservesIsWithTheHeadroomUnlessAPoolHoldsIt(t *testing.T) {
	for _, c := range []struct {
		sku                  string
		speed                qos.Rate
		reserved, sharedPool qos.Bytes
	}{
		{"ACS-MSN2700", 100e9, 58368, 19456},                        // size is XON and headroom
		{"Mellanox-SN4600C-D112C8", 100e9, 19456 + 66560, 19456},    // size is XON: the vendor keeps a pool
		{"Mellanox-SN4700-O8C48", 10e9, 19456 + 16384, 19456},       // the same, and the headroom is less than XON
		{"Force10-Z9100", 100e9, 1248 + 177632, 1248},               // the chip keeps headroom apart
		{"Arista-7280R4-32QF-32DF-64O", 100e9, 385024, 0},           // nothing is guaranteed
		{"Nokia-IXR7220-H5-64D", 800e9, 1248 + 614172, 1248},        // as the third
		{"DellEMC-Z9664f-O64", 400e9, 9144 + 424434, 9144},          // size is XON
		{"ACS-SN6810_LD", 400e9, 144384, 43008},                     // size is XON and headroom
		{"ACS-SN5600", 800e9, 410624, 38912},                        // size is more than XON and headroom
		{"Mellanox-SN5600-C256S1", 10e9, 19456 + 20480, 19456},      // size is XON
		{"Arista-7050CX3-32S-C32", 100e9, 4608 + 160000, 4608},      // size is XON
		{"Arista-7060X6-64PE-O128S2", 400e9, 18796 + 612140, 18796}, // no XON
		{"Mellanox-SN5640-C448O16", 400e9, 19456 + 104448, 19456},   // size is XON
		{"Mellanox-SN3800-D112C8", 100e9, 19456 + 48128, 19456},     // size is XON
		{"DellEMC-S5232f-C8D48", 100e9, 1024 + 173568, 1024},        // the chip keeps headroom apart
		{"Arista-7260CX3-C64", 100e9, 1248 + 59696, 1248},           // size is XON
		{"Mellanox-SN2700-D48C8", 25e9, 19456 + 24576, 19456},       // size is XON
		{"Nokia-IXR7220-H4-64D", 400e9, 1248 + 330200, 1248},        // the chip keeps headroom apart
		{"Mellanox-SN5600-V256", 800e9, 38912 + 245760, 38912},      // size is XON
		{"Mellanox-SN4600C-D24C52", 10e9, 19456 + 18432, 19456},     // size is XON, more than the headroom
	} {
		table := catalog.Builtin().Table(c.sku)
		at := func(pool bool) qos.Bytes {
			return ForSwitch(table, nil, Port{Speed: c.speed, Cable: 40, SharedPool: pool}).Reserved
		}
		if got := [2]qos.Bytes{at(false), at(true)}; got != [2]qos.Bytes{c.reserved, c.sharedPool} {
			t.Errorf("%s %s: got %v, want %d and with a pool %d", c.sku, c.speed, got, c.reserved, c.sharedPool)
		}
	}
}

func TestASwitchWithATableAndNoRowHasNoHeadroom(t *testing.T) {
	table, chip := catalog.Builtin().Table("ACS-MSN2700"), catalog.Builtin().BySKU("ACS-MSN2700")
	if r := ForSwitch(table, chip, Port{Speed: 100e9, Cable: 301, MTU: 9000}); r.Known() {
		t.Errorf("got %d B", r.Headroom)
	}
}

func TestALongCableIsReckonedWithThePublishedLine(t *testing.T) {
	at := func(cable qos.Metres, pool bool) Result {
		return ForSwitch(nil, nil, Port{Speed: 100e9, Cable: cable, MTU: 1500, SharedPool: pool})
	}
	if r := at(2000, false); r.Source != catalog.AnnexSource {
		t.Errorf("2 km: by %s", r.Source)
	}
	for cable, want := range map[qos.Metres]float64{80_000: 13_357_056, 120_000: 20_013_056} {
		r := at(cable, false)
		if off := math.Abs(float64(r.Headroom)-want) / want; off > 0.001 || r.Source != LinearSource {
			t.Errorf("%s: got %d B by %s, want %.0f within 0.1 %%", cable, r.Headroom, r.Source, want)
		}
		annex := Annex{Speed: 100e9, Cable: cable, MTU: 1500, NoDropMTU: 1500}.Headroom()
		if r.Headroom < annex.Headroom {
			t.Errorf("%s: %d B are less than the annex has, %d B", cable, r.Headroom, annex.Headroom)
		}
	}
	for _, cable := range []qos.Metres{40, 80_000} {
		if r := at(cable, true); r.Reserved != r.XON {
			t.Errorf("%s: %d B are reserved where a pool holds the headroom", cable, r.Reserved)
		}
	}
}
