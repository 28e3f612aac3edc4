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

// ForSwitch is the headroom of a lossless priority group of a port: for a SKU with a published table its row, or nothing
// where the table has none, as the switch would find; else what the model of the chip gives. A chip that is not in the
// catalog is nil, and the standard's annex is used.
func ForSwitch(sku string, chip *catalog.ASIC, p Port) Result {
	if row, ok := catalog.PublishedHeadroom(sku, p.Speed, p.Cable); ok {
		return published(row, chip)
	}
	if catalog.HasPublishedHeadroom(sku) {
		return Result{}
	}
	if chip != nil && chip.Model == catalog.Cell {
		return cellsOf(chip, p).Headroom()
	}
	return Annex{Speed: p.Speed, Cable: p.Cable, MTU: p.MTU, NoDropMTU: p.MTU}.Headroom()
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

// published is the result that a published row stands for. Where the model of the chip gives the same headroom, as it does
// for all rows in the catalog with the inputs that their tables were made with, its terms explain the row.
func published(row catalog.Headroom, chip *catalog.ASIC) Result {
	r := Result{
		Headroom: row.Headroom, XON: row.XON, Reserved: row.Reserved, Source: catalog.PublishedSource,
		Formula: "published row of " + row.SKU + " for " + row.Speed.String() + " and " + row.Cable.String(),
		Terms:   []Term{{"published row", row.Headroom, "as the vendor publishes it"}},
	}
	if chip == nil || chip.Model != catalog.Cell {
		return r
	}
	in := cellsOf(chip, Port{Speed: row.Speed, Cable: row.Cable, MTU: tableMTU})
	in.Small, in.Quanta, in.Exact = 100, false, true
	if model := in.Headroom(); model.Headroom == row.Headroom {
		r.Terms = model.Terms
		r.Formula += ", which is " + model.Formula + " for an MTU of 9216 B and small packets only"
	}
	return r
}
