package lossless

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/weirfabric/weir/intent/qos"
)

// shared reads a file of published numbers that stands beside the repo on some machines only.
func shared(t *testing.T, name string, into any) {
	t.Helper()
	body, err := os.ReadFile("../../../shared/data/" + name)
	if err != nil {
		t.Skip("the published numbers are not here")
	}
	if err := json.Unmarshal(body, into); err != nil {
		t.Fatal(err)
	}
}

// published rows: Gb/s, metres, bytes.
type haul struct {
	gbps, metres int64
	want         qos.Bytes
}

// within fails where got is further from want than the share of it.
func within(t *testing.T, what string, got, want, share float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > share*math.Abs(want) {
		t.Errorf("%s: got %v, want %v within %g %%", what, got, want, share*100)
	}
}

func TestTheLongHaulModelGivesEveryPublishedRow(t *testing.T) {
	// sonic-net/sonic-buildimage 086b03bd, device/arista/x86_64-arista_7280dr3a_36/Arista-7280DR3A-36/0/pg_profile_lookup.ini;
	// 800G: device/arista/x86_64-arista_7280r4_32qf_32df/Arista-7280R4-32QF-32DF-64O/pg_profile_lookup.ini.
	rows := []haul{
		{40, 80e3, 5369856}, {40, 120e3, 8036352}, {100, 80e3, 13357056}, {100, 120e3, 20013056},
		{400, 80e3, 53305344}, {400, 120e3, 79953920}, {800, 80e3, 106573824}, {800, 120e3, 159764480},
	}
	for _, r := range rows {
		got := Linear{Speed: qos.Rate(r.gbps) * 1e9, Cable: qos.Metres(r.metres), MTU: 9216}.Headroom()
		within(t, qos.Rate(r.gbps*1e9).String()+" "+qos.Metres(r.metres).String(), float64(got.Headroom), float64(r.want), 0.001)
	}
	if got := (Linear{Speed: 100e9, Cable: 80e3, MTU: 9216}).Headroom().Headroom; got != 13357056 {
		t.Errorf("the row that the line was drawn through: got %d, want 13357056", got)
	}
}

func TestTheLongHaulRowsInTheTestAreThePublishedOnes(t *testing.T) {
	var file struct {
		Published struct {
			Rows []struct {
				Gbps, Km int64
				Xoff     int64 `json:"xoff_bytes"`
			}
			Slope float64 `json:"slope_bytes_per_m_per_gbps"`
		} `json:"long_haul_published"`
	}
	shared(t, "headroom_formulas.json", &file)
	if len(file.Published.Rows) != 8 || math.Round(file.Published.Slope*1000) != longHaulSlope {
		t.Errorf("got %d rows and a slope of %v", len(file.Published.Rows), file.Published.Slope)
	}
	for _, r := range file.Published.Rows {
		got := Linear{Speed: qos.Rate(r.Gbps) * 1e9, Cable: qos.Metres(r.Km) * 1000, MTU: 9216}.Headroom()
		within(t, "row", float64(got.Headroom), float64(r.Xoff), 0.001)
	}
}

func TestTheLongHaulModelCoversThePublishedRowsOfShorterCables(t *testing.T) {
	// The same tables. Rows of 30 m are left out: nobody takes a long-haul model for them.
	for _, r := range []haul{
		{40, 300, 69632}, {100, 300, 110592}, {400, 300, 315392},
		{40, 1000, 114688}, {100, 1000, 225280}, {400, 1000, 778240},
		{40, 2000, 184320}, {100, 2000, 393216}, {400, 2000, 1445888}, {800, 2000, 2850816},
	} {
		got := Linear{Speed: qos.Rate(r.gbps) * 1e9, Cable: qos.Metres(r.metres), MTU: 1500}.Headroom().Headroom
		if got < r.want || float64(got) > 1.25*float64(r.want) {
			t.Errorf("%d Gb/s, %d m: got %d, want at least %d and not a quarter more", r.gbps, r.metres, got, r.want)
		}
	}
}

func TestTheLongHaulModelIsNeverBelowTheAnnex(t *testing.T) {
	for _, speed := range speeds {
		for _, cable := range []qos.Metres{0, 5, 300, 2000, 80e3} {
			line := Linear{Speed: speed, Cable: cable, MTU: 9216}.Headroom().Headroom
			if annex := (Annex{Speed: speed, Cable: cable, MTU: 9216, NoDropMTU: 9216}).Headroom().Headroom; line < annex {
				t.Errorf("%s %s: got %d, the annex has %d", speed, cable, line, annex)
			}
		}
	}
	if (Linear{Cable: 80e3, MTU: 9000}).Headroom().Known() {
		t.Error("a headroom was invented for a port without a speed")
	}
}
