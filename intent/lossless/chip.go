package lossless

import (
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/inventory/catalog"
)

// Port is what the headroom of a port depends on, whatever its chip.
type Port struct {
	Speed      qos.Rate
	Cable      qos.Metres
	MTU        qos.Bytes
	Lanes      int  // 0: not known
	SharedPool bool // the switch keeps headroom in a shared pool
}

// The traffic that a switch with the cell model assumes unless it is told otherwise: packets of the lossless class up to
// 1024 B, half of the packets small (SONiC's LOSSLESS_TRAFFIC_PATTERN as buffers_config.j2 writes it).
const (
	usualLosslessMTU qos.Bytes   = 1024
	usualSmall       qos.Percent = 50
)

// annexCable is the longest cable for which the sum of the standard's annex is taken alone: it was made for cables inside a
// building.
const annexCable qos.Metres = 2000

// ForSwitch is the headroom of a lossless priority group of a port: for a switch with a published table its row, or nothing
// where the table has none, as the switch would find; else what the model of the chip gives. A chip that is not in the
// catalog is nil, and reckoned with like those without a model of their own: with the sum of the standard's annex up to 2 km,
// and above that with it or the line through the published rows of long cables, whichever is larger.
func ForSwitch(table *catalog.Table, chip *catalog.ASIC, p Port) Result {
	if row, ok := table.Find(p.Speed, p.Cable); ok {
		return published(table, row, chip, p.SharedPool)
	}
	if table != nil {
		return Result{}
	}
	if chip != nil && chip.Model == catalog.Cell {
		return cellsOf(chip, p).Headroom()
	}
	r := Annex{Speed: p.Speed, Cable: p.Cable, MTU: p.MTU, NoDropMTU: p.MTU}.Headroom()
	if p.Cable > annexCable {
		r = Linear{Speed: p.Speed, Cable: p.Cable, MTU: p.MTU}.Headroom()
	}
	if p.SharedPool {
		r.Reserved = r.XON
	}
	return r
}

// cellsOf is the input of the cell model for a port of a chip, as the switch itself would fill it in.
func cellsOf(chip *catalog.ASIC, p Port) Cells {
	return Cells{
		Speed: p.Speed, Cable: p.Cable, PortMTU: p.MTU, LosslessMTU: usualLosslessMTU, Small: usualSmall,
		EightLanes: p.Lanes == 8, SharedPool: p.SharedPool, Quanta: true,
		Cell: chip.Cell, PipelineLatency: chip.PipelineLatency, OnTile: chip.OnTile, Extra: chip.Extra,
		MACPHYDelay: chip.MACPHYDelayKiB * 1024, PeerResponse: chip.PeerResponseKiB * 1024,
	}
}

// making is a set of inputs that published tables of the cell model were made with, and how it is said.
type making struct {
	quanta, bytes bool // the peer's response from pause quanta; the share of small packets as one of bytes
	mtu           qos.Bytes
	small         qos.Percent
	said          string
}

// makings are the sets with which the model gives published tables row by row; all have a port MTU of 9216 B and a worst-case
// factor that keeps its fraction.
var makings = []making{
	{false, false, 1024, 100, "small packets only"},
	{true, false, 1024, 100, "small packets only and the standard's pause quanta"},
	{true, true, 1024, 50, "half of the bytes in small packets and the standard's pause quanta"},
	{false, true, 1024, 50, "half of the bytes in small packets"},
	{true, true, 4096, 50, "lossless packets of 4096 B, half of the bytes in small packets and the standard's pause quanta"},
	{true, false, 4096, 50, "lossless packets of 4096 B, half of the packets small and the standard's pause quanta"},
	{true, false, 1024, 50, "half of the packets small and the standard's pause quanta"},
}

// published is the result that a published row stands for. Where the model of the chip gives the same headroom with inputs
// that tables were made with, its terms explain the row.
//
// A table's size holds the headroom where the vendor keeps it in the group, and does not where a pool or the chip keeps it:
// it is then no more than XON, or less than the headroom.
func published(table *catalog.Table, row catalog.Headroom, chip *catalog.ASIC, sharedPool bool) Result {
	r := Result{
		Headroom: row.Headroom, XON: row.XON, Reserved: row.Reserved, Source: table.Source,
		Formula: "published row of " + table.Name + " for " + row.Speed.String() + " and " + row.Cable.String(),
		Terms:   []Term{{"published row", row.Headroom, "as the vendor publishes it"}},
	}
	held := row.Reserved > row.XON && row.Reserved >= row.Headroom
	switch {
	case held && sharedPool:
		r.Reserved = row.XON
	case !held && !sharedPool:
		r.Reserved += row.Headroom
	}
	if chip == nil || chip.Model != catalog.Cell {
		return r
	}
	for _, m := range makings {
		in := cellsOf(chip, Port{Speed: row.Speed, Cable: row.Cable, MTU: tableMTU, SharedPool: !held})
		in.Small, in.SmallBytes, in.LosslessMTU, in.Quanta, in.Exact = m.small, m.bytes, m.mtu, m.quanta, true
		if model := in.Headroom(); model.Headroom == row.Headroom {
			r.Terms = model.Terms
			r.Formula += ", which is " + model.Formula + " for an MTU of 9216 B, " + m.said
			break
		}
	}
	return r
}
