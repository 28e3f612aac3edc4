package check

import (
	"fmt"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/source"
	"github.com/weirfabric/weir/inventory/catalog"
)

func headroom(f *fabric.Fabric) diag.List {
	var l diag.List
	ports(f, func(sw *fabric.Switch, p *fabric.Port) {
		for i := range p.Groups {
			if p.Groups[i].Lossless {
				headroomAt(&l, sw, p, &p.Groups[i])
			}
		}
	})
	return l
}

// headroomAt checks one lossless priority group.
func headroomAt(l *diag.List, sw *fabric.Switch, p *fabric.Port, g *fabric.Group) {
	computed := fabric.HeadroomOf(sw, p)
	at := p.Origin.Headroom
	var d diag.Diagnostic
	switch {
	case g.Headroom == 0 && catalog.HasPublishedHeadroom(sw.SKU):
		d = finding(diag.Error, fmt.Sprintf("the table of %s has no headroom for %s and %s", sw.SKU, p.Speed, p.Cable),
			"A switch that looks its headroom up reserves none then, and drops. Correct the length of the cable, or write pfc.headroom in bytes.", at, p.Origin.Cable)
	case g.Headroom == 0 && g.ByDevice:
		d = finding(diag.Warning, fmt.Sprintf("the headroom that the switch will work out for %s is not known", p.Speed),
			"weir cannot tell whether it suffices. Compare what the switch reserves with what its vendor publishes.", at)
	case g.Headroom == 0:
		d = finding(diag.Error, fmt.Sprintf("the headroom of a %s port is not known", p.Speed),
			"No delays are published for this speed. Write pfc.headroom in bytes, as the vendor gives it.", at)
	case computed.Known() && g.Headroom < computed.Headroom:
		d = finding(diag.Warning, fmt.Sprintf("the headroom is %s, and %s may arrive after PAUSE", g.Headroom, computed.Headroom),
			"explain shows the terms. Raise pfc.headroom, or write auto.", at, p.Origin.Cable)
	case computed.Generic && g.ByDevice:
		d = finding(diag.Note, fmt.Sprintf("the switch works its headroom out by itself, and what it comes to at %s is not known", p.Speed),
			"No table and no model of it is in the catalog. weir reckons with the sum of IEEE 802.1Qbb's annex, in buffer-fit and ecn-before-pfc too: compare it with what the switch reserves.", at)
	case computed.Estimated && !g.ByDevice && g.Headroom == computed.Headroom:
		d = finding(diag.Warning, fmt.Sprintf("the headroom of a %s port is an estimate", p.Speed),
			"The interface delay is published up to 100G only; above it weir takes that of 100G, on the safe side. Write pfc.headroom in bytes where the vendor gives it.", at)
	default:
		return
	}
	d.Addr = portAddr(sw, p).Of(addr.PG, fmt.Sprint(g.ID))
	l.Add(d)
}

func bufferFit(f *fabric.Fabric) diag.List {
	var l diag.List
	for _, sw := range f.Switches {
		taken, known := sw.TakenBuffer()
		if !known || sw.ASIC == nil || sw.ASIC.Buffer == 0 || taken <= sw.ASIC.Buffer {
			continue
		}
		d := finding(diag.Error, fmt.Sprintf("headroom and guarantees take %s, and the buffer has %s", taken, sw.ASIC.Buffer),
			"Use fewer lossless classes, shorter cables or a shared pool (buffers.oversubscribe), or switch PFC off on ports that do not need it.", []diag.Pos{sw.At})
		d.Addr = sw.Address()
		l.Add(d)
	}
	return l
}

func knownSKU(f *fabric.Fabric) diag.List {
	var l diag.List
	for _, sw := range f.Switches {
		if sw.ASIC != nil {
			continue
		}
		summary := fmt.Sprintf("the SKU %q is not in the catalog", sw.SKU) + source.DidYouMean(sw.SKU, catalog.SKUs())
		if sw.SKU == "" {
			summary = "the switch has no SKU"
		}
		d := finding(diag.Warning, summary,
			"Its buffer and its headroom model are not known: headroom is that of IEEE 802.1Qbb's annex, and ECN before PFC is not checked.", []diag.Pos{sw.At})
		d.Addr = sw.Address()
		l.Add(d)
	}
	for _, host := range f.Inventory.Devices {
		for i := range host.Ports {
			if p := &host.Ports[i]; p.NIC != "" && catalog.ByNIC(p.NIC) == nil {
				d := finding(diag.Note, fmt.Sprintf("the NIC %q is not in the catalog", p.NIC)+source.DidYouMean(p.NIC, catalog.NICs()),
					"Which versions of RoCE it knows is not checked.", []diag.Pos{p.At})
				d.Addr = addr.Port(host.Name.V, p.Name)
				l.Add(d)
			}
		}
	}
	return l
}
