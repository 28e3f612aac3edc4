package lossless

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/inventory/catalog"
)

// read gives the rows of a CSV file without its header.
func read(t *testing.T, name string) [][]string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows[1:]
}

// number reads 9100, 819.2 and 3.8*1024.
func number(t *testing.T, s string) float64 {
	t.Helper()
	product := 1.0
	for f := range strings.SplitSeq(s, "*") {
		n, err := strconv.ParseFloat(f, 64)
		if err != nil {
			t.Fatal(err)
		}
		product *= n
	}
	return product
}

// golden is the input of a published row, and what was published: XON, headroom, reservation.
func golden(t *testing.T, row []string) (Cells, [3]qos.Bytes) {
	t.Helper()
	n := func(i int) float64 { return number(t, row[i]) }
	return Cells{
			Cell: qos.Bytes(n(2)), Speed: qos.Rate(n(3)) * 1e6, Cable: qos.Metres(n(4)), PortMTU: qos.Bytes(n(5)), LosslessMTU: qos.Bytes(n(6)),
			Small: qos.Percent(n(7)), PeerResponse: n(8), MACPHYDelay: n(9), PipelineLatency: qos.Bytes(n(10)), OnTile: n(11) != 0,
			Exact: row[12] == "exact", EightLanes: row[13] == "yes", Older: true,
		},
		[3]qos.Bytes{qos.Bytes(n(14)), qos.Bytes(n(15)), qos.Bytes(n(16))}
}

func TestTheCellModelGivesEveryPublishedRowExactly(t *testing.T) {
	for _, name := range []string{"testdata/cell.csv", "../../../shared/data/sonic_headroom_golden.csv"} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			if _, err := os.Stat(name); err != nil {
				t.Skip("the published table is not here")
			}
			rows := read(t, name)
			if len(rows) != 36 {
				t.Fatalf("%d rows, want 36", len(rows))
			}
			for _, row := range rows {
				in, want := golden(t, row)
				r := in.Headroom()
				if got := [3]qos.Bytes{r.XON, r.Headroom, r.Reserved}; got != want {
					t.Errorf("%s %s %d m: got %v, want %v", row[0], in.Speed, in.Cable, got, want)
				}
			}
		})
	}
}

func TestThePublishedTableInTheCatalogIsThePublishedTable(t *testing.T) {
	for _, row := range read(t, "testdata/cell.csv") {
		in, want := golden(t, row)
		sku := strings.Split(row[0], "/")[3]
		r := ForSwitch(catalog.Builtin().Table(sku), catalog.Builtin().BySKU(sku), Port{Speed: in.Speed, Cable: in.Cable, MTU: 9000})
		if got := [3]qos.Bytes{r.XON, r.Headroom, r.Reserved}; got != want {
			t.Errorf("%s %s %d m: got %v, want %v", sku, in.Speed, in.Cable, got, want)
		}
		if len(r.Terms) < 5 {
			t.Errorf("%s %s %d m: the model does not explain the row", sku, in.Speed, in.Cable)
		}
	}
}

func TestTheCellModelInItsNewestFormGivesWhatTheSwitchComputes(t *testing.T) {
	// sonic-swss cfgmgr/buffer_headroom_mellanox.lua run under lua5.1: first generation, 100G, 40 m, MTU 9100, 4 lanes,
	// lossless MTU 1024, all packets small.
	in := cellsOf(catalog.Builtin().BySKU("ACS-MSN2700"), Port{Speed: 100e9, Cable: 40, MTU: 9100, Lanes: 4})
	in.Small = 100
	r := in.Headroom()
	if got, want := [3]qos.Bytes{r.XON, r.Headroom, r.Reserved}, [3]qos.Bytes{19456, 81920, 101376}; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestEachPartOfTheCellModelCounts(t *testing.T) {
	port := Port{Speed: 100e9, Cable: 40, MTU: 9100}
	// By hand: small packets are 6400/544 = 11.7647 % of the bytes, a byte takes up 3 in the worst case and 1.235294 on
	// average; 9100 + 5050.5 + 819.2 + 394 x 64 = 40185.7 B are in flight; 1024 + 40185.7 x 1.235294 = 50665 B are 50 KiB,
	// and 2 KiB more since the worst case is 119 KiB.
	usual := cellsOf(catalog.Builtin().BySKU("ACS-MSN4600C"), port)
	if got := usual.Headroom().Headroom; got != 53248 {
		t.Errorf("got %d B, want 53248", got)
	}
	for name, c := range map[string]struct {
		change                              func(*Cells)
		wantHeadroom, wantXON, wantReserved qos.Bytes
	}{
		"as it is":         {func(*Cells) {}, 53248, 19456, 72704},
		"a shared pool":    {func(c *Cells) { c.SharedPool = true }, 51200, 19456, 19456},
		"more on the chip": {func(c *Cells) { c.Extra = 18 << 10 }, 71680, 19456, 91136},
		"a tile":           {func(c *Cells) { c.OnTile = true }, 55296, 19456, 74752}, // 1500 B x 1.235294 more
		"eight lanes":      {func(c *Cells) { c.EightLanes = true }, 53248, 38912, 101376},
		"a gearbox":        {func(c *Cells) { c.Gearbox = 400 }, 65536, 19456, 84992}, // 2 x 4882.8 B x 1.235294 more
	} {
		in := usual
		c.change(&in)
		r := in.Headroom()
		if got, want := [3]qos.Bytes{r.Headroom, r.XON, r.Reserved}, [3]qos.Bytes{c.wantHeadroom, c.wantXON, c.wantReserved}; got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

func TestTheAnnexGivesEveryComputedRow(t *testing.T) {
	for _, name := range []string{"testdata/annex.csv", "../../../shared/data/headroom_8021qbb_computed.csv"} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			if _, err := os.Stat(name); err != nil {
				t.Skip("the computed table is not here")
			}
			for _, row := range read(t, name) {
				speed := qos.Rate(number(t, row[0])) * 1e9
				for column, velocity := range map[int]float64{3: 0.66, 4: 0.6} {
					mtu := qos.Bytes(number(t, row[2]))
					a := Annex{Speed: speed, Cable: qos.Metres(number(t, row[1])), MTU: mtu, NoDropMTU: mtu, Velocity: velocity}
					delay, _ := a.delay()
					exact := a.sum(pauseQuanta[speed.Mbps()], delay).exact
					if got, want := math.Round(exact), number(t, row[column]); got != want {
						t.Errorf("%v at %g c: got %g, want %g", row[:3], velocity, got, want)
					}
					if got := a.Headroom().Headroom; float64(got) < exact || float64(got) >= exact+1 {
						t.Errorf("%v: the headroom is %d for a sum of %f", row[:3], got, exact)
					}
				}
			}
		})
	}
}

func TestTheAnnexReproducesThePublishedFlightOf40G(t *testing.T) {
	// DCQCN, SIGCOMM 2015: 22.4 kB at 40 Gb/s and an MTU of 1500 B, following the guideline of 802.1Qbb.
	r := Annex{Speed: 40e9, Cable: 100, MTU: 1500, NoDropMTU: 1500}.Headroom()
	if off := math.Abs(float64(r.Headroom)-22400) / 22400; off > 0.001 {
		t.Errorf("got %d B, want 22.4 kB within 0.1 %%", r.Headroom)
	}
}

func TestASpeedWithoutPublishedDelaysIsUnknownOrEstimated(t *testing.T) {
	at := func(speed qos.Rate) Result {
		return Annex{Speed: speed, Cable: 5, MTU: 9000, NoDropMTU: 9000}.Headroom()
	}
	if at(1600e9).Known() || at(0).Known() {
		t.Error("a headroom was invented for a speed without pause quanta")
	}
	if r := at(400e9); !r.Known() || !r.Estimated {
		t.Errorf("400G: got %+v, want an estimate that says so", r)
	}
	if r := at(100e9); r.Estimated {
		t.Error("100G is published and is called an estimate")
	}
}

// models are the headroom of a port by each model that weir computes with.
var models = map[string]func(Port) Result{
	"annex": func(p Port) Result { return ForSwitch(nil, nil, p) },
	"cell, shared pool": func(p Port) Result {
		p.SharedPool = true
		return ForSwitch(nil, catalog.Builtin().BySKU("ACS-SN5600"), p)
	},
	"cell, all packets small": func(p Port) Result {
		in := cellsOf(catalog.Builtin().BySKU("ACS-MSN2100"), p)
		in.Small = 100
		return in.Headroom()
	},
	"cell, as the switch computes": func(p Port) Result { return ForSwitch(nil, catalog.Builtin().BySKU("ACS-MSN4600C"), p) },
	"published":                    bySKU("ACS-MSN4700"),
}

// bySKU reads the table of a switch once.
func bySKU(sku string) func(Port) Result {
	table, chip := catalog.Builtin().Table(sku), catalog.Builtin().BySKU(sku)
	return func(p Port) Result { return ForSwitch(table, chip, p) }
}

var (
	speeds = []qos.Rate{10e9, 25e9, 40e9, 50e9, 100e9, 200e9, 400e9, 800e9}
	cables = metres(300)
	mtus   = []qos.Bytes{1500, 4200, 9000, 9100, 9216}
)

// metres are all lengths up to the longest.
func metres(longest qos.Metres) []qos.Metres {
	all := make([]qos.Metres, longest)
	for i := range all {
		all[i] = qos.Metres(i + 1)
	}
	return all
}

func TestMoreCableSpeedOrMTUNeverLowersHeadroom(t *testing.T) {
	for name, headroom := range models {
		t.Run(name, func(t *testing.T) {
			for si, speed := range speeds {
				for ci, cable := range cables {
					for mi, mtu := range mtus {
						p := Port{Speed: speed, Cable: cable, MTU: mtu}
						base := headroom(p)
						if !base.Known() && name != "published" {
							t.Fatalf("%v: no headroom", p)
						}
						if si+1 < len(speeds) {
							raised(t, headroom, p, base, func(q *Port) { q.Speed = speeds[si+1] })
						}
						if ci+1 < len(cables) {
							raised(t, headroom, p, base, func(q *Port) { q.Cable = cables[ci+1] })
						}
						if mi+1 < len(mtus) {
							raised(t, headroom, p, base, func(q *Port) { q.MTU = mtus[mi+1] })
						}
					}
				}
			}
		})
	}
}

func raised(t *testing.T, headroom func(Port) Result, p Port, base Result, more func(*Port)) {
	t.Helper()
	q := p
	more(&q)
	if got := headroom(q); got.Known() && got.Headroom < base.Headroom {
		t.Errorf("%v needs %d B and %v only %d B", p, base.Headroom, q, got.Headroom)
	}
}

func TestTheTermsAddUpToTheHeadroom(t *testing.T) {
	for name, headroom := range models {
		for _, speed := range speeds {
			for _, cable := range cables {
				r := headroom(Port{Speed: speed, Cable: cable, MTU: 9000, Lanes: 8})
				var total qos.Bytes
				for _, term := range r.Terms {
					total += term.Bytes
				}
				if total != r.Headroom {
					t.Errorf("%s %s %d m: the terms make %d, the headroom is %d", name, speed, cable, total, r.Headroom)
				}
			}
		}
	}
}

func TestTheDepthAtWhichPFCFiresIsThatOfTheDynamicThreshold(t *testing.T) {
	for _, c := range []struct {
		alpha     qos.AlphaShift
		shared    qos.Bytes
		ingresses int
		want      qos.Bytes
	}{
		{-3, 12e6, 8, 6_000_000}, // 8 x 750,000: Choudhury and Hahne
		{0, 1000, 1, 500},
		{3, 0, 1, 0},
	} {
		if got := XOFFDepth(c.alpha, c.shared, c.ingresses); got != c.want {
			t.Errorf("alpha %s, %d B, %d ingresses: got %d, want %d", c.alpha, c.shared, c.ingresses, got, c.want)
		}
	}
	// 16 MB, 32 x 100G, 19.7 kB of headroom a port: PFC first fires at 1.71, 0.90 and 0.236 MB.
	shared := Shared(16e6, 32*19_700)
	got := []string{}
	for _, alpha := range []qos.AlphaShift{-3, -4, -6} {
		got = append(got, strconv.FormatFloat(float64(XOFFDepth(alpha, shared, 1))/1e6, 'f', 3, 64))
	}
	if diff := cmp.Diff([]string{"1.708", "0.904", "0.236"}, got); diff != "" {
		t.Error(diff)
	}
}
