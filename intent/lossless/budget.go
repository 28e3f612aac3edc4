package lossless

import (
	"sort"

	"github.com/weirfabric/weir/intent/qos"
)

// Demand is what some like ports of a switch ask of its buffer for their lossless classes.
type Demand struct {
	Name    string
	Ports   int
	Classes int // lossless classes, and so priority groups, on each port
	Speed   qos.Rate
	Cable   qos.Metres
	// Reserved and Headroom are those of one priority group of one port. Reserved includes Headroom unless a pool holds it.
	Reserved, Headroom qos.Bytes
	// At is the group's headroom at another length of cable, its Reserved made up as that of the demand; nil: not known.
	At func(cable qos.Metres) Result
}

// Budget is the packet buffer of a switch and all that is taken from it before anything is shared.
type Budget struct {
	Buffer  qos.Bytes
	Ratio   int       // over-subscription of the shared headroom pool; 0: each group holds its headroom itself
	Other   qos.Bytes // guaranteed to anything else
	Demands []Demand
}

// Row is one line of a budget as a table. A demand's Total is Ports x Classes x Each; the lines after the demands have no
// ports, and Total only.
type Row struct {
	Name           string
	Ports, Classes int
	Speed          qos.Rate
	Cable          qos.Metres
	Each, Total    qos.Bytes
}

// The names of the lines that follow the demands in Rows.
const (
	RowPool   = "shared headroom pool"
	RowOther  = "other guarantees"
	RowTaken  = "taken in all"
	RowBuffer = "buffer"
	RowLeft   = "left to share" // negative: so much is missing
)

// groups is how many priority groups ask.
func (d *Demand) groups() qos.Bytes { return qos.Bytes(d.Ports) * qos.Bytes(d.Classes) }

// pool is the size of the shared headroom pool; 0 without one.
func (b Budget) pool() qos.Bytes {
	if b.Ratio <= 0 {
		return 0
	}
	var all qos.Bytes
	for i := range b.Demands {
		all += b.Demands[i].groups() * b.Demands[i].Headroom
	}
	return Pool(all, 0, b.Ratio)
}

// Taken is what demands, pool and other guarantees take of the buffer together.
func (b Budget) Taken() qos.Bytes {
	taken := b.Other + b.pool()
	for i := range b.Demands {
		taken += b.Demands[i].groups() * b.Demands[i].Reserved
	}
	return taken
}

// Left is what remains to share; negative: so much is missing.
func (b Budget) Left() qos.Bytes { return b.Buffer - b.Taken() }

// Fits says whether the buffer holds all that is asked of it.
func (b Budget) Fits() bool { return b.Left() >= 0 }

// Rows are the budget as a table: the demands in their order, the pool and other guarantees where there are any, the sum,
// the buffer, and what is left.
func (b Budget) Rows() []Row {
	var rows []Row
	for i := range b.Demands {
		d := &b.Demands[i]
		rows = append(rows, Row{d.Name, d.Ports, d.Classes, d.Speed, d.Cable, d.Reserved, d.groups() * d.Reserved})
	}
	if b.Ratio > 0 {
		rows = append(rows, Row{Name: RowPool, Total: b.pool()})
	}
	if b.Other > 0 {
		rows = append(rows, Row{Name: RowOther, Total: b.Other})
	}
	return append(rows, Row{Name: RowTaken, Total: b.Taken()}, Row{Name: RowBuffer, Total: b.Buffer}, Row{Name: RowLeft, Total: b.Left()})
}

// with is the budget with one demand changed.
func (b Budget) with(i int, change func(*Demand)) Budget {
	demands := make([]Demand, len(b.Demands))
	copy(demands, b.Demands)
	change(&demands[i])
	b.Demands = demands
	return b
}

// all is the budget with every demand changed.
func (b Budget) all(change func(*Demand)) Budget {
	for i := range b.Demands {
		b = b.with(i, change)
	}
	return b
}

// greatest is the largest n from 0 to limit for which fits says yes, where a larger one never fits if a smaller does not.
func greatest(limit int, fits func(n int) bool) int {
	return sort.Search(limit, func(n int) bool { return !fits(n + 1) })
}
