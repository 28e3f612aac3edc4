// Package catalog is what is known of ASICs and NICs: buffers, cells, limits and abilities. Each row cites its source and
// says what is not known; nothing is guessed.
package catalog

import (
	"slices"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/qos"
)

// ASIC is a switch chip as far as lossless Ethernet goes. What is zero is not known; nothing is guessed.
type ASIC struct {
	Name            string    // empty: no source names the chip of the SKU
	Buffer          qos.Bytes // packet buffer in all, as far as the switch's software gives it out
	Cell            qos.Bytes // unit in which packets are stored
	PipelineLatency qos.Bytes
	MACPHYDelay     qos.Bytes
	PeerResponse    qos.Bytes
	Model           HeadroomModel
	DeviceComputes  bool // the switch works headroom out by itself from speed and cable length
	LosslessClasses int  // the most lossless classes that the chip supports
	// AlphaMin and AlphaMax bound the dynamic thresholds, as exponents of two; both 0: not known.
	AlphaMin, AlphaMax qos.AlphaShift
	ECN, Watchdog      Ability   // marking instead of dropping; a watchdog against PFC storms
	ThresholdUnit      qos.Bytes // to which the chip rounds WRED thresholds
	Source             string

	// What only the cell model uses. The delays are in KiB with a fraction, as the table that they come from counts them;
	// MACPHYDelay and PeerResponse above are the same rounded up to whole bytes.
	MACPHYDelayKiB, PeerResponseKiB float64
	OnTile                          bool      // the response delay has a part per Gb/s on the chip's tiles
	Extra                           qos.Bytes // added to every headroom
	BufferSource                    string    // where Buffer comes from, if elsewhere than the rest
}

// Ability is whether a chip can do something.
type Ability string

// The abilities; the empty one is not known.
const (
	Yes Ability = "yes"
	No  Ability = "no"
)

// Unknown are the things that are not known of the chip, in words for people; empty: all is.
func (a *ASIC) Unknown() []string {
	var out []string
	for _, thing := range []struct {
		name  string
		known bool
	}{
		{"the chip itself", a.Name != ""},
		{"the buffer", a.Buffer > 0},
		{"the cell", a.Cell > 0},
		{"the delays that headroom depends on", a.PipelineLatency > 0 && a.MACPHYDelay > 0 && a.PeerResponse > 0},
		{"how many lossless classes it supports", a.LosslessClasses > 0},
		{"the range of alpha", a.AlphaMin != 0 || a.AlphaMax != 0},
		{"whether it marks with ECN", a.ECN != ""},
		{"whether it has a PFC watchdog", a.Watchdog != ""},
		{"the unit of WRED thresholds", a.ThresholdUnit > 0},
	} {
		if !thing.known {
			out = append(out, thing.name)
		}
	}
	return out
}

// HeadroomModel names a way to compute headroom, by its shape.
type HeadroomModel string

// The models: cell counts cells of a fixed size, annex is the sum of IEEE 802.1Qbb's annex, linear is the slope that is
// published for long cables, a fixed part and a part per metre.
const (
	Cell   HeadroomModel = "cell"
	Annex  HeadroomModel = "annex"
	Linear HeadroomModel = "linear"
)

// NIC is a model of RDMA NIC.
type NIC struct {
	Name string
	RoCE []int // versions
	// Firmware and Driver are the lowest that may run; empty: none is named. Generation tells models whose DCQCN differs apart;
	// 0: not known.
	Firmware, Driver string
	Generation       int
	Receive          bool     // its driver keeps receive headroom for lossless priorities, as lossless.Receive works it out
	At               diag.Pos // of a row that the operator wrote
	Source           string
}

// SKU is what a vendor calls one build of a switch: the chip in it and, where one is published, its table of headroom.
type SKU struct {
	Name     string
	ASIC     string // empty: no source names the chip
	Computes bool   // its software works headroom out by itself
	Table    *Table // nil: no published table
	Updater  bool   // SONiC's configuration updater knows the chip of this hwsku, and lets its buffers be changed
	Source   string
}

// Catalog is the rows that hold for one fabric: the built-in ones and what the operator adds to them. A nil Catalog is the
// built-in rows alone. It is not changed once it is in use.
type Catalog struct {
	asics []ASIC
	skus  []SKU
	nics  []NIC
	bugs  []Bug
}

// Builtin is the catalog that nobody has added to.
func Builtin() *Catalog { return nil }

// SetASIC adds a row, or puts it in place of that of the same name.
func (c *Catalog) SetASIC(row ASIC) {
	c.asics = set(c.asics, row, func(r ASIC) string { return r.Name })
}

// SetSKU adds a row, or puts it in place of that of the same name.
func (c *Catalog) SetSKU(row SKU) { c.skus = set(c.skus, row, func(r SKU) string { return r.Name }) }

// SetNIC adds a row, or puts it in place of that of the same name.
func (c *Catalog) SetNIC(row NIC) { c.nics = set(c.nics, row, func(r NIC) string { return r.Name }) }

func set[T any](rows []T, row T, name func(T) string) []T {
	if i := slices.IndexFunc(rows, func(r T) bool { return name(r) == name(row) }); i >= 0 {
		rows[i] = row
		return rows
	}
	return append(rows, row)
}
