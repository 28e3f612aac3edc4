package lossless

import (
	"os"
	"testing"

	"github.com/weirfabric/weir/intent/qos"
)

func TestTheHostModelGivesWhatTheDriverComputes(t *testing.T) {
	for _, c := range []struct {
		gbps   qos.Rate
		metres qos.Metres
		mtu    qos.Bytes
		want   qos.Bytes
	}{
		{400, 100, 4096, 217941}, {400, 5, 4096, 135541}, {100, 100, 4096, 62841}, {25, 7, 1500, 16720},
		{40, 7, 1500, 16720}, {100, 7, 1500, 35680}, {200, 7, 9216, 88267}, {400, 7, 9216, 151467},
	} {
		r := Receive{Speed: c.gbps * 1e9, Cable: c.metres, MTU: c.mtu}.Headroom()
		if r.Headroom != c.want || r.Reserved != c.want+c.mtu {
			t.Errorf("%dG %d m %d B: got %d of %d, want %d", c.gbps, c.metres, c.mtu, r.Headroom, r.Reserved, c.want)
		}
		var total qos.Bytes
		for _, term := range r.Terms {
			total += term.Bytes
		}
		if total != r.Headroom {
			t.Errorf("%dG %d m %d B: the terms make %d, the headroom is %d", c.gbps, c.metres, c.mtu, total, r.Headroom)
		}
	}
}

func TestTheHostRowsInTheTestAreThePublishedOnes(t *testing.T) {
	const name = "../../../shared/data/mlx5_xoff_examples.csv"
	if _, err := os.Stat(name); err != nil {
		t.Skip("the published table is not here")
	}
	rows := read(t, name)
	if len(rows) != 8 {
		t.Errorf("%d rows, want 8", len(rows))
	}
	for _, row := range rows {
		r := Receive{
			Speed: qos.Rate(number(t, row[0])) * 1e9, Cable: qos.Metres(number(t, row[1])), MTU: qos.Bytes(number(t, row[2])),
		}.Headroom()
		if want := qos.Bytes(number(t, row[3])); r.Headroom != want {
			t.Errorf("%v: got %d, want %d", row, r.Headroom, want)
		}
	}
}
