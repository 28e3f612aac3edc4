package check

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/source"
	"github.com/weirfabric/weir/inventory/catalog"
)

// firmware compares the firmware and driver of every NIC with the lowest that the catalog lets its model run.
func firmware(f *fabric.Fabric) diag.List {
	var l diag.List
	models := map[string]*catalog.NIC{}
	for _, host := range f.Inventory.Devices {
		for i := range host.Ports {
			p := &host.Ports[i]
			if p.NIC == "" {
				continue
			}
			row, looked := models[p.NIC]
			if !looked {
				row = f.Inventory.Catalog.ByNIC(p.NIC)
				models[p.NIC] = row
			}
			if row == nil {
				continue
			}
			a := addr.Port(host.Name.V, p.Name)
			floor(&l, a, "firmware", row, row.Firmware, p.Firmware, p.At)
			floor(&l, a, "driver", row, row.Driver, p.Driver, p.At)
		}
	}
	return l
}

// floor checks one version against the lowest that may run; an empty one is none.
func floor(l *diag.List, a addr.Addr, what string, row *catalog.NIC, lowest string, runs source.Value[string], nic diag.Pos) {
	const why = "Faults of this sort are in no counter before they hurt: a NIC that sends everything again after one lost packet, slows all flows down for one, or waits a round trip for each message. "
	var d diag.Diagnostic
	switch {
	case lowest == "":
		return
	case !runs.Set():
		d = finding(diag.Note, fmt.Sprintf("the inventory does not say which %s the %s runs, and the catalog wants %s at least", what, row.Name, lowest),
			why+fmt.Sprintf("Write it in the inventory: %s: VERSION.", what), []diag.Pos{nic, row.At})
	case older(runs.V, lowest):
		d = finding(diag.Error, fmt.Sprintf("the %s of the %s is %s, and the catalog wants %s at least", what, row.Name, runs.V, lowest),
			why+fmt.Sprintf("Update the %s before RDMA goes over this NIC.", what), []diag.Pos{runs.At, row.At})
	default:
		return
	}
	d.Addr = a
	l.Add(d)
}

var digits = regexp.MustCompile(`[0-9]+`)

// older compares two versions by their numbers, from the left; one that ends first is filled up with zeros.
func older(version, than string) bool {
	a, b := numbers(version), numbers(than)
	for len(a) < len(b) {
		a = append(a, 0)
	}
	return slices.CompareFunc(a[:len(b)], b, cmp.Compare[uint64]) < 0
}

func numbers(version string) []uint64 {
	var out []uint64
	for _, d := range digits.FindAllString(version, -1) {
		n, err := strconv.ParseUint(d, 10, 64)
		if err != nil {
			n = 0 // longer than any version is
		}
		out = append(out, n)
	}
	return out
}
