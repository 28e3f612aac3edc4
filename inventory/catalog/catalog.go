// Package catalog is what is known of ASICs and NICs: buffers, cells, limits and abilities. Each row cites its source and
// says what is not known; nothing is guessed.
package catalog

import "github.com/weirfabric/weir/intent/qos"

// ASIC is a switch chip as far as lossless Ethernet goes. A zero number is not known.
type ASIC struct {
	Name            string
	Buffer          qos.Bytes // packet buffer in all
	Cell            qos.Bytes
	PipelineLatency qos.Bytes
	MACPHYDelay     qos.Bytes
	PeerResponse    qos.Bytes
	Model           HeadroomModel
	DeviceComputes  bool // the switch works headroom out by itself from speed and cable length
	Source          string

	// What only the cell model uses. The delays are in KiB with a fraction, as the table that they come from counts them;
	// MACPHYDelay and PeerResponse above are the same rounded up to whole bytes.
	MACPHYDelayKiB, PeerResponseKiB float64
	OnTile                          bool      // the response delay has a part per Gb/s on the chip's tiles
	Extra                           qos.Bytes // added to every headroom
	BufferSource                    string    // where Buffer comes from, if elsewhere than the rest
}

// HeadroomModel names a way to compute headroom, by its shape.
type HeadroomModel string

// The models: cell counts cells of a fixed size, annex is the sum of IEEE 802.1Qbb's annex.
const (
	Cell  HeadroomModel = "cell"
	Annex HeadroomModel = "annex"
)

// NIC is a model of RDMA NIC.
type NIC struct {
	Name   string
	RoCE   []int // versions
	Source string
}
