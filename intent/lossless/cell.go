package lossless

import (
	"fmt"
	"math"

	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/inventory/catalog"
)

// Cells is what the cell model reads: a chip that stores packets in cells of a fixed size, so that a small packet takes up
// more buffer than its bytes.
type Cells struct {
	Speed       qos.Rate
	Cable       qos.Metres
	PortMTU     qos.Bytes
	LosslessMTU qos.Bytes   // largest packet of the lossless class
	Small       qos.Percent // share of packets of 64 B, by count
	SmallBytes  bool        // Small is a share of bytes already, as the tables of some builds with a shared pool take it
	EightLanes  bool
	Gearbox     float64 // delay in the unit of the source's table; 0: no gearbox
	SharedPool  bool    // the headroom is kept in a shared pool and not in the group

	Cell            qos.Bytes
	PipelineLatency qos.Bytes
	MACPHYDelay     float64 // bytes, with a fraction
	PeerResponse    float64 // bytes; used where Quanta is off or has no row for the speed
	OnTile          bool
	Extra           qos.Bytes

	// Quanta takes the peer's response from the standard's pause quanta. Off, with Exact and Older, is the form that the
	// published tables were made with.
	Quanta bool
	Exact  bool // the worst-case factor keeps its fraction
	Older  bool // eight lanes: XON is (2 x 19 - 1) KiB and the port MTU of the tables, 9216 B, is added to the reservation
}

// tableMTU is the port MTU that the published tables were made with.
const tableMTU qos.Bytes = 9216

// lightInCable is the speed of a signal in a cable as the model's source has it, in m/s.
const lightInCable = 198000000

// Headroom is the cell model of cfgmgr/buffer_headroom_mellanox.lua:
//
//	w    = cell > 128 ? cell/64 : 2*cell/(1+cell)              buffer taken per byte in the worst case
//	sp   = 100*64 / ((small*64 + (100-small)*losslessMTU)/100)  small packets by bytes, percent
//	occ  = (100 - sp + sp*w)/100
//	prop = portMTU + cable + 2*gearbox + MAC and PHY + peer response + tile
//	xoff = losslessMTU + prop*occ, in whole KiB; 2 KiB more where small packets are not all and no pool is shared
func (c Cells) Headroom() Result {
	var s sum
	small := "losslessMTU"
	s.add("lossless MTU", float64(c.LosslessMTU), small)
	prop := c.propagation(&s)
	w := c.worst()
	p := c.smallBytes()
	occupancy := (100 - p + p*w) / 100
	s.add("cells not full", prop*(occupancy-1), fmt.Sprintf("bytes in flight x (%.4g - 1), cells of %d B with %s small packets", occupancy, c.Cell, c.Small))
	s.raise("whole KiB", ceilKiB(s.exact), "rounded up to 1024 B")
	if c.Extra > 0 {
		s.add("chip", float64(c.Extra), fmt.Sprintf("%d B more on this chip", c.Extra))
	}
	if worst := ceilKiB(float64(c.LosslessMTU) + prop*w); !c.SharedPool && c.Small != 100 && s.exact+2048 < worst {
		s.add("small packets", 2048, "2 KiB where the worst case is more than that away")
	}
	r := Result{
		Headroom: qos.Bytes(math.Round(s.exact)), Terms: s.terms, Source: catalog.CellSource,
		Formula: "ceilKiB(losslessMTU + (portMTU + cable + MAC/PHY + response + tile) x cell occupancy)",
	}
	r.XON, r.Reserved = c.reservation(r.Headroom)
	return r
}

// propagation adds what is in flight after PAUSE was decided on, and gives its sum in bytes.
func (c Cells) propagation(s *sum) float64 {
	mbps := float64(c.Speed.Mbps())
	before := s.exact
	s.add("port MTU", float64(c.PortMTU), "a packet that had begun")
	s.add("cable", 2*float64(c.Cable)*mbps*1e9/lightInCable/8000, "2 x length x speed / 1.98e8 m/s")
	if c.Gearbox > 0 {
		s.add("gearbox", 2*mbps*c.Gearbox/(8*1024), "2 x speed x gearbox delay / 8192")
	}
	s.add("MAC and PHY", c.MACPHYDelay, "0.8 KiB")
	if quanta, ok := pauseQuanta[c.Speed.Mbps()]; c.Quanta && ok {
		s.add("peer response", quanta*512/8, fmt.Sprintf("%g pause quanta x 64 B", quanta))
	} else {
		s.add("peer response", c.PeerResponse, "3.8 KiB")
	}
	if c.OnTile {
		s.add("tile", mbps/1000*120/8, "speed x 120 ns")
	}
	return s.exact - before
}

// smallBytes is the share of the bytes that are in small packets, in percent.
func (c Cells) smallBytes() float64 {
	if c.SmallBytes {
		return float64(c.Small)
	}
	return 100 * 64 / ((float64(c.Small)*64 + (100-float64(c.Small))*float64(c.LosslessMTU)) / 100)
}

// worst is the bytes of buffer that a byte takes up in the worst case.
func (c Cells) worst() float64 {
	cell := float64(c.Cell)
	w := 2 * cell / (1 + cell)
	if c.Cell > 128 {
		w = cell / 64
	}
	if c.Exact {
		return w
	}
	return math.Ceil(w)
}

// reservation is XON and what the group is guaranteed.
func (c Cells) reservation(headroom qos.Bytes) (xon, reserved qos.Bytes) {
	lanes, mtu := qos.Bytes(1), qos.Bytes(0)
	if c.EightLanes {
		lanes, mtu = 2, c.PortMTU
	}
	xon = c.PipelineLatency * lanes
	if c.EightLanes && c.Older {
		xon, mtu = xon-1024, tableMTU
	}
	xon = qos.Bytes(ceilKiB(float64(xon)))
	if c.SharedPool {
		return xon, xon
	}
	return xon, qos.Bytes(ceilKiB(float64(headroom + xon + mtu)))
}
