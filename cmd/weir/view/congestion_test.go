package view

import (
	"bytes"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/lossless"
)

func TestNumbersOfLoadAreWrittenForReading(t *testing.T) {
	for want, got := range map[string]string{
		"50 %":                  chance(0.5),
		"9.4 %":                 chance(0.09375),
		"1 in 416":              chance(0.00240325927734375),
		"1.71:1":                ratio(12.0 / 7),
		"no link upwards":       ratio(math.Inf(1)),
		"-":                     links(fabric.Bundle{}),
		"800G (1 link)":         links(fabric.Bundle{Links: 1, Rate: 800e9}),
		"307.2T (3072 links)":   links(fabric.Bundle{Links: 3072, Rate: 307.2e12}),
		"9 to 37":               span("9", "37"),
		"37":                    span("37", "37"),
		"1024 or more":          senders(fabric.Incast{Senders: lossless.MostSenders}),
		"not known: no buffer":  senders(fabric.Incast{Why: "no buffer"}),
		"1: nothing slows down": senders(fabric.Incast{Senders: 1, Why: "nothing slows down"}),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestATableLeavesOutColumnsThatAreEmpty(t *testing.T) {
	var b bytes.Buffer
	View{Out: &b}.table([]string{"ONE", "TWO", "THREE"}, [][]string{{"a", "", "c"}, {"long", "", ""}})
	if diff := cmp.Diff("\n  ONE   THREE\n  a     c\n  long\n", b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestALongTableSaysHowManyRowsItLeavesOut(t *testing.T) {
	var b bytes.Buffer
	rows := make([][]string, mostRows+2)
	for i := range rows {
		rows[i] = []string{"x"}
	}
	View{Out: &b}.table([]string{"ONE"}, rows)
	if want := "  and 2 more: --json has all\n"; !bytes.HasSuffix(b.Bytes(), []byte(want)) {
		t.Errorf("got %q, want it to end with %q", b.String(), want)
	}
}
