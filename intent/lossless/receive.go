package lossless

import (
	"fmt"

	"github.com/weirfabric/weir/intent/qos"
)

// Receive is what the host model reads: the receive buffer of a NIC that sends PAUSE itself.
type Receive struct {
	Speed qos.Rate
	Cable qos.Metres
	MTU   qos.Bytes
}

// ReceiveSource is where the host model comes from: drivers/net/ethernet/mellanox in Linux.
const ReceiveSource = "Linux, mlx5/core/en/port_buffer.c, calculate_xoff"

// The constants of the host model. The driver takes a slower port, and one whose speed it cannot read, for 40 Gb/s.
const (
	leastReceiveSpeed = 40000 // Mb/s
	receiveDelay      = 301   // ns of traffic whatever the cable
	receiveCable      = 216   // bytes per 100 m and Gb/s, there and back
	receiveMTU        = 272   // percent of an MTU
)

// Headroom is the driver's, in its whole numbers, each quotient rounded down:
//
//	xoff = (301 + 216*metres/100) * max(Mb/s, 40000)/1000 + 272*MTU/100
//
// PAUSE is sent when the buffer holds its size less this, and ends one MTU below that. The driver refuses a buffer without
// room for the headroom, one MTU and one of the NIC's cells; Reserved is that without the cell, and in so small a buffer
// PAUSE ends when it is empty, so that XON is 0.
func (r Receive) Headroom() Result {
	mbps := max(r.Speed.Mbps(), leastReceiveSpeed)
	cable := receiveCable * int64(r.Cable) / 100
	base := receiveDelay * mbps / 1000
	flight := (receiveDelay + cable) * mbps / 1000
	packets := qos.Bytes(receiveMTU) * r.MTU / 100
	clamped := ""
	if r.Speed.Mbps() < leastReceiveSpeed {
		clamped = ", taken for 40 Gb/s"
	}
	headroom := qos.Bytes(flight) + packets
	return Result{
		Headroom: headroom, Reserved: headroom + r.MTU, Source: ReceiveSource,
		Terms: []Term{
			{"response", qos.Bytes(base), fmt.Sprintf("301 x %d Mb/s / 1000%s", mbps, clamped)},
			{"cable", qos.Bytes(flight - base), fmt.Sprintf("(216 x %d m / 100) x %d Mb/s / 1000", r.Cable, mbps)},
			{"packets", packets, "2.72 x MTU"},
		},
		Formula: "(301 + 216 x metres / 100) x max(Mb/s, 40000) / 1000 + 272 x MTU / 100, in whole numbers",
	}
}
