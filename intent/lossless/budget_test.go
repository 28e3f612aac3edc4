package lossless

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/qos"
)

// asks is a demand whose headroom the annex gives.
func asks(name string, ports, classes int, speed qos.Rate, cable qos.Metres, mtu qos.Bytes) Demand {
	at := func(cable qos.Metres) Result {
		return Annex{Speed: speed, Cable: cable, MTU: mtu, NoDropMTU: mtu}.Headroom()
	}
	r := at(cable)
	return Demand{Name: name, Ports: ports, Classes: classes, Speed: speed, Cable: cable, Reserved: r.Reserved, Headroom: r.Headroom, At: at}
}

func TestAShallowSwitchRefusesALongHaulPort(t *testing.T) {
	r := Linear{Speed: 100e9, Cable: 80e3, MTU: 9216}.Headroom()
	b := Budget{Buffer: 12e6, Demands: []Demand{{
		Name: "long haul", Ports: 1, Classes: 1, Speed: 100e9, Cable: 80e3, Reserved: r.Reserved, Headroom: r.Headroom,
		At: func(m qos.Metres) Result { return Linear{Speed: 100e9, Cable: m, MTU: 9216}.Headroom() },
	}}}
	if b.Fits() || b.MostClasses() != 0 || b.MostPorts(0) != 0 || b.Left() != 12e6-13357056-18508 {
		t.Errorf("12 MB hold 13.36 MB: %d left, %d classes, %d ports", b.Left(), b.MostClasses(), b.MostPorts(0))
	}
	if ratio, ok := b.LeastRatio(); ok {
		t.Errorf("a pool of ratio %d would not hold one group", ratio)
	}
	// (12,000,000 - 18,508 - 45,056) / 166.4 B are 71.7 km; the second line takes 18,400 B more and 166.16 B a metre.
	if got, ok := b.LongestCable(0); !ok || got != 71726 {
		t.Errorf("got %s, want 71726m", got)
	}
}

func TestTheBudgetIsATable(t *testing.T) {
	b := Budget{Buffer: 1000_000, Ratio: 2, Other: 5000, Demands: []Demand{
		{Name: "up", Ports: 4, Classes: 2, Speed: 400e9, Cable: 300, Reserved: 10_000, Headroom: 60_000},
		{Name: "down", Ports: 10, Classes: 1, Speed: 100e9, Cable: 5, Reserved: 2000, Headroom: 10_001},
	}}
	want := []Row{
		{"up", 4, 2, 400e9, 300, 10_000, 80_000},
		{"down", 10, 1, 100e9, 5, 2000, 20_000},
		{Name: RowPool, Total: 290_005},
		{Name: RowOther, Total: 5000},
		{Name: RowTaken, Total: 395_005},
		{Name: RowBuffer, Total: 1000_000},
		{Name: RowLeft, Total: 604_995},
	}
	if diff := cmp.Diff(want, b.Rows()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	b.Ratio, b.Other = 0, 0
	if got := len(b.Rows()); got != 5 || b.Taken() != 100_000 {
		t.Errorf("%d rows and %d taken without pool and others", got, b.Taken())
	}
}

// budgets are some that fit and some that do not.
func budgets() map[string]Budget {
	out := map[string]Budget{
		"nothing":       {Buffer: 1e6},
		"without ports": {Buffer: 1e6, Demands: []Demand{asks("a", 0, 2, 100e9, 40, 9100)}},
	}
	for _, buffer := range []qos.Bytes{1e6, 9e6, 12e6, 16e6, 60e6} {
		for _, ratio := range []int{0, 2} {
			b := Budget{Buffer: buffer, Ratio: ratio, Other: 100_000, Demands: []Demand{
				asks("down", 32, 2, 100e9, 5, 9100), asks("up", 8, 2, 400e9, 300, 9100), asks("core", 2, 1, 100e9, 2000, 4200),
			}}
			if ratio > 0 {
				b = b.all(func(d *Demand) { d.pooled() })
			}
			out[fmt.Sprintf("%s, ratio %d", buffer, ratio)] = b
		}
	}
	return out
}

// pooled makes the demand one whose headroom a pool holds.
func (d *Demand) pooled() {
	at := d.At
	d.Reserved -= d.Headroom
	d.At = func(m qos.Metres) Result {
		r := at(m)
		r.Reserved = r.XON
		return r
	}
}

func TestEachAnswerIsTheLastThatFits(t *testing.T) {
	for name, b := range budgets() {
		t.Run(name, func(t *testing.T) {
			last := func(what string, n, limit int, at func(n int) Budget) {
				t.Helper()
				if n > 0 && !at(n).Fits() {
					t.Errorf("%s: %d does not fit", what, n)
				}
				if n < limit && at(n+1).Fits() {
					t.Errorf("%s: %d is not the most", what, n)
				}
			}
			last("classes", b.MostClasses(), 8, func(n int) Budget { return b.all(func(d *Demand) { d.Classes = n }) })
			for i := range b.Demands {
				last("ports", b.MostPorts(i), mostPorts, func(n int) Budget { return b.with(i, func(d *Demand) { d.Ports = n }) })
				longest, _ := b.LongestCable(i)
				last("cable", int(longest), longestSearch, func(n int) Budget { return b.with(i, func(d *Demand) { d.lay(qos.Metres(n)) }) })
			}
			longest, _ := b.LongestCables()
			last("cables", int(longest), longestSearch, func(n int) Budget { return b.all(func(d *Demand) { d.lay(qos.Metres(n)) }) })
			if limit, ok := b.CableLimit(); ok && (limit < longest || b.Fits() != (limit == longestSearch)) {
				t.Errorf("cables cut to %s, all alike %s", limit, longest)
			}
		})
	}
}

func TestASolverDoesNotChangeTheBudget(t *testing.T) {
	b := budgets()["9MB, ratio 0"]
	before := b.Rows()
	b.MostClasses()
	b.MostPorts(1)
	b.LongestCable(1)
	b.LongestCables()
	b.CableLimit()
	b.LeastRatio()
	if diff := cmp.Diff(before, b.Rows()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestALengthWithoutKnownHeadroomFitsNowhere(t *testing.T) {
	b := Budget{Buffer: 1e6, Demands: []Demand{{Name: "table", Ports: 1, Classes: 1, Reserved: 1000, Headroom: 900, At: func(m qos.Metres) Result {
		if m > 300 {
			return Result{}
		}
		return Result{Headroom: 900, Reserved: 1000}
	}}}}
	if got, ok := b.LongestCable(0); !ok || got != 300 {
		t.Errorf("got %s, want the end of the table", got)
	}
	b.Demands[0].At = nil
	if got, ok := b.LongestCable(0); ok {
		t.Errorf("got %s without knowing any length", got)
	}
}

func TestTheLeastRatioIsTheFirstThatFits(t *testing.T) {
	for name, b := range budgets() {
		pooled := b
		if b.Ratio == 0 {
			pooled = b.all(func(d *Demand) { d.Reserved -= d.Headroom })
		}
		var largest qos.Bytes
		for _, d := range b.Demands {
			if d.groups() > 0 {
				largest = max(largest, d.Headroom)
			}
		}
		want, wantOK := 0, false
		for pooled.Ratio = 1; pooled.Ratio < 2000 && !wantOK && pooled.pool() >= largest; pooled.Ratio++ {
			if pooled.Fits() {
				want, wantOK = pooled.Ratio, true
			}
		}
		if got, ok := b.LeastRatio(); ok != wantOK || ok && got != want {
			t.Errorf("%s: got %d, %v, want %d, %v", name, got, ok, want, wantOK)
		}
	}
}

func TestAPoolHoldsTheHeadroomOfAnyOneGroup(t *testing.T) {
	for _, c := range []struct {
		buffer qos.Bytes
		want   int
		ok     bool
	}{
		{300, 1, true}, {299, 2, true}, {200, 2, true}, {199, 3, true}, {167, 3, true}, {166, 4, true}, {150, 4, true},
		{149, 0, false}, // the pool would have 49 or less, and a group needs 50
		{100, 0, false}, {50, 0, false},
	} {
		b := Budget{Buffer: c.buffer, Demands: []Demand{{Ports: 4, Classes: 1, Reserved: 75, Headroom: 50}}}
		if got, ok := b.LeastRatio(); got != c.want || ok != c.ok {
			t.Errorf("%d B: got %d, %v, want %d, %v", c.buffer, got, ok, c.want, c.ok)
		}
		// One small group more changes nothing about the large ones.
		b.Demands = append(b.Demands, Demand{Ports: 1, Classes: 1, Reserved: 1, Headroom: 1})
		if got, ok := b.LeastRatio(); c.buffer < 150 && ok {
			t.Errorf("%d B with a small group: got %d", c.buffer, got)
		}
	}
}

// TestShallowSwitchesHoldTwoLosslessClasses follows Guo et al., RDMA over Commodity Ethernet at Scale (SIGCOMM 2016): ToR
// and leaf switches of 9 and 12 MB, links up to 300 m, headroom for two lossless classes only.
//
// Counted in bytes, as the annex does, a class of 1500 B packets takes so little that half of the buffer holds more than two
// of them. Such switches keep packets in cells, and a byte takes up about two in the worst case, the factor that Linux's
// mlxsw driver reckons with (commit d81a6bdb87ce); with it the published two come out at every MTU.
func TestShallowSwitchesHoldTwoLosslessClasses(t *testing.T) {
	for _, c := range []struct {
		buffer, mtu       qos.Bytes
		inBytes, inCells  int // classes that leave half of the buffer to share
		fitAtAll          int // classes in bytes
		fitAtAllWithCells int
	}{
		{9e6, 1500, 3, 2, 7, 4},
		{9e6, 4200, 2, 1, 5, 3},
		{9e6, 9216, 2, 1, 4, 2},
		{12e6, 1500, 5, 2, 8, 5},
		{12e6, 4200, 3, 2, 7, 4},
		{12e6, 9216, 2, 1, 5, 3},
	} {
		bytes := Budget{Buffer: c.buffer, Demands: []Demand{asks("links", 32, 8, 40e9, 300, c.mtu)}}
		cells := bytes.all(func(d *Demand) { d.Reserved, d.Headroom = d.Reserved+d.Headroom, 2*d.Headroom })
		got := []int{bytes.MostClassesLeaving(50), cells.MostClassesLeaving(50), bytes.MostClasses(), cells.MostClasses()}
		if diff := cmp.Diff([]int{c.inBytes, c.inCells, c.fitAtAll, c.fitAtAllWithCells}, got); diff != "" {
			t.Errorf("%s, MTU %s (-want +got):\n%s", c.buffer, c.mtu, diff)
		}
		if got[1] > 2 || cells.Fits() {
			t.Errorf("%s, MTU %s: %d classes, and 8 fit: %v", c.buffer, c.mtu, got[1], cells.Fits())
		}
	}
}
