// Package lossless is the physics of lossless Ethernet: how much headroom a port needs, when PAUSE is sent, and whether
// ECN acts before it. Every result says which terms it is the sum of.
package lossless

import (
	"math"

	"github.com/weirfabric/weir/intent/qos"
)

// Term is one part of a sum, in bytes, and how it comes about.
type Term struct {
	Name    string
	Bytes   qos.Bytes
	Formula string
}

// Result is the headroom of one lossless priority group. The terms add up to Headroom exactly. The zero Result says that
// the headroom is not known.
type Result struct {
	Headroom qos.Bytes // what may still arrive after PAUSE was sent
	XON      qos.Bytes // occupancy below which PAUSE ends
	Reserved qos.Bytes // guaranteed to the group: XON, and Headroom unless a shared pool holds it
	Terms    []Term
	Formula  string
	Source   string
	// Estimated says that a term is not published for this speed and was taken from another, on the safe side.
	Estimated bool
	// Generic says that the sum is the standard's, and neither published for the switch nor that of its chip: a switch that
	// works headroom out by itself may come to another.
	Generic bool
}

// Known says whether there is a headroom at all.
func (r Result) Known() bool { return r.Headroom > 0 }

// sum collects terms whose exact values have fractions. Each is given the whole bytes by which it moves the rounded sum,
// so that the terms add up to the rounded total.
type sum struct {
	exact float64
	terms []Term
}

func (s *sum) add(name string, bytes float64, formula string) {
	before := math.Round(s.exact)
	s.exact += bytes
	s.terms = append(s.terms, Term{name, qos.Bytes(math.Round(s.exact) - before), formula})
}

// raise adds what is missing to total; nothing when the sum is total already.
func (s *sum) raise(name string, total float64, formula string) {
	if total > s.exact {
		s.add(name, total-s.exact, formula)
	}
}

// pauseQuanta is how long a station may take to obey PAUSE, in quanta of 512 bit times, by speed in Mb/s: IEEE 802.3
// clause 31B.3.7 as sonic-swss cfgmgr/buffer_headroom_mellanox.lua tables it. 800G is that of 400G there.
var pauseQuanta = map[int64]float64{
	100: 1, 1000: 2, 10000: 67, 25000: 80, 40000: 118, 50000: 147, 100000: 394, 200000: 453, 400000: 905, 800000: 905,
}

// ceilKiB rounds up to whole KiB, in bytes.
func ceilKiB(bytes float64) float64 { return math.Ceil(bytes/1024) * 1024 }
